// Integer operations on the device against the host, for every width, also where the target has to emulate the width.
#include <algorithm>
#include <bit>
#include <random>

#include "execute/execute_test.h"
#include "support/operations.h"

namespace mulciber::test {
namespace {

using namespace ir;

class IntegerTest : public ExecuteTest {};

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

struct Arguments {
  uint64_t a, b;
  uint32_t offset, count;  // of bit fields and shifts
};

int64_t signExtend(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

uint64_t reverseBits(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

uint64_t fieldMask(uint32_t count) { return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// What the IR's specification says, in 64-bit arithmetic; the caller cuts the result to its width.
uint64_t expected(Op op, unsigned bits, const Arguments& x) {
  uint64_t a = x.a, b = x.b;
  int64_t sa = signExtend(a, bits), sb = signExtend(b, bits);
  Wide product = static_cast<Wide>(a) * b;
  SignedWide signedProduct = static_cast<SignedWide>(sa) * sb;
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::MulHiU: return static_cast<uint64_t>(product >> bits);
    case Op::MulHiS: return static_cast<uint64_t>(signedProduct >> bits);
    case Op::UDiv: return a / b;
    case Op::SDiv: return static_cast<uint64_t>(sa / sb);
    case Op::URem: return a % b;
    case Op::SRem: return static_cast<uint64_t>(sa % sb);
    case Op::Neg: return 0 - a;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Not: return ~a;
    case Op::Shl: return a << x.offset;
    case Op::LShr: return a >> x.offset;
    case Op::AShr: return static_cast<uint64_t>(sa >> x.offset);
    case Op::UMin: return std::min(a, b);
    case Op::UMax: return std::max(a, b);
    case Op::SMin: return static_cast<uint64_t>(std::min(sa, sb));
    case Op::SMax: return static_cast<uint64_t>(std::max(sa, sb));
    case Op::PopCount: return static_cast<uint64_t>(std::popcount(a));
    case Op::BitReverse: return reverseBits(a, bits);
    case Op::FindMsbU: return static_cast<uint64_t>(63 - std::countl_zero(a));
    case Op::FindMsbS: return static_cast<uint64_t>(63 - std::countl_zero(static_cast<uint64_t>(sa ^ (sa >> 63))));
    case Op::FindLsb: return a == 0 ? ~uint64_t{0} : static_cast<uint64_t>(std::countr_zero(a));
    case Op::BitExtractU: return x.count == 0 ? 0 : a >> x.offset & fieldMask(x.count);
    case Op::BitExtractS:
      return x.count == 0 ? 0 : static_cast<uint64_t>(signExtend(a >> x.offset & fieldMask(x.count), x.count));
    case Op::BitInsert:
      return x.count == 0 ? a : (a & ~(fieldMask(x.count) << x.offset)) | (b & fieldMask(x.count)) << x.offset;
    case Op::IEq: return a == b;
    case Op::INe: return a != b;
    case Op::ULt: return a < b;
    case Op::ULe: return a <= b;
    case Op::SLt: return sa < sb;
    case Op::SLe: return sa <= sb;
    default: return 0;
  }
}

bool isShift(Op op) { return op == Op::Shl || op == Op::LShr || op == Op::AShr; }
bool isField(Op op) { return op == Op::BitExtractU || op == Op::BitExtractS || op == Op::BitInsert; }
bool isBitIndex(Op op) { return op == Op::PopCount || op == Op::FindMsbU || op == Op::FindMsbS || op == Op::FindLsb; }
bool isComparison(Op op) { return family(op) == Family::IntegerComparison; }

Instruction* build(IrKernel& k, Op op, Instruction* a, Instruction* b, Instruction* offset, Instruction* count) {
  if (isShift(op)) return k.b.binary(op, a, offset);
  if (op == Op::BitInsert) return k.b.emit(op, a->type, {a, b, offset, count});
  if (isField(op)) return k.b.emit(op, a->type, {a, offset, count});
  if (isBitIndex(op)) return k.b.emit(op, I32, {a});
  if (op == Op::Neg || op == Op::Not || op == Op::BitReverse) return k.b.unary(op, a);
  if (isComparison(op)) return k.b.convert(Op::ZExt, I32, k.b.compare(op, a, b));
  return k.b.binary(op, a, b);
}

std::vector<Arguments> makeArguments(unsigned bits, size_t count) {
  std::mt19937_64 random(bits);
  uint64_t mask = fieldMask(bits);
  const uint64_t special[] = {0, 1, 2, mask, mask >> 1, (mask >> 1) + 1, mask - 1, 0x55};
  std::vector<Arguments> all;
  for (uint64_t a : special)
    for (uint64_t b : special) all.push_back({a & mask, b & mask, 0, 0});
  while (all.size() < count) all.push_back({random() & mask, random() & mask >> random() % bits, 0, 0});
  for (Arguments& x : all) {
    x.offset = static_cast<uint32_t>(random() % bits);
    x.count = static_cast<uint32_t>(random() % (bits - x.offset + 1));
    // Division by zero, and of the smallest value by -1, are for lowering to deal with.
    if (x.b == 0 || x.b == mask) x.b = 3;
  }
  all[0].offset = 0, all[0].count = bits;
  return all;
}

// All operations of one width in one kernel: out[op][i] = op(a[i], b[i]).
TEST_F(IntegerTest, MatchesTheHost) {
  constexpr uint32_t count = 256;
  std::vector<Op> operations = operationsOf({Family::Integer, Family::IntegerComparison});
  std::erase_if(operations, [](Op op) { return op == Op::DotU8 || op == Op::DotS8 || op == Op::DotSU8; });  // of i32

  for (const TargetProfile& profile : profiles()) {
    for (Type type : {I8, I16, I32, I64}) {
      std::vector<Arguments> arguments = makeArguments(type.bits, count);
      Buffer inputs(*device, count * sizeof(Arguments)), outputs(*device, operations.size() * count * 8);
      std::copy(arguments.begin(), arguments.end(), inputs.as<Arguments>());

      IrKernel k;
      Instruction* index = k.globalIndex();
      Instruction* record = k.b.add(k.parameter(I64, 0), k.b.mul(k.b.convert(Op::ZExt, I64, index), k.b.i64(24)));
      auto input = [&](Type t, uint64_t at) {
        return k.b.load(t, k.b.add(record, k.b.i64(at)), k.access(Space::Global, t));
      };
      Instruction *a = input(type, 0), *b = input(type, 8), *offset = input(I32, 16), *bits = input(I32, 20);
      Instruction* out = k.parameter(I64, 8);
      for (size_t i = 0; i < operations.size(); ++i) {
        Instruction* result = build(k, operations[i], a, b, offset, bits);
        Instruction* slot = k.b.add(k.element(out, index, I64), k.b.i64(i * count * 8));
        k.b.store(slot, result, k.access(Space::Global, result->type));
      }
      Launch launch;
      launch.grid[0] = count / 64;
      launch.block[0] = 64;
      launch.add(inputs.address()).add(outputs.address());
      run(k.emit(profile), launch);

      for (size_t i = 0; i < operations.size(); ++i) {
        Op op = operations[i];
        const bool isIndex = isBitIndex(op) || isComparison(op);
        uint64_t mask = fieldMask(isIndex ? 32 : type.bits);
        for (uint32_t n = 0; n < count; ++n) {
          const Arguments& x = arguments[n];
          ASSERT_EQ(outputs.as<uint64_t>()[i * count + n] & mask, expected(op, type.bits, x) & mask)
              << mnemonic(op) << " " << toString(type) << " of " << x.a << ", " << x.b << ", " << x.offset << ", "
              << x.count << " for " << profile.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mulciber::test
