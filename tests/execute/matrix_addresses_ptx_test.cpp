// Matrices in shared memory at addresses that are computed from the thread's number, by whatever it may be.
#include <array>
#include <functional>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

struct Rows {
  const char* name;
  std::string code;  // sets %row from %lane and %warp, in bytes
  std::function<uint32_t(uint32_t lane, uint32_t warp)> row;
};

const std::vector<Rows>& waysToRows() {
  static const std::vector<Rows> ways = {
      {"padded rows", R"(
        and.b32 %r1, %lane, 15; shr.u32 %r2, %lane, 4; shl.b32 %r2, %r2, 4;
        mad.lo.u32 %row, %r1, 80, %r2; mad.lo.u32 %row, %warp, 1280, %row;)",
       [](uint32_t lane, uint32_t warp) { return lane % 16 * 80 + lane / 16 * 16 + warp * 1280; }},
      {"signed remainders", R"(
        shr.s32 %r1, %lane, 31; shr.u32 %r1, %r1, 28; add.s32 %r1, %lane, %r1; and.b32 %r2, %r1, -16;
        sub.s32 %r2, %lane, %r2; shr.s32 %r1, %r1, 4; shl.b32 %r1, %r1, 8;
        mad.lo.s32 %row, %r2, 16, %r1; mad.lo.s32 %row, %warp, 512, %row;)",
       [](uint32_t lane, uint32_t warp) { return lane % 16 * 16 + lane / 16 * 256 + warp * 512; }},
      {"exchanged pieces of rows", R"(
        and.b32 %r1, %lane, 15; shr.u32 %r2, %lane, 4; shr.u32 %r3, %r1, 1; xor.b32 %r2, %r2, %r3; and.b32 %r2, %r2, 3;
        shl.b32 %r1, %r1, 6; shl.b32 %r2, %r2, 4; or.b32 %row, %r1, %r2; xor.b32 %row, %row, 32;
        mad.lo.u32 %row, %warp, 1024, %row;)",
       [](uint32_t lane, uint32_t warp) {
         const uint32_t row = lane % 16;
         return ((row * 64 | ((lane / 16 ^ row / 2) & 3) * 16) ^ 32) + warp * 1024;
       }},
      {"bit fields", R"(
        bfe.u32 %r1, %lane, 3, 2; mov.u32 %r2, 0; bfi.b32 %r2, %lane, %r2, 4, 3; bfi.b32 %row, %r1, %r2, 7, 2;
        shl.b32 %r3, %warp, 9; add.u32 %row, %row, %r3;)",
       [](uint32_t lane, uint32_t warp) { return lane % 8 * 16 + lane / 8 * 128 + warp * 512; }},
      {"a choice", R"(
        setp.lt.u32 %p1, %lane, 11; selp.b32 %r1, 1024, 2048, %p1; mul.lo.u32 %r2, %lane, %lane;
        and.b32 %r2, %r2, 63; mad.lo.u32 %row, %r2, 16, %r1; mad.lo.u32 %row, %warp, 16, %row;)",
       [](uint32_t lane, uint32_t warp) { return (lane < 11 ? 1024u : 2048u) + (lane * lane & 63) * 16 + warp * 16; }},
      {"backwards", R"(
        sub.u32 %r1, 31, %lane; shl.b32 %row, %r1, 4; neg.s32 %r2, %warp; mad.lo.s32 %row, %r2, -512, %row;)",
       [](uint32_t lane, uint32_t warp) { return (31 - lane) * 16 + warp * 512; }},
      {"64 bits", R"(
        cvt.u64.u32 %rd1, %lane; mul.lo.u64 %rd1, %rd1, 48; mul.wide.u32 %rd2, %warp, 1536; add.u64 %rd1, %rd1, %rd2;
        cvt.u32.u64 %row, %rd1;)",
       [](uint32_t lane, uint32_t warp) { return lane * 48 + warp * 1536; }},
      {"beside a field above", R"(
        mul.wide.u32 %rd1, %lane, 48; cvt.u64.u32 %rd2, %warp; bfi.b64 %rd1, %rd2, %rd1, 32, 32;
        cvt.u32.u64 %row, %rd1; mad.lo.u32 %row, %warp, 1536, %row;)",
       [](uint32_t lane, uint32_t warp) { return lane * 48 + warp * 1536; }},
      {"loaded", R"(
        mov.u32 %r1, tile; mad.lo.u32 %r1, %lane, 8, %r1; ld.shared.u16 %rs1, [%r1]; cvt.u32.u16 %row, %rs1;
        shl.b32 %row, %row, 2; mad.lo.u32 %row, %warp, 512, %row;)",
       [](uint32_t lane, uint32_t warp) { return lane * 16 + warp * 512; }},
      {"from other lanes", R"(
        shl.b32 %r1, %lane, 4; shfl.sync.bfly.b32 %row, %r1, 1, 31, -1; mad.lo.u32 %row, %warp, 512, %row;)",
       [](uint32_t lane, uint32_t warp) { return (lane ^ 1) * 16 + warp * 512; }},
      {"counted in a loop", R"(
        mov.u32 %r1, 0; mov.u32 %row, 0;
      NEXT:
        mad.lo.u32 %row, %lane, 16, %row; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3;
        @%p1 bra NEXT;
        mad.lo.u32 %row, %warp, 1536, %row;)",
       [](uint32_t lane, uint32_t warp) { return lane * 48 + warp * 1536; }},
  };
  return ways;
}

constexpr uint32_t threads = 64;

