#include "translator/passes/structurize.h"

#include <algorithm>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/ir/builder.h"

namespace mulciber {
namespace {

std::string structured(std::string_view text) { return test::runPass(text, passes::structurize); }

TEST(Structurize, AnEarlyExitJoinsTheRestAtTheEnd) {
  EXPECT_EQ(structured(R"(kernel @k {
  var v0 bool
b0:
  %0 = read bool v0
  br %0, b2, b1
b1:
  fence [block]
  br b2
b2:
  ret
})"),
            R"(kernel @k structured {
  var v0 bool
b0:
  %0 = read bool v0
  merge b2
  br %0, b2, b1
b1:
  fence [block]
  br b2
b2:
  ret
}
)");
}

TEST(Structurize, ALoopGetsAHeaderAContinueTargetAndAMergeBlock) {
  EXPECT_EQ(structured(R"(kernel @k {
  var v0 bool
b0:
  br b1
b1 "LOOP":
  nounroll
  %0 = read bool v0
  br %0, b1, b2
b2:
  ret
})"),
            R"(kernel @k structured {
  var v0 bool
b0:
  br b1
b1:
  loop b6 continue b5 nounroll
  br b2
b2 "LOOP":
  %0 = read bool v0
  merge b4
  br %0, b4, b3
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
}
)");
}

TEST(Structurize, AnInfiniteLoopHasAnUnreachableMergeBlock) {
  EXPECT_EQ(structured("kernel @k { b0: br b1 b1: fence [block] br b1 }"),
            R"(kernel @k structured {
b0:
  br b1
b1:
  loop b4 continue b3
  br b2
b2:
  fence [block]
  br b3
b3:
  br b1
b4:
  unreachable
}
)");
}

TEST(Structurize, TwoEntriesOfALoopMeetInADispatchBlock) {
  std::string text = structured(R"(kernel @k {
  var v0 bool
b0:
  %0 = read bool v0
  br %0, b1, b2
b1:
  br b2
b2:
  %1 = read bool v0
  br %1, b1, b3
b3:
  ret
})");
  EXPECT_NE(text.find("var v1 bool"), std::string::npos) << text;
}

// if (a && b) x; else y; z, where y is what `otherwise` says.
std::string shortCircuit(const std::string& otherwise) {
  return structured(R"(kernel @k {
  var v0 bool
  var v1 bool
b0:
  %0 = read bool v0
  br %0, b1, b3
b1:
  %1 = read bool v1
  br %1, b2, b3
b2:
  fence [warp]
  br b4
b3:
)" + otherwise + R"(
  br b4
b4:
  fence [device]
  ret
})");
}

size_t occurrences(const std::string& text, const char* part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Structurize, ASmallSharedElseSideIsCopied) {
  std::string text = shortCircuit("  fence [block]");
  EXPECT_EQ(text.find("var v2"), std::string::npos) << text;
  EXPECT_EQ(occurrences(text, "fence [block]"), 2u) << text;
  EXPECT_EQ(occurrences(text, "fence [device]"), 1u) << text;
}

TEST(Structurize, AFlagSkipsALargeSharedElseSide) {
  std::string text =
      shortCircuit("  fence [block]\n  fence [block]\n  fence [block]\n  fence [block]\n  fence [block]");
  EXPECT_NE(text.find("var v2 bool"), std::string::npos) << text;
  EXPECT_EQ(text.find("var v3"), std::string::npos) << text;
  EXPECT_EQ(occurrences(text, "fence [block]"), 5u) << text;
}

TEST(Structurize, ASharedElseSideWithAWarpOperationIsNotCopied) {
  std::string text = shortCircuit("  %2 = read bool v1\n  %3 = vote.any bool %2\n  write v1, %3");
  EXPECT_EQ(occurrences(text, "vote.any"), 1u) << text;
}

TEST(Structurize, OnlyCountingLoopsOfOneBlockAreLeftToUnroll) {
  auto isUnrollable = [](const char* body) {
    std::string text = structured(std::string("kernel @k {\n  var v0 bool\n  var v1 i32\nb0:\n  br b1\nb1:\n") + body +
                                  "\nb3:\n  ret\n}");
    return text.find("nounroll") == std::string::npos;
  };
  const char* count = "  %1 = read i32 v1\n  %2 = const i32 9\n  %3 = lt.s bool %1, %2\n";
  EXPECT_TRUE(isUnrollable((std::string(count) + "  br %3, b1, b3").c_str()));
  EXPECT_TRUE(isUnrollable((std::string(count) + "  write v0, %3\n  %4 = read bool v0\n  br %4, b1, b3").c_str()));
  EXPECT_FALSE(isUnrollable("  %1 = read bool v0\n  br %1, b1, b3"));  // what it is comes from another block
  EXPECT_FALSE(isUnrollable((std::string(count) + "  br %3, b2, b3\nb2:\n  %5 = read i32 v1\n  %6 = const i32 9\n"
                                                  "  %7 = lt.s bool %5, %6\n  br %7, b1, b3")
                                .c_str()));
}

TEST(Structurize, ASwitchAroundAVoteBecomesAChain) {
  auto text = [](const char* operation) {
    return structured(std::string(R"(kernel @k {
  var v0 i32
  var v1 bool
b0:
  %0 = read i32 v0
  switch %0, b3 [0: b1, 1: b2, 5: b1]
b1:
  %1 = read bool v1
  )") + operation + R"(
  write v1, %2
  br b3
b2:
  fence [block]
  br b3
b3:
  ret
})");
  };
  EXPECT_EQ(text("%2 = vote.any bool %1").find("switch"), std::string::npos);
  EXPECT_NE(text("%2 = not bool %1").find("switch"), std::string::npos);
}

size_t deepestNesting(const ir::Function& function) {
  size_t deepest = 0;
  std::vector<const ir::Block*> open;
  for (const ir::Block* block : function.blocks) {
    while (!open.empty() && open.back()->merge.merge == block) open.pop_back();
    if (block->merge.kind != ir::Merge::Kind::None) open.push_back(block);
    deepest = std::max(deepest, open.size());
  }
  return deepest;
}

// A chain of `length` tests, each of which may leave to one of `exits` blocks.
std::unique_ptr<ir::Function> guardChain(uint32_t length, uint32_t exits) {
  auto function = std::make_unique<ir::Function>();
  function->name = "chain";
  ir::VariableId x = function->addVariable(ir::I32);
  std::vector<ir::Block*> tests, leave;
  for (uint32_t i = 0; i <= length; ++i) tests.push_back(function->addBlock());
  for (uint32_t i = 0; i < exits; ++i) leave.push_back(function->addBlock());
  ir::Block* end = function->addBlock();
  ir::Builder b(*function, tests[0]);
  b.write(x, b.mul(b.input(ir::InputKind::LocalIndex), b.i32(length / 4)));
  for (uint32_t i = 0; i < length; ++i) {
    b.setBlock(tests[i]);
    b.store(b.i64(i), b.i32(i), {});
    b.branch(b.compare(ir::Op::IEq, b.read(x), b.i32(i)), leave[i % exits], tests[i + 1]);
  }
  b.setBlock(tests[length]);
  b.branch(end);
  for (uint32_t i = 0; i < exits; ++i) {
    b.setBlock(leave[i]);
    b.store(b.i64(length + i), b.i32(i), {});
    b.branch(end);
  }
  b.setBlock(end);
  b.ret();
  return function;
}

TEST(Structurize, LongChainsDoNotNestDeeply) {
  for (uint32_t exits : {1u, 5u}) {
    auto function = guardChain(4000, exits);
    std::vector<test::LaneResult> expected;
    for (uint32_t lane = 0; lane < 6; ++lane) expected.push_back(test::runLane(*function, lane, 100000));
    passes::structurize(*function);
    ASSERT_EQ(ir::verify(*function), "");
    EXPECT_LT(deepestNesting(*function), 300u);
    for (uint32_t lane = 0; lane < 6; ++lane) {
      test::LaneResult actual = test::runLane(*function, lane, 100000);
      EXPECT_EQ(actual.error, "");
      EXPECT_EQ(actual.stores, expected[lane].stores) << lane;
    }
  }
}

}  // namespace
}  // namespace mulciber
