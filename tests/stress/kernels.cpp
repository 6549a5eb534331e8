#include <fmt/format.h>

#include "load.h"

namespace mulciber::stress {

namespace {

// step: data[i] = data[i] * a + b + c * i. stepTable: the same with its numbers in the last words of a parameter too
// large for push constants. copyStep: from another array. count: one more for each thread. gather: the words that a
// table of addresses points to.
// {index} finds the thread's number, or leaves the kernel; {step} is what both steps do.
constexpr const char* text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .u64 counted;

.visible .entry salted(.param .u64 data) {{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, {salt};
  st.global.u32 [%rd1], %r1;
  ret;
}}

.visible .entry step(.param .u64 data, .param .u32 count, .param .u32 a, .param .u32 b, .param .u32 c) {{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  {index}
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r4, [a];
  ld.param.u32 %r5, [b];
  ld.param.u32 %r6, [c];
  {step}
done:
  ret;
}}

.visible .entry stepTable(.param .u64 data, .param .u32 count, .param .align 4 .b8 table[1024]) {{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  {index}
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r4, [table+1012];
  ld.param.u32 %r5, [table+1016];
  ld.param.u32 %r6, [table+1020];
  {step}
done:
  ret;
}}

.visible .entry copyStep(.param .u64 to, .param .u64 from, .param .u32 count, .param .u32 a, .param .u32 b) {{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  {index}
  mul.wide.u32 %rd2, %r1, 4;
  ld.param.u64 %rd1, [from];
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r5, [%rd1];
  ld.param.u32 %r4, [a];
  ld.param.u32 %r6, [b];
  mad.lo.u32 %r5, %r5, %r4, %r6;
  ld.param.u64 %rd3, [to];
  add.s64 %rd3, %rd3, %rd2;
  st.global.u32 [%rd3], %r5;
done:
  ret;
}}

.visible .entry count() {{
  .reg .b64 %rd<2>;
  atom.global.add.u64 %rd1, [counted], 1;
  ret;
}}

.visible .entry gather(.param .u64 table, .param .u64 out, .param .u32 count) {{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  {index}
  ld.param.u64 %rd1, [table];
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u64 %rd3, [%rd1];
  ld.global.u32 %r4, [%rd3];
  ld.param.u64 %rd4, [out];
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd4, %rd4, %rd5;
  st.global.u32 [%rd4], %r4;
done:
  ret;
}}
)";

constexpr const char* index =
    "mov.u32 %r1, %ctaid.x; "
    "mov.u32 %r2, %ntid.x; "
    "mov.u32 %r3, %tid.x; "
    "mad.lo.s32 %r1, %r1, %r2, %r3; "
    "ld.param.u32 %r2, [count]; "
    "setp.ge.u32 %p, %r1, %r2; "
    "@%p bra done; ";
constexpr const char* step =
    "mul.wide.u32 %rd2, %r1, 4; "
    "add.s64 %rd1, %rd1, %rd2; "
    "ld.global.u32 %r7, [%rd1]; "
    "mad.lo.u32 %r7, %r7, %r4, %r5; "
    "mad.lo.u32 %r7, %r6, %r1, %r7; "
    "st.global.u32 [%rd1], %r7; ";

}  // namespace

std::string kernels(uint32_t salt) {
  return fmt::format(fmt::runtime(text), fmt::arg("salt", salt), fmt::arg("index", index), fmt::arg("step", step));
}

}  // namespace mulciber::stress
