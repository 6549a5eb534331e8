#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
ARRAY(Vectors, vec4);
layout(push_constant) uniform Push {
  layout(offset = parameters) Vectors positions;
  Vectors forces;
  int n;
};
shared vec4 bodies[256];

void main() {
  const uint i = gl_GlobalInvocationID.x;
  const vec3 self = positions.at[i].xyz;
  vec3 sum = vec3(0);
  for (uint start = 0; start < n; start += 256) {
    bodies[gl_LocalInvocationIndex] = positions.at[start + gl_LocalInvocationIndex];
    barrier();
    for (uint j = 0; j < 256; ++j) {
      const vec4 body = bodies[j];
      const vec3 away = body.xyz - self;
      const float inverse = inversesqrt(dot(away, away) + 1e-3);
      sum += away * (body.w * inverse * inverse * inverse);
    }
    barrier();
  }
  forces.at[i] = vec4(sum, 0);
}
