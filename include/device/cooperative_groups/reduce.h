// Reductions over a tile or a coalesced group: every thread gets the result.
#ifndef MULCIBER_DEVICE_COOPERATIVE_GROUPS_REDUCE_H
#define MULCIBER_DEVICE_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

// Pairs at growing distances; in a group of any size, each thread takes what is above it while there is something.
template <class Group, class T, class Operation>
__device__ T reduce(const Group& group, T value, Operation operation) {
  const unsigned size = group.size(), rank = group.thread_rank();
  unsigned half = 1;
  while (half < size) half *= 2;
  for (half /= 2; half > 0; half /= 2) {
    const T other = group.shfl_down(value, half);
    if (rank < half && rank + half < size) value = operation(value, other);
  }
  return group.shfl(value, 0);
}

// In a tile of several warps, each reduces by itself first.
template <unsigned Size, class Parent, class T, class Operation>
__device__ typename std::enable_if<(Size > 32), T>::type reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                                                Operation operation) {
  return tile.mulciber_combined(reduce(tiled_partition<32>(this_thread_block()), value, operation), operation);
}

}  // namespace cooperative_groups

#endif
