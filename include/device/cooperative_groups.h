// Cooperative groups: blocks, grids, tiles of a warp, and the threads that are here together.
#ifndef MULCIBER_DEVICE_COOPERATIVE_GROUPS_H
#define MULCIBER_DEVICE_COOPERATIVE_GROUPS_H

extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(unsigned scope);
extern "C" __device__ unsigned cudaCGSynchronize(unsigned long long handle, unsigned flags);

namespace cooperative_groups {

class thread_block {
 public:
  using arrival_token = int;
  static __device__ void sync() { __syncthreads(); }
  static __device__ unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static __device__ unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ unsigned size() { return num_threads(); }
  static __device__ dim3 group_index() { return blockIdx; }
  static __device__ dim3 thread_index() { return threadIdx; }
  static __device__ dim3 dim_threads() { return blockDim; }
  static __device__ dim3 group_dim() { return blockDim; }
};
__device__ inline thread_block this_thread_block() { return {}; }

// All blocks of a cooperative launch.
class grid_group {
 public:
  __device__ void sync() const { cudaCGSynchronize(handle_, 0); }
  // What a launch that is not cooperative has none of.
  __device__ bool is_valid() const { return handle_ != 0; }
  static __device__ unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static __device__ unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static __device__ unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static __device__ unsigned long long size() { return num_threads(); }
  static __device__ unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static __device__ dim3 group_dim() { return gridDim; }
  static __device__ dim3 dim_blocks() { return gridDim; }
  static __device__ dim3 block_index() { return blockIdx; }

