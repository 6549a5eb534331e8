// cp.async in pipelines: what a wait brings, and what it may leave on its way.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class AsyncCopiesPtx : public PtxTest {
 protected:
  static constexpr uint32_t words = 4096;

  // Word i of the source is 7 * i.
  static std::string declarations(uint32_t tileBytes) {
    std::string text = ".shared .align 16 .b8 tile[" + std::to_string(tileBytes) +
                       "];\n.global .align 16 .u32 source[" + std::to_string(words) + "] = {";
    for (uint32_t i = 0; i < words; i++) text += (i > 0 ? ", " : "") + std::to_string(7 * i);
    return text + "};\n";
  }

  static std::string replaced(std::string text, std::initializer_list<std::pair<std::string, uint32_t>> numbers) {
    for (const auto& [name, number] : numbers)
      for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
        text.replace(at, name.size(), std::to_string(number));
    return text;
  }
};

struct Pipeline {
  uint32_t stages, copies, bytes;  // copies of a thread in a stage
  bool isUnrolled, isUneven;       // uneven: thread t begins t % copies + 1 copies
};

std::string fetch(const Pipeline& p, const std::string& label) {
  // %r20: the tile to fetch. Copy c of a thread goes to its place c of the stage.
  std::string code =
      "rem.u32 %r21, %r20, STAGES; mad.lo.u32 %r22, %r21, STAGEBYTES, %r1; mad.lo.u32 %r23, %r20, "
      "STAGEWORDS, %r2;\n";
  const std::string one =
      " mul.wide.u32 %rd2, %r23, 4; add.u64 %rd2, %rd2, %rd1;\n"
      " cp.async.ca.shared.global [%r22], [%rd2], BYTES;\n"
      " add.u32 %r22, %r22, BYTES; add.u32 %r23, %r23, COPYWORDS;\n";
  if (p.isUnrolled) {
    for (uint32_t c = 0; c < p.copies; c++)
      code += p.isUneven ? "setp.gt.u32 %p1, %r3, " + std::to_string(c) + ";\n@!%p1 bra " + label + ";\n" + one : one;
  } else {
    code += "mov.u32 %r24, 0;\n" + label + "_NEXT:\n" + one +
            "add.u32 %r24, %r24, 1; setp.lt.u32 %p1, %r24, %r3;\n@%p1 bra " + label + "_NEXT;\n";
  }
  return code + label + ":\ncp.async.commit_group;\n";
}

TEST_F(AsyncCopiesPtx, PipelinesBringEveryTile) {
  constexpr uint32_t threads = 32, tiles = 7;
  for (const Pipeline& p : {Pipeline{2, 1, 16, true, false},
                            {2, 4, 16, true, false},
                            {3, 2, 16, true, false},
                            {4, 3, 8, true, false},
                            {2, 10, 4, true, false},
                            {2, 3, 16, false, false},
                            {3, 5, 4, false, false},
                            {2, 4, 8, true, true},
                            {3, 4, 4, false, true}}) {
    std::string code = R"(
      mov.u32 %r1, tile; mad.lo.u32 %r1, %t, THREADBYTES, %r1; mul.lo.u32 %r2, %t, THREADWORDS; mov.u64 %rd1, source;
      mov.u32 %r3, COPIES;
      UNEVEN
      mov.u32 %r10, 0; mov.u32 %r20, 0;
)";
    code.replace(code.find("UNEVEN"), 6, p.isUneven ? "rem.u32 %r3, %t, COPIES; add.u32 %r3, %r3, 1;" : "");
    for (uint32_t stage = 0; stage + 1 < p.stages; stage++)
      code += fetch(p, "BEFORE" + std::to_string(stage)) + "add.u32 %r20, %r20, 1;\n";
    code += "mov.u32 %r11, 0;\nTILE:\nsetp.ge.u32 %p2, %r20, TILES;\n@%p2 bra LAST;\n" + fetch(p, "DURING") +
            "LASTS:\nadd.u32 %r20, %r20, 1;\ncp.async.wait_group AHEAD;\nbra READ;\nLAST:\ncp.async.wait_group 0;\n" +
            R"(READ:
      rem.u32 %r21, %r11, STAGES; mad.lo.u32 %r22, %r21, STAGEBYTES, %r1; mul.lo.u32 %r24, %r3, COPYWORDS;
    WORD:
      ld.shared.u32 %r25, [%r22]; mad.lo.u32 %r10, %r10, 3, %r25;
      add.u32 %r22, %r22, 4; sub.u32 %r24, %r24, 1; setp.ne.u32 %p1, %r24, 0;
      @%p1 bra WORD;
      add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, TILES;
      @%p1 bra TILE;
      st.global.u32 [%out], %r10;
)";
    const uint32_t threadBytes = p.copies * p.bytes, copyWords = p.bytes / 4;
    code = replaced(code, {{"STAGES", p.stages},
                           {"STAGEBYTES", threads * threadBytes},
                           {"STAGEWORDS", 64},
                           {"THREADBYTES", threadBytes},
                           {"THREADWORDS", 48},
                           {"COPYWORDS", copyWords},
                           {"COPIES", p.copies},
                           {"BYTES", p.bytes},
                           {"TILES", tiles},
                           {"AHEAD", p.stages - 1}});
    const auto sums = wordsOf(code, 1, threads, declarations(p.stages * threads * threadBytes));
    if (HasFatalFailure() || IsSkipped()) return;
    for (uint32_t t = 0; t < threads; t++) {
      uint32_t sum = 0;
      const uint32_t count = p.isUneven ? t % p.copies + 1 : p.copies;
      for (uint32_t tile = 0; tile < tiles; tile++)
        for (uint32_t i = 0; i < count * copyWords; i++) sum = sum * 3 + 7 * (64 * tile + 48 * t + i);
      ASSERT_EQ(sums[t], sum) << p.stages << " stages, " << p.copies << " copies of " << p.bytes << ", thread " << t;
    }
  }
}

