#include "translator/analyses/integer_ranges.h"

#include <algorithm>
#include <bit>

namespace mulciber::analyses {
namespace {

using ir::InputKind;
using ir::Instruction;
using ir::Op;

constexpr int deepest = 16;

uint64_t most(ir::Type type) {
  if (type.isBool()) return 1;
  return type.bits >= 64 ? UINT64_MAX : (uint64_t{1} << type.bits) - 1;
}

// What CUDA allows a launch to have.
uint64_t boundOfInput(InputKind kind) {
  switch (kind) {
    case InputKind::LocalIndex:
    case InputKind::ThreadIdX:
    case InputKind::ThreadIdY: return 1023;
    case InputKind::ThreadIdZ: return 63;
    case InputKind::SubgroupId: return 1023;
    case InputKind::BlockDimX:
    case InputKind::BlockDimY: return 1024;
    case InputKind::BlockDimZ: return 64;
    case InputKind::BlockIdX: return INT32_MAX - 1;
    case InputKind::BlockIdY:
    case InputKind::BlockIdZ: return 65534;
    case InputKind::GridDimX: return INT32_MAX;
    case InputKind::GridDimY:
    case InputKind::GridDimZ: return 65535;
    default: return UINT64_MAX;
  }
}

}  // namespace

uint64_t IntegerRanges::largest(const Instruction* value) { return boundOf(value, 0); }

bool IntegerRanges::addsUnsigned(const Instruction* value, uint64_t constant) {
  return largest(value) <= most(value->type) - constant;
}

bool IntegerRanges::addsSigned(const Instruction* value, uint64_t constant) {
  const uint64_t largestSigned = most(value->type) >> 1, bound = largest(value);
  if (bound > largestSigned) return false;
  return constant > largestSigned || bound + constant <= largestSigned;  // a negative one cannot lead too far down
}

uint64_t IntegerRanges::boundOf(const Instruction* operand, int depth) {
  if (operand->isConstant()) return operand->payload;
  if (operand->type.isVector()) return UINT64_MAX;
  if (auto found = known_.find(operand); found != known_.end()) return found->second;
  const uint64_t all = most(operand->type);
  return known_[operand] = depth > deepest ? all : std::min(bound(*operand, depth + 1), all);
}

uint64_t IntegerRanges::bound(const Instruction& value, int depth) {
  const auto& x = value.operands;
  auto of = [&](size_t i) { return boundOf(x[i], depth); };
  uint64_t result = 0;
  switch (value.op) {
    case Op::Input: return boundOfInput(static_cast<InputKind>(value.payload));
    case Op::And: return std::min(of(0), of(1));
    case Op::Or:
    case Op::Xor: {
      const uint64_t either = of(0) | of(1);
      return either == 0 ? 0 : UINT64_MAX >> std::countl_zero(either);
    }
    case Op::Add:
      return __builtin_add_overflow(of(0), of(1), &result) || result > most(value.type) ? UINT64_MAX : result;
    case Op::Mul:
      return __builtin_mul_overflow(of(0), of(1), &result) || result > most(value.type) ? UINT64_MAX : result;
    case Op::Shl: {
      if (!x[1]->isConstant() || x[1]->payload >= value.type.bits) return UINT64_MAX;
      const uint64_t before = of(0);
      return before > most(value.type) >> x[1]->payload ? UINT64_MAX : before << x[1]->payload;
    }
    case Op::LShr: return x[1]->isConstant() && x[1]->payload < 64 ? of(0) >> x[1]->payload : of(0);
    case Op::UDiv: return x[1]->isConstant() && x[1]->payload != 0 ? of(0) / x[1]->payload : UINT64_MAX;
    case Op::URem: return x[1]->isConstant() && x[1]->payload != 0 ? std::min(of(0), x[1]->payload - 1) : UINT64_MAX;
    case Op::UMin: return std::min(of(0), of(1));
    case Op::UMax: return std::max(of(0), of(1));
    case Op::Select: return std::max(of(1), of(2));
    case Op::ZExt: return of(0);
    case Op::SExt: return x[0]->type.isBool() || of(0) > most(x[0]->type) >> 1 ? UINT64_MAX : of(0);
    case Op::Trunc: return of(0) <= most(value.type) ? of(0) : UINT64_MAX;
    default: return UINT64_MAX;
  }
}

}  // namespace mulciber::analyses
