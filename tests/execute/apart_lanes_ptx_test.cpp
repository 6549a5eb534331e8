// Lanes of one warp at different places of the code: barriers that each comes to by itself, and waiting for each other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

// A kernel of random steps. In each, a thread stores a word, comes to a barrier at a place that depends on its number,
// and takes the word of another. What the host computes does not depend on the places.
class RandomArrivals {
 public:
  RandomArrivals(uint32_t seed, uint32_t threads, std::string barrier)
      : random_(seed), threads_(threads), barrier_(std::move(barrier)), expected_(threads), ended_(threads) {
    for (uint32_t t = 0; t < threads; t++) expected_[t] = t;
    for (auto& cells : cells_) cells.resize(threads);
    body_ = "mov.u32 %r1, %t; shl.b32 %r2, %t, 2; mov.u32 %r3, cells; add.u32 %r4, %r3, %r2;\n";
    for (uint32_t i = 0; i < 3; i++) step(i);
    body_ += "DONE: st.global.u32 [%out], %r1;";
  }

  const std::string& body() const { return body_; }
  const std::vector<uint32_t>& expected() const { return expected_; }

 private:
  uint32_t upTo(uint32_t most) { return random_() % (most + 1); }
  template <typename... Args>
  void add(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), form, std::forward<Args>(args)...);
  }

  void step(uint32_t number) {
    const uint32_t buffer = number % 2 * 4 * threads_, factor = 2 * upTo(1000) + 1, distance = upTo(threads_ - 1);
    add("mad.lo.u32 %r5, %r1, {}, {}; st.shared.u32 [%r4+{}], %r5;\n", factor, number, buffer);
    add("mul.lo.u32 %r6, %t, {}; shr.u32 %r6, %r6, 28;\n", static_cast<uint32_t>(random_()) | 1u);
    if (upTo(2) == 0) loop(number);
    else arms(number);
    add("add.u32 %r7, %t, {}; rem.u32 %r7, %r7, {}; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r3;\n", distance, threads_);
    add("ld.shared.u32 %r8, [%r7+{}]; xor.b32 %r1, %r1, %r8;\n", buffer);
    std::vector<uint32_t>& cells = cells_[number % 2];  // of threads that have ended, what they stored last
    for (uint32_t t = 0; t < threads_; t++)
      if (!ended_[t]) cells[t] = expected_[t] * factor + number;
    for (uint32_t t = 0; t < threads_; t++)
      if (!ended_[t]) expected_[t] ^= cells[(t + distance) % threads_];
    if (number > 0 && upTo(2) == 0) end(number);
  }

  // A barrier in each arm; what stands around it is done by all threads, and differs from arm to arm in the text alone.
  void arms(uint32_t number) {
    const uint32_t count = 2 + upTo(2);
    for (uint32_t arm = 0; arm + 1 < count; arm++)
      add("setp.eq.u32 %p1, %r6, {}; @%p1 bra ARM{}_{};\n", arm, number, arm);
    for (uint32_t arm = count; arm-- > 0;) {
      add("ARM{}_{}: xor.b32 %r9, %r1, {};\n", number, arm, arm);
      body_ += barrier_ + "\n";
      add("bra JOIN{};\n", number);
    }
    add("JOIN{}:\n", number);
  }

  // Each thread leaves a loop after another number of rounds, and comes to the barrier in its last one.
  void loop(uint32_t number) {
    add("and.b32 %r6, %r6, 3; mov.u32 %r9, 0;\nROUND{}: setp.ne.u32 %p1, %r9, %r6; @%p1 bra NEXT{};\n", number, number);
    body_ += barrier_;
    add("\nbra JOIN{};\nNEXT{}: add.u32 %r9, %r9, 1; bra ROUND{};\nJOIN{}:\n", number, number, number, number);
  }

  // Some threads end: barriers of the whole block complete without them.
  void end(uint32_t number) {
    if (barrier_.find(',') != std::string::npos) return;
    const uint32_t rest = upTo(2);
    add("rem.u32 %r9, %t, 5; setp.eq.u32 %p2, %r9, {}; @%p2 bra DONE; // {}\n", rest, number);
    for (uint32_t t = 0; t < threads_; t++)
      if (t % 5 == rest) ended_[t] = true;
  }

  std::mt19937 random_;
  const uint32_t threads_;
  const std::string barrier_;
  std::string body_;
  std::vector<uint32_t> expected_, cells_[2];
  std::vector<bool> ended_;
};

class ApartPtx : public PtxTest {
 protected:
  void arriveAtRandom(const std::string& barrier, uint32_t threads, uint32_t count) {
    const std::string cells = ".shared .align 4 .u32 cells[" + std::to_string(2 * threads) + "];";
    for (uint32_t seed = 1; seed <= count; seed++) {
      const RandomArrivals kernel(seed, threads, barrier);
      const auto words = wordsOf(kernel.body(), 1, threads, cells);
      for (uint32_t t = 0; t < threads; t++)
        ASSERT_EQ(words[t], kernel.expected()[t]) << barrier << " seed " << seed << " thread " << t << "\n"
                                                  << kernel.body();
    }
  }
};

TEST_F(ApartPtx, EachLaneCountsWhereItComesToABarrier) {
  arriveAtRandom("barrier.sync 0;", 32, 3);
  arriveAtRandom("barrier.cta.sync 3;", 80, 3);
}

TEST_F(ApartPtx, EachLaneCountsAtABarrierOfAllThreadsByNumber) { arriveAtRandom("barrier.sync 1, 64;", 64, 2); }

TEST_F(ApartPtx, EachLaneCountsAtAReduction) { arriveAtRandom("barrier.red.popc.u32 %r10, 0, %p1;", 64, 2); }

// Of 96 threads 64 meet, each at one of two places; those at the second may go by without waiting.
TEST_F(ApartPtx, EachLaneCountsAtABarrierOfSomeThreads) {
  for (const char* second : {"barrier.sync 2, 64;", "barrier.arrive 2, 64;"}) {
    auto words = wordsOf(std::string(R"(
      mov.u32 %r1, cells; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; mov.u32 %r5, 7;
      setp.ge.u32 %p1, %t, 64; @%p1 bra DONE;
      add.u32 %r3, %t, 100; st.shared.u32 [%r1], %r3; rem.u32 %r4, %t, 3; setp.eq.u32 %p2, %r4, 0;
      @%p2 bra SECOND;
      barrier.sync 2, 64;
      xor.b32 %r6, %r2, 4; mov.u32 %r7, cells; add.u32 %r7, %r7, %r6; ld.shared.u32 %r5, [%r7]; bra DONE;
    SECOND: )") + second + R"(
    DONE: st.global.u32 [%out], %r5;)",
                         1, 96, ".shared .align 4 .u32 cells[96];");
    for (uint32_t t = 0; t < 96; t++)
      EXPECT_EQ(words[t], t < 64 && t % 3 != 0 ? (t ^ 1) + 100 : 7u) << second << " thread " << t;
  }
}

// Even lanes come to 12 barriers in 2 rounds of 6, odd ones in 4 rounds of 3, at a place of their own, beside another
// loop between. A lane sees of the other what it wrote before this barrier or the next.
TEST_F(ApartPtx, BarriersAtTwoPlacesInLoopsInEachOther) {
  const auto rounds = [](const char* name, uint32_t outer, uint32_t inner) {
    return fmt::format(R"(
      mov.u32 %r3, 0;
    {0}: mov.u32 %r4, 0;
    {0}_INNER: add.u32 %r2, %r2, 1; st.volatile.shared.u32 [%r8], %r2; barrier.sync 0;
      ld.volatile.shared.u32 %r5, [%r9]; sub.u32 %r5, %r5, %r2; setp.gt.u32 %p2, %r5, 1; @%p2 add.u32 %r10, %r10, 1;
      add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, {2}; @%p2 bra {0}_INNER;
      mov.u32 %r4, 0;
    {0}_WORK: mad.lo.u32 %r11, %r11, 3, 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %t; @%p2 bra {0}_WORK;
      add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {1}; @%p2 bra {0};
    )",
                       name, outer, inner);
  };
  const std::string body = R"(
      mov.u32 %r2, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r8, cells; mov.u32 %r9, cells;
      shl.b32 %r1, %t, 2; add.u32 %r8, %r8, %r1; xor.b32 %r1, %r1, 4; add.u32 %r9, %r9, %r1;
      and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra ODD;
    )" + rounds("EVEN", 2, 6) +
                           "bra MET;\n" + rounds("ODD", 4, 3) +
                           "MET: mad.lo.u32 %r10, %r10, 100, %r2; st.global.u32 [%out], %r10;";
  for (uint32_t word : wordsOf(body, 1, 64, ".shared .align 4 .u32 cells[64];")) EXPECT_EQ(word, 12u);
}

