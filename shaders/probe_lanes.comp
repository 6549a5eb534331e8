// Are lanes numbered as CUDA numbers them, and is a subgroup really as wide as it says? Each of 128 threads writes 1
// when all it sees is right.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(local_size_x = 128) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(push_constant) uniform Push { uint64_t data; };

void main() {
  const uint thread = gl_LocalInvocationIndex;
  const uint neighbour = subgroupShuffle(thread, gl_SubgroupInvocationID ^ 31u);
  const uvec4 everyone = subgroupBallot(true);
  const bool good = gl_SubgroupSize == 32u && gl_SubgroupInvocationID == thread % 32u &&
                    gl_SubgroupID == thread / 32u && neighbour == (thread ^ 31u) && everyone == uvec4(~0u, 0u, 0u, 0u);
  Words(data).word[thread] = good ? 1u : 0u;
}
