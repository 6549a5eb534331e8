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

template <unsigned Size, class Parent = void>
class thread_block_tile;

namespace detail {

// Threads of a block that are neighbours.
template <unsigned Size>
class neighbours {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");

 public:
  static constexpr __device__ unsigned num_threads() { return Size; }
  static constexpr __device__ unsigned size() { return Size; }
  static __device__ unsigned thread_rank() { return thread_block::thread_rank() % Size; }
};

// Lanes of one warp.
template <unsigned Size, class Tile>
class lanes : public neighbours<Size> {
 public:
  static __device__ void sync() { __syncwarp(mask()); }
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
  __device__ operator coalesced_group() const {
    const Tile& tile = static_cast<const Tile&>(*this);
    return coalesced_group(mask(), tile.meta_group_rank(), tile.meta_group_size());
  }
  static __device__ unsigned mulciber_mask() { return mask(); }

 private:
  static __device__ unsigned first() { return __mulciber_laneid() & ~(Size - 1); }
  static __device__ unsigned mask() { return Size == 32 ? 0xffffffff : ((1u << (Size % 32)) - 1) << first(); }
};

// Several warps. They meet at a barrier of their own, of which a block has 15 besides that of __syncthreads, and
// exchange values through shared memory, where each warp has a place.
template <unsigned Size, class Tile>
class warps : public neighbours<Size> {
 public:
  __device__ void sync() const {
    const unsigned barrier = static_cast<const Tile&>(*this).mulciber_barrier();
    if (barrier > 15) __trap();
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(Size) : "memory");
  }
  template <class T>
  __device__ T shfl(T value, unsigned rank) const {
    if (this->thread_rank() == rank) put(0, value);
    sync();
    value = get<T>(0);
    sync();
    return value;
  }
  __device__ int any(int predicate) const {
    return mulciber_combined(__any_sync(0xffffffff, predicate), [](int a, int b) { return a | b; });
  }
  __device__ int all(int predicate) const {
    return mulciber_combined(__all_sync(0xffffffff, predicate), [](int a, int b) { return a & b; });
  }

  static __device__ unsigned mulciber_warp() { return neighbours<Size>::thread_rank() / 32; }
  // What each warp has, one after the other; the first lane's value is the warp's.
  template <class T, class Operation>
  __device__ T mulciber_combined(T ofWarp, Operation operation) const {
    if (this->thread_rank() % 32 == 0) put(mulciber_warp(), ofWarp);
    sync();
    T result = get<T>(0);
    for (unsigned warp = 1; warp < Size / 32; ++warp) result = operation(result, get<T>(warp));
    sync();
    return result;
  }
  // The same of the warps before this one; the last lane's value is the warp's. The first warp's is left as it is.
  template <class T, class Operation>
  __device__ void mulciber_before(T ofWarp, Operation operation, T& before) const {
    if (this->thread_rank() % 32 == 31) put(mulciber_warp(), ofWarp);
    sync();
    for (unsigned warp = 0; warp < mulciber_warp(); ++warp) before = warp ? operation(before, get<T>(warp)) : get<T>(0);
    sync();
  }

 private:
  static constexpr unsigned most = 32;  // bytes of a value
  static __device__ char* place(unsigned warp) {
    static __shared__ __align__(16) char places[32 * most];
    return places + (thread_block::thread_rank() / Size * (Size / 32) + warp) * most;
  }
  template <class T>
  static __device__ void put(unsigned warp, const T& value) {
    static_assert(sizeof(T) <= most, "tiles of several warps exchange values of up to 32 bytes");
    __builtin_memcpy(place(warp), &value, sizeof(T));
  }
  template <class T>
  static __device__ T get(unsigned warp) {
    T value;
    __builtin_memcpy(&value, place(warp), sizeof(T));
    return value;
  }
};

template <unsigned Size, class Tile>
using tile_base = typename std::conditional<(Size <= 32), lanes<Size, Tile>, warps<Size, Tile>>::type;

// How many barriers a block's tiles of several warps need, from a group to the block around it.
template <class Group>
struct barriers_of {
  static __device__ unsigned count() { return 0; }
};
template <unsigned Size, class Parent>
struct barriers_of<thread_block_tile<Size, Parent>> {
  static __device__ unsigned count() {
    return barriers_of<Parent>::count() + (Size > 32 ? (thread_block::size() + Size - 1) / Size : 0);
  }
};

}  // namespace detail

// A power of two of neighbouring threads, as a part of a group.
template <unsigned Size, class Parent>
class thread_block_tile : public detail::tile_base<Size, thread_block_tile<Size, Parent>> {
 public:
  static __device__ unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
  static __device__ unsigned meta_group_size() { return (Parent::size() + Size - 1) / Size; }
  static __device__ unsigned mulciber_barrier() {
    return 1 + detail::barriers_of<Parent>::count() + thread_block::thread_rank() / Size;
  }
};
// One that does not know in its type what it is a part of.
template <unsigned Size>
class thread_block_tile<Size, void> : public detail::tile_base<Size, thread_block_tile<Size>> {
 public:
  template <class Parent>
  __device__ thread_block_tile(const thread_block_tile<Size, Parent>& tile)
      : rank_(tile.meta_group_rank()), count_(tile.meta_group_size()), barrier_(tile.mulciber_barrier()) {}
  __device__ unsigned meta_group_rank() const { return rank_; }
  __device__ unsigned meta_group_size() const { return count_; }
  __device__ unsigned mulciber_barrier() const { return barrier_; }

 private:
  unsigned rank_, count_, barrier_;
};

// Memory that CUDA's tiles of several warps may need. These have their own.
template <unsigned MostThreads>
struct block_tile_memory {};
template <unsigned MostThreads>
__device__ inline thread_block this_thread_block(block_tile_memory<MostThreads>&) {
  return {};
}

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
