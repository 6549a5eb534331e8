#version 460
layout(location = 0) out vec2 at;  // (0, 0) is the upper left corner

// One triangle that covers everything.
void main() {
  at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2;
  gl_Position = vec4(at * 2 - 1, 0, 1);
}
