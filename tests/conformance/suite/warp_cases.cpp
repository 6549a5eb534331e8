// Cases of what the threads of a warp or a block do together. All of them take part, or those that a vote picks.
#include <algorithm>

#include "conformance/suite/inputs.h"
#include "conformance/suite/operands.h"

namespace mulciber::conformance {

namespace {

bool isForWarps(const Form& form) {
  switch (form.opcode) {
    case Opcode::Vote:
    case Opcode::Match:
    case Opcode::Redux:
    case Opcode::Shfl:
    case Opcode::Elect:
    case Opcode::Activemask: return true;
    case Opcode::Bar:
    case Opcode::Barrier: return !form.operands.empty() && form.operands[0].kind == Kind::Destination;
    default: return false;
  }
}

struct Shape {
  bool optional = false;   // the second destination
  bool negated = false;    // !p
  bool divergent = false;  // only the threads that a vote picks
  bool equal = false;      // every thread of a warp has the same value
  unsigned number = 0;
};

class WarpCaseBuilder : CaseMaker {
 public:
  WarpCaseBuilder(const Form& form, const std::vector<const FormChoice*>& choices, Shape shape)
      : CaseMaker(form, choices), shape_(shape) {}

  Case build() {
    case_.usesWarp = true;
    case_.inputs = {{Type::B32, Values::Int32}, {Type::B32, Values::Count}, {Type::B64, Values::Int64}};
    // Of four warps one has only true values, one only false ones.
    case_.code =
        ".reg .b32 %warp, %value, %count, %mask;\n.reg .b64 %long;\n.reg .pred %p, %q;\n"
        "cvt.u32.u64 %warp, %row;\nshr.u32 %warp, %warp, 5;\nand.b32 %warp, %warp, 3;\n"
        "and.b32 %value, %a0, 1;\nsetp.ne.u32 %p, %value, 0;\nsetp.eq.or.u32 %p, %warp, 0, %p;\n"
        "setp.ne.and.u32 %p, %warp, 1, %p;\n";
    const bool isMatch = form_.opcode == Opcode::Match;
    if (shape_.equal) case_.code += "mov.b32 %value, %warp;\ncvt.u64.u32 %long, %warp;\n";
    else if (isMatch) case_.code += "and.b32 %value, %a0, 3;\nand.b64 %long, %a2, 0x8000000000000001;\n";
    else case_.code += "mov.b32 %value, %a0;\nmov.b64 %long, %a2;\n";
    case_.code += "and.b32 %count, %a1, 0x1F1F;\nmov.b32 %mask, 0xFFFFFFFF;\n";
    if (shape_.divergent)
      case_.code +=
          "and.b32 %count, %a0, 2;\nsetp.ne.u32 %q, %count, 0;\nvote.sync.ballot.b32 %mask, %q, 0xFFFFFFFF;\n";
    std::string text = fullName();
    bool first = true;
    for (size_t i = 0; i < operands_.size(); ++i) {
      text += (first ? " " : ", ") + operand(operands_[i], i);
      first = false;
    }
    case_.name = text + (shape_.divergent ? "  // some threads" : shape_.equal ? "  // same values" : "");
    for (size_t i = 0; shape_.divergent && i < case_.results.size(); ++i)
      case_.code += case_.results[i] == Type::Pred ? "setp.ne.u32 %d" + std::to_string(i) + ", 0, 0;\n"
                                                   : "mov.b32 %d" + std::to_string(i) + ", 0;\n";
    if (shape_.divergent) case_.code += "@!%q bra skip;\n" + text + ";\nskip:\n";
    else case_.code += text + ";\n";
    return std::move(case_);
  }

 private:
  std::string operand(const ExpectedOperand& o, size_t index) {
    if (o.form->kind == Kind::Destination) {
      std::string text = result(o.type == Type::Pred ? Type::Pred : Type::B32);
      if (o.form->pair && (!o.form->pairOptional || shape_.optional)) text += '|' + result(Type::Pred);
      return text;
    }
    if (o.type == Type::Pred) return o.form->negatable && shape_.negated ? "!%p" : "%p";
    const bool isLast = index + 1 == operands_.size();
    switch (form_.opcode) {
      case Opcode::Bar:
      case Opcode::Barrier: return o.form->step == 32 ? "256" : std::to_string(shape_.number % 4);
      case Opcode::Shfl: {
        if (isLast) return "%mask";
        if (index == 1) return "%value";
        if (index == 2) return shape_.number % 3 ? std::to_string(shape_.number % 33) : "%a1";
        if (shape_.number % 2) return "%count";
        const bool isUp = has(Mod::up);
        return std::to_string((isUp ? 0 : 0x1F) | (shape_.number % 5 ? 0 : 0x1800));
      }
      default: break;
    }
    if (isLast) return shape_.divergent || shape_.number % 2 ? "%mask" : "0xFFFFFFFF";
    return ptx::bitWidth(o.type) == 64 ? "%long" : "%value";
  }

  Shape shape_;
};

}  // namespace

void addWarpCases(std::vector<Case>& cases) {
  for (const Form& form : ptx::allForms()) {
    if (!isForWarps(form)) continue;
    const auto all = combinations(form, 160);
    for (size_t index = 0; index < all.size(); ++index) {
      if (!isOffered(form, all[index])) continue;
      auto number = static_cast<unsigned>(hashOf(std::string(form.text) + std::to_string(index)) % 100000);
      auto add = [&](Shape shape) {
        shape.number = number++;
        cases.push_back(WarpCaseBuilder(form, all[index], shape).build());
      };
      const bool isBarrier = form.opcode == Opcode::Bar || form.opcode == Opcode::Barrier;
      const bool isShuffle = form.opcode == Opcode::Shfl;  // from threads that do not take part nothing is defined
      add({});
      add({.negated = true});
      if (!isBarrier) add({.optional = true});
      for (unsigned i = 0; isShuffle && i < 12; ++i) add({.optional = i % 2 == 0});
      if (!isBarrier && !isShuffle)
        add({.divergent = true}), add({.optional = true, .divergent = true}), add({.optional = true, .equal = true});
    }
  }
}

}  // namespace mulciber::conformance
