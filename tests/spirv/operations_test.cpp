// Every IR operation with every type it takes, for targets with and without each optional feature, must give a module
// that the validator accepts.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "support/operations.h"
#include "translator/ir/builder.h"
#include "translator/spirv/spirv.h"
#include "translator/spirv/validation.h"

namespace mulciber {
namespace {

using namespace ir;
using test::operationsOf;

TargetProfile plainProfile() {
  TargetProfile profile;
  profile.name = "plain";
  profile.float16 = profile.float64 = true;  // without these, 16- and 64-bit floats are refused: see Refuses
  profile.atomicInt64 = true;
  profile.shaderSubgroupClock = profile.shaderDeviceClock = true;
  return profile;
}

TargetProfile fullProfile() {
  TargetProfile p = plainProfile();
  p.name = "full";
  p.int8 = p.int16 = p.storage8 = p.storage16 = true;
  p.sharedExplicitLayout = p.sharedExplicitLayout8 = p.sharedExplicitLayout16 = true;
  p.atomicSharedInt64 = p.atomicFloat32Add = p.atomicSharedFloat32Add = true;
  p.atomicFloat64Add = p.atomicSharedFloat64Add = p.atomicFloat16Add = p.atomicFloat16Vector = true;
  p.maximalReconvergence = p.integerDotProduct = true;
  return p;
}

// Can load and store narrow integers, but not compute with them.
TargetProfile storageProfile() {
  TargetProfile p = fullProfile();
  p.name = "storage";
  p.int8 = p.int16 = false;
  return p;
}

// A kernel of one block around `body`; what it returns is kept alive by a store.
struct OneBlock {
  Program program;
  Function* function;
  Builder b;

  OneBlock() : function(makeFunction(program)), b(*function, function->addBlock()) {}
  static Function* makeFunction(Program& program) {
    program.kernel = "k";
    program.parameterBytes = 64;
    program.sharedBytes = 256;
    program.functions.push_back(std::make_unique<Function>());
    Function* result = program.functions.front().get();
    result->isKernel = result->isStructured = result->isSsa = true;
    result->localBytes = 64;
    return result;
  }