// One lane of each warp gives numbers, the next takes them and answers, through flags in `space`.
TEST_F(ApartPtx, ALaneProducesForAnother) {
  for (const char* space : {"shared", "global"}) {
    const std::string body = fmt::format(R"(
      mov.u32 %r5, 0; and.b32 %r2, %t, 31; shr.u32 %r3, %t, 5; shl.b32 %r3, %r3, 4; mov.u64 %rd1, cells;
      cvt.u64.u32 %rd2, %r3; add.u64 %rd1, %rd1, %rd2; mov.u32 %r4, 0;
      setp.eq.u32 %p1, %r2, 9; @%p1 bra PRODUCE; setp.eq.u32 %p1, %r2, 20; @%p1 bra CONSUME; bra DONE;
    PRODUCE: add.u32 %r4, %r4, 1; mul.lo.u32 %r6, %r4, %r4; st.volatile.{0}.u32 [%rd1], %r6; membar.cta;
      st.volatile.{0}.u32 [%rd1+4], %r4;
    ANSWER: ld.volatile.{0}.u32 %r7, [%rd1+8]; setp.ne.u32 %p2, %r7, %r4; @%p2 bra ANSWER;
      setp.lt.u32 %p2, %r4, 5; @%p2 bra PRODUCE; mov.u32 %r5, %r4; bra DONE;
    CONSUME: add.u32 %r4, %r4, 1;
    QUESTION: ld.volatile.{0}.u32 %r7, [%rd1+4]; setp.ne.u32 %p2, %r7, %r4; @%p2 bra QUESTION;
      membar.cta; ld.volatile.{0}.u32 %r6, [%rd1]; add.u32 %r5, %r5, %r6; st.volatile.{0}.u32 [%rd1+8], %r4;
      setp.lt.u32 %p2, %r4, 5; @%p2 bra CONSUME;
    DONE: st.global.u32 [%out], %r5;)",
                                         space);
    const std::string clear =
        space == std::string("shared")
            ? "mov.u32 %r1, cells; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; mov.u32 %r2, 0; setp.lt.u32 %p1, %t, 8; "
              "@%p1 st.shared.u32 [%r1], %r2; bar.sync 0;\n"
            : "";
    auto words = wordsOf(clear + body, 1, 64, fmt::format(".{} .align 16 .u32 cells[8];", space));
    for (uint32_t t = 0; t < 64; t++)
      EXPECT_EQ(words[t], t % 32 == 9 ? 5u : t % 32 == 20 ? 55u : 0u) << space << " thread " << t;
  }
}

