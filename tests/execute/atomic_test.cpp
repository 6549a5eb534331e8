// Atomic operations, native and emulated, with many threads on few addresses.
#include <algorithm>

#include "execute/execute_test.h"

namespace mulciber::test {
namespace {

using namespace ir;

class AtomicTest : public ExecuteTest {
 protected:
  static constexpr uint32_t threads = 256, slots = 3;

  template <class T>
  struct Operation {
    Op op;
    T initial;
    T (*fold)(T, T);
  };

  // For each operation, thread i does it on slot i % 3 with operand i.
  template <class T>
  void check(Type type, const std::vector<Operation<T>>& operations) {
    for (const TargetProfile& profile : profiles()) {
      for (Space space : {Space::Global, Space::Shared, Space::Generic}) {
        bool isRefused = type.bits == 64 && !profile.sharedExplicitLayout && space != Space::Global;
        if (!isRefused && (space != Space::Generic || type.bits == 32)) checkIn(profile, space, type, operations);
      }
    }
  }

  template <class T>
  void checkIn(const TargetProfile& profile, Space space, Type type, const std::vector<Operation<T>>& operations) {
    auto count = static_cast<uint32_t>(operations.size()) * slots;
    Buffer out(*device, count * sizeof(T));
    for (uint32_t i = 0; i < count; ++i) out.as<T>()[i] = operations[i / slots].initial;

    IrKernel k;
    k.program.sharedBytes = count * sizeof(T);
    k.program.hasGenericShared = true;
    Instruction* index = k.b.input(InputKind::ThreadIdX);
    Instruction* isCopier = k.b.compare(Op::ULt, index, k.b.i32(count));
    Instruction* cell = k.b.select(isCopier, index, k.b.i32(0));
    Instruction* outside = k.element(k.parameter(I64, 0), cell, type);
    Instruction* inside = k.b.mul(cell, k.b.i32(sizeof(T)));
    if (space != Space::Global) {
      k.b.store(inside, k.b.load(type, outside, k.access(Space::Global, type)), k.access(Space::Shared, type));
      k.b.emit(Op::Barrier, Void, {});
    }
    Instruction* value = type.bits == 64   ? k.b.convert(Op::ZExt, I64, index)
                         : type.bits == 32 ? index
                                           : k.b.convert(Op::Trunc, type.asInt(), index);
    if (type.isFloat()) value = k.b.convert(Op::UToF, type, index);
    Instruction* slot = k.b.binary(Op::URem, index, k.b.i32(slots));
    for (uint32_t i = 0; i < operations.size(); ++i) {
      Instruction* at = k.b.add(slot, k.b.i32(i * slots));
      Instruction* shared = k.b.mul(at, k.b.i32(sizeof(T)));
      Instruction* address = space == Space::Global ? k.element(k.parameter(I64, 0), at, type)
                             : space == Space::Shared
                                 ? shared
                                 : k.b.bitOr(k.b.convert(Op::ZExt, I64, shared), k.b.i64(abi::sharedWindow));
      Instruction* atomic = k.b.emit(operations[i].op, type, {address, value});
      atomic->memory = k.access(space, type);
      atomic->memory.order = Order::Relaxed;
      atomic->memory.scope = Scope::Device;
    }
    if (space != Space::Global) {
      k.b.emit(Op::Barrier, Void, {});
      k.b.store(outside, k.b.load(type, inside, k.access(Space::Shared, type)), k.access(Space::Global, type));
    }
    Launch launch;
    launch.block[0] = threads;
    launch.add(out.address());
    run(k.emit(profile), launch);
    for (uint32_t i = 0; i < count; ++i) {
      const Operation<T>& operation = operations[i / slots];
      T expected = operation.initial;
      for (uint32_t thread = i % slots; thread < threads; thread += slots)
        expected = operation.fold(expected, static_cast<T>(thread));
      ASSERT_EQ(out.as<T>()[i], expected)
          << mnemonic(operation.op) << " " << toString(type) << " in space " << int(space) << " for " << profile.name;
    }
  }

