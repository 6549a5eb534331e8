#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(location = 0) out vec3 direction;

// One triangle that covers the picture, behind everything.
void main() {
  const vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1;
  gl_Position = vec4(at, 1, 1);
  direction = forward.xyz + at.x * right.xyz - at.y * up.xyz;
}