  Instruction* unknown(Type type) {  // a value that nobody can fold
    if (type.isBool()) return b.compare(Op::INe, unknown(I32), b.i32(0));
    MemoryAccess access;
    access.alignment = static_cast<uint8_t>(std::min(type.totalBits() / 8, 16u));
    return b.load(type, address(), access);
  }
  Instruction* address() {
    MemoryAccess access;
    access.space = Space::Param;
    access.alignment = 8;
    return b.load(I64, b.i32(0), access);
  }
  void keep(Instruction* value) {
    if (value->type.isVoid()) return;
    if (value->type.isBool()) value = b.convert(Op::ZExt, I32, value);
    MemoryAccess access;
    access.alignment = static_cast<uint8_t>(std::min(value->type.totalBits() / 8, 16u));
    b.store(address(), value, access);
  }
};

void expectValid(const std::string& what, const std::function<void(OneBlock&)>& body,
                 const std::vector<TargetProfile>& profiles = {plainProfile(), storageProfile(), fullProfile()}) {
  for (const TargetProfile& profile : profiles) {
    OneBlock kernel;
    body(kernel);
    kernel.b.ret();
    kernel.function->computePredecessors();
    spirv::Refusal refusal;
    auto words = spirv::emit(kernel.program, profile, {}, refusal);
    ASSERT_TRUE(words) << what << " for " << profile.name << ": " << refusal.reason;
    std::string problem = spirv::validate(*words);
    EXPECT_EQ(problem, "") << what << " for " << profile.name << "\n" << spirv::disassemble(*words);
    if (::testing::Test::HasFailure()) return;
  }
}

const Type integers[] = {I8, I16, I32, I64};
const Type floats[] = {F16, F32, F64};

std::string describe(Op op, Type type) { return std::string(mnemonic(op)) + " " + toString(type); }

// Those of the test Bits.
bool isOfBits(Op op) {
  constexpr Op bits[] = {Op::PopCount,    Op::BitReverse, Op::FindMsbU, Op::FindMsbS, Op::FindLsb, Op::BitExtractU,
                         Op::BitExtractS, Op::BitInsert,  Op::DotU8,    Op::DotS8,    Op::DotSU8};
  return std::ranges::find(bits, op) != std::end(bits);
}

TEST(SpirvOperations, IntegerArithmetic) {
  for (Op op : operationsOf({Family::Integer})) {
    if (isOfBits(op)) continue;
    bool isShift = op == Op::Shl || op == Op::LShr || op == Op::AShr;
    bool isUnary = op == Op::Neg || op == Op::Not;
    for (Type type : {I8, I16, I32, I64, Bool, I16.withLanes(2), I32.withLanes(4)}) {
      bool isLogical = op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Not;
      if (type.isBool() && !isLogical) continue;
      expectValid(describe(op, type), [&](OneBlock& k) {
        Instruction* a = k.unknown(type);
        if (isUnary) return k.keep(k.b.unary(op, a));
        k.keep(k.b.emit(op, type, {a, isShift ? k.unknown(I32) : k.unknown(type)}));
      });
    }
  }
}

TEST(SpirvOperations, Bits) {
  for (Type type : integers) {
    for (Op op : {Op::PopCount, Op::FindMsbU, Op::FindMsbS, Op::FindLsb})
      expectValid(describe(op, type), [&](OneBlock& k) { k.keep(k.b.emit(op, I32, {k.unknown(type)})); });
    expectValid(describe(Op::BitReverse, type),
                [&](OneBlock& k) { k.keep(k.b.unary(Op::BitReverse, k.unknown(type))); });
    for (Op op : {Op::BitExtractU, Op::BitExtractS})
      expectValid(describe(op, type), [&](OneBlock& k) {
        k.keep(k.b.emit(op, type, {k.unknown(type), k.unknown(I32), k.unknown(I32)}));
      });
    expectValid(describe(Op::BitInsert, type), [&](OneBlock& k) {
      k.keep(k.b.emit(Op::BitInsert, type, {k.unknown(type), k.unknown(type), k.unknown(I32), k.unknown(I32)}));
    });
  }
  for (Op op : {Op::DotU8, Op::DotS8, Op::DotSU8})
    expectValid(describe(op, I32), [&](OneBlock& k) { k.keep(k.b.binary(op, k.unknown(I32), k.unknown(I32))); });
}

TEST(SpirvOperations, ComparisonsAndSelect) {
  for (Op op : operationsOf({Family::IntegerComparison})) {
    for (Type type : {I8, I16, I32, I64, Bool}) {
      if (type.isBool() && op != Op::IEq && op != Op::INe) continue;
      expectValid(describe(op, type), [&](OneBlock& k) { k.keep(k.b.compare(op, k.unknown(type), k.unknown(type))); });
    }
  }
  for (Op op : operationsOf({Family::FloatComparison, Family::FloatClass})) {
    for (Type type : floats)
      expectValid(describe(op, type), [&](OneBlock& k) {
        if (family(op) == Family::FloatClass) return k.keep(k.b.emit(op, Bool, {k.unknown(type)}));
        k.keep(k.b.compare(op, k.unknown(type), k.unknown(type)));
      });
  }
  for (Type type : {Bool, I8, I16, I32, I64, F16, F32, F64, F32.withLanes(4), F32.withLanes(8), I64x2})
    expectValid(describe(Op::Select, type),
                [&](OneBlock& k) { k.keep(k.b.select(k.unknown(Bool), k.unknown(type), k.unknown(type))); });
}

TEST(SpirvOperations, Floats) {
  for (Op op : operationsOf({Family::FloatArithmetic, Family::FloatFunction, Family::FloatRounding})) {
    for (Type type : {F16, F32, F64, F16.withLanes(2)}) {
      if (type.bits == 64 && family(op) == Family::FloatFunction && op != Op::FRsqrt) continue;
      expectValid(describe(op, type), [&](OneBlock& k) {
        Instruction* a = k.unknown(type);
        if (operandCount(op) == 3) return k.keep(k.b.emit(op, type, {a, k.unknown(type), k.unknown(type)}));
        if (operandCount(op) == 2) return k.keep(k.b.emit(op, type, {a, k.unknown(type)}));
        k.keep(k.b.emit(op, type, {a}));
      });
    }
  }
}

TEST(SpirvOperations, Conversions) {
  auto check = [](Op op, Type from, Type to) {
    expectValid(describe(op, from) + " to " + toString(to),
                [&](OneBlock& k) { k.keep(k.b.convert(op, to, k.unknown(from))); });
  };
  for (Type from : integers) {
    for (Type to : integers) {
      if (to.bits > from.bits) check(Op::ZExt, from, to), check(Op::SExt, from, to);
      if (to.bits < from.bits) check(Op::Trunc, from, to);
    }
    for (Type to : floats)
      check(Op::UToF, from, to), check(Op::SToF, from, to), check(Op::FToU, to, from), check(Op::FToS, to, from);
    check(Op::ZExt, Bool, from);
    check(Op::SExt, Bool, from);
    check(Op::Trunc, from, Bool);
  }
  for (Type from : floats)
    for (Type to : floats)
      if (from != to) check(Op::FConvert, from, to);
}

TEST(SpirvOperations, Bitcasts) {
  const Type types[] = {I8,
                        I16,
                        I32,
                        I64,
                        F16,
                        F32,
                        F64,
                        I8.withLanes(2),
                        I8.withLanes(4),
                        I16.withLanes(2),
                        I16.withLanes(4),
                        I32.withLanes(2),
                        I32.withLanes(4),
                        I64x2,
                        F16.withLanes(2),
                        F16.withLanes(4),
                        F32.withLanes(2),
                        F32.withLanes(4),
                        F64.withLanes(2)};
  for (Type from : types)
    for (Type to : types)
      if (from.totalBits() == to.totalBits())
        expectValid(describe(Op::Bitcast, from) + " to " + toString(to),
                    [&](OneBlock& k) { k.keep(k.b.bitcast(to, k.unknown(from))); });
}

TEST(SpirvOperations, Vectors) {
  for (Type scalar : {I8, I16, I32, I64, F16, F32, F64}) {
    for (uint8_t lanes : {2, 3, 4, 8}) {
      if (lanes == 3 && scalar.bits < 32) continue;
      Type type = scalar.withLanes(lanes);
      expectValid(describe(Op::VecBuild, type), [&](OneBlock& k) {
        std::vector<Instruction*> parts;
        for (unsigned i = 0; i < lanes; ++i) parts.push_back(k.unknown(scalar));
        Instruction* vector = k.b.vector(parts);
        k.keep(k.b.emit(Op::VecInsert, type, {vector, parts[0]}, lanes - 1u));
        k.keep(k.b.extract(vector, lanes - 1u));
      });
    }
  }
}

TEST(SpirvOperations, LoadsAndStores) {
  for (Space space : {Space::Global, Space::Shared, Space::Local, Space::Param, Space::Generic}) {
    for (Type scalar : {I8, I16, I32, I64, F16, F32, F64}) {
      for (uint8_t lanes : {1, 2, 4, 8}) {
        Type type = scalar.withLanes(lanes);
        if (type.totalBits() > 256) continue;
        for (unsigned alignment : {scalar.bits / 8u, type.totalBits() / 8u}) {
          for (bool isConstant : {false, true}) {
            MemoryAccess access;
            access.space = space;
            access.alignment = static_cast<uint8_t>(std::min(alignment, 16u));
            expectValid("access " + toString(type) + " in space " + std::to_string(int(space)), [&](OneBlock& k) {
              k.program.hasGenericShared = k.program.hasGenericLocal = k.program.hasGenericParam =
                  space == Space::Generic;
              bool isWide = space == Space::Global || space == Space::Generic;
              Instruction* address = isWide       ? k.address()
                                     : isConstant ? k.b.i32(32)
                                                  : k.b.add(k.unknown(I32), k.b.i32(32));
              k.keep(k.b.load(type, address, access));
              if (space != Space::Param) k.b.store(address, k.unknown(type), access);
            });
          }
        }
      }
    }
  }
}

TEST(SpirvOperations, StrongLoadsAndStores) {
  for (Order order : {Order::Weak, Order::Relaxed, Order::Acquire, Order::Release, Order::SequentiallyConsistent}) {
    for (Scope scope : {Scope::Warp, Scope::Block, Scope::Device, Scope::System}) {
      for (Space space : {Space::Global, Space::Shared, Space::Generic}) {
        for (Type type : {I8, I16, I32, I64, F32, F64, I32.withLanes(4), F32.withLanes(2)}) {
          MemoryAccess access;
          access.space = space;
          access.order = order;
          access.scope = scope;
          access.isVolatile = order == Order::Weak;
          access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
          expectValid("strong access " + toString(type), [&](OneBlock& k) {
            k.program.hasGenericShared = true;
            Instruction* address = space == Space::Shared ? k.unknown(I32) : k.address();
            if (order != Order::Release) k.keep(k.b.load(type, address, access));
            if (order != Order::Acquire) k.b.store(address, k.unknown(type), access);
          });
        }
      }
    }
  }
}

TEST(SpirvOperations, Atomics) {
  for (Op op : operationsOf({Family::Atomic})) {
    bool isFloat = op == Op::AtomicFAdd || op == Op::AtomicFMin || op == Op::AtomicFMax;
    std::vector<Type> types =
        isFloat ? std::vector<Type>{F16, F32, F64, F16.withLanes(2)} : std::vector<Type>{I8, I16, I32, I64};
    for (Space space : {Space::Global, Space::Shared, Space::Generic}) {
      for (Type type : types) {
        for (Order order : {Order::Relaxed, Order::AcquireRelease}) {
          if ((op == Op::AtomicInc || op == Op::AtomicDec) && type.bits < 32) continue;
          MemoryAccess access;
          access.space = space;
          access.order = order;
          access.scope = Scope::Device;
          access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
          // 64 bits in shared memory need a feature that the plain target lacks.
          TargetProfile profile = type.totalBits() == 64 && space != Space::Global ? fullProfile() : plainProfile();
          for (const TargetProfile& target : {profile, fullProfile()}) {
            OneBlock k;
            k.program.hasGenericShared = space == Space::Generic;
            Instruction* address = space == Space::Shared ? k.unknown(I32) : k.address();
            Instruction *value = k.unknown(type), *desired = k.unknown(type);
            Instruction* atomic = op == Op::AtomicCas ? k.b.emit(op, type, {address, value, desired})
                                                      : k.b.emit(op, type, {address, value});
            atomic->memory = access;
            k.keep(atomic);
            k.b.ret();
            spirv::Refusal refusal;
            auto words = spirv::emit(k.program, target, {}, refusal);
            ASSERT_TRUE(words) << describe(op, type) << ": " << refusal.reason;
            ASSERT_EQ(spirv::validate(*words), "") << describe(op, type) << "\n" << spirv::disassemble(*words);
          }
        }
      }
    }
  }
}

TEST(SpirvOperations, BetweenThreads) {
  for (Op op : {Op::Barrier, Op::WarpBarrier})
    expectValid(describe(op, Void), [&](OneBlock& k) { k.b.emit(op, Void, {}); });
  for (Order order : {Order::Acquire, Order::Release, Order::AcquireRelease, Order::SequentiallyConsistent}) {
    for (Scope scope : {Scope::Warp, Scope::Block, Scope::Device, Scope::System})
      expectValid("fence", [&](OneBlock& k) {
        Instruction* fence = k.b.emit(Op::Fence, Void, {});
        fence->memory.order = order;
        fence->memory.scope = scope;
      });
  }
  for (Type type : {I8, I16, I32, I64, F16, F32, F64})
    expectValid(describe(Op::Shuffle, type), [&](OneBlock& k) {
      k.keep(k.b.emit(Op::Shuffle, type, {k.unknown(type), k.unknown(I32)}));
    });
  expectValid("ballot", [](OneBlock& k) { k.keep(k.b.emit(Op::Ballot, I32, {k.unknown(Bool)})); });
  for (Op op : {Op::VoteAll, Op::VoteAny})
    expectValid(describe(op, Bool), [&](OneBlock& k) { k.keep(k.b.emit(op, Bool, {k.unknown(Bool)})); });
  expectValid("elect", [](OneBlock& k) { k.keep(k.b.emit(Op::Elect, Bool, {})); });
  for (Op op : {Op::ClockSubgroup, Op::ClockDevice})
    expectValid(describe(op, I64), [&](OneBlock& k) { k.keep(k.b.emit(op, I64, {})); });
}

TEST(SpirvOperations, ProductsOfMatrices) {
  for (auto [matrices, sum] : {std::pair{MatrixType::Halves, F32},
                               {MatrixType::Halves, F16},
                               {MatrixType::SignedBytes, I32},
                               {MatrixType::UnsignedBytes, I32}}) {
    const Type sums = sum.withLanes(4);
    auto body = [sums, kind = static_cast<uint64_t>(matrices)](OneBlock& k) {
      k.keep(k.b.emit(Op::MatrixProduct, sums,
                      {k.unknown(I32.withLanes(4)), k.unknown(I32.withLanes(2)), k.unknown(sums)}, kind));
    };
    expectValid(describe(Op::MatrixProduct, sums), body, {fullProfile()});
  }
}

TEST(SpirvOperations, Inputs) {
  for (auto kind = InputKind::LocalIndex; kind <= InputKind::ThreadIdZ; kind = InputKind(int(kind) + 1))
    expectValid("input " + std::to_string(int(kind)), [&](OneBlock& k) { k.keep(k.b.input(kind)); });
}

TEST(SpirvOperations, StorageImages) {
  using abi::ImageShape;
  for (const ImageShape shape :
       {ImageShape::Line, ImageShape::Plane, ImageShape::Volume, ImageShape::Lines, ImageShape::Planes})
    for (const Order order : {Order::Weak, Order::Relaxed})
      for (Op op : operationsOf({Family::StorageImage})) {
        const bool isWhole = op == Op::ImageRead || op == Op::ImageWrite;
        const Type texel = isWhole ? I32.withLanes(4) : I32;
        expectValid(describe(op, texel), [&](OneBlock& k) {
          std::vector<Instruction*> operands;
          for (unsigned i = 0; i <= coordinateCount(shape); ++i) operands.push_back(k.unknown(I32));
          if (op != Op::ImageRead) operands.push_back(k.unknown(texel));
          Instruction* made = k.b.emit(op, op == Op::ImageWrite ? Void : texel, {}, static_cast<uint64_t>(shape));
          made->operands = operands;
          made->memory.order = order;
          made->memory.scope = Scope::Device;
          k.keep(made);
          k.b.emit(Op::Barrier, Void, {});
        });
      }
}

TEST(SpirvOperations, ParametersThatDoNotFitPushConstants) {
  expectValid("large parameters", [](OneBlock& k) {
    k.program.parameterBytes = 4000;
    for (Type type : {I8, I16, I32, I64, F32, F64}) {
      MemoryAccess access;
      access.space = Space::Param;
      access.alignment = static_cast<uint8_t>(type.bits / 8);
      k.keep(k.b.load(type, k.b.i32(2048), access));
      k.keep(k.b.load(type, k.unknown(I32), access));
    }
  });
}

// Drivers reassociate what is not decorated, also where PTX lets them fuse only.
std::string textOf(const std::function<void(OneBlock&)>& body) {
  OneBlock kernel;
  body(kernel);
  kernel.b.ret();
  kernel.function->computePredecessors();
  spirv::Refusal refusal;
  auto words = spirv::emit(kernel.program, plainProfile(), {}, refusal);
  EXPECT_TRUE(words) << refusal.reason;
  return words ? spirv::disassemble(*words) : "";
}

TEST(SpirvOperations, DriversMayNotReassociate) {
  const std::string text = textOf([](OneBlock& k) {
    k.keep(k.b.floating(Op::FAdd, {}, {k.unknown(F64), k.unknown(F64)}));
  });
  EXPECT_NE(text.find("NoContraction"), std::string::npos);
}

// NVIDIA's driver moves them otherwise.
TEST(SpirvOperations, StrongAccessesOfSharedMemoryStayInPlace) {
  const auto barriers = [](Space space, Order order, bool isVolatile) {
    const std::string text = textOf([&](OneBlock& k) {
      MemoryAccess access;
      access.space = space;
      access.order = order;
      access.isVolatile = isVolatile;
      access.alignment = 4;
      Instruction* address = space == Space::Shared ? k.unknown(I32) : k.address();
      k.keep(k.b.load(I32, address, access));
      k.b.store(address, k.unknown(I32), access);
    });
    size_t count = 0;
    for (size_t at = 0; (at = text.find("OpMemoryBarrier %uint_3", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(barriers(Space::Shared, Order::Weak, true), 2u);
  EXPECT_EQ(barriers(Space::Shared, Order::Relaxed, false), 2u);
  EXPECT_EQ(barriers(Space::Shared, Order::Weak, false), 0u);
  EXPECT_EQ(barriers(Space::Global, Order::Weak, true), 0u);
}

// NVIDIA's driver changes other words too: tests/random_ptx/cases/half_store_in_loop.ptx.
TEST(SpirvOperations, HalvesOfWordsAreReplacedWithoutBitFields) {
  const std::string text = textOf([](OneBlock& k) {
    MemoryAccess access;
    access.space = Space::Local;
    access.alignment = 2;
    k.b.store(k.b.i32(34), k.unknown(I16), access);
    k.keep(k.b.emit(Op::BitInsert, I32, {k.unknown(I32), k.unknown(I32), k.b.i32(16), k.b.i32(16)}));
  });
  EXPECT_EQ(text.find("OpBitFieldInsert"), std::string::npos) << text;
}

TEST(SpirvOperations, RefusesWhatTheDeviceLacks) {
  struct Case {
    const char* reason;
    std::function<void(TargetProfile&)> remove;
    std::function<void(OneBlock&)> body;
  };
  const Case cases[] = {
      {"the device has no 64-bit floats", [](TargetProfile& p) { p.float64 = false; },
       [](OneBlock& k) { k.keep(k.b.unary(Op::FNeg, k.unknown(F64))); }},
      {"the device has no 16-bit floats", [](TargetProfile& p) { p.float16 = false; },
       [](OneBlock& k) { k.keep(k.b.unary(Op::FNeg, k.unknown(F16))); }},
      {"the device has no 64-bit atomics", [](TargetProfile& p) { p.atomicInt64 = false; },
       [](OneBlock& k) {
         k.keep(k.b.emit(Op::AtomicAdd, I64, {k.address(), k.unknown(I64)}));
       }},
      {"the device has no clock that shaders can read", [](TargetProfile& p) { p.shaderDeviceClock = false; },
       [](OneBlock& k) { k.keep(k.b.emit(Op::ClockDevice, I64, {})); }},
  };
  for (const Case& c : cases) {
    TargetProfile profile = plainProfile();
    c.remove(profile);
    OneBlock kernel;
    c.body(kernel);
    kernel.b.ret();
    spirv::Refusal refusal;
    EXPECT_FALSE(spirv::emit(kernel.program, profile, {}, refusal));
    EXPECT_EQ(refusal.reason, c.reason);
  }
}

}  // namespace
}  // namespace mulciber
