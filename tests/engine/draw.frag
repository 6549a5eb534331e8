#version 460
layout(location = 0) in vec4 passed;
layout(location = 0) out vec4 colour;
void main() { colour = passed; }