// What a lane waits for passes through functions. The words of rounds lie beside the kernel's own.
TEST_F(ApartPtx, ALaneWaitsByWhatAFunctionSays) {
  const std::string functions = R"(.shared .align 8 .u32 cells[64]; .global .align 8 .u32 flags[2];
    .func (.param .b32 r) look(.param .b64 a) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [a];
      ld.volatile.global.u32 %v, [%a]; st.param.b32 [r], %v; ret; }
    .func (.param .b32 r) same(.param .b32 a) { .reg .b32 %v; ld.param.u32 %v, [a]; st.param.b32 [r], %v; ret; })";
  for (const char* look :
       {"call (%r6), look, (%rd1);", "ld.volatile.global.u32 %r7, [%rd1]; call (%r6), same, (%r7);"}) {
    const std::string body = fmt::format(R"(
      mov.u64 %rd1, flags; mov.u32 %r8, cells; shl.b32 %r1, %t, 2; add.u32 %r8, %r8, %r1; mul.lo.u32 %r2, %t, 5;
      st.shared.u32 [%r8], %r2; setp.ne.u32 %p1, %t, 3; @%p1 bra OTHERS;
    WAIT: {} setp.eq.u32 %p2, %r6, 0; @%p2 bra WAIT; bra MET;
    OTHERS: setp.eq.u32 %p3, %t, 7; @%p3 st.volatile.global.u32 [%rd1], %t;
    MET: bar.warp.sync -1; setp.gt.u32 %p4, %t, 3; vote.sync.ballot.b32 %r9, %p4, -1;
      ld.shared.u32 %r3, [%r8]; add.u32 %r3, %r3, %r9; st.global.u32 [%out], %r3;)",
                                         look);
    auto words = wordsOf(body, 1, 32, functions);
    for (uint32_t t = 0; t < 32; t++) EXPECT_EQ(words[t], t * 5 + 0xFFFF'FFF0) << look << " thread " << t;
  }
}

// As programs write that look at memory by atomic operations which change nothing.
TEST_F(ApartPtx, LanesWaitByAtomicOperationsThatChangeNothing) {
  for (const char* look :
       {"atom.global.add.u32 %r1, [{0}], 0", "atom.global.cas.b32 %r1, [{0}], 7, 7", "atom.global.or.b32 %r1, [{0}], 0",
        "atom.global.and.b32 %r1, [{0}], -1", "atom.global.max.u32 %r1, [{0}], 0"}) {
    const std::string body =
        fmt::format(R"(
      mov.u64 %rd1, flags; mov.u32 %r4, 0; mov.u32 %r5, 0;
      setp.eq.u32 %p1, %t, 3; @%p1 bra FIRST; setp.eq.u32 %p1, %t, 20; @%p1 bra SECOND; bra DONE;
    FIRST: add.u32 %r4, %r4, 1; atom.global.exch.b32 %r2, [%rd1], %r4;
    ANSWER: {}; setp.ne.u32 %p2, %r1, %r4; @%p2 bra ANSWER;
      add.u32 %r5, %r5, %r4; setp.lt.u32 %p2, %r4, 5; @%p2 bra FIRST; bra DONE;
    SECOND: add.u32 %r4, %r4, 1;
    QUESTION: {}; setp.ne.u32 %p2, %r1, %r4; @%p2 bra QUESTION;
      mad.lo.u32 %r5, %r4, 10, %r5; atom.global.exch.b32 %r2, [%rd1+4], %r4; setp.lt.u32 %p2, %r4, 5; @%p2 bra SECOND;
    DONE: st.global.u32 [%out], %r5;)",
                    fmt::format(fmt::runtime(look), "%rd1+4"), fmt::format(fmt::runtime(look), "%rd1"));
    auto words = wordsOf(body, 1, 32, ".global .align 4 .u32 flags[2];");
    for (uint32_t t = 0; t < 32; t++)
      EXPECT_EQ(words[t], t == 3 ? 15u : t == 20 ? 150u : 0u) << look << " thread " << t;
  }
}

// Both sides of the branch come to one body, before the flag is set and after it has been waited for.
TEST_F(ApartPtx, ALaneWaitsForAnotherBetweenCallsThatShareABody) {
  inlineLimit = 0;
  auto words = wordsOf(R"(
      mov.u64 %rd1, flag; setp.eq.u32 %p1, %t, 3; @%p1 bra SET;
    WAIT: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
      call (%r2), sum, (%r1); bra MET;
    SET: call (%r2), sum, (5); st.volatile.global.u32 [%rd1], %r2;
    MET: st.global.u32 [%out], %r2;)",
                       1, 32, R"(.global .align 4 .u32 flag;
    .func (.reg .b32 s) sum(.reg .b32 n) { .reg .b32 %n; .reg .pred %p; mov.u32 s, 0; mov.u32 %n, n;
      again: add.u32 s, s, %n; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again; ret; })");
  for (uint32_t t = 0; t < 32; t++) EXPECT_EQ(words[t], t == 3 ? 15u : 120u) << "thread " << t;
}

