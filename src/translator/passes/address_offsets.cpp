#include "translator/passes/address_offsets.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "translator/analyses/address_parts.h"
#include "translator/analyses/integer_ranges.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr int deepest = 12;

class Gatherer {
 public:
  explicit Gatherer(ir::Function& function) : function_(function) {}

  bool run() {
    bool changed = false;
    for (ir::Block* block : function_.blocks) {
      const std::vector<Instruction*> original = std::exchange(block->instructions, {});
      ir::Builder b(function_, block);
      for (Instruction* instruction : original) {
        if (ir::hasAddress(instruction->op) && instruction->memory.space == ir::Space::Global)
          changed |= gather(b, *instruction);
        block->instructions.push_back(instruction);
      }
    }
    return changed;
  }

 private:
  // A constant that is already last stays there.
  bool gather(ir::Builder& b, Instruction& access) {
    const auto [address, offset] = analyses::splitAddress(access.operands[0]);
    if (!address) return false;
    const uint64_t inside = offsetIn(*address, 0);
    if (inside == 0) return false;
    b.setSource(access.source);
    Instruction* base = without(b, address);
    access.operands[0] = b.add(base, b.i64(offset + inside));
    return true;
  }

  // The sum of the constants in the value that can be brought to its end.
  uint64_t offsetIn(const Instruction& value, int depth) {
    if (value.type != ir::I64) return 0;
    if (auto found = offsets_.find(&value); found != offsets_.end()) return found->second;
    return offsets_[&value] = depth > deepest ? 0 : findOffset(value, depth + 1);
  }

  uint64_t findOffset(const Instruction& value, int depth) {
    const auto& x = value.operands;
    auto of = [&](size_t i) { return x[i]->isConstant() ? x[i]->payload : offsetIn(*x[i], depth); };
    switch (value.op) {
      case Op::Add: return of(0) + of(1);
      case Op::Sub: return of(0) - of(1);
      case Op::Mul: return x[1]->isConstant() ? offsetIn(*x[0], depth) * x[1]->payload : 0;
      case Op::Shl: return x[1]->isConstant() && x[1]->payload < 64 ? offsetIn(*x[0], depth) << x[1]->payload : 0;
      case Op::SExt:
      case Op::ZExt: return offsetInExtended(value);
      default: return 0;
    }
  }

  uint64_t offsetInExtended(const Instruction& extension) {
    const Instruction& sum = *extension.operands[0];
    if (sum.type != ir::I32 || sum.op != Op::Add || !sum.operands[1]->isConstant()) return 0;
    const uint64_t constant = sum.operands[1]->payload;
    if (extension.op == Op::ZExt) return ranges_.addsUnsigned(sum.operands[0], constant) ? constant : 0;
    if (!ranges_.addsSigned(sum.operands[0], constant)) return 0;
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(constant)});
  }

  // The value less its offset. Equal ones are united later.
  Instruction* without(ir::Builder& b, Instruction* value) {
    if (value->isConstant()) return b.i64(0);
    if (offsetIn(*value, 0) == 0) return value;
    const auto& x = value->operands;
    if (value->op == Op::SExt || value->op == Op::ZExt) return b.convert(value->op, ir::I64, x[0]->operands[0]);
    Instruction* first = without(b, x[0]);
    if (value->op == Op::Mul || value->op == Op::Shl) return b.binary(value->op, first, x[1]);
    return x[1]->isConstant() ? first : b.binary(value->op, first, without(b, x[1]));
  }

  ir::Function& function_;
  analyses::IntegerRanges ranges_;
  std::unordered_map<const Instruction*, uint64_t> offsets_;
};

}  // namespace

bool gatherAddressOffsets(ir::Function& function) { return Gatherer(function).run(); }

bool AddressOffsets::run(ir::Function& function, PassContext&) { return gatherAddressOffsets(function); }

}  // namespace mulciber::passes