 private:
  friend __device__ grid_group this_grid();
  explicit __device__ grid_group(unsigned long long handle) : handle_(handle) {}
  unsigned long long handle_;
};
__device__ inline grid_group this_grid() { return grid_group(cudaCGGetIntrinsicHandle(1)); }

namespace detail {

// Words of a value, each moved on its own.
template <class T, class Move>
__device__ __forceinline__ T moved(const T& value, Move move) {
  constexpr int count = (sizeof(T) + 3) / 4;
  unsigned words[count] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = move(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
__device__ __forceinline__ unsigned count_below(unsigned mask) { return __popc(mask & __mulciber_lanemask_lt()); }

}  // namespace detail

// Some lanes of a warp, by their mask. A thread's rank is its place among them.
class coalesced_group {
 public:
  explicit __device__ coalesced_group(unsigned mask, unsigned rankOfGroup = 0, unsigned groups = 1)
      : mask_(mask), metaRank_(rankOfGroup), metaSize_(groups) {}
  __device__ void sync() const { __syncwarp(mask_); }
  __device__ unsigned num_threads() const { return __popc(mask_); }
  __device__ unsigned size() const { return num_threads(); }
  __device__ unsigned thread_rank() const { return detail::count_below(mask_); }
  __device__ unsigned meta_group_rank() const { return metaRank_; }
  __device__ unsigned meta_group_size() const { return metaSize_; }
  template <class T>
  __device__ T shfl(T value, int rank) const {
    const int lane = lane_of(static_cast<unsigned>(rank) % size());
    return detail::moved(value, [&](unsigned word) { return __shfl_sync(mask_, word, lane); });
  }
  // Of a rank that is not there, a thread gets its own value.
  template <class T>
  __device__ T shfl_up(T value, unsigned distance) const {
    const unsigned rank = thread_rank();
    return shfl(value, static_cast<int>(rank >= distance ? rank - distance : rank));
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned distance) const {
    const unsigned rank = thread_rank();
    return shfl(value, static_cast<int>(rank + distance < size() ? rank + distance : rank));
  }
  __device__ int any(int predicate) const { return __any_sync(mask_, predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask_, predicate); }
  __device__ unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <class T>
  __device__ unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  __device__ unsigned match_all(T value, int& predicate) const {
    return packed(__match_all_sync(mask_, value, &predicate));
  }
  __device__ unsigned mulciber_mask() const { return mask_; }

 private:
  __device__ int lane_of(unsigned rank) const { return static_cast<int>(__fns(mask_, 0, static_cast<int>(rank) + 1)); }
  // The bits of a mask of lanes, one for each rank.
  __device__ unsigned packed(unsigned lanes) const {
    if (mask_ == 0xffffffff) return lanes;
    unsigned bits = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      bits |= (lanes >> (__ffs(static_cast<int>(rest)) - 1) & 1) << rank;
    return bits;
  }
  unsigned mask_, metaRank_, metaSize_;
};
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A power of two of neighbouring lanes.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles have up to 32 threads here; tiles of several warps are not written");

 public:
  static __device__ void sync() { __syncwarp(mask()); }
  static constexpr __device__ unsigned num_threads() { return Size; }
  static constexpr __device__ unsigned size() { return Size; }
  static __device__ unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static __device__ unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static __device__ unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  template <class T>
  static __device__ T shfl(T value, int rank) {
    return detail::moved(value, [&](unsigned word) { return __shfl_sync(mask(), word, rank, Size); });
  }
  template <class T>
  static __device__ T shfl_up(T value, unsigned distance) {
    return detail::moved(value, [&](unsigned word) { return __shfl_up_sync(mask(), word, distance, Size); });
  }
  template <class T>
  static __device__ T shfl_down(T value, unsigned distance) {
    return detail::moved(value, [&](unsigned word) { return __shfl_down_sync(mask(), word, distance, Size); });
  }
  template <class T>
  static __device__ T shfl_xor(T value, unsigned bits) {
    return detail::moved(value,
                         [&](unsigned word) { return __shfl_xor_sync(mask(), word, static_cast<int>(bits), Size); });
  }
  static __device__ int any(int predicate) { return __any_sync(mask(), predicate); }
  static __device__ int all(int predicate) { return __all_sync(mask(), predicate); }
  static __device__ unsigned ballot(int predicate) { return __ballot_sync(mask(), predicate) >> first(); }
  template <class T>
  static __device__ unsigned match_any(T value) {
    return __match_any_sync(mask(), value) >> first();
  }
  template <class T>
  static __device__ unsigned match_all(T value, int& predicate) {
    return __match_all_sync(mask(), value, &predicate) >> first();
  }
  __device__ operator coalesced_group() const { return coalesced_group(mask(), meta_group_rank(), meta_group_size()); }
  static __device__ unsigned mulciber_mask() { return mask(); }

 private:
  static __device__ unsigned first() { return __mulciber_laneid() & ~(Size - 1); }
  static __device__ unsigned mask() { return Size == 32 ? 0xffffffff : ((1u << (Size % 32)) - 1) << first(); }
};

template <unsigned Size, class Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
// A size that is known when the kernel runs.
__device__ inline coalesced_group tiled_partition(const thread_block&, unsigned size) {
  const unsigned first = __mulciber_laneid() & ~(size - 1), rank = thread_block::thread_rank();
  const unsigned mask = (size == 32 ? 0xffffffff : (1u << size) - 1) << first;
  return coalesced_group(mask & __activemask(), rank / size, (thread_block::size() + size - 1) / size);
}
// The threads of a group with the same label.
template <class Group, class Label>
__device__ inline coalesced_group labeled_partition(const Group& group, Label label) {
  const unsigned mask = group.mulciber_mask(), same = __match_any_sync(mask, static_cast<int>(label));
  // Groups are counted in the order of their labels.
  unsigned before = 0, all = 0;
  for (unsigned rest = mask; rest != 0;) {
    const int leader = __ffs(static_cast<int>(rest)) - 1;
    const int other = __shfl_sync(mask, static_cast<int>(label), leader);
    rest &= ~__shfl_sync(mask, same, leader);
    before += other < static_cast<int>(label), ++all;
  }
  return coalesced_group(same, before, all);
}
template <class Group>
__device__ inline coalesced_group binary_partition(const Group& group, bool isTrue) {
  const unsigned mask = group.mulciber_mask(), are = __ballot_sync(mask, isTrue);
  const unsigned mine = isTrue ? are : mask & ~are;
  return coalesced_group(mine, are == mask || are == 0 ? 0 : isTrue, are == mask || are == 0 ? 1 : 2);
}

template <class Group>
__device__ inline void sync(const Group& group) {
  group.sync();
}
template <class Group>
__device__ inline unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}

// One thread of a group, which its mask decides, calls a function.
template <class Group, class F, class... Arguments>
__device__ inline void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) f(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class F, class... Arguments>
__device__ inline auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments)
    -> decltype(f(static_cast<Arguments&&>(arguments)...)) {
  decltype(f(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = f(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

template <class T>
struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups

#endif