// The block meets right behind the release, which the loop has to take in all the same.
TEST_F(ApartPtx, LanesLeaveALockAtABarrier) {
  for (const char* release : {"atom.shared.exch.b32 %r2, [lock], 0;", "st.volatile.shared.u32 [lock], 0;"}) {
    auto words = wordsOf(std::string(R"(
      setp.eq.u32 %p1, %t, 0; mov.u32 %r1, 0; @%p1 st.shared.v2.u32 [lock], {%r1, %r1}; bar.sync 0;
    TAKE: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TAKE;
      ld.volatile.shared.u32 %r3, [lock+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [lock+4], %r3; membar.cta; )") +
                             release + " bar.sync 0; ld.shared.u32 %r4, [lock+4]; st.global.u32 [%out], %r4;",
                         1, 64, ".shared .align 8 .u32 lock[2];");
    for (uint32_t t = 0; t < 64; t++) EXPECT_EQ(words[t], 64u) << release << " thread " << t;
  }
}

// All take a number of one lock; odd and even lanes have a wait and a release of their own.
TEST_F(ApartPtx, LanesWaitForTheirTurnInTwoBranches) {
  auto words = wordsOf(R"(
    mov.u32 %r8, cells; mov.u32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.v2.u32 [%r8], {%r1, %r1};
    @%p1 st.shared.u32 [%r8+8], %r1; bar.sync 0;
    atom.shared.add.u32 %r2, [%r8], 1; and.b32 %r3, %t, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra ODD;
  EVEN: ld.volatile.shared.u32 %r4, [%r8+4]; setp.ne.u32 %p2, %r4, %r2; @%p2 bra EVEN;
    ld.volatile.shared.u32 %r5, [%r8+8]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r8+8], %r5; membar.cta;
    add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8+4], %r4; bra DONE;
  ODD: ld.volatile.shared.u32 %r4, [%r8+4]; setp.ne.u32 %p2, %r4, %r2; @%p2 bra ODD;
    ld.volatile.shared.u32 %r5, [%r8+8]; add.u32 %r5, %r5, 3; st.volatile.shared.u32 [%r8+8], %r5; membar.cta;
    add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8+4], %r4;
  DONE: bar.sync 0; ld.shared.u32 %r5, [%r8+8]; st.global.u32 [%out], %r5;)",
                       1, 64, ".shared .align 8 .u32 cells[4];");
  for (uint32_t t = 0; t < 64; t++) EXPECT_EQ(words[t], 128u) << t;
}

// Lanes that had a lock, or their turn, come to the next round's vote before the others have left this round.
TEST_F(ApartPtx, AVoteWaitsForNamedLanesThatAreARoundBehind) {
  const std::string lock = R"(
    TRY: atom.shared.cas.b32 %r3, [%r8], 0, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra TRY;
    ld.volatile.shared.u32 %r4, [%r8+4]; add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8+4], %r4; membar.cta;
    atom.shared.exch.b32 %r3, [%r8], 0;)";
  const std::string turn = R"(
    atom.shared.add.u32 %r3, [%r8], 1; and.b32 %r4, %t, 1; setp.ne.u32 %p3, %r4, 0; @%p3 bra ODD;
    EVEN: ld.volatile.shared.u32 %r4, [%r8+4]; setp.ne.u32 %p3, %r4, %r3; @%p3 bra EVEN;
    add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8+4], %r4; bra PASSED;
    ODD: ld.volatile.shared.u32 %r4, [%r8+4]; setp.ne.u32 %p3, %r4, %r3; @%p3 bra ODD;
    add.u32 %r4, %r4, 1; st.volatile.shared.u32 [%r8+4], %r4; PASSED:)";
  for (const std::string& passage : {lock, turn}) {
    const std::string body = fmt::format(R"(
      mov.u32 %r8, cells; mov.u32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.v2.u32 [%r8], {{%r1, %r1}}; bar.sync 0;
      mov.u32 %r2, 0; and.b32 %r5, %t, 31; setp.eq.u32 %p1, %r5, 21;
    ROUND: vote.sync.any.pred %p2, %p1, -1; @%p2 add.u32 %r2, %r2, 1; {}
      add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 4; @%p3 bra ROUND;
      bar.sync 0; ld.shared.u32 %r4, [%r8+4]; mad.lo.u32 %r2, %r4, 1000, %r2; st.global.u32 [%out], %r2;)",
                                         passage);
    for (uint32_t word : wordsOf(body, 1, 64, ".shared .align 8 .u32 cells[2];")) EXPECT_EQ(word, 256'004u) << passage;
  }
}

