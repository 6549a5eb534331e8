// Copies width x height x depth units of UNIT_BYTES bytes between two places in device memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : enable

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = UNIT_BYTES) buffer Unit { UNIT value; };

layout(push_constant) uniform Push {
  uint64_t destination, source;
  uint64_t width;  // in units
  uint64_t destinationPitch, sourcePitch, destinationSlice, sourceSlice;  // in bytes
};

const uint perThread = 4;

void main() {
  const uint64_t row = gl_WorkGroupID.y, slice = gl_WorkGroupID.z;
  const uint64_t to = destination + row * destinationPitch + slice * destinationSlice;
  const uint64_t from = source + row * sourcePitch + slice * sourceSlice;
  const uint64_t first = uint64_t(gl_WorkGroupID.x) * (256 * perThread) + gl_LocalInvocationIndex;
  for (uint i = 0; i < perThread; ++i) {
    const uint64_t x = first + i * 256;
    if (x < width) Unit(to + x * UNIT_BYTES).value = Unit(from + x * UNIT_BYTES).value;
  }
}
