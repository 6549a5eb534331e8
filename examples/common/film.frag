#version 460
// A picture as Picture::save() makes it: light beyond 1 is rolled off, as a film would.
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 pixel;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(push_constant) uniform Constants { float exposure; };

void main() { pixel = vec4(pow(1 - exp(-exposure * max(texture(picture, at).rgb, 0)), vec3(1 / 2.2)), 1); }