// Kernels that wait and have this many operations of a warp otherwise let their warps take turns as a whole.
TEST_F(ApartPtx, EachLaneCountsAtABarrierBesideAWaitAndManyOperationsOfAWarp) {
  std::string body = R"(
    mov.u32 %r8, cells; mov.u32 %r1, 1; setp.eq.u32 %p1, %t, 0; @%p1 st.volatile.shared.u32 [%r8], %r1; bar.sync 0;
  WAIT: ld.volatile.shared.u32 %r2, [%r8]; setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT;
    and.b32 %r3, %t, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra ODD;
    barrier.sync 3; bra JOIN;
  ODD: barrier.sync 3;
  JOIN: mov.u32 %r4, %t;
  )";
  for (uint32_t i = 0; i < 20; ++i) body += "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; mad.lo.u32 %r4, %r5, 3, %r4;\n";
  body += "st.global.u32 [%out], %r4;";
  std::vector<uint32_t> expected(64);
  for (uint32_t t = 0; t < 64; t++) expected[t] = t;
  for (uint32_t i = 0; i < 20; ++i) {
    const std::vector<uint32_t> before = expected;
    for (uint32_t t = 0; t < 64; t++) expected[t] += 3 * before[t ^ 1];
  }
  EXPECT_EQ(wordsOf(body, 1, 64, ".shared .align 4 .u32 cells[1];"), expected);
}

// A lock in cells[0] that guards the count in cells[1], taken and let go in the ways in which compilers write it: with
// the address in one register or in another for each access, in functions, and through functions that have every
// operand as an argument, as code without optimisation has it.
struct LockText {
  const char *name, *functions, *take, *release;
};
const LockText lockTexts[] = {
    {"in the kernel", "", "TAKE: atom.shared.cas.b32 %r2, [%r8], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra TAKE;",
     "atom.shared.exch.b32 %r2, [%r8], 0;"},
    {"each access with its own register", "",
     "TAKE: mov.u32 %r10, cells; atom.shared.cas.b32 %r2, [%r10], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra TAKE;",
     "mov.u32 %r11, cells; atom.shared.exch.b32 %r2, [%r11], 0;"},
    {"in functions", R"(
     .func take() { .reg .pred %p1; .reg .b32 %r<4>; mov.u32 %r1, cells;
     TAKE: mov.u32 %r2, 0; mov.u32 %r3, 1; atom.shared.cas.b32 %r2, [%r1], %r2, %r3; setp.ne.u32 %p1, %r2, 0;
       @%p1 bra TAKE; membar.cta; ret; }
     .func release() { .reg .b32 %r<3>; mov.u32 %r1, cells; membar.cta; atom.shared.exch.b32 %r2, [%r1], 0; ret; })",
     "call take;", "call release;"},
    {"with functions that have every operand as an argument", R"(
     .func (.reg .b32 %old) swap(.reg .b64 %at, .reg .b32 %is, .reg .b32 %new) {
       .reg .b64 %rd1; .reg .b32 %r<3>; mov.b64 %rd1, %at; mov.b32 %r1, %is; mov.b32 %r2, %new;
       atom.cas.b32 %old, [%rd1], %r1, %r2; ret; }
     .func (.reg .b32 %old) exchange(.reg .b64 %at, .reg .b32 %new) { .reg .b64 %rd1; mov.b64 %rd1, %at;
       atom.exch.b32 %old, [%rd1], %new; ret; }
     .func take() { .reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %rd<3>;
     TAKE: mov.u64 %rd1, cells; cvta.shared.u64 %rd2, %rd1; mov.u32 %r2, 0; mov.u32 %r3, 1;
       call (%r1), swap, (%rd2, %r2, %r3); setp.ne.u32 %p1, %r1, 0; @%p1 bra TAKE; membar.cta; ret; }
     .func release() { .reg .b32 %r<3>; .reg .b64 %rd<3>; membar.cta; mov.u64 %rd1, cells; cvta.shared.u64 %rd2, %rd1;
       mov.u32 %r2, 0; call (%r1), exchange, (%rd2, %r2); ret; })",
     "call take;", "call release;"},
};

