// Functions of a warp.
#ifndef MULCIBER_DEVICE_WARPS_H
#define MULCIBER_DEVICE_WARPS_H

MULCIBER_DEVICE void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
MULCIBER_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
MULCIBER_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
MULCIBER_DEVICE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
MULCIBER_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
MULCIBER_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
#define MULCIBER_LANES(name)                       \
  MULCIBER_DEVICE unsigned __mulciber_##name() {   \
    unsigned value;                                \
    asm("mov.u32 %0, %%" #name ";" : "=r"(value)); \
    return value;                                  \
  }
MULCIBER_LANES(laneid)
MULCIBER_LANES(lanemask_lt)
MULCIBER_LANES(lanemask_gt)
#undef MULCIBER_LANES

// A shuffle moves a word. `clamp` is the last lane that a segment of 32 may read, or the first for reads upwards.
#define MULCIBER_SHUFFLE(name, builtin, clamp, Distance)                                         \
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>        \
  __device__ __forceinline__ T name(unsigned mask, T value, Distance distance, int width = 32) { \
    const int control = ((32 - width) << 8) | clamp;                                             \
    if (sizeof(T) <= 4) {                                                                        \
      int word = 0;                                                                              \
      __builtin_memcpy(&word, &value, sizeof(T) <= 4 ? sizeof(T) : 4);                           \
      word = builtin(mask, word, static_cast<int>(distance), control);                           \
      __builtin_memcpy(&value, &word, sizeof(T) <= 4 ? sizeof(T) : 4);                           \
    } else {                                                                                     \
      int words[2] = {};                                                                         \
      __builtin_memcpy(words, &value, sizeof(T) <= 8 ? sizeof(T) : 8);                           \
      words[0] = builtin(mask, words[0], static_cast<int>(distance), control);                   \
      words[1] = builtin(mask, words[1], static_cast<int>(distance), control);                   \
      __builtin_memcpy(&value, words, sizeof(T) <= 8 ? sizeof(T) : 8);                           \
    }                                                                                            \
    return value;                                                                                \
  }
MULCIBER_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, 0x1f, int)
MULCIBER_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, 0, unsigned)
MULCIBER_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, 0x1f, unsigned)
MULCIBER_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, 0x1f, int)
#undef MULCIBER_SHUFFLE

template <class T>
__device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "words and pairs of words");
  if (sizeof(T) == 4) {
    unsigned word;
    __builtin_memcpy(&word, &value, 4);
    return __nvvm_match_any_sync_i32(mask, word);
  }
  unsigned long long words = 0;
  __builtin_memcpy(&words, &value, sizeof(T));
  return static_cast<unsigned>(__nvvm_match_any_sync_i64(mask, words));
}
template <class T>
__device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "words and pairs of words");
  if (sizeof(T) == 4) {
    unsigned word;
    __builtin_memcpy(&word, &value, 4);
    return __nvvm_match_all_sync_i32p(mask, word, predicate);
  }
  unsigned long long words = 0;
  __builtin_memcpy(&words, &value, sizeof(T));
  return static_cast<unsigned>(__nvvm_match_all_sync_i64p(mask, words, predicate));
}

#define MULCIBER_REDUCE(name, operation, T)                                                      \
  __device__ __forceinline__ T __reduce_##name##_sync(unsigned mask, T value) {                  \
    T result;                                                                                    \
    asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                               \
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MULCIBER_REDUCE(add, "add.s32", int)
MULCIBER_REDUCE(add, "add.u32", unsigned)
MULCIBER_REDUCE(min, "min.s32", int)
MULCIBER_REDUCE(min, "min.u32", unsigned)
MULCIBER_REDUCE(max, "max.s32", int)
MULCIBER_REDUCE(max, "max.u32", unsigned)
MULCIBER_REDUCE(and, "and.b32", unsigned)
MULCIBER_REDUCE(or, "or.b32", unsigned)
MULCIBER_REDUCE(xor, "xor.b32", unsigned)
#endif
#undef MULCIBER_REDUCE

#endif
