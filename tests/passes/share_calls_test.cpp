#include "translator/passes/share_calls.h"

#include <functional>

#include "support/ir_interpreter.h"
#include "support/random_function.h"
#include "support/run_pass.h"
#include "translator/passes/inline.h"
#include "translator/passes/pipeline.h"
#include "translator/spirv/spirv.h"
#include "translator/spirv/validation.h"

namespace mulciber {
namespace {

constexpr std::string_view before = R"(kernel @k {
  var v0 i32
  var v1 i32
b0:
  %0 = input i32 LocalIndex
  %1 = mul i32 %0, %0
  call @twice %1 returns v0
  %2 = read i32 v0
  call @twice %2 returns v1
  %3 = read i32 v1
  %4 = add i32 %3, %1
  %5 = const i64 8
  store %5, %4 [global]
  ret
}
function @twice {
  var v0 i32
  parameters v0
  returns v0
b0:
  %0 = read i32 v0
  %1 = add i32 %0, %0
  write v0, %1
  ret
}
)";

// %1 is used after both calls: it goes into a variable.
constexpr std::string_view after = R"(kernel @k {
  var v0 i32
  var v1 i32
  var v2 i32
  var v3 i32
  var v4 i32 "place"
b0:
  %0 = input i32 LocalIndex
  %1 = mul i32 %0, %0
  write v2, %1
  write v3, %1
  %2 = const i32 0
  write v4, %2
  br b4
b1:
  %3 = read i32 v0
  write v3, %3
  %4 = const i32 1
  write v4, %4
  br b4
b2:
  %5 = read i32 v2
  %6 = read i32 v1
  %7 = add i32 %6, %5
  %8 = const i64 8
  store %8, %7 [global]
  ret
b3:
  %9 = read i32 v4
  switch %9, b6 [0: b5]
b4:
  %10 = read i32 v3
  %11 = add i32 %10, %10
  write v3, %11
  br b3
b5:
  %12 = read i32 v3
  write v0, %12
  br b1
b6:
  %13 = read i32 v3
  write v1, %13
  br b2
}
)";

TEST(ShareCalls, ComeToOneBodyAndFindBack) {
  auto program = test::parseIr(before);
  EXPECT_EQ(passes::functionsToShare(*program, 100), std::vector<ir::Function*>());
  ASSERT_EQ(passes::functionsToShare(*program, 0), std::vector{program->functions[1].get()});
  passes::shareCalls(*program->functions[0], *program->functions[1]);
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  EXPECT_EQ(ir::print(*program->functions[0]), after);
}

// Programs with everything inlined, and with shared bodies, store the same.
void compare(const std::function<std::unique_ptr<ir::Program>()>& make) {
  auto called = make(), shared = make();
  TargetProfile profile;
  profile.maximalReconvergence = true;
  TranslateOptions options;
  options.validate = true;
  options.inlineLimit = 0;
  ASSERT_FALSE(passes::functionsToShare(*shared, 0).empty());
  passes::PassContext context{profile, options, *shared};
  ASSERT_EQ(passes::runPipeline(context), "");
  ASSERT_EQ(shared->functions.size(), 1u);
  for (uint32_t lane = 0; lane < 4; ++lane)
    ASSERT_EQ(test::runLane(*shared->functions[0], lane, 500).stores,
              test::runLane(*called->functions[0], lane, 500).stores);
  spirv::Refusal refusal;
  auto words = spirv::emit(*shared, profile, options, refusal);
  ASSERT_TRUE(words) << refusal.reason;
  ASSERT_EQ(spirv::validate(*words), "");
}

TEST(ShareCalls, EveryLaneDoesTheSame) {
  compare([] { return test::parseIr(before); });
}

