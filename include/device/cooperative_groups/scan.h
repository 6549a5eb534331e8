// Scans over a tile or a coalesced group.
#ifndef MULCIBER_DEVICE_COOPERATIVE_GROUPS_SCAN_H
#define MULCIBER_DEVICE_COOPERATIVE_GROUPS_SCAN_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
__device__ T inclusive_scan(const Group& group, T value, Operation operation) {
  const unsigned rank = group.thread_rank();
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T other = group.shfl_up(value, distance);
    if (rank >= distance) value = operation(other, value);
  }
  return value;
}
// The first thread gets T's zero, which is the neutral element of sums and of or and exclusive or.
template <class Group, class T, class Operation>
__device__ T exclusive_scan(const Group& group, T value, Operation operation) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation), 1u);
  return group.thread_rank() == 0 ? T() : before;
}
// In a tile of several warps, each scans by itself first.
template <unsigned Size, class Parent, class T, class Operation>
__device__ typename std::enable_if<(Size > 32), T>::type inclusive_scan(const thread_block_tile<Size, Parent>& tile,
                                                                        T value, Operation operation) {
  value = inclusive_scan(tiled_partition<32>(this_thread_block()), value, operation);
  T before;
  tile.mulciber_before(value, operation, before);
  return tile.mulciber_warp() == 0 ? value : operation(before, value);
}
template <unsigned Size, class Parent, class T, class Operation>
__device__ typename std::enable_if<(Size > 32), T>::type exclusive_scan(const thread_block_tile<Size, Parent>& tile,
                                                                        T value, Operation operation) {
  const auto warp = tiled_partition<32>(this_thread_block());
  value = inclusive_scan(warp, value, operation);
  T before = T();
  tile.mulciber_before(value, operation, before);
  value = warp.shfl_up(value, 1u);
  if (warp.thread_rank() == 0) return before;
  return tile.mulciber_warp() == 0 ? value : operation(before, value);
}
template <class Group, class T>
__device__ T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T>
__device__ T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif
