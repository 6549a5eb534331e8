// Locks between lanes of one warp, run with lanes that wait for each other at merge blocks.
#include "translator/passes/spin_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace mulciber {
namespace {

// What the lanes of a warp do, structured: all come to an end.
void runLanes(std::string_view text, test::WarpResult& result) {
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  ir::Function& kernel = *program->functions[0];
  passes::structurize(kernel);
  passes::buildSsa(kernel);
  ASSERT_EQ(ir::verify(kernel), "");
  // Devices take for part of a loop what can come back to its start, and the release has to be that.
  for (const ir::Block* block : kernel.blocks) {
    if (block->terminator.kind != ir::Terminator::Kind::Return) continue;
    for (const ir::Instruction* instruction : block->instructions)
      EXPECT_FALSE(instruction->op == ir::Op::Store || isAtomic(instruction->op)) << ir::print(kernel);
  }
  result = test::runWarp(kernel, 8, test::Reconvergence::BlockOrder);
  for (const test::LaneResult& lane : result.lanes) {
    ASSERT_EQ(lane.error, "");
    ASSERT_TRUE(lane.finished) << ir::print(kernel);
  }
}

// Every lane adds one to the number at 512 and stores it.
void expectEachLaneHasItsTurn(std::string_view text) {
  test::WarpResult result;
  ASSERT_NO_FATAL_FAILURE(runLanes(text, result));
  uint64_t sum = 0;
  for (const test::LaneResult& lane : result.lanes)
    for (const test::StoreEvent& store : lane.stores)
      if (store.address == 512) sum += store.value;
  EXPECT_EQ(sum, 1u + 2 + 3 + 4 + 5 + 6 + 7 + 8);
}

TEST(SpinLoops, ALockTakenByCompareAndSwap) {
  expectEachLaneHasItsTurn(R"(kernel @k {
  var v0 i64 "lock"
b0:
  %0 = const i64 256
  write v0, %0
  br b1
b1:
  %1 = read i64 v0
  %2 = const i32 0
  %3 = const i32 1
  %4 = atomic.cas i32 %1, %2, %3 [global relaxed device align 4]
  %5 = ne bool %4, %2
  br %5, b1, b2
b2:
  fence [seq_cst device]
  %6 = const i64 512
  %7 = atomic.add i32 %6, %2 [global align 4]
  %8 = const i32 1
  %9 = add i32 %7, %8
  store %6, %9 [global align 4]
  %10 = const i32 9
  %11 = ne bool %9, %10
  br %11, b3, b4
b3:
  %12 = read i64 v0
  %13 = const i32 0
  %14 = atomic.exchange i32 %12, %13 [global relaxed device align 4]
  br b4
b4:
  ret
})");
}

TEST(SpinLoops, AFirstTryBeforeTheLoop) {
  expectEachLaneHasItsTurn(R"(kernel @k {
  var v0 i64 "lock"
  var v1 i32 "wait"
b0:
  %0 = const i64 256
  write v0, %0
  %1 = const i32 1
  %2 = const i32 0
  %4 = read i64 v0
  %5 = atomic.exchange i32 %4, %1 [global relaxed device align 4]
  %6 = eq bool %5, %2
  br %6, b3, b1
b1:
  %7 = const i32 8
  write v1, %7
  br b2
b2:
  %8 = read i64 v0
  %9 = const i32 1
  %10 = atomic.exchange i32 %8, %9 [global relaxed device align 4]
  %11 = read i32 v1
  %12 = add i32 %11, %11
  write v1, %12
  %13 = const i32 0
  %14 = ne bool %10, %13
  br %14, b2, b3
b3:
  %15 = const i64 512
  %16 = const i32 0
  %17 = atomic.add i32 %15, %16 [global]
  %18 = const i32 1
  %19 = add i32 %17, %18
  store %15, %19 [global align 4]
  %20 = read i64 v0
  %21 = atomic.exchange i32 %20, %16 [global]
  ret
})");
}

