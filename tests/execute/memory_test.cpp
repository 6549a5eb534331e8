// Accesses of every width and alignment in every address space, against bytes kept on the host.
#include <algorithm>
#include <random>

#include "execute/execute_test.h"

namespace mulciber::test {
namespace {

using namespace ir;

class MemoryTest : public ExecuteTest {
 protected:
  static constexpr uint32_t threads = 64;

  // Each thread takes bytes of its own from device memory, stores them as one type, reads them back as another.
  void copyThrough(const TargetProfile& profile, Space space, Type stored, Type loaded, bool isConstantOffset) {
    const uint32_t bytes = std::max({16u, stored.totalBits() / 8, loaded.totalBits() / 8});
    Buffer in(*device, threads * bytes), out(*device, threads * bytes);
    std::mt19937 random(stored.totalBits());
    for (uint32_t i = 0; i < threads * bytes; ++i) in.as<uint8_t>()[i] = static_cast<uint8_t>(random());

    IrKernel k;
    k.program.sharedBytes = threads * bytes;
    k.function->localBytes = 2 * bytes;
    Instruction* index = k.b.input(InputKind::ThreadIdX);
    Instruction* mine = k.b.mul(index, k.b.i32(bytes));
    Instruction* wide = k.b.convert(Op::ZExt, I64, mine);
    Instruction *from = k.b.add(k.parameter(I64, 0), wide), *to = k.b.add(k.parameter(I64, 8), wide);
    Instruction* base = space == Space::Shared ? mine : k.b.mul(k.b.bitAnd(index, k.b.i32(1)), k.b.i32(bytes));
    auto address = [&](uint32_t at) { return isConstantOffset ? k.b.i32(bytes + at) : k.b.add(base, k.b.i32(at)); };
    for (uint32_t at = 0; at < bytes; at += stored.totalBits() / 8) {
      Instruction* value = k.b.load(stored, k.b.add(from, k.b.i64(at)), k.access(Space::Global, stored));
      k.b.store(address(at), value, k.access(space, stored));
    }
    for (uint32_t at = 0; at < bytes; at += loaded.totalBits() / 8) {
      Instruction* value = k.b.load(loaded, address(at), k.access(space, loaded));
      k.b.store(k.b.add(to, k.b.i64(at)), value, k.access(Space::Global, loaded));
    }
    Launch launch;
    launch.block[0] = threads;
    launch.add(in.address()).add(out.address());
    run(k.emit(profile), launch);
    for (uint32_t i = 0; i < threads * bytes; ++i)
      ASSERT_EQ(out.as<uint8_t>()[i], in.as<uint8_t>()[i])
          << "byte " << i << " stored as " << toString(stored) << ", loaded as " << toString(loaded) << " in space "
          << int(space) << " for " << profile.name;
  }
};

TEST_F(MemoryTest, EveryWidthAliasesTheSameBytes) {
  for (const TargetProfile& profile : profiles()) {
    for (Space space : {Space::Shared, Space::Local}) {
      for (Type type : {I8, I16, I64, F64, I8.withLanes(4), I16.withLanes(4), I64x2, F32.withLanes(8)}) {
        bool isConstantOffset = space == Space::Local && type.bits == 16;
        copyThrough(profile, space, type, I32, isConstantOffset);
        copyThrough(profile, space, I32.withLanes(4), type, isConstantOffset);
      }
      copyThrough(profile, space, I8, I16.withLanes(2), false);
    }
  }
}

// Neighbouring bytes of one word, written by different threads at the same time.
TEST_F(MemoryTest, NarrowStoresDoNotDisturbTheirNeighbours) {
  constexpr uint32_t count = 256;
  for (const TargetProfile& profile : profiles()) {
    for (Space space : {Space::Global, Space::Shared}) {
      Buffer out(*device, count);
      IrKernel k;
      k.program.sharedBytes = count;
      Instruction* index = k.b.input(InputKind::ThreadIdX);
      Instruction* value = k.b.convert(Op::Trunc, I8, k.b.bitXor(index, k.b.i32(0x5A)));
      Instruction* slot = k.b.add(k.parameter(I64, 0), k.b.convert(Op::ZExt, I64, index));
      if (space == Space::Shared) {
        k.b.store(index, value, k.access(space, I8));
        k.b.emit(Op::Barrier, Void, {});
        value = k.b.load(I8, index, k.access(space, I8));
      }
      k.b.store(slot, value, k.access(Space::Global, I8));
      Launch launch;
      launch.block[0] = count;
      launch.add(out.address());
      run(k.emit(profile), launch);
      for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(out.as<uint8_t>()[i], (i ^ 0x5A) & 0xFF) << profile.name;
    }
  }
}

TEST_F(MemoryTest, GenericAddressesFindTheirSpace) {
  for (const TargetProfile& profile : profiles()) {
    Buffer in(*device, 4 * 64), out(*device, 4 * 64);
    for (uint32_t i = 0; i < 64; ++i) in.as<uint32_t>()[i] = 1000 + i;
    IrKernel k;
    k.program.sharedBytes = 256;
    k.function->localBytes = 16;
    k.program.hasGenericShared = k.program.hasGenericLocal = true;
    Instruction* index = k.b.input(InputKind::ThreadIdX);
    Instruction* global = k.element(k.parameter(I64, 0), index, I32);
    Instruction* offset = k.b.mul(index, k.b.i32(4));
    k.b.store(offset, k.b.add(index, k.b.i32(2000)), k.access(Space::Shared, I32));
    k.b.store(k.b.i32(8), k.b.add(index, k.b.i32(3000)), k.access(Space::Local, I32));
    Instruction* shared = k.b.bitOr(k.b.convert(Op::ZExt, I64, offset), k.b.i64(abi::sharedWindow));
    Instruction* local = k.b.i64(abi::localWindow + 8);
    Instruction* kind = k.b.binary(Op::URem, index, k.b.i32(3));
    auto is = [&](uint32_t n) { return k.b.compare(Op::IEq, kind, k.b.i32(n)); };
    Instruction* address = k.b.select(is(0), global, k.b.select(is(1), shared, local));
    Instruction* value = k.b.load(I32, address, k.access(Space::Generic, I32));
    k.b.store(address, k.b.add(value, k.b.i32(1)), k.access(Space::Generic, I32));
    Instruction* again = k.b.load(I32, address, k.access(Space::Generic, I32));
    k.b.store(k.element(k.parameter(I64, 8), index, I32), again, k.access(Space::Global, I32));
    Launch launch;
    launch.block[0] = 64;
    launch.add(in.address()).add(out.address());
    run(k.emit(profile), launch);
    for (uint32_t i = 0; i < 64; ++i)
      ASSERT_EQ(out.as<uint32_t>()[i], 1000 * (i % 3 + 1) + i + 1) << i << " for " << profile.name;
  }
}

TEST_F(MemoryTest, WordsThatALaunchCarriesBehindParametersOrTheirAddress) {
  for (const uint32_t parameterBytes : {11u, 1024u}) {
    for (const TargetProfile& profile : profiles()) {
      Buffer out(*device, 16);
      IrKernel k;
      Instruction* to = k.parameter(I64, 0);
      Instruction* last = k.parameter(I8, parameterBytes - 1);
      k.program.carriedWords = {5, 0x40490FDB};
      const uint32_t first = k.program.carriedOffset();
      const auto carried = [&](ir::Type type, uint32_t offset) {
        return k.b.load(type, k.b.i32(first + offset), k.access(Space::Param, type));
      };
      uint64_t at = 0;
      for (Instruction* value : {carried(I32, 0), carried(F32, 4), last}) {
        k.b.store(k.b.add(to, k.b.i64(at)), value, k.access(Space::Global, value->type));
        at += 4;
      }
      Launch launch;
      launch.add(out.address());
      launch.parameters.resize(parameterBytes);
      launch.parameters.back() = 77;
      launch.carriedWords = k.program.carriedWords;
      run(k.emit(profile), launch);
      EXPECT_EQ(out.as<uint32_t>()[0], 5u) << parameterBytes << profile.name;
      EXPECT_EQ(out.as<uint32_t>()[1], 0x40490FDBu) << parameterBytes << profile.name;
      EXPECT_EQ(out.as<uint8_t>()[8], 77u) << parameterBytes << profile.name;
    }
  }
}

TEST_F(MemoryTest, ParametersOfEveryWidthInPushConstantsAndInABuffer) {
  for (bool isLarge : {false, true}) {
    for (const TargetProfile& profile : profiles()) {
      Buffer out(*device, 64);
      IrKernel k;
      Instruction* to = k.parameter(I64, 0);
      uint64_t at = 0;
      auto keep = [&](Instruction* value) {
        k.b.store(k.b.add(to, k.b.i64(at)), value, k.access(Space::Global, value->type));
        at += 8;
      };
      keep(k.parameter(I8, 8));
      keep(k.parameter(I16, 10));
      keep(k.parameter(I32, 12));
      keep(k.parameter(F64, 16));
      keep(k.parameter(I32, 20));  // the upper half of the same bytes
      keep(k.parameter(I32.withLanes(2), 8));
      if (isLarge) k.program.parameterBytes = 1024;
      Launch launch;
      launch.add(out.address()).add(uint8_t{0x81}).add(uint16_t{0x8002}).add(uint32_t{0x80000003}).add(-1.5);
      launch.parameters.resize(k.program.parameterBytes);
      run(k.emit(profile), launch);
      const auto* bytes8 = out.as<uint8_t>();
      EXPECT_EQ(bytes8[0], 0x81) << profile.name;
      EXPECT_EQ(out.as<uint16_t>()[4], 0x8002) << profile.name;
      EXPECT_EQ(out.as<uint32_t>()[4], 0x80000003) << profile.name;
      EXPECT_EQ(out.as<double>()[3], -1.5) << profile.name;
      EXPECT_EQ(out.as<uint32_t>()[8], 0xBFF80000) << profile.name;
      EXPECT_EQ(out.as<uint64_t>()[5], 0x80000003'80020081ull) << profile.name;
    }
  }
}

}  // namespace
}  // namespace mulciber::test
