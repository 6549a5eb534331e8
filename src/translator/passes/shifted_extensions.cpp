#include "translator/passes/shifted_extensions.h"

#include <bit>
#include <vector>

#include "translator/passes/extended_numbers.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isPowerOfTwo(const Instruction& i) { return i.isConstant() && std::has_single_bit(i.payload); }
bool isZero(const Instruction& i) { return i.isConstant() && i.payload == 0; }

// Whether an instruction shifts one of its operands.
bool shifts(const Instruction& i, size_t operand) {
  switch (i.op) {
    case Op::Shl:
    case Op::LShr:
    case Op::AShr:
    case Op::BitExtractU:
    case Op::BitExtractS: return operand == 0;
    case Op::Mul: return isPowerOfTwo(*i.operands[1 - operand]);
    default: return false;
  }
}

bool isNarrow(ir::Type type) { return !type.isVector() && !type.isBool() && type.bits <= 16; }

// The narrow number of which a comparison asks for the sign alone, if it does. Drivers make a shift of such a question.
Instruction* askedForSign(const Instruction& i) {
  const std::vector<Instruction*>& x = i.operands;
  Instruction* value = i.op == Op::SLt && isZero(*x[1]) ? x[0] : i.op == Op::SLe && isZero(*x[0]) ? x[1] : nullptr;
  if (value && value->op == Op::SExt) value = value->operands[0];
  return value && isNarrow(value->type) ? value : nullptr;
}

class Hiding {
 public:
  explicit Hiding(ir::Function& function) : function_(function), hidden_(function), replacements_(function) {}

  bool run() {
    for (const ir::Block* block : function_.blocks)
      for (Instruction* i : block->instructions)
        if (!i->type.isVector()) visit(i);
    const bool changed = hidden_.apply();
    if (changed) replacements_.apply();
    return changed;
  }

 private:
  void visit(Instruction* i) {
    std::vector<Instruction*>& x = i->operands;
    if (i->op == Op::AShr && isNarrow(i->type)) {
      ir::Builder b = hidden_.after(i);
      Instruction* wide = hidden_.hide(b, b.convert(Op::SExt, ir::I32, x[0]));
      replacements_.replace(i, b.convert(Op::Trunc, i->type, b.ashr(wide, x[1])));
    } else if (Instruction* number = askedForSign(*i)) {
      // Of a sign-extended number drivers would find that its highest bit is all that matters.
      ir::Builder b = hidden_.after(i);
      Instruction* bits = hidden_.hide(b, b.convert(Op::ZExt, ir::I32, number));
      Instruction* largest = b.i32((1U << (number->type.bits - 1)) - 1);
      replacements_.replace(i,
                            i->op == Op::SLt ? b.compare(Op::ULt, largest, bits) : b.compare(Op::ULe, bits, largest));
    } else {
      for (size_t n = 0; n < x.size(); ++n)
        if (shifts(*i, n) && mayBeExtended(*x[n], Op::SExt)) x[n] = hidden_.hide(x[n]);
    }
  }

  ir::Function& function_;
  HiddenValues hidden_;
  Replacements replacements_;
};

}  // namespace

bool hideShiftedExtensions(ir::Function& function) { return Hiding(function).run(); }

bool ShiftedExtensions::run(ir::Function& function, PassContext& context) {
  return context.profile.shiftsBeyondNarrow && hideShiftedExtensions(function);
}

}  // namespace mulciber::passes