  template <class T>
  void checkIntegers(Type type) {
    using S = std::make_signed_t<T>;
    check<T>(type,
             {{Op::AtomicAdd, T{7}, [](T a, T b) { return static_cast<T>(a + b); }},
              {Op::AtomicSub, T{7}, [](T a, T b) { return static_cast<T>(a - b); }},
              {Op::AtomicAnd, static_cast<T>(~T{0}), [](T a, T b) { return static_cast<T>(a & b); }},
              {Op::AtomicOr, T{0}, [](T a, T b) { return static_cast<T>(a | b); }},
              {Op::AtomicXor, T{0}, [](T a, T b) { return static_cast<T>(a ^ b); }},
              {Op::AtomicUMin, static_cast<T>(~T{0}), [](T a, T b) { return std::min(a, b); }},
              {Op::AtomicUMax, T{3}, [](T a, T b) { return std::max(a, b); }},
              {Op::AtomicSMin, T{3}, [](T a, T b) { return static_cast<T>(std::min(S(a), S(b))); }},
              {Op::AtomicSMax, static_cast<T>(~T{0}), [](T a, T b) { return static_cast<T>(std::max(S(a), S(b))); }}});
  }
};

TEST_F(AtomicTest, Integers) {
  checkIntegers<uint8_t>(I8);
  checkIntegers<uint16_t>(I16);
  checkIntegers<uint32_t>(I32);
  checkIntegers<uint64_t>(I64);
}

TEST_F(AtomicTest, Floats) {
  check<float>(F32, {{Op::AtomicFAdd, 0.5f, [](float a, float b) { return a + b; }},
                     {Op::AtomicFMin, 9.0f, [](float a, float b) { return std::min(a, b); }},
                     {Op::AtomicFMax, 9.0f, [](float a, float b) { return std::max(a, b); }}});
  check<double>(F64, {{Op::AtomicFAdd, 0.5, [](double a, double b) { return a + b; }},
                      {Op::AtomicFMax, 9.0, [](double a, double b) { return std::max(a, b); }}});
}

// Sums of halves round once, keep denormals and give the canonical NaN, whatever stands in the other half.
TEST_F(AtomicTest, PairsOfHalves) {
  struct Sum {
    uint32_t old, added, expected;
  };
  const Sum sums[] = {
      {0x00003C00, 0x80003C00, 0x00004000},  // 1 + 1; 0 + -0
      {0x80000001, 0x80000001, 0x80000002},  // denormals; -0 + -0
      {0x6BFF6800, 0x3C003800, 0x6C006800},  // 4095 + 1, rounded; 2048 + 0.5, a tie
      {0x7BFF7E01, 0x7BFF8000, 0x7C007FFF},  // a NaN; the largest number twice
      {0x7C003C01, 0xFC009000, 0x7FFF3C00},  // 1 + 2^-10 - 2^-11, a tie; infinities
  };
  for (const TargetProfile& profile : profiles()) {
    for (Space space : {Space::Global, Space::Shared, Space::Generic}) {
      for (const Sum& sum : sums) {
        Buffer out(*device, 8);
        *out.as<uint32_t>() = sum.old;
        IrKernel k;
        k.program.sharedBytes = 4;
        k.program.hasGenericShared = true;
        Instruction* outside = k.parameter(I64, 0);
        Instruction* address = space == Space::Global   ? outside
                               : space == Space::Shared ? k.b.i32(0)
                                                        : k.b.i64(abi::sharedWindow);
        if (space != Space::Global)
          k.b.store(k.b.i32(0), k.b.load(I32, outside, k.access(Space::Global, I32)), k.access(Space::Shared, I32));
        const Type pair = F16.withLanes(2);
        Instruction* added = k.b.bitcast(pair, k.b.i32(sum.added));
        Instruction* atomic = k.b.emit(Op::AtomicFAdd, pair, {address, added});
        atomic->memory = k.access(space, pair);
        atomic->memory.alignment = 4;
        atomic->memory.order = Order::Relaxed;
        atomic->memory.scope = Scope::Device;
        k.b.store(k.element(outside, k.b.i32(1), I32), k.b.bitcast(I32, atomic), k.access(Space::Global, I32));
        if (space != Space::Global)
          k.b.store(outside, k.b.load(I32, k.b.i32(0), k.access(Space::Shared, I32)), k.access(Space::Global, I32));
        Launch launch;
        launch.block[0] = 1;
        launch.add(out.address());
        run(k.emit(profile), launch);
        EXPECT_EQ(out.as<uint32_t>()[0], sum.expected) << std::hex << sum.old << " in space " << int(space);
        EXPECT_EQ(out.as<uint32_t>()[1], sum.old) << std::hex << "in space " << int(space);
      }
    }
  }
}

// Every thread adds one with wrap-around at 9: the order does not matter.
TEST_F(AtomicTest, IncrementAndDecrementWrap) {
  for (const TargetProfile& profile : profiles()) {
    for (Op op : {Op::AtomicInc, Op::AtomicDec}) {
      Buffer out(*device, 4);
      IrKernel k;
      Instruction* atomic = k.b.emit(op, I32, {k.parameter(I64, 0), k.b.i32(9)});
      atomic->memory = k.access(Space::Global, I32);
      atomic->memory.order = Order::Relaxed;
      atomic->memory.scope = Scope::Device;
      Launch launch;
      launch.block[0] = 123;
      launch.add(out.address());
      run(k.emit(profile), launch);
      EXPECT_EQ(*out.as<uint32_t>(), op == Op::AtomicInc ? 3u : 7u) << profile.name;
    }
  }
}

// A lock made of compare-and-swap would hang if it did not work; counting the winners is enough.
TEST_F(AtomicTest, ExactlyOneThreadWinsACompareAndSwap) {
  for (const TargetProfile& profile : profiles()) {
    for (Type type : {I8, I16, I32, I64}) {
      Buffer out(*device, 16);
      IrKernel k;
      Instruction* at = k.parameter(I64, 0);
      Instruction* index = k.b.input(InputKind::ThreadIdX);
      Instruction* mine = k.b.add(k.b.bitAnd(index, k.b.i32(63)), k.b.i32(1));
      Instruction* desired = type.bits == 64   ? k.b.convert(Op::ZExt, I64, mine)
                             : type.bits == 32 ? mine
                                               : k.b.convert(Op::Trunc, type, mine);
      Instruction* cas = k.b.emit(Op::AtomicCas, type, {at, k.b.constant(type, 0), desired});
      cas->memory = k.access(Space::Global, type);
      cas->memory.order = Order::AcquireRelease;
      cas->memory.scope = Scope::Device;
      Instruction* won = k.b.convert(Op::ZExt, I32, k.b.compare(Op::IEq, cas, k.b.constant(type, 0)));
      Instruction* count = k.b.emit(Op::AtomicAdd, I32, {k.b.add(at, k.b.i64(8)), won});
      count->memory = k.access(Space::Global, I32);
      Launch launch;
      launch.block[0] = 64;
      launch.grid[0] = 4;
      launch.add(out.address());
      run(k.emit(profile), launch);
      EXPECT_EQ(out.as<uint32_t>()[2], 1u) << toString(type) << " for " << profile.name;
      EXPECT_NE(out.as<uint64_t>()[0] & 0xFF, 0u);
    }
  }
}

}  // namespace
}  // namespace mulciber::test
