// Random control flow, and recursion, through the pipeline and on the device, compared with the interpreter of IR.
// MULCIBER_FUZZ_COUNT sets how many kernels.
#include <cstdlib>

#include "execute/execute_test.h"
#include "support/fibonacci.h"
#include "support/ir_interpreter.h"
#include "support/random_function.h"
#include "support/run_pass.h"
#include "translator/passes/pipeline.h"

namespace mulciber::test {
namespace {

using namespace ir;

constexpr uint32_t lanes = 64;

uint32_t mix(uint32_t trace, uint64_t address, uint64_t value) {
  return trace * 0x9E37'79B1 + static_cast<uint32_t>(value) + static_cast<uint32_t>(address);
}

// Makes each store of the kernel part of a number, which the kernel leaves in its place of the array it is given.
void traceStores(Function& function) {
  VariableId trace = function.addVariable(I32, "trace");
  for (Block* block : function.blocks) {
    std::vector<Instruction*> original = std::move(block->instructions);
    block->instructions.clear();
    Builder b(function, block);
    if (block == function.blocks.front()) b.write(trace, b.i32(0));
    for (Instruction* instruction : original) {
      if (instruction->op != Op::Store) {
        block->instructions.push_back(instruction);
        continue;
      }
      Instruction* place = b.convert(Op::Trunc, I32, instruction->operands[0]);
      Instruction* scaled = b.mul(b.read(trace), b.i32(0x9E37'79B1));
      b.write(trace, b.add(b.add(scaled, instruction->operands[1]), place));
    }
    if (block->terminator.kind != Terminator::Kind::Return) continue;
    MemoryAccess parameter, result;
    parameter.space = Space::Param;
    parameter.alignment = 8;
    result.alignment = 4;
    Instruction* index = b.convert(Op::ZExt, I64, b.input(InputKind::LocalIndex));
    Instruction* out = b.load(I64, b.i32(0), parameter);
    b.store(b.add(out, b.mul(index, b.i64(4))), b.read(trace), result);
  }
}

class ControlFlowTest : public ExecuteTest {
 protected:
  void expectAsInterpreted(Program& program) {
    Function& kernel = *program.functions[0];
    std::vector<uint32_t> expected;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      LaneResult result = runLane(kernel, lane, 100'000);
      ASSERT_EQ(result.error, "");
      ASSERT_TRUE(result.finished);
      uint32_t trace = 0;
      for (const StoreEvent& event : result.stores) trace = mix(trace, event.address, event.value);
      expected.push_back(trace);
    }
    traceStores(kernel);
    std::vector<uint32_t> words = translated(program);
    Buffer out(*device, lanes * 4);
    Launch launch;
    launch.block[0] = lanes;
    run(words, launch.add(out.address()));
    for (uint32_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(out.as<uint32_t>()[lane], expected[lane]) << "lane " << lane << "\n" << spirv::disassemble(words);
  }

  // A kernel whose one parameter is an address, through the pipeline.
  std::vector<uint32_t> translated(Program& program) {
    program.parameterBytes = 8;
    TargetProfile profile = device->profile();
    TranslateOptions options;
    options.validate = true;
    passes::PassContext context{profile, options, program};
    EXPECT_EQ(passes::runPipeline(context), "");
    spirv::Refusal refusal;
    auto words = spirv::emit(program, profile, options, refusal);
    if (!words) skipIfDeviceLacks(refusal.reason);
    EXPECT_TRUE(words) << refusal.reason;
    return words.value_or(std::vector<uint32_t>{});
  }
};

TEST_F(ControlFlowTest, RandomGraphs) {
  const char* text = std::getenv("MULCIBER_FUZZ_COUNT");
  uint64_t count = text ? std::strtoull(text, nullptr, 10) : 20;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    RandomFunctionOptions options;
    options.blocks = static_cast<unsigned>(4 + random() % 24);
    options.constantBranches = seed % 4 == 0;
    options.warpBarriers = seed % 2 == 0;
    Program program;
    program.kernel = "random";
    program.functions.push_back(randomFunction(random, options));
    expectAsInterpreted(program);
    if (HasFatalFailure()) return;
  }
}

TEST_F(ControlFlowTest, RecursionLang31) {
  auto program = parseIr(fibonacci);
  ASSERT_TRUE(program);
  expectAsInterpreted(*program);
}

// Lanes of one warp fight for a lock: the kernel must come to an end, and no addition may be lost.
TEST_F(ControlFlowTest, ALockBetweenLanes) {
  auto program = parseIr(R"(kernel @k {
  var v0 i64 "lock"
b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
  write v0, %1
  br b1
b1:
  %2 = read i64 v0
  %3 = const i32 0
  %4 = const i32 1
  %5 = atomic.cas i32 %2, %3, %4 [global acquire device align 4]
  %6 = ne bool %5, %3
  br %6, b1, b2
b2:
  %7 = read i64 v0
  %8 = const i64 4
  %9 = add i64 %7, %8
  %10 = load i32 %9 [global volatile relaxed device align 4]
  %11 = const i32 1
  %12 = add i32 %10, %11
  store %9, %12 [global volatile relaxed device align 4]
  %13 = const i32 0
  %14 = atomic.exchange i32 %7, %13 [global release device align 4]
  ret
})");
  ASSERT_TRUE(program);
  Buffer memory(*device, 8);
  Launch launch;
  launch.block[0] = lanes;
  launch.grid[0] = 4;
  run(translated(*program), launch.add(memory.address()));
  EXPECT_EQ(memory.as<uint32_t>()[1], 4 * lanes);
}

}  // namespace
}  // namespace mulciber::test
