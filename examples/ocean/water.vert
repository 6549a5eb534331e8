#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(location = 0) in vec4 place;  // and foam
layout(location = 1) in vec4 waterNormal;
layout(location = 0) out vec3 position;
layout(location = 1) out vec3 normal;
layout(location = 2) out float foam;

// Each instance is a patch, beside and behind the others.
void main() {
  const int side = int(forward.w);
  const vec2 patchAt = vec2(gl_InstanceIndex % side - side / 2, -(gl_InstanceIndex / side)) * eye.w;
  position = place.xyz + vec3(patchAt.x, 0, patchAt.y);
  normal = waterNormal.xyz;
  foam = place.w;
  gl_Position = camera * vec4(position, 1);
}
