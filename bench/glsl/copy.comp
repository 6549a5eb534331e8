#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
ARRAY(Vectors, vec4);
layout(push_constant) uniform Push {
  layout(offset = parameters) Vectors source;
  Vectors destination;
  int n;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < n) destination.at[i] = source.at[i];
}
