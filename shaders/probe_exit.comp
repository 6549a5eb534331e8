// Does a barrier wait for threads that have ended? Of 128 threads a whole subgroup and some of another end first; each
// of the others passes a value through shared memory, twice.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 128) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(push_constant) uniform Push { uint64_t data; };

shared uint passed[128];

void main() {
  const uint thread = gl_LocalInvocationIndex;
  if ((thread >= 32u && thread < 64u) || thread % 5u == 1u) return;
  passed[thread] = thread + 1000u;
  barrier();
  uint other = 127u - thread;
  if ((other >= 32u && other < 64u) || other % 5u == 1u) other = thread;
  const uint first = passed[other];
  barrier();
  passed[thread] = first + 1u;
  barrier();
  Words(data).word[thread] = passed[other] == thread + 1001u && first == other + 1000u ? 1u : 0u;
}
