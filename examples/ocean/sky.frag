#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(location = 0) in vec3 direction;
layout(location = 0) out vec4 pixel;

void main() { pixel = vec4(sky(normalize(direction)), 1); }
