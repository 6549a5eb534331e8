// Writes one value to width x height x depth units of UNIT_BYTES bytes of device memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : enable
#extension GL_EXT_shader_16bit_storage : enable

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = UNIT_BYTES) buffer Unit { UNIT value; };

layout(push_constant) uniform Push {
  uint64_t destination;
  uint64_t width;         // in units
  uint64_t pitch, slice;  // in bytes
  uint pattern;           // repeated to fill four bytes
};

void main() {
  const uint64_t to = destination + uint64_t(gl_WorkGroupID.y) * pitch + uint64_t(gl_WorkGroupID.z) * slice;
  const uint64_t x = uint64_t(gl_WorkGroupID.x) * 256 + gl_LocalInvocationIndex;
  if (x < width) Unit(to + x * UNIT_BYTES).value = UNIT(pattern);
}
