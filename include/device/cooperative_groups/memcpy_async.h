// A group's copies to shared memory, and waiting for them.
#ifndef MULCIBER_DEVICE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MULCIBER_DEVICE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

// The threads of the group take words in turn. What is no multiple of a word, or not aligned to one, is copied at once.
template <class Group, class T>
__device__ void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  char* const out = reinterpret_cast<char*>(to);
  const char* const in = reinterpret_cast<const char*>(from);
  const bool isAsynchronous =
      ((reinterpret_cast<size_t>(out) | reinterpret_cast<size_t>(in)) & 3) == 0 && __isShared(out) && __isGlobal(in);
  const size_t whole = isAsynchronous ? bytes & ~static_cast<size_t>(3) : 0;
  for (size_t at = 4 * group.thread_rank(); at < whole; at += 4 * group.size())
    __pipeline_memcpy_async(out + at, in + at, 4);
  for (size_t at = whole + group.thread_rank(); at < bytes; at += group.size()) out[at] = in[at];
  __pipeline_commit();
}
template <class Group>
__device__ void wait(const Group& group) {
  __pipeline_wait_prior(0);
  group.sync();
}
// All but the latest `count` copies.
template <unsigned count, class Group>
__device__ void wait_prior(const Group& group) {
  __pipeline_wait_prior(count);
  group.sync();
}

}  // namespace cooperative_groups

#endif
