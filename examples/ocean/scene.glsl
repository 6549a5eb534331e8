// What both passes know of the scene.
layout(push_constant) uniform Constants {
  mat4 camera;
  vec4 eye;      // and how long a patch is
  vec4 forward;  // and how many patches there are on each side
  vec4 right, up;  // scaled to the edges of the picture
};

const vec3 sun = normalize(vec3(0.32, 0.14, -1.0));

vec3 sky(vec3 direction) {
  const float height = max(direction.y, 0);
  const vec3 horizon = vec3(0.62, 0.36, 0.22), zenith = vec3(0.018, 0.10, 0.36);
  vec3 light = mix(horizon, zenith, pow(height, 0.5));
  const float toSun = max(dot(direction, sun), 0);
  light += vec3(1.0, 0.55, 0.25) * (0.30 * pow(toSun, 10) + 0.7 * pow(toSun, 120));
  light += vec3(1.0, 0.85, 0.6) * 22 * smoothstep(0.99965, 0.99985, toSun);
  return light;
}
