// Several items of each thread, as block-wide libraries load and store them: guards that passes/bounded_sums rewrites,
// addresses that passes/aligned_addresses does.
#include <array>
#include <string>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class ItemsPtx : public PtxTest {};

TEST_F(ItemsPtx, GuardsHoldForEveryBound) {
  constexpr std::array<int32_t, 10> bounds{INT32_MIN, INT32_MIN + 1, -1, 0, 1, 40, 128, 160, INT32_MAX - 1, INT32_MAX};
  constexpr uint32_t items = 8, threads = 32 * bounds.size();
  std::string table, body = R"(
    shr.u32 %r1, %t, 5; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, bounds; add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];                // the bound
    and.b32 %r3, %t, 31;
    mov.u32 %r4, 0; mov.u32 %r5, 0;           // signed and unsigned guards that hold, a bit for each
)";
  for (int32_t bound : bounds) table += (table.empty() ? "" : ", ") + std::to_string(bound);
  const std::array<const char*, 4> orders{"lt", "le", "gt", "ge"};
  for (uint32_t item = 0; item < items; ++item) {
    const std::string constant = std::to_string(item == items - 1 ? INT32_MAX - 32 : 32 * static_cast<int32_t>(item));
    body += "add.s32 %r6, %r3, " + constant + ";\n";
    for (const char* type : {"s32", "u32"}) {
      const std::string result = type[0] == 's' ? "%r4" : "%r5", order = orders[item % 4];
      body += "setp." + order + "." + type + " %p1, %r6, %r2; selp.u32 %r7, " + std::to_string(1u << item) +
              ", 0, %p1; or.b32 " + result + ", " + result + ", %r7;\n";
    }
  }
  body += "st.global.v2.u32 [%out], {%r4, %r5};\n";
  const auto words = wordsOf(
      body, 2, threads, ".global .align 4 .u32 bounds[" + std::to_string(bounds.size()) + "] = {" + table + "};\n");
  for (uint32_t thread = 0; thread < threads; ++thread) {
    uint32_t expectedSigned = 0, expectedUnsigned = 0;
    const int32_t bound = bounds[thread / 32];
    auto holds = [](uint32_t order, auto sum, auto limit) {
      return order == 0 ? sum < limit : order == 1 ? sum <= limit : order == 2 ? sum > limit : sum >= limit;
    };
    for (uint32_t item = 0; item < items; ++item) {
      const auto sum =
          static_cast<int32_t>(thread % 32) + (item == items - 1 ? INT32_MAX - 32 : 32 * static_cast<int32_t>(item));
      expectedSigned |= uint32_t{holds(item % 4, sum, bound)} << item;
      expectedUnsigned |= uint32_t{holds(item % 4, static_cast<uint32_t>(sum), static_cast<uint32_t>(bound))} << item;
    }
    EXPECT_EQ(words[2 * thread], expectedSigned) << "bound " << bound << ", thread " << thread;
    EXPECT_EQ(words[2 * thread + 1], expectedUnsigned) << "bound " << bound << ", thread " << thread;
  }
}

TEST_F(ItemsPtx, PointersIntoSharedMemoryAdvance) {
  // Thread t stores t + 32 i at 4 t + 128 i, four at a time, by a pointer ahead of them, and reads vectors of four.
  const auto words = wordsOf(R"(
    mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r1; add.u32 %r2, %r2, 256;
    mov.u32 %r3, 0; mov.u32 %r4, %t;
  NEXT:
    add.s32 %r5, %r2, -256;
    st.shared.u32 [%r5], %r4;
    add.s32 %r6, %r4, 32; st.shared.u32 [%r2+-128], %r6;
    add.s32 %r6, %r4, 64; st.shared.u32 [%r2], %r6;
    add.s32 %r6, %r4, 96; st.shared.u32 [%r2+128], %r6;
    add.s32 %r2, %r2, 512; add.s32 %r4, %r4, 128; add.s32 %r3, %r3, 4;
    setp.lt.u32 %p1, %r3, 8;
    @%p1 bra NEXT;
    bar.sync 0;
    mul.lo.u32 %r7, %t, 3; and.b32 %r7, %r7, 31; mul.lo.u32 %r8, %t, 4; sub.u32 %r8, %r8, %t; and.b32 %r8, %r8, 31;
    sub.u32 %r8, %r8, %r7; mul.lo.u32 %r8, %r8, 24; mul.lo.u32 %r7, %t, 8; add.u32 %r7, %r7, %r8; shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r7, %r1;
    ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r7];
    ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [%r7+16];
    st.global.v4.u32 [%out], {%r9, %r10, %r11, %r12};
    st.global.v4.u32 [%out+16], {%r13, %r14, %r15, %r16};
  )",
                             8, 32, ".shared .align 16 .b8 tile[1024];\n");
  for (uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], i);
}

}  // namespace
}  // namespace mulciber::test