// A kernel that calls two functions of any control flow twice, one of them from the other as well.
std::unique_ptr<ir::Program> randomProgram(uint64_t seed) {
  auto program = test::parseIr(
      "kernel @k { b0: call @f call @g call @f call @g ret } function @f { b0: ret } function @g { b0: ret }");
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<ir::Function>> bodies;
  for (const char* name : {"f", "g"}) {
    test::RandomFunctionOptions shape;
    shape.blocks = unsigned(3 + random() % 20);
    bodies.push_back(test::randomFunction(random, shape));
    bodies.back()->isKernel = false;
    bodies.back()->name = name;
  }
  for (ir::Instruction* call : program->functions[0]->blocks[0]->instructions)
    call->callee = bodies[call->callee == program->functions[2].get()].get();
  ir::Instruction* inner = bodies[0]->create(ir::Op::Call, ir::Void);
  inner->callee = bodies[1].get();
  auto& instructions = bodies[0]->blocks[random() % bodies[0]->blocks.size()]->instructions;
  instructions.insert(instructions.end(), inner);
  program->functions[1] = std::move(bodies[0]);
  program->functions[2] = std::move(bodies[1]);
  return program;
}

TEST(ShareCalls, RandomFunctionsDoTheSame) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(compare([seed] { return randomProgram(seed); }));
  }
}

