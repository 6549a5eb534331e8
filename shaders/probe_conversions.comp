// What conversions give where SPIR-V leaves it open, and what is left of one to f16 and back.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 32) in;
struct Case {
  float x;
  uint roundTrip;
  double wide;
  int64_t i64, wideI64;
  uint64_t u64, wideU64;
  int i32, wideI32;
  uint u32, wideU32;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Cases { Case item[]; };
layout(push_constant) uniform Push { uint64_t data; };

void main() {
  Case one = Cases(data).item[gl_LocalInvocationIndex];
  one.roundTrip = floatBitsToUint(float(float16_t(one.x)));
  one.i32 = int(one.x);
  one.u32 = uint(one.x);
  one.i64 = int64_t(one.x);
  one.u64 = uint64_t(one.x);
  one.wideI32 = int(one.wide);
  one.wideU32 = uint(one.wide);
  one.wideI64 = int64_t(one.wide);
  one.wideU64 = uint64_t(one.wide);
  Cases(data).item[gl_LocalInvocationIndex] = one;
}
