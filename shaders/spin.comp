// Keeps one thread busy for about a millisecond. It never stores, but compilers cannot know that.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint value; };

layout(push_constant) uniform Push {
  uint64_t result;
  uint rounds;
};

void main() {
  uint x = rounds;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + (x >> 13) + i;
  if (x == 0x600DF00Du) Word(result).value = x;
}
