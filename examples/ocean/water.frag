#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float foam;
layout(location = 0) out vec4 pixel;

void main() {
  const vec3 toEye = eye.xyz - position;
  const float distance = length(toEye);
  const vec3 view = toEye / distance;
  // Far waves are smaller than pixels: what they reflect evens out.
  vec3 n = normalize(normal);
  n = normalize(mix(n, vec3(0, 1, 0), smoothstep(90, 900, distance) * 0.9));
  const float facing = clamp(dot(n, view), 0.02, 1);
  const float reflected = 0.02 + 0.98 * pow(1 - facing, 5);
  vec3 mirrored = reflect(-view, n);
  mirrored.y = abs(mirrored.y);
  // Light that went through a crest, and what comes back from the depth.
  const float crest = clamp(position.y * 0.22 + 0.35, 0, 1);
  const float through = pow(max(dot(view, -sun), 0), 3) * crest;
  const vec3 deep = vec3(0.003, 0.022, 0.040), shallow = vec3(0.015, 0.13, 0.13);
  vec3 light = mix(mix(deep, shallow, 0.35 * crest * facing + 0.5 * through), sky(mirrored), reflected);
  const vec3 between = (sun + view) / max(length(sun + view), 0.01);  // against the sun there is nothing between
  light += vec3(1.0, 0.75, 0.45) * 5 * pow(max(dot(n, between), 0), 420);
  light = mix(light, vec3(0.80, 0.74, 0.70), min(foam * foam, 1) * 0.75);
  // Into the haze of the horizon.
  const vec3 haze = sky(normalize(vec3(-view.x, 0.02, -view.z)));
  pixel = vec4(mix(light, haze, 1 - exp(-distance * 0.00075)), 1);
}