TEST(SpinLoops, ATicketLockWithALoopInItsCriticalSection) {
  expectEachLaneHasItsTurn(R"(kernel @k {
  var v0 i64 "serving"
  var v1 i32 "ticket"
  var v2 i32 "left"
b0:
  %0 = const i64 256
  write v0, %0
  %1 = const i32 0
  %2 = atomic.add i32 %0, %1 [global]
  %3 = const i64 264
  %4 = const i32 1
  %5 = atomic.add i32 %3, %4 [global]
  write v1, %5
  %6 = const i32 3
  write v2, %6
  br b1
b1:
  %7 = read i64 v0
  %8 = load i32 %7 [global volatile align 4]
  %9 = read i32 v1
  %10 = ne bool %8, %9
  br %10, b1, b2
b2:
  %11 = read i32 v2
  %12 = const i32 1
  %13 = sub i32 %11, %12
  write v2, %13
  %14 = const i32 0
  %15 = ne bool %13, %14
  br %15, b2, b3
b3:
  %16 = const i64 512
  %17 = const i32 0
  %18 = atomic.add i32 %16, %17 [global]
  %19 = const i32 1
  %20 = add i32 %18, %19
  store %16, %20 [global align 4]
  %21 = read i64 v0
  %22 = atomic.add i32 %21, %19 [global]
  ret
})");
}

// The lanes have a turn each upwards and one each downwards.
TEST(SpinLoops, AWaitAfterAnother) {
  expectEachLaneHasItsTurn(R"(kernel @k {
  var v0 i64 "turn"
  var v1 i32 "mine"
b0:
  %0 = const i64 256
  write v0, %0
  %1 = input i32 LocalIndex
  %2 = const i32 7
  %3 = and i32 %1, %2
  write v1, %3
  %28 = const i32 0
  %29 = atomic.add i32 %0, %28 [global]
  br b1
b1:
  %4 = read i64 v0
  %5 = load i32 %4 [global volatile align 4]
  %6 = read i32 v1
  %7 = ne bool %5, %6
  br %7, b1, b2
b2:
  %8 = const i64 512
  %9 = const i32 0
  %10 = atomic.add i32 %8, %9 [global]
  %11 = const i32 1
  %12 = add i32 %10, %11
  store %8, %12 [global align 4]
  %13 = read i64 v0
  %14 = read i32 v1
  %15 = add i32 %14, %11
  %26 = atomic.exchange i32 %13, %15 [global]
  %16 = const i32 15
  %17 = sub i32 %16, %14
  write v1, %17
  br b3
b3:
  %18 = read i64 v0
  %19 = load i32 %18 [global volatile align 4]
  %20 = read i32 v1
  %21 = ne bool %19, %20
  br %21, b3, b4
b4:
  %22 = read i64 v0
  %23 = read i32 v1
  %24 = const i32 1
  %25 = add i32 %23, %24
  %27 = atomic.exchange i32 %22, %25 [global]
  ret
})");
}

enum class Release : uint8_t { Exchange, UsedExchange, Add, Store };
enum class Loop : uint8_t { Plain, AfterAFirstTry, Twice, WithItsRelease };
enum class Between : uint8_t { Nothing, Lock, Barrier };

struct TurnShape {
  const char* name = "one word";
  Release release = Release::Exchange;
  Loop loop = Loop::Plain;  // turned round, with a first try before it; again right behind; with the release inside
  Between between = Between::Nothing;  // after each turn but the last; a lock is taken and let go
  uint32_t words = 1;                  // the turns are by one after the other of these, from 256 on
};

// A kernel of lanes with some turns each, every one in a loop of its own. In its last turn a lane adds one to the
// number at 512.
class TurnKernel {
 public:
  TurnKernel(const TurnShape& shape, const std::vector<std::vector<uint32_t>>& turnsOfLane)
      : shape_(shape), turnsOfLane_(turnsOfLane) {
    // Atomic operations find a zero where nothing was stored, and plain loads do not.
    for (uint32_t word = 0; word < shape.words; ++word)
      add("atomic.add i32 %{}, %{} [global]", constant(256 + 8 * word, "i64"), constant(0));
    add("write v1, %{}", constant(0));
    const size_t count = turnsOfLane[0].size();
    for (size_t i = 0; i < count; ++i) {
      wait(i);
      if (shape.loop != Loop::WithItsRelease) letGo(i);
      if (i + 1 < count && shape.between == Between::Lock) lock();
      if (i + 1 < count && shape.between == Between::Barrier) text_ += "  warpbarrier\n";
    }
    text_ += "  ret\n}";
  }

  const std::string& text() const { return text_; }

 private:
  template <class... Args>
  int add(fmt::format_string<Args...> form, Args&&... args) {
    const std::string instruction = fmt::format(form, std::forward<Args>(args)...);
    if (instruction.starts_with("write") || instruction.starts_with("store"))
      return text_ += "  " + instruction + "\n", 0;
    text_ += fmt::format("  %{} = {}\n", values_, instruction);
    return values_++;
  }
  int constant(size_t value, const char* type = "i32") { return add("const {} {}", type, value); }
  int word(size_t turn) { return constant(256 + 8 * (turn % shape_.words), "i64"); }

