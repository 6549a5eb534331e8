#version 460
layout(location = 0) in vec4 particle;  // where, and how fast
layout(push_constant) uniform Constants {
  mat4 camera;
  float light;  // of each particle
};
layout(location = 0) out vec3 colour;

void main() {
  gl_Position = camera * vec4(particle.xyz, 1);
  gl_PointSize = 1;
  const float fast = smoothstep(0.1, 1.9, particle.w);
  const vec3 slowColour = vec3(0.08, 0.16, 0.9), middle = vec3(0.75, 0.12, 0.55), fastColour = vec3(1.0, 0.62, 0.18);
  colour = mix(mix(slowColour, middle, min(2 * fast, 1)), fastColour, max(2 * fast - 1, 0)) * light;
}
