#version 460
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 passed;
void main() {
  gl_Position = position;
  passed = colour;
}