size_t countOf(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Threads that go round from the second call to the first would be elsewhere than those that wait at the barrier.
TEST(ShareCalls, CallsWithABarrierBetweenThemKeepBodiesOfTheirOwn) {
  auto program = test::parseIr(
      "kernel @k { b0: call @f call @f barrier call @f call @f ret } function @f { b0: fence fence fence ret }");
  passes::shareCalls(*program->functions[0], *program->functions[1]);
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  EXPECT_EQ(countOf(ir::print(*program->functions[0]), "fence"), 6u);
  EXPECT_EQ(countOf(ir::print(*program->functions[0]), "switch"), 2u);
}

// The loop that two calls make lies inside the one whose threads meet, if they meet where its rounds end.
TEST(ShareCalls, CallsOfOneRoundShareABodyAlthoughRoundsEndWithABarrier) {
  const std::string function = " } function @f { b0: fence fence fence ret }";
  const auto bodies = [&](const std::string& round) {
    auto program =
        test::parseIr("kernel @k { b0: br b1 b1: %0 = input i32 LocalIndex %1 = const i32 7 %2 = lt.u bool %0, %1 " +
                      round + " b3: ret" + function);
    passes::shareCalls(*program->functions[0], *program->functions[1]);
    EXPECT_EQ(ir::verify(*program->functions[0]), "");
    return countOf(ir::print(*program->functions[0]), "fence") / 3;
  };
  const std::string again = "br %2, b1, b3";
  EXPECT_EQ(bodies("call @f call @f barrier " + again), 1u);
  EXPECT_EQ(bodies("barrier call @f call @f " + again), 1u);
  EXPECT_EQ(bodies("call @f barrier call @f " + again), 2u);
  // A way leads over the barrier from the calls in the loop to the one behind it.
  EXPECT_EQ(bodies("call @f call @f barrier br %2, b1, b2 b2: call @f br b3"), 2u);
  // An inner loop without a barrier is part of the round.
  EXPECT_EQ(bodies("br b2 b2: call @f call @f br %2, b2, b4 b4: call @f barrier " + again), 1u);
}

// The first two calls share a body, and then the last may share none with the third and the fourth: a way would lead
// from the barrier behind the fourth call to what follows the first, over the last to what follows the fourth, and
// back.
TEST(ShareCalls, ASharedBodyLeadsToWhatFollowsItsOtherCalls) {
  auto program = test::parseIr(
      "kernel @k { b0: %0 = input i32 LocalIndex %1 = const i32 7 %2 = lt.u bool %0, %1 br %2, b1, b3 "
      "b1: call @f barrier br b6 b2: call @f br b7 "
      "b3: br %2, b4, b5 b4: call @f br b5 b5: call @f barrier br b2 b6: call @f br b7 b7: ret } "
      "function @f { b0: fence fence fence ret }");
  passes::shareCalls(*program->functions[0], *program->functions[1]);
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  EXPECT_EQ(countOf(ir::print(*program->functions[0]), "fence"), 9u);
}

std::unique_ptr<ir::Program> callingTwice(const std::string& body) {
  return test::parseIr("kernel @k { b0: call @f call @f ret } function @f { b0: call @g call @g ret } function @g { " +
                       body + " }");
}

// A swap in a loop, which is tried again with what stands in `v0`, until it finds that.
std::string swapLoop(const std::string& afterSwap) {
  return "var v0 i32 b0: br b1 b1: %0 = const i64 8 %1 = read i32 v0 %2 = add i32 %1, %1 "
         "%3 = atomic.cas i32 %0, %1, %2 [global relaxed device align 4] " +
         afterSwap + " %4 = eq bool %3, %1 br %4, b2, b1 b2: ret";
}

TEST(ShareCalls, FunctionsInWhichThreadsMeetAreInlined) {
  for (const std::string& body :
       {std::string("b0: barrier ret"), std::string("b0: %0 = elect bool ret"),
        std::string("b0: %0 = const i64 8 %1 = load i32 %0 [global volatile] ret"),
        std::string("b0: %0 = const i64 8 %1 = const i32 0 %2 = atomic.add i32 %0, %1 [global relaxed device align 4] "
                    "store %0, %2 [global] ret"),
        std::string("var v0 i32 returns v0 b0: %0 = const i64 8 %1 = const i32 1 "
                    "%2 = atomic.exchange i32 %0, %1 [global relaxed device align 4] write v0, %2 ret"),
        swapLoop("")}) {
    auto program = callingTwice(body);
    EXPECT_TRUE(passes::functionsToShare(*program, 0).empty()) << body;
    EXPECT_EQ(passes::inlineCalls(*program, 0), "");
  }
}

// As sums and maxima of floats are made.
TEST(ShareCalls, AtomicOperationsThatWaitForNobodyShareABody) {
  for (const std::string& body :
       {std::string(
            "b0: %0 = const i64 8 %1 = const i32 0 %2 = atomic.add i32 %0, %1 [global relaxed device align 4] ret"),
        std::string("var v0 i32 b0: %0 = const i64 8 %1 = const i32 0 "
                    "%2 = atomic.exchange i32 %0, %1 [global relaxed device align 4] write v0, %2 ret"),
        swapLoop("write v0, %3")}) {
    auto program = callingTwice(body);
    EXPECT_EQ(passes::functionsToShare(*program, 0).size(), 2u) << body;
    EXPECT_EQ(passes::inlineCalls(*program, 0), "");
    EXPECT_EQ(ir::verify(*program->functions[0]), "");
    EXPECT_EQ(countOf(ir::print(*program->functions[0]), "atomic"), 1u) << body;
  }
}

// A thread that ends with an error tells the host, unless another has: it uses what the swap found, but does not wait.
TEST(ShareCalls, ReportsOfErrorsWaitForNobody) {
  auto program = callingTwice(
      "b0: %0 = input i64 LaunchState %1 = const i64 16 %2 = add i64 %0, %1 %3 = load i64 %2 [constant] "
      "%4 = const i32 0 %5 = const i32 3 %6 = atomic.cas i32 %3, %4, %5 [global relaxed system align 4] "
      "%7 = eq bool %6, %4 br %7, b1, b2 b1: store %3, %5 [global] br b2 b2: ret");
  EXPECT_EQ(passes::functionsToShare(*program, 0).size(), 2u);
}

// Each of sixty functions calls the next twice: inlined, that is more than there are bytes in the world.
TEST(ShareCalls, ChainsOfFunctionsStaySmall) {
  std::string text = "kernel @k { b0: call @f0 ret }";
  for (int i = 0; i < 60; ++i) {
    std::string next = " call @f" + std::to_string(i + 1);
    text += "function @f" + std::to_string(i) + " { b0:" + next + next + " ret }";
  }
  text += "function @f60 { b0: %0 = const i64 8 %1 = const i32 1 store %0, %1 [global] ret }";
  auto program = test::parseIr(text);
  ASSERT_EQ(passes::inlineCalls(*program, 32768), "");
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  EXPECT_LT(ir::print(*program).size(), 200'000u);
}

}  // namespace
}  // namespace mulciber