TEST_F(ApartPtx, EachLaneHasALockInItsTurn) {
  for (const LockText& lock : lockTexts) {
    const auto words = wordsOf(
        std::string("mov.u32 %r8, cells; mov.u32 %r1, 0; st.shared.u32 [%r8], %r1; st.shared.u32 [%r8+4], %r1;"
                    "bar.sync 0;\n") +
            lock.take +
            "\nld.volatile.shared.u32 %r3, [%r8+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [%r8+4], %r3;\n" +
            lock.release + "\nbar.sync 0; ld.shared.u32 %r3, [%r8+4]; st.global.u32 [%out], %r3;",
        1, 64, std::string(".shared .align 8 .u32 cells[2];") + lock.functions);
    for (const uint32_t word : words) ASSERT_EQ(word, 64u) << lock.name;
  }
}

// Every lane has some turns, each in a loop of its own that waits for the same word. In the first order all lanes have
// one before any has the next, in the second each lane has all of its turns at once; the others are random. A lane that
// is ahead must not wait for the rest. On lavapipe kernels of many turns do not run in rounds of single threads.
TEST_F(ApartPtx, LanesHaveManyTurnsInAnyOrder) {
  std::mt19937 random(1);
  for (const uint32_t count : {2u, 3u, 7u, 12u, 30u})
    for (uint32_t order = 0; order < (count < 30 ? 5 : 3); order++) {
      std::vector<uint32_t> lanes;
      for (uint32_t i = 0; i < 32 * count; i++) lanes.push_back(order == 1 ? i / count : i % 32);
      if (order > 1) std::ranges::shuffle(lanes, random);
      std::vector<std::vector<uint32_t>> turns(32);
      for (uint32_t i = 0; i < lanes.size(); i++) turns[lanes[i]].push_back(i);
      std::string table;
      for (const std::vector<uint32_t>& ofLane : turns)
        table += fmt::format("{}{}", table.empty() ? "" : ", ", fmt::join(ofLane, ", "));
      std::string body = "mov.u32 %r8, word; mov.u32 %r1, 0; st.shared.u32 [%r8], %r1; mov.u32 %r5, 1; bar.sync 0;\n";
      body += fmt::format("mov.u64 %rd1, turns; mad.wide.u32 %rd1, %t, {}, %rd1;\n", 4 * count);
      for (uint32_t i = 0; i < count; i++)
        body += fmt::format(
            "ld.global.u32 %r2, [%rd1+{0}];\nW{1}: ld.volatile.shared.u32 %r3, [%r8]; setp.ne.u32 %p1, %r3, %r2;\n"
            "@%p1 bra W{1};\nmad.lo.u32 %r5, %r5, 3, %r3; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [%r8], %r3;\n",
            4 * i, i);
      const auto words = wordsOf(
          body + "st.global.u32 [%out], %r5;", 1, 32,
          fmt::format(".shared .align 4 .u32 word;\n.global .align 4 .u32 turns[{}] = {{{}}};", lanes.size(), table));
      for (uint32_t t = 0; t < 32; t++) {
        uint32_t expected = 1;
        for (const uint32_t turn : turns[t]) expected = expected * 3 + turn;
        ASSERT_EQ(words[t], expected) << count << " turns, order " << order << ", thread " << t;
      }
    }
}

