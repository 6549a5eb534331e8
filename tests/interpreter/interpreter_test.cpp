// What the interpreter does beyond single instructions: state spaces, control flow, calls, lanes and blocks, and
// errors.
#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <iostream>

namespace mulciber::interpreter {
namespace {

constexpr uint64_t kOutput = 0x10000;

Launch launchOf(uint32_t threads, uint32_t blocks = 1, uint32_t shared = 0) {
  Launch launch;
  launch.block = {threads, 1, 1};
  launch.grid = {blocks, 1, 1};
  launch.dynamicSharedBytes = shared;
  return launch;
}

// A kernel `k` with one parameter: the address of as many words as there are threads, %rd1 that of the thread's own.
struct Execution {
  Result result;
  std::vector<uint32_t> words;
};

Execution execute(const std::string& body, Launch launch, const std::string& module = "") {
  Execution made;
  Module loaded;
  made.result = loaded.load(".version 9.0\n.target sm_90\n.address_size 64\n" + module +
                            ".visible .entry k(.param .u64 out) {\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n"
                            ".reg .b64 %rd<9>;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n"
                            "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r1, %r1, %r2, %r0;\n"
                            "mad.wide.u32 %rd1, %r1, 4, %rd0;\n" +
                            body + "ret;\n}\n");
  if (!made.result) return made;
  Memory memory;
  made.words.resize(size_t(launch.block[0]) * launch.grid[0]);
  memory.set(kOutput, std::vector<uint8_t>(made.words.size() * 4));
  launch.kernel = "k";
  launch.arguments.resize(8);
  std::memcpy(launch.arguments.data(), &kOutput, 8);
  made.result = loaded.run(launch, memory);
  std::memcpy(made.words.data(), memory.buffer(kOutput).data(), made.words.size() * 4);
  return made;
}

std::vector<uint32_t> wordsOf(const Execution& made) {
  EXPECT_TRUE(made.result) << made.result.line << ": " << made.result.message;
  return made.words;
}

template <class F>
std::vector<uint32_t> expected(uint32_t count, F of) {
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < count; ++i) words.push_back(static_cast<uint32_t>(of(i)));
  return words;
}

TEST(Interpreter, LoopsAndBranchesByIndex) {
  const Execution made = execute(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nagain:\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\n"
      "max.u32 %r3, %r1, %r0;\nsub.u32 %r3, %r3, %r1;\nmin.u32 %r3, %r3, 1;\nst.global.u32 [%rd1], %r2;\n"
      "{\n.reg .b32 %r3;\nmov.u32 %r3, 7;\n}\n"
      "brx.idx %r3, targets;\ntargets: .branchtargets done, again;\ndone:\n",
      launchOf(4));
  EXPECT_EQ(wordsOf(made), (std::vector<uint32_t>{0, 0, 1, 3}));
}

TEST(Interpreter, CallsRecursivelyAndByPointer) {
  const std::string module =
      ".func (.param .b32 result) fibonacci(.param .b32 n) {\n.reg .pred %p;\n.reg .b32 %n, %a, %b;\n"
      "ld.param.b32 %n, [n];\nsetp.lt.u32 %p, %n, 2;\n@%p bra done;\n"
      "{\n.param .b32 x, y;\nsub.u32 %a, %n, 1;\nst.param.b32 [x], %a;\ncall (y), fibonacci, (x);\n"
      "ld.param.b32 %a, [y];\nsub.u32 %b, %n, 2;\nst.param.b32 [x], %b;\ncall (y), fibonacci, (x);\n"
      "ld.param.b32 %b, [y];\nadd.u32 %n, %a, %b;\n}\ndone:\nst.param.b32 [result], %n;\nret;\n}\n"
      ".func (.reg .b32 r) twice(.reg .b32 a) {\nadd.u32 r, a, a;\nret;\n}\n"
      ".func (.reg .b32 r) square(.reg .b32 a) {\nmul.lo.u32 r, a, a;\nret;\n}\n"
      ".global .u64 table[2] = {twice, square};\n";
  const Execution made = execute(
      "{\n.param .b32 x, y;\nst.param.b32 [x], %r0;\ncall (y), fibonacci, (x);\nld.param.b32 %r3, [y];\n}\n"
      "and.b32 %r4, %r0, 1;\nmov.u64 %rd2, table;\nmad.wide.u32 %rd2, %r4, 8, %rd2;\nld.global.u64 %rd3, [%rd2];\n"
      "call (%r5), %rd3, (%r0), shape;\nshape: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
      "mad.lo.u32 %r3, %r5, 1000, %r3;\nst.global.u32 [%rd1], %r3;\n",
      launchOf(10), module);
  const uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  EXPECT_EQ(wordsOf(made), expected(10, [&](uint32_t i) { return fibonacci[i] + 1000 * (i % 2 ? i * i : 2 * i); }));
}

TEST(Interpreter, ReachesEverySpaceByGenericAddresses) {
  const std::string module =
      ".const .u32 constants[3] = {5, 6, 7};\n.global .u64 where = generic(constants) + 4;\n"
      ".global .align 4 .b8 bytes[8] = {1, 0, 0, 0, 9};\n.extern .shared .align 8 .b8 dynamic[];\n";
  const Execution made = execute(
      ".shared .u32 own[64];\n.local .u32 stack[2];\n"
      "ld.global.u64 %rd2, [where];\nld.u32 %r3, [%rd2];\n"
      "mov.u64 %rd3, dynamic;\ncvta.shared.u64 %rd3, %rd3;\nmad.wide.u32 %rd3, %r0, 4, %rd3;\nst.u32 [%rd3], %r0;\n"
      "mov.u32 %r4, dynamic;\nmad.lo.u32 %r4, %r0, 4, %r4;\nld.shared.u32 %r5, [%r4];\n"
      "st.shared.u32 own[%r0], %r5;\nld.shared.u32 %r5, own[%r0];\n"
      "mov.u64 %rd4, stack;\ncvta.local.u64 %rd4, %rd4;\nst.u32 [%rd4+4], %r5;\nld.local.u32 %r6, [stack+4];\n"
      "isspacep.local %p0, %rd4;\nisspacep.shared %p1, %rd4;\nselp.u32 %r7, 100, 0, %p0;\n"
      "@%p1 add.u32 %r7, %r7, 1;\nld.global.u32 %r8, [bytes+4];\n"
      "add.u32 %r3, %r3, %r7;\nadd.u32 %r3, %r3, %r8;\nmad.lo.u32 %r3, %r6, 1000, %r3;\nst.global.u32 [%rd1], %r3;\n",
      launchOf(64, 2, 256), module);
  EXPECT_EQ(wordsOf(made), expected(128, [](uint32_t i) { return 6 + 100 + 9 + 1000 * (i % 64); }));
}

TEST(Interpreter, ThreadsOfABlockMeetAtBarriers) {
  // A sum by halves, and a barrier that only the first warp waits at while the others arrive.
  const Execution made = execute(
      ".shared .u32 sums[128];\n.shared .u32 flag;\n"
      "st.shared.u32 sums[%r0], %r0;\nmov.u32 %r3, 64;\nagain:\nbar.sync 0;\nsetp.ge.u32 %p0, %r0, %r3;\n"
      "@%p0 bra next;\nadd.u32 %r4, %r0, %r3;\nld.shared.u32 %r5, sums[%r4];\nld.shared.u32 %r6, sums[%r0];\n"
      "add.u32 %r5, %r5, %r6;\nst.shared.u32 sums[%r0], %r5;\nnext:\nshr.u32 %r3, %r3, 1;\nsetp.ne.u32 %p0, %r3, 0;\n"
      "@%p0 bra again;\nbar.sync 0;\n"
      "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra produce;\nbar.sync 1, 128;\nld.shared.u32 %r7, [flag];\nbra join;\n"
      "produce:\nsetp.eq.u32 %p2, %r0, 127;\n@%p2 st.shared.u32 [flag], 9;\nbar.arrive 1, 128;\nmov.u32 %r7, 0;\n"
      "join:\nsetp.lt.u32 %p2, %r0, 3;\nbarrier.red.popc.u32 %r8, 2, %p2;\n"
      "ld.shared.u32 %r5, [sums];\nmad.lo.u32 %r5, %r7, 100000, %r5;\nmad.lo.u32 %r5, %r8, 10000000, %r5;\n"
      "st.global.u32 [%rd1], %r5;\n",
      launchOf(128));
  EXPECT_EQ(wordsOf(made), expected(128, [](uint32_t i) { return 127 * 64 + (i < 32 ? 900000 : 0) + 30000000; }));
}

TEST(Interpreter, LanesMeetWhereTheyStillAre) {
  // Odd lanes leave; the others vote, shuffle and reduce among themselves.
  const Execution made = execute(
      "and.b32 %r3, %r0, 1;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 exit;\n"
      "shfl.sync.down.b32 %r4|%p1, %r0, 2, 0x1f, 0xffffffff;\nredux.sync.add.u32 %r5, %r0, 0xffffffff;\n"
      "vote.sync.ballot.b32 %r6, %p1, 0xffffffff;\nactivemask.b32 %r7;\nxor.b32 %r6, %r6, %r7;\n"
      "mad.lo.u32 %r4, %r5, 1000, %r4;\nadd.u32 %r4, %r4, %r6;\nst.global.u32 [%rd1], %r4;\n",
      launchOf(32));
  EXPECT_EQ(wordsOf(made),
            expected(32, [](uint32_t i) { return i % 2 ? 0u : 240000 + (i < 30 ? i + 2 : i) + 0x40000000; }));
}

TEST(Interpreter, LanesWaitForEachOtherThroughMemory) {
  const Execution made = execute(
      ".shared .u32 turn;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.u32 [turn], 0;\nbar.sync 0;\n"
      "wait:\nld.volatile.shared.u32 %r3, [turn];\nadd.u32 %r4, %r3, %r0;\nsetp.ne.u32 %p0, %r4, 39;\n@%p0 bra wait;\n"
      "atom.shared.add.u32 %r5, [turn], 1;\nst.global.u32 [%rd1], %r5;\n",
      launchOf(40));
  EXPECT_EQ(wordsOf(made), expected(40, [](uint32_t i) { return 39 - i; }));
}

TEST(Interpreter, BlocksWaitForLaterBlocks) {
  const Execution made = execute(
      "mov.u32 %r3, %ctaid.x;\nwait:\nld.acquire.gpu.global.u32 %r4, [turn];\nadd.u32 %r4, %r4, %r3;\n"
      "setp.ne.u32 %p0, %r4, 4;\n@%p0 bra wait;\natom.global.add.u32 %r5, [turn], 1;\nst.global.u32 [%rd1], %r5;\n",
      launchOf(1, 5), ".global .u32 turn;\n");
  EXPECT_EQ(wordsOf(made), (std::vector<uint32_t>{4, 3, 2, 1, 0}));
}

TEST(Interpreter, CopiesAndArrivesAtBarriersInMemory) {
  // Thread 63 copies for all, the other waits for its arrival and for eight bytes; twice, so that the parity turns.
  const Execution made = execute(
      ".shared .align 16 .u32 copied[8];\n.shared .align 8 .b64 barrier;\nsetp.eq.u32 %p0, %r0, 63;\n"
      "@%p0 mbarrier.init.shared.b64 [barrier], 1;\nbar.sync 0;\nmov.u32 %r7, 0;\nmov.u32 %r6, 0;\nround:\n"
      "@!%p0 bra wait;\nsetp.eq.u32 %p2, %r7, 1;\n"
      "cp.async.cg.shared.global [copied], [source], 16;\ncp.async.ca.shared.global [copied+16], [source+16], 8, 4;\n"
      "cp.async.ca.shared.global [copied+24], [source+24], 8, %p2;\ncp.async.wait_all;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd2, [barrier], 8;\nmbarrier.complete_tx.shared.b64 [barrier], 8;\n"
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p1, [barrier], %r7;\n@!%p1 bra wait;\n"
      "and.b32 %r3, %r0, 7;\nld.shared.u32 %r4, copied[%r3];\nmad.lo.u32 %r6, %r6, 100, %r4;\nbar.sync 0;\n"
      "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 2;\n@%p1 bra round;\nst.global.u32 [%rd1], %r6;\n",
      launchOf(64), ".global .align 16 .u32 source[8] = {11, 12, 13, 14, 15, 16, 17, 18};\n");
  EXPECT_EQ(wordsOf(made), expected(64, [](uint32_t i) {
              const uint32_t n = i % 8;
              return (n == 5 ? 0 : n + 11) * 100 + (n < 5 ? n + 11 : 0);
            }));
}

TEST(Interpreter, VariablesKeepTheirValues) {
  Module module;
  ASSERT_TRUE(
      module.load(".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 count = 5;\n"
                  ".entry k() {\n.reg .b32 %r;\natom.global.add.u32 %r, [count], 1;\n}\n"));
  Memory memory;
  Launch launch = launchOf(3, 2);
  launch.kernel = "k";
  for (int i = 0; i < 2; ++i) {
    const Result result = module.run(launch, memory);
    EXPECT_TRUE(result) << result.message;
    EXPECT_EQ(result.instructions, 12u);
  }
  EXPECT_EQ(module.variable("count")[0], 17);
  EXPECT_TRUE(module.variable("none").empty());
}

TEST(Interpreter, SaysWhatIsWrong) {
  const struct {
    const char* body;
    Status status;
    const char* message;
  } wrong[] = {
      {"ld.global.u32 %r3, [%rd1+4];\n", Status::IllegalAccess, "ld.global.u32 in thread 31"},
      {"ld.global.u32 %r3, [%rd1+2];\n", Status::IllegalAccess, "not aligned"},
      {"st.shared.u32 [64], %r3;\n", Status::IllegalAccess, "nothing is at the address 0x40"},
      {"sin.approx.f32 %r3, %r3;\n", Status::Approximate, "sin.approx.f32"},
      {"mov.u32 %r3, %clock;\n", Status::UnknownInstruction, "%clock"},
      {"wgmma.fence.sync.aligned;\n", Status::UnknownInstruction, "wgmma.fence.sync.aligned"},
      {"add.u32 %r3, %r4, %x;\n", Status::InvalidText, "%x"},
      {"bra nowhere;\n", Status::InvalidText, "nowhere"},
      {"add.u32 %r3 %r4;\n", Status::InvalidText, "expected"},
      {"trap;\n", Status::Trapped, "trap"},
      {"again:\nbra again;\n", Status::TooLong, "instructions"},
      {".shared .b64 barrier;\nmbarrier.arrive.shared.b64 %rd2, [barrier];\n", Status::Undefined, "mbarrier.arrive"},
      {"setp.eq.u32 %p0, %r0, 0;\n@%p0 bar.sync 0, 64;\n", Status::Deadlock, "bar.sync"},
      {"bar.warp.sync 1;\n", Status::Undefined, "bar.warp.sync"},
      {"setp.lt.u32 %p0, %r0, 2;\n@%p0 shfl.sync.idx.b32 %r3, %r3, 9, 31, 3;\n", Status::Undefined, "has exited"},
  };
  for (const auto& one : wrong) {
    Launch launch = launchOf(32);
    launch.mostInstructions = 1'000'000;
    const Execution made = execute(one.body, launch);
    EXPECT_EQ(nameOf(made.result.status), std::string(nameOf(one.status))) << one.body << made.result.message;
    EXPECT_NE(made.result.message.find(one.message), std::string::npos) << one.body << made.result.message;
    EXPECT_NE(made.result.line, 0u) << one.body;
  }
}

TEST(Interpreter, NeverCrashesOnText) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 v[2] = {1, 2};\n"
      ".entry k(.param .u64 p) {\n.reg .b32 %r<3>;\n.reg .pred %p;\nL: ld.param.u32 %r1, [p];\n"
      "@%p bra L;\nsetp.eq.u32 %p|%p, %r1, 0f3F800000;\nmov.b32 {%r1, _}, %r2;\ncall (%r1), k, (%r2, v);\nret;\n}\n";
  for (size_t i = 0; i < text.size(); ++i) {
    for (const std::string& changed : {text.substr(0, i), text.substr(0, i) + text.substr(i + 1)}) {
      Module module;
      if (!module.load(changed)) continue;
      Memory memory;
      Launch launch = launchOf(1);
      launch.kernel = "k";
      launch.arguments.resize(8);
      launch.mostInstructions = 10'000;
      module.run(launch, memory);
    }
  }
}

TEST(Interpreter, RunsMillionsOfInstructions) {
  const auto begin = std::chrono::steady_clock::now();
  const Execution made = execute(
      "mov.u32 %r3, 0;\nagain:\nmad.lo.u32 %r4, %r3, %r3, %r0;\nxor.b32 %r5, %r5, %r4;\nshl.b32 %r6, %r5, 1;\n"
      "add.u32 %r5, %r5, %r6;\nst.global.u32 [%rd1], %r5;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p0, %r3, 4000;\n"
      "@%p0 bra again;\n",
      launchOf(128));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(wordsOf(made), expected(128, [](uint32_t thread) {
              uint32_t value = 0;
              for (uint32_t i = 0; i < 4000; ++i) value = (value ^ (i * i + thread)) * 3;
              return value;
            }));
  std::cout << static_cast<double>(made.result.instructions) / seconds.count() / 1e6
            << " million instructions a second\n";
}

}  // namespace
}  // namespace mulciber::interpreter
