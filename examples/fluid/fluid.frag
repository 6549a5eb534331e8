#version 460
// The smoke that the kernels have lit, its glow, and the ball. The ball's place is the kernels' own (fluid.cu).
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 pixel;
layout(set = 0, binding = 0) uniform sampler2D lit;
layout(set = 0, binding = 1) uniform sampler2D glow;
layout(push_constant) uniform Constants { float aspect; };

const vec2 ballAt = vec2(0.5, 0.45);
const float ballRadius = 0.11;

void main() {
  vec3 light = vec3(0.010, 0.013, 0.020) * (1.4 - at.y);
  const vec4 smoke = texture(lit, at);
  light += smoke.rgb + 0.35 * texture(glow, at).rgb;
  const vec2 fromBall = (at - ballAt) * vec2(aspect, 1);
  const float distance = length(fromBall);
  const float pixelSize = fwidth(distance);
  if (distance < ballRadius + pixelSize) {
    const vec3 normal = vec3(fromBall / ballRadius, sqrt(max(1 - dot(fromBall, fromBall) / (ballRadius * ballRadius), 0)));
    // The smoke just outside the ball shades it and colours its edge.
    const vec2 outside = ballAt + fromBall / max(distance, 1e-4) * (ballRadius + 0.02) / vec2(aspect, 1);
    const float sun = max(dot(normal, normalize(vec3(-0.55, -0.835, 0.6))), 0) * texture(lit, outside).a;
    const vec3 around = texture(glow, outside).rgb;
    const vec3 ball = vec3(0.30, 0.29, 0.28) * (1.3 * sun + 0.05) + 0.5 * around * pow(1 - normal.z, 2) + pow(sun, 40) * 0.6;
    light = mix(light, ball, clamp((ballRadius - distance) / pixelSize + 0.5, 0, 1));
  }
  // A lens lets less through near its edge.
  light *= 1 - 0.35 * dot(at - 0.5, at - 0.5) * 2;
  pixel = vec4(light, 1);
}
