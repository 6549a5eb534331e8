#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
ARRAY(Words, uint);
layout(push_constant) uniform Push {
  layout(offset = parameters) Words source;
  Words bins;
  int n;
};
shared uint counts[256];

void main() {
  counts[gl_LocalInvocationIndex] = 0;
  barrier();
  for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * blockThreads)
    atomicAdd(counts[source.at[i] & 255], 1);
  barrier();
  atomicAdd(bins.at[gl_LocalInvocationIndex], counts[gl_LocalInvocationIndex]);
}
