// What the shaders of this folder share: the interface of translated kernels (include/mulciber/kernel_abi.h), so that one
// program can launch either. Written as a person would who knows GLSL and the device.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x_id = 3) in;
layout(constant_id = 3) const uint blockThreads = 256;
const uint parameters = 32;  // where they begin in the push constants

#define ARRAY(name, type) \
  layout(buffer_reference, std430, buffer_reference_align = 16) buffer name { type at[]; }
