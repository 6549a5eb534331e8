// The generator of random programs and what makes failing ones small. The programs themselves run as `random_programs`.
#include <gtest/gtest.h>

#include <functional>

#include "random_ptx/runner/shrinker.h"
#include "random_ptx/runner/verdict.h"
#include "random_ptx/runner/worker.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::random_ptx {
namespace {

// What every node may lose is lost with a probability of one in `one`.
Edits randomEdits(const Program& program, Random& random, unsigned one) {
  Edits edits;
  const std::function<void(const Node&)> visit = [&](const Node& node) {
    if (node.isRemovable && random.below(one) == 0) edits.removed.insert(node.id);
    else if (node.isUnwrappable && random.below(one) == 0) edits.unwrapped.insert(node.id);
    else if (!node.simpler.empty() && random.below(one) == 0) edits.simplified.insert(node.id);
    for (const Node& child : node.children) visit(child);
  };
  for (const Routine& routine : program.routines) visit(routine.body);
  return edits;
}

TEST(RandomPtx, OneSeedGivesOneProgram) {
  EXPECT_EQ(makeProgram(7).text(), makeProgram(7).text());
  EXPECT_NE(makeProgram(7).text(), makeProgram(8).text());
  EXPECT_EQ(makeBuffers(makeProgram(7)).inputs, makeBuffers(makeProgram(7)).inputs);
}

TEST(RandomPtx, ProgramsAreOfTheKindThatIsAskedFor) {
  for (const Kind kind : {Kind::General, Kind::MultiplyAdds}) {
    const Program program = makeProgram(7, {.kind = kind});
    EXPECT_EQ(program.kind, kind);
    const std::string text = program.text();
    const auto again = readProgram(firstLine(program) + "\n" + text);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->kind, kind);
    EXPECT_EQ(makeBuffers(*again).inputs, makeBuffers(program).inputs);
    EXPECT_EQ(again->results.size(), program.results.size());
  }
}

// A multiply-add that is rounded twice is what these programs are there to find.
TEST(RandomPtx, ProgramsShowProductsThatAreRounded) {
  unsigned shown = 0, all = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Program program = makeProgram(seed, {.kind = Kind::MultiplyAdds});
    Buffers right = makeBuffers(program), wrong = right;
    const std::string text = program.text();
    std::string changed = text;
    const size_t at = text.find("fma.rn.f32 %w");
    if (at == std::string::npos) continue;
    const std::string operands = text.substr(at + 11, text.find(';', at) - at - 11);
    const size_t second = operands.find(", ") + 2, last = operands.rfind(", ") + 2;
    const std::string to = operands.substr(0, second - 2), z = operands.substr(last);
    changed.replace(at, operands.size() + 12,
                    cat("{\n.reg .f32 %product;\nmul.rn.f32 %product, ", operands.substr(second, last - second - 2),
                        ";\nadd.rn.f32 ", to, ", %product, ", z, ";\n}\n"));
    ASSERT_EQ(interpret(program, text, right), "") << seed;
    ASSERT_EQ(interpret(program, changed, wrong), "") << seed;
    ++all;
    shown += right.results != wrong.results;
  }
  EXPECT_GE(shown * 5, all) << shown << " of " << all;
}

TEST(RandomPtx, ProgramsAreValid) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = makeProgram(seed).text();
    Diagnostics diagnostics;
    const auto parsed = ptx::parse(text, "random.ptx", diagnostics);
    ASSERT_TRUE(parsed) << seed << ": " << diagnostics.toString();
    EXPECT_TRUE(ptx::verify(parsed->module, parsed->source, diagnostics)) << seed << ": " << diagnostics.toString();
  }
}

// Races, undefined behaviour and endless loops are what the interpreter names.
TEST(RandomPtx, ProgramsHaveDefinedResultsWhateverIsTakenOut) {
  Random random(1);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Program program = makeProgram(seed);
    if (seed % 2) program.apply(randomEdits(program, random, 2 + random.below(6)));
    Buffers buffers = makeBuffers(program);
    EXPECT_EQ(interpret(program, program.text(), buffers), "") << seed;
  }
}

TEST(RandomPtx, ShrinkingLeavesWhatMatters) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Program program = makeProgram(seed);
    const auto fails = [&](const Edits& edits) {
      Program smaller = program;
      smaller.apply(edits);
      return smaller.text().find("bra L") != std::string::npos;
    };
    if (!fails({})) continue;
    const Edits edits = shrink(program, fails);
    ASSERT_TRUE(fails(edits));
    // Nothing more can be taken out.
    const std::function<void(const Node&)> visit = [&](const Node& node) {
      if (edits.removed.contains(node.id)) return;
      Edits more = edits;
      more.removed.insert(node.id);
      EXPECT_FALSE(node.isRemovable && fails(more)) << seed << ": node " << node.id;
      for (const Node& child : node.children) visit(child);
    };
    for (const Routine& routine : program.routines) visit(routine.body);
    EXPECT_EQ(textOf(editsFrom(textOf(edits))), textOf(edits));
  }
}

}  // namespace
}  // namespace mulciber::random_ptx