// The first lane of each eight has the lock while the eight meet.
TEST_F(ApartPtx, SomeLanesOfAWarpMeetWhileOneHasALock) {
  for (const LockText& lock : lockTexts) {
    const auto words = wordsOf(
        std::string("mov.u32 %r8, cells; mov.u32 %r1, 0; st.shared.u32 [%r8], %r1; st.shared.u32 [%r8+4], %r1;"
                    "bar.sync 0; and.b32 %r4, %t, 7; and.b32 %r5, %t, 24; mov.u32 %r6, 255;"
                    "shl.b32 %r6, %r6, %r5; setp.ne.u32 %p3, %r4, 0; setp.ne.u32 %p4, %r4, 3;\n@%p3 bra HELD;\n") +
            lock.take +
            "\nHELD: bar.warp.sync %r6; @%p4 bra ADDED;\n"
            "ld.volatile.shared.u32 %r3, [%r8+4]; add.u32 %r3, %r3, 1; st.volatile.shared.u32 [%r8+4], %r3;\n"
            "ADDED: bar.warp.sync %r6; @%p3 bra FREE;\n" +
            lock.release + "\nFREE: bar.sync 0; ld.shared.u32 %r3, [%r8+4]; st.global.u32 [%out], %r3;",
        1, 64, std::string(".shared .align 8 .u32 cells[2];") + lock.functions);
    for (const uint32_t word : words) ASSERT_EQ(word, 8u) << lock.name;
  }
}

// A lane looks by an addition of zero, in a function that has the zero as an argument, and keeps what it has seen in
// private memory; another lane of its warp ends the wait on the other side of a branch.
TEST_F(ApartPtx, LanesLookThroughFunctionsAndPrivateMemory) {
  const auto words = wordsOf(R"(
      .local .align 4 .b32 seen[1];
      mov.u32 %r8, cells; mov.u32 %r1, 0; st.shared.u32 [%r8], %r1; bar.sync 0; mov.u64 %rd1, cells;
      cvta.shared.u64 %rd2, %rd1; setp.eq.u32 %p1, %t, 5; @%p1 bra LOOK; setp.ne.u32 %p2, %t, 6; @%p2 bra DONE;
      mov.u32 %r12, 9; call (%r3), add, (%rd2, %r12); bra DONE;
    LOOK: mov.u32 %r2, 0; call (%r3), add, (%rd2, %r2); st.local.u32 [seen], %r3;
      ld.local.u32 %r4, [seen]; setp.eq.u32 %p3, %r4, 0; @%p3 bra LOOK;
    DONE: bar.sync 0; ld.shared.u32 %r5, [%r8]; st.global.u32 [%out], %r5;)",
                             1, 64, R"(.shared .align 8 .u32 cells[2];
    .func (.reg .b32 %old) add(.reg .b64 %at, .reg .b32 %more) { .reg .b32 %r1; mov.b32 %r1, %more;
      atom.add.u32 %old, [%at], %r1; ret; })");
  for (const uint32_t word : words) ASSERT_EQ(word, 9u);
}

// Code of before independent threads: sums by volatile accesses with no barrier between, as libraries of the time had
// it.
TEST_F(ApartPtx, LanesReadWhatOthersHaveJustWritten) {
  std::string body = R"(
    mov.u32 %r8, cells; shl.b32 %r1, %t, 2; add.u32 %r8, %r8, %r1; mad.lo.u32 %r2, %t, %t, 1;
    st.shared.u32 [%r8], %r2; bar.sync 0; setp.ge.u32 %p1, %t, 32; @%p1 bra DONE;
  )";
  for (uint32_t step = 32; step > 0; step /= 2)
    body += fmt::format(
        "ld.volatile.shared.u32 %r3, [%r8]; ld.volatile.shared.u32 %r4, [%r8+{}];\n"
        "add.u32 %r3, %r3, %r4; st.volatile.shared.u32 [%r8], %r3;\n",
        4 * step);
  body += "DONE: bar.sync 0; mov.u32 %r8, cells; ld.shared.u32 %r3, [%r8]; st.global.u32 [%out], %r3;";
  uint32_t sum = 0;
  for (uint32_t t = 0; t < 64; t++) sum += t * t + 1;
  for (uint32_t word : wordsOf(body, 1, 64, ".shared .align 4 .u32 cells[96];")) EXPECT_EQ(word, sum);
}

}  // namespace
}  // namespace mulciber::test
