// Which of a conditional's graphs run: writes a word for each, 0 for those that do not.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint value; };

layout(push_constant) uniform Push {
  uint64_t value;   // the condition
  uint64_t within;  // a word of the conditional around this one, or 0
  uint64_t words;
  uint count;
  uint isSwitch;
};

void main() {
  const uint chosen = Word(value).value;
  const bool isReached = within == 0 || Word(within).value != 0;
  for (uint i = 0; i < count; ++i) {
    const bool runs = isSwitch != 0 ? chosen == i : (chosen != 0) == (i == 0);
    Word(words + uint64_t(i) * 4).value = isReached && runs ? 1 : 0;
  }
}
