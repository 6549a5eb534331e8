// Elements a block's width apart, each loaded and stored only where it is one of the program's. In blocks of one thread
// all of these places are the same for the whole warp, and compilers of devices keep them elsewhere.
#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t blocks = 5, untouched = 7;

struct Shape {
  uint32_t threads, pieces, width;  // each thread has `pieces` pieces of `width` words
  uint32_t words;                   // of each block; those behind them are left out
  bool isKnown;                     // in the kernel, how many threads a block has

  uint32_t wordsOfBlock() const { return threads * pieces * width; }
};

class GuardedCopiesPtx : public PtxTest {
 protected:
  static std::string registers(const Shape& shape, uint32_t piece, const std::string& name) {
    std::string list;
    for (uint32_t i = 0; i < shape.width; ++i)
      list += (i ? ", %" : "%") + name + std::to_string(piece * shape.width + i);
    return shape.width == 1 ? list : "{" + list + "}";
  }

  // Each word and the same one of the thread's next piece, added.
  static std::string textFor(const Shape& shape) {
    const std::string vector = shape.width == 1 ? "" : ".v" + std::to_string(shape.width);
    std::string load, add, store;
    for (uint32_t piece = 0; piece < shape.pieces; ++piece) {
      std::string code = R"(
  mad.lo.u32 %r3, %r4, PIECE, %r2; mul.lo.u32 %r5, %r3, WIDTH; setp.ge.u32 %pPIECE, %r5, %r6; FIRST
  @%pPIECE bra LOADED_PIECE; mul.wide.u32 %rd5, %r3, BYTES; add.u64 %rd5, %rd1, %rd5; ld.global.VECTORu32 LIST, [%rd5];
LOADED_PIECE:)";
      std::string end = R"(
  @%pPIECE bra STORED_PIECE; mad.lo.u32 %r3, %r4, PIECE, %r2; mul.wide.u32 %rd5, %r3, BYTES; add.u64 %rd5, %rd2, %rd5;
  st.global.VECTORu32 [%rd5], SUMS;
STORED_PIECE:)";
      std::string first;
      for (uint32_t i = 0; i < shape.width; ++i) {
        const uint32_t here = piece * shape.width + i, next = (here + shape.width) % (shape.pieces * shape.width);
        first += " mov.u32 %a" + std::to_string(here) + ", 0;";
        add += "\n  add.u32 %s" + std::to_string(here) + ", %a" + std::to_string(here) + ", %a" + std::to_string(next) +
               ";";
      }
      for (std::string* text : {&code, &end}) {
        *text = replaced(replaced(*text, "FIRST", first), "LIST", registers(shape, piece, "a"));
        *text = replaced(replaced(*text, "SUMS", registers(shape, piece, "s")), "PIECE", std::to_string(piece));
        *text = replaced(replaced(*text, "BYTES", std::to_string(shape.width * 4)), "VECTOR",
                         vector.empty() ? "" : vector.substr(1) + ".");
        *text = replaced(*text, "WIDTH", std::to_string(shape.width));
      }
      load += code;
      store += end;
    }
    return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 stride, .param .u32 words)
)" + (shape.isKnown ? ".maxntid " + std::to_string(shape.threads) + ", 1, 1" : "") +
           R"(
{
  .reg .b32 %r<8>, %a<17>, %s<17>; .reg .b64 %rd<8>; .reg .pred %p<5>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [stride]; ld.param.u32 %r6, [words];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r4, %ntid.x; cvt.s64.s32 %rd4, %r1;
  mul.lo.s64 %rd4, %rd3, %rd4; shl.b64 %rd4, %rd4, 2; add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4;)" +
           load + add + store + "\n  ret;\n}\n";
  }

  void expectCopies(const Shape& shape) {
    const uint32_t count = blocks * shape.wordsOfBlock();
    Buffer in(*device, count * 4 + 16), out(*device, count * 4 + 16);
    for (uint32_t i = 0; i < count; ++i) in.as<uint32_t>()[i] = 1000 + i, out.as<uint32_t>()[i] = untouched;
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = shape.threads;
    launch.add(in.address()).add(out.address()).add(uint64_t{shape.wordsOfBlock()}).add(shape.words);
    runPtx(textFor(shape), launch, device->profile());
    const auto word = [&](uint32_t block, uint32_t piece, uint32_t thread, uint32_t i) {
      const uint32_t at = (piece * shape.threads + thread) * shape.width + i;
      return at - i < shape.words ? in.as<uint32_t>()[block * shape.wordsOfBlock() + at] : 0;
    };
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t block = i / shape.wordsOfBlock(), at = i % shape.wordsOfBlock(), part = at % shape.width;
      const uint32_t thread = at / shape.width % shape.threads, piece = at / shape.width / shape.threads;
      const uint32_t sum = word(block, piece, thread, part) + word(block, (piece + 1) % shape.pieces, thread, part);
      wrong += out.as<uint32_t>()[i] != (at - part < shape.words ? sum : untouched);
    }
    EXPECT_EQ(wrong, 0u) << shape.threads << " threads, " << shape.pieces << " pieces of " << shape.width << " words, "
                         << shape.words << " of them used" << (shape.isKnown ? ", known" : "");
  }
};

TEST_F(GuardedCopiesPtx, ReachTheirPlaces) {
  for (const uint32_t threads : {1u, 2u, 32u, 33u})
    for (const uint32_t pieces : {1u, 2u, 3u, 4u})
      for (const uint32_t width : {1u, 2u, 4u})
        for (const bool isKnown : {true, false}) {
          const uint32_t all = threads * pieces * width;
          expectCopies({threads, pieces, width, all, isKnown});
          expectCopies({threads, pieces, width, (all / 2 + width) / width * width, isKnown});
        }
}

}  // namespace
}  // namespace mulciber::test