// Copies of several sizes, and those that no group has been made of.
TEST_F(AsyncCopiesPtx, WaitAllWaitsForAll) {
  for (const char* second : {"4", "16"}) {
    const auto values = wordsOf(std::string(R"(
      mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 32, %r1; mov.u64 %rd1, source; mad.wide.u32 %rd1, %t, 16, %rd1;
      st.shared.v4.u32 [%r1+16], {-1, -1, -1, -1};
      cp.async.cg.shared.global [%r1], [%rd1], 16;
      cp.async.commit_group;
      setp.gt.u32 %p1, %t, 9;
      @%p1 cp.async.ca.shared.global [%r1+16], [%rd1+16], )") +
                                    second + R"(;
      cp.async.wait_all;
      ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1]; ld.shared.v2.u32 {%r6, %r7}, [%r1+16];
      st.global.v4.u32 [%out], {%r2, %r5, %r6, %r7};
    )",
                                4, 32, declarations(1024));
    if (HasFatalFailure() || IsSkipped()) return;
    for (uint32_t t = 0; t < 32; t++) {
      EXPECT_EQ(values[4 * t], 28 * t);
      EXPECT_EQ(values[4 * t + 1], 28 * t + 21);
      EXPECT_EQ(values[4 * t + 2], t > 9 ? 28 * t + 28 : ~0u) << t;
      EXPECT_EQ(values[4 * t + 3], t > 9 && second[0] == '1' ? 28 * t + 35 : ~0u) << t;
    }
  }
}

// An arrival that copies trigger comes after what they bring, for the whole block.
TEST_F(AsyncCopiesPtx, ArrivalsComeAfterTheCopies) {
  for (const char* kind : {".noinc", ""}) {
    const bool isCounted = *kind == 0;
    const auto values = wordsOf(std::string(R"(
      mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 16, %r1; mov.u64 %rd1, source; mad.wide.u32 %rd1, %t, 16, %rd1;
      setp.ne.u32 %p1, %t, 0;
      @!%p1 mbarrier.init.shared.b64 [barrier], 64;
      bar.sync 0;
      cp.async.cg.shared.global [%r2], [%rd1], 16;
      cp.async.mbarrier.arrive)") + kind +
                                    ".shared.b64 [barrier];\n" +
                                    (isCounted ? "mbarrier.arrive.shared.b64 %rd3, [barrier];\n" : "") + R"(
    WAIT:
      mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
      @!%p2 bra WAIT;
      xor.b32 %r3, %t, 37; mad.lo.u32 %r3, %r3, 16, %r1; ld.shared.u32 %r4, [%r3+4];
      st.global.u32 [%out], %r4;
    )",
                                1, 64, ".shared .align 8 .b64 barrier;\n" + declarations(1024));
    if (HasFatalFailure() || IsSkipped()) return;
    for (uint32_t t = 0; t < 64; t++) EXPECT_EQ(values[t], 28 * (t ^ 37) + 7) << t;
  }
}

// What a function copies is there when its caller has waited.
TEST_F(AsyncCopiesPtx, FunctionsMayCopyForTheirCallers) {
  const auto values = wordsOf(R"(
      mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 16, %r1; mov.u64 %rd1, source; mad.wide.u32 %rd1, %t, 16, %rd1;
      { .param .b32 to; .param .b64 from; st.param.b32 [to], %r1; st.param.b64 [from], %rd1; call.uni bring, (to, from); }
      cp.async.wait_group 0;
      ld.shared.u32 %r4, [%r1+8];
      st.global.u32 [%out], %r4;
    )",
                              1, 32, declarations(512) + R"(
    .func bring(.param .b32 to, .param .b64 from) {
      .reg .b32 %a; .reg .b64 %b;
      ld.param.b32 %a, [to]; ld.param.b64 %b, [from];
      cp.async.cg.shared.global [%a], [%b], 16;
      cp.async.commit_group;
      ret;
    })");
  if (HasFatalFailure() || IsSkipped()) return;
  for (uint32_t t = 0; t < 32; t++) EXPECT_EQ(values[t], 28 * t + 14) << t;
}

}  // namespace
}  // namespace mulciber::test