class MatrixAddressesPtx : public PtxTest {
 protected:
  using Shape = std::array<uint32_t, 3>;

  // Of 64 threads each the words of `operation`, which finds its row in %r10. 16-bit values of the tile are their
  // numbers at first.
  std::vector<uint32_t> run(const Shape& shape, const Rows& rows, const std::string& operation) {
    const std::string text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 parameter)
{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<40>, %lane, %warp, %row, %t; .reg .b64 %rd<9>, %out;
.shared .align 128 .b8 tile[8192];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
  mad.lo.u32 %t, %r3, %r5, %r2; mad.lo.u32 %t, %t, %r4, %r1;
  ld.param.u64 %out, [parameter]; mad.wide.u32 %out, %t, 16, %out;
  mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; mul.lo.u32 %r2, %t, 0x20002; add.u32 %r2, %r2, 0x10000;
  mov.u32 %r3, %t;
FILL:
  st.shared.u32 [%r1], %r2;
  add.u32 %r1, %r1, 256; add.u32 %r2, %r2, 0x800080; add.u32 %r3, %r3, 64; setp.lt.u32 %p1, %r3, 2048;
  @%p1 bra FILL;
  bar.sync 0;
)" +
                             std::string(shape[0] % 32 == 0 && shape[1] > 1 && shape[2] == 1
                                             ? "  mov.u32 %lane, %tid.x; mov.u32 %warp, %tid.y;\n"
                                             : "  and.b32 %lane, %t, 31; shr.u32 %warp, %t, 5;\n") +
                             rows.code + "\n  mov.u32 %r10, tile; add.u32 %r10, %r10, %row;\n" + operation +
                             "  st.global.v4.u32 [%out], {%r11, %r12, %r13, %r14};\n  ret;\n}\n";
    Buffer out(*device, threads * 16);
    Launch launch;
    std::ranges::copy(shape, launch.block);
    launch.add(out.address());
    runPtx(text, launch, device->profile());
    return {out.as<uint32_t>(), out.as<uint32_t>() + size_t{4} * threads};
  }

  // Each way in a line of threads, and in one other block.
  static std::vector<std::pair<Rows, Shape>> waysAndShapes() {
    static constexpr Shape shapes[] = {{32, 2, 1}, {16, 4, 1}, {8, 4, 2}, {1, 64, 1}};
    std::vector<std::pair<Rows, Shape>> result;
    for (const Rows& rows : waysToRows()) {
      result.emplace_back(rows, Shape{64, 1, 1});
      result.emplace_back(rows, shapes[result.size() / 2 % std::size(shapes)]);
    }
    return result;
  }
};

// The two values of a lane in matrix j; the value at a place is its number.
uint32_t loaded(const Rows& rows, uint32_t lane, uint32_t warp, uint32_t j, bool isTransposed) {
  const uint32_t g = lane / 4, t = lane % 4;
  auto value = [&](uint32_t row, uint32_t column) { return rows.row(8 * j + row, warp) / 2 + column; };
  return isTransposed ? value(2 * t, g) | value(2 * t + 1, g) << 16 : value(g, 2 * t) | value(g, 2 * t + 1) << 16;
}

TEST_F(MatrixAddressesPtx, LoadsRowsOfAnyAddress) {
  for (const auto& [rows, shape] : waysAndShapes())
    for (bool isTransposed : {false, true}) {
      const auto words = run(shape, rows,
                             std::string("  ldmatrix.sync.aligned.m8n8.x4") + (isTransposed ? ".trans" : "") +
                                 ".shared.b16 {%r11, %r12, %r13, %r14}, [%r10];\n");
      if (HasFatalFailure() || IsSkipped()) return;
      for (uint32_t i = 0; i < 4 * threads; i++)
        ASSERT_EQ(words[i], loaded(rows, i / 4 % 32, i / 128, i % 4, isTransposed))
            << rows.name << ", " << shape[0] << "x" << shape[1] << "x" << shape[2] << ", word " << i;
    }
}

// What stmatrix stores is what ldmatrix loads, where no two rows are one.
TEST_F(MatrixAddressesPtx, StoresRowsAtAnyAddress) {
  for (const auto& [rows, shape] : waysAndShapes()) {
    if (rows.name == std::string("a choice")) continue;
    for (const char* transposed : {"", ".trans"}) {
      const auto words =
          run(shape, rows,
              std::string("  bar.sync 0; mul.lo.u32 %r1, %t, 0x01010101; add.u32 %r2, %r1, 1; not.b32 "
                          "%r3, %r1; brev.b32 %r4, %r1;\n  stmatrix.sync.aligned.m8n8.x4") +
                  transposed + ".shared.b16 [%r10], {%r1, %r2, %r3, %r4};\n  bar.sync 0;\n" +
                  "  ldmatrix.sync.aligned.m8n8.x4" + transposed + ".shared.b16 {%r11, %r12, %r13, %r14}, [%r10];\n");
      if (HasFatalFailure() || IsSkipped()) return;
      for (uint32_t t = 0; t < threads; t++) {
        const uint32_t first = t * 0x01010101;
        ASSERT_EQ(words[4 * t], first) << rows.name << ", " << shape[0] << "x" << shape[1] << "x" << shape[2];
        ASSERT_EQ(words[4 * t + 1], first + 1) << rows.name;
        ASSERT_EQ(words[4 * t + 2], ~first) << rows.name;
      }
    }
  }
}

}  // namespace
}  // namespace mulciber::test
