#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
ARRAY(Floats, float);
layout(push_constant) uniform Push {
  layout(offset = parameters) Floats a;
  Floats b, c;
  int n;
};
shared float as[32][32], bs[32][32];

void main() {
  const uint x = gl_LocalInvocationIndex % 32, y = gl_LocalInvocationIndex / 32;
  const uint row = gl_WorkGroupID.y * 32 + y, column = gl_WorkGroupID.x * 32 + x;
  float sum = 0;
  for (uint k = 0; k < n; k += 32) {
    as[y][x] = a.at[row * n + k + x];
    bs[y][x] = b.at[(k + y) * n + column];
    barrier();
    for (uint i = 0; i < 32; ++i) sum = fma(as[y][i], bs[i][x], sum);
    barrier();
  }
  c.at[row * n + column] = sum;
}