  // Tries until what `isRefused` computes is false.
  template <class IsRefused>
  void spin(const IsRefused& isRefused) {
    const int loop = ++blocks_, after = ++blocks_;
    text_ += fmt::format("  br b{}\nb{}:\n", loop, loop);
    text_ += fmt::format("  br %{}, b{}, b{}\nb{}:\n", isRefused(), loop, after, after);
  }

  template <class IsRefused>
  void spinAfterAFirstTry(const IsRefused& isRefused) {
    const int loop = ++blocks_, after = ++blocks_;
    text_ += fmt::format("  br %{}, b{}, b{}\nb{}:\n", isRefused(), loop, after, loop);
    text_ += fmt::format("  br %{}, b{}, b{}\nb{}:\n", isRefused(), loop, after, after);
  }

  template <class IsRefused>
  void spinTwice(const IsRefused& isRefused) {
    spin(isRefused);
    const int loop = blocks_, after = ++blocks_;
    text_ += fmt::format("  br %{}, b{}, b{}\nb{}:\n", isRefused(), loop, after, after);
  }

  template <class IsRefused>
  void spinWithRelease(const IsRefused& isRefused, size_t turn) {
    const int loop = ++blocks_, release = ++blocks_, end = ++blocks_, after = ++blocks_;
    text_ += fmt::format("  br b{}\nb{}:\n", loop, loop);
    const int refused = isRefused();
    text_ += fmt::format("  write v2, %{}\n  br %{}, b{}, b{}\nb{}:\n", refused, refused, end, release, release);
    letGo(turn);
    text_ += fmt::format("  br b{}\nb{}:\n", end, end);
    text_ += fmt::format("  br %{}, b{}, b{}\nb{}:\n", add("read bool v2"), loop, after, after);
  }

  void wait(size_t turn) {
    const int lane = add("input i32 LocalIndex");
    int mine = constant(turnsOfLane_[0][turn]);
    for (size_t other = 1; other < turnsOfLane_.size(); ++other) {
      const int isIt = add("eq bool %{}, %{}", lane, constant(other));
      mine = add("select i32 %{}, %{}, %{}", isIt, constant(turnsOfLane_[other][turn]), mine);
    }
    add("write v0, %{}", add("add i32 %{}, %{}", mine, add("read i32 v1")));
    const auto isRefused = [&] {
      const int now = add("load i32 %{} [global volatile align 4]", word(turn));
      return add("ne bool %{}, %{}", now, add("read i32 v0"));
    };
    switch (shape_.loop) {
      case Loop::Plain: spin(isRefused); break;
      case Loop::AfterAFirstTry: spinAfterAFirstTry(isRefused); break;
      case Loop::Twice: spinTwice(isRefused); break;
      case Loop::WithItsRelease: spinWithRelease(isRefused, turn); break;
    }
  }

  void addOne() {
    const int number = constant(512, "i64"), zero = constant(0);
    const int before = add("atomic.add i32 %{}, %{} [global]", number, zero);
    add("store %{}, %{} [global align 4]", number, add("add i32 %{}, %{}", before, constant(1)));
  }

  void letGo(size_t turn) {
    if (turn + 1 == turnsOfLane_[0].size()) addOne();
    const int at = word(turn), mine = add("read i32 v0"), one = constant(1), next = add("add i32 %{}, %{}", mine, one);
    switch (shape_.release) {
      case Release::Exchange: add("atomic.exchange i32 %{}, %{} [global]", at, next); break;
      case Release::UsedExchange: {
        const int found = add("atomic.exchange i32 %{}, %{} [global]", at, next);
        add("write v1, %{}", add("sub i32 %{}, %{}", found, mine));
        break;
      }
      case Release::Add: add("atomic.add i32 %{}, %{} [global]", at, one); break;
      case Release::Store: add("store %{}, %{} [global volatile align 4]", at, next); break;
    }
  }

  void lock() {
    const auto isRefused = [&] {
      const int at = constant(1024, "i64"), zero = constant(0), one = constant(1);
      return add("ne bool %{}, %{}", add("atomic.cas i32 %{}, %{}, %{} [global]", at, zero, one), zero);
    };
    spin(isRefused);
    const int at = constant(1024, "i64");
    add("atomic.exchange i32 %{}, %{} [global]", at, constant(0));
  }

  TurnShape shape_;
  const std::vector<std::vector<uint32_t>>& turnsOfLane_;
  std::string text_ = "kernel @k {\n  var v0 i32 \"mine\"\n  var v1 i32 \"nothing\"\n  var v2 bool\nb0:\n";
  int values_ = 0, blocks_ = 0;
};

// First all lanes have one turn before any has the next, then each has all of its own at once; the others are random.
void expectTurnsInOrders(const TurnShape& shape, uint32_t count, uint32_t orders) {
  std::mt19937 random(1);
  for (uint32_t order = 0; order < orders; ++order) {
    std::vector<uint32_t> lanes;
    for (uint32_t i = 0; i < 8 * count; ++i) lanes.push_back(order == 1 ? i / count : i % 8);
    if (order > 1) std::ranges::shuffle(lanes, random);
    std::vector<std::vector<uint32_t>> turns(8);
    std::vector<uint32_t> next(shape.words);
    for (const uint32_t lane : lanes) turns[lane].push_back(next[turns[lane].size() % shape.words]++);
    SCOPED_TRACE(fmt::format("{}: {} turns, order {}", shape.name, count, order));
    ASSERT_NO_FATAL_FAILURE(expectEachLaneHasItsTurn(TurnKernel(shape, turns).text()));
  }
}

TEST(SpinLoops, TwoTurnsInAnyOrder) { expectTurnsInOrders({}, 2, 100); }

TEST(SpinLoops, ManyTurnsInAnyOrder) {
  for (uint32_t count = 3; count <= 8; ++count) ASSERT_NO_FATAL_FAILURE(expectTurnsInOrders({}, count, 20));
}

TEST(SpinLoops, TurnsOfOtherShapesInAnyOrder) {
  constexpr TurnShape shapes[] = {
      {.name = "what the exchange found is used", .release = Release::UsedExchange},
      {.name = "additions", .release = Release::Add},
      {.name = "stores", .release = Release::Store},
      {.name = "first tries", .loop = Loop::AfterAFirstTry},
      {.name = "first tries, what the exchange found is used",
       .release = Release::UsedExchange,
       .loop = Loop::AfterAFirstTry},
      {.name = "first tries, stores", .release = Release::Store, .loop = Loop::AfterAFirstTry},
      {.name = "each loop twice", .loop = Loop::Twice},
      {.name = "releases inside, stores", .release = Release::Store, .loop = Loop::WithItsRelease},
      {.name = "releases inside, additions", .release = Release::Add, .loop = Loop::WithItsRelease},
      {.name = "locks", .between = Between::Lock},
      {.name = "two words", .words = 2},
      {.name = "three words, stores", .release = Release::Store, .words = 3},
      {.name = "three words, locks", .between = Between::Lock, .words = 3},
      {.name = "all",
       .release = Release::UsedExchange,
       .loop = Loop::AfterAFirstTry,
       .between = Between::Lock,
       .words = 3},
  };
  for (const TurnShape& shape : shapes)
    for (uint32_t count = 2; count <= 8; ++count) ASSERT_NO_FATAL_FAILURE(expectTurnsInOrders(shape, count, 10));
}

// Lanes that are at a barrier have all had one turn, and none the next.
TEST(SpinLoops, TurnsWithBarriersBetween) {
  for (uint32_t count = 2; count <= 8; ++count)
    ASSERT_NO_FATAL_FAILURE(expectTurnsInOrders({.name = "barriers", .between = Between::Barrier}, count, 1));
}

// A lane leaves in each round, with an arrival for which the others wait: it must not come after all rounds.
void expectLanesToLeave(std::string_view first, std::string_view afterWait) {
  const std::string text = fmt::format(R"(kernel @k {{
  var v0 i32 "round"
  var v1 i32 "lane"
b0:
  %0 = input i32 LocalIndex
  write v1, %0
  %1 = const i32 0
  write v0, %1
{}
  br b1
b1:
  %3 = read i32 v0
  %4 = read i32 v1
  %5 = eq bool %3, %4
  br %5, b5, b2
b2:
  %6 = const i64 256
  %7 = load i32 %6 [global volatile align 4]
  %8 = read i32 v0
  %9 = le.u bool %7, %8
  br %9, b2, b3
b3:
{}
  br b4
b4:
  %10 = read i32 v0
  %11 = const i32 1
  %12 = add i32 %10, %11
  write v0, %12
  br b1
b5:
  %13 = const i64 256
  %14 = const i32 1
  %15 = atomic.add i32 %13, %14 [global relaxed device align 4]
  %16 = const i64 512
  store %16, %15 [global align 4]
  ret
}})",
                                       first, afterWait);
  test::WarpResult result;
  ASSERT_NO_FATAL_FAILURE(runLanes(text, result));
  for (size_t i = 0; i < result.lanes.size(); ++i) EXPECT_EQ(result.lanes[i].stores.at(0).value, i);
}

