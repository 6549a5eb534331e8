#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
ARRAY(Floats, float);
layout(push_constant) uniform Push {
  layout(offset = parameters) Floats source;
  Floats destination;
  int n;
};
shared float partial[32];

void main() {
  float sum = 0;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * blockThreads) sum += source.at[i];
  sum = subgroupAdd(sum);
  if (gl_SubgroupInvocationID == 0) partial[gl_SubgroupID] = sum;
  barrier();
  if (gl_LocalInvocationIndex < 32) {
    sum = subgroupAdd(gl_LocalInvocationIndex < gl_NumSubgroups ? partial[gl_LocalInvocationIndex] : 0);
    if (gl_LocalInvocationIndex == 0) destination.at[gl_WorkGroupID.x] = sum;
  }
}
