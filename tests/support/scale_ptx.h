// A module for tests of both APIs: the kernel `scale`, the variables `counter` and `offsets`.
#pragma once

namespace mulciber::test {

// data[i] = data[i] * factor + offset, and a variable.
inline constexpr const char* scalePtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .u32 offsets[2] = {7, 8};
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [count];
  setp.ge.u32 %p, %r1, %r2;
  @%p bra done;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r4, [factor];
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r5, [%rd1];
  ld.const.u32 %r6, [offsets];
  mad.lo.u32 %r5, %r5, %r4, %r6;
  st.global.u32 [%rd1], %r5;
done:
  ret;
}
)";

}  // namespace mulciber::test