TEST(SpinLoops, AWaitInALoopThatOthersLeave) { expectLanesToLeave("", ""); }

// Two waits in each round are made one, here with an access between them that could take a lock.
TEST(SpinLoops, TwoWaitsInALoopThatOthersLeave) {
  expectLanesToLeave(R"(
  %20 = const i64 256
  %21 = atomic.add i32 %20, %1 [global])",
                     R"(
  %22 = const i64 256
  %23 = const i32 99
  %24 = const i32 0
  %25 = atomic.cas i32 %22, %23, %24 [global]
  br b6
b6:
  %26 = const i64 256
  %27 = load i32 %26 [global volatile align 4]
  %28 = read i32 v0
  %29 = le.u bool %27, %28
  br %29, b6, b7
b7:)");
}

// An addition by compare-and-swap is no lock: who has added waits for the others of its warp, which must not be kept
// from trying again by that, although the same word is added to once more behind.
TEST(SpinLoops, AnAdditionThatIsTriedAgain) {
  test::WarpResult result;
  ASSERT_NO_FATAL_FAILURE(runLanes(R"(kernel @k {
  var v0 i32 "seen"
  var v1 i32 "all"
b0:
  %0 = const i32 8
  write v1, %0
  br b1
b1:
  %1 = const i64 256
  %2 = load i32 %1 [global relaxed device align 4]
  write v0, %2
  br b2
b2:
  %3 = read i32 v0
  %4 = const i32 1
  %5 = add i32 %3, %4
  %6 = atomic.cas i32 %1, %3, %5 [global acq_rel device align 4]
  write v0, %6
  %7 = ne bool %6, %3
  br %7, b2, b3
b3:
  %8 = const i64 256
  %9 = load i32 %8 [global acquire device align 4]
  %10 = read i32 v1
  %11 = lt.u bool %9, %10
  br %11, b3, b4
b4:
  %12 = const i32 8
  %13 = read i32 v1
  %14 = add i32 %13, %12
  write v1, %14
  %15 = const i32 24
  %16 = le.u bool %14, %15
  br %16, b1, b5
b5:
  %17 = const i64 256
  %18 = load i32 %17 [global relaxed device align 4]
  write v0, %18
  br b6
b6:
  %19 = read i32 v0
  %20 = const i32 1
  %21 = add i32 %19, %20
  %22 = atomic.cas i32 %17, %19, %21 [global acq_rel device align 4]
  write v0, %22
  %23 = ne bool %22, %19
  br %23, b6, b7
b7:
  ret
})",
                                   result));
}

TEST(SpinLoops, ALoopBeforeABlockBarrierStaysAsItIs) {
  std::string text = test::runPass(R"(kernel @k {
  var v0 i64 "place"
b0:
  %0 = const i64 256
  write v0, %0
  br b1
b1:
  %1 = read i64 v0
  %2 = load i32 %1 [global volatile align 4]
  %3 = const i32 0
  %4 = ne bool %2, %3
  br %4, b1, b2
b2:
  barrier
  %5 = read i64 v0
  %6 = const i32 1
  %7 = atomic.add i32 %5, %6 [global]
  ret
})",
                                   passes::structurize);
  // After the loop: the barrier is in its merge block, the last block of all.
  EXPECT_GT(text.find("barrier"), text.rfind("br b1")) << text;
}

// As a scan looks back over other blocks' sums: a whole warp, which leaves by a vote, before one thread writes its own.
TEST(SpinLoops, ALoopOfWholeWarpsStaysAsItIs) {
  const auto storesInside = [](const std::string& condition) {
    const std::string text = test::runPass(R"(kernel @k {
  var v0 i32 "sum"
b0:
  %0 = const i32 0
  write v0, %0
  br b1
b1:
  %1 = const i64 256
  br b2
b2:
  %2 = load i32 %1 [global volatile align 4]
  %3 = const i32 0
  %4 = eq bool %2, %3
  br %4, b2, b3
b3:
  %5 = read i32 v0
  %6 = add i32 %5, %2
  write v0, %6
  %7 = const i32 100
  %8 = lt.u bool %6, %7
  %9 = )" + condition + R"( bool %8
  br %9, b1, b4
b4:
  %10 = const i64 264
  %11 = read i32 v0
  store %10, %11 [global volatile align 4]
  ret
})",
                                           passes::structurize);
    return text.find("store") < text.rfind("continue") || text.find("store") < text.rfind("br b1\n");
  };
  EXPECT_TRUE(storesInside("not"));
  EXPECT_FALSE(storesInside("vote.any"));
}

}  // namespace
}  // namespace mulciber
