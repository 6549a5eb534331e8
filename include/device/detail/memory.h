// Loads and stores with cache hints. CUDA has them for its scalar and vector types of up to 16 bytes.
#ifndef MULCIBER_DEVICE_MEMORY_H
#define MULCIBER_DEVICE_MEMORY_H

#define MULCIBER_LOAD(name, hint)                                                                                 \
  template <class T>                                                                                              \
  __device__ __forceinline__ T name(const T* pointer) {                                                           \
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "1, 2, 4, 8 or 16 bytes");               \
    const size_t address = __cvta_generic_to_global(pointer);                                                     \
    unsigned char bytes[16];                                                                                      \
    if (sizeof(T) == 1) {                                                                                         \
      unsigned value;                                                                                             \
      asm volatile("ld.global" hint ".u8 %0, [%1];" : "=r"(value) : "l"(address) : "memory");                     \
      __builtin_memcpy(bytes, &value, 4);                                                                         \
    } else if (sizeof(T) == 2) {                                                                                  \
      unsigned short value;                                                                                       \
      asm volatile("ld.global" hint ".u16 %0, [%1];" : "=h"(value) : "l"(address) : "memory");                    \
      __builtin_memcpy(bytes, &value, 2);                                                                         \
    } else if (sizeof(T) == 4) {                                                                                  \
      unsigned value;                                                                                             \
      asm volatile("ld.global" hint ".u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");                    \
      __builtin_memcpy(bytes, &value, 4);                                                                         \
    } else if (sizeof(T) == 8) {                                                                                  \
      unsigned long long value;                                                                                   \
      asm volatile("ld.global" hint ".u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");                    \
      __builtin_memcpy(bytes, &value, 8);                                                                         \
    } else {                                                                                                      \
      unsigned long long low, high;                                                                               \
      asm volatile("ld.global" hint ".v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(address) : "memory"); \
      __builtin_memcpy(bytes, &low, 8), __builtin_memcpy(bytes + 8, &high, 8);                                    \
    }                                                                                                             \
    T result;                                                                                                     \
    __builtin_memcpy(&result, bytes, sizeof(T));                                                                  \
    return result;                                                                                                \
  }
MULCIBER_LOAD(__ldg, ".nc")
MULCIBER_LOAD(__ldca, ".ca")
MULCIBER_LOAD(__ldcg, ".cg")
MULCIBER_LOAD(__ldcs, ".cs")
MULCIBER_LOAD(__ldlu, ".lu")
MULCIBER_LOAD(__ldcv, ".cv")
#undef MULCIBER_LOAD

#define MULCIBER_STORE(name, hint)                                                                                     \
  template <class T>                                                                                                   \
  __device__ __forceinline__ void name(T* pointer, T value) {                                                          \
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "1, 2, 4, 8 or 16 bytes");                    \
    const size_t address = __cvta_generic_to_global(pointer);                                                          \
    unsigned long long words[2] = {0, 0};                                                                              \
    __builtin_memcpy(words, &value, sizeof(T));                                                                        \
    if (sizeof(T) == 1)                                                                                                \
      asm volatile("st.global" hint ".u8 [%0], %1;" ::"l"(address), "r"(static_cast<unsigned>(words[0])) : "memory");  \
    else if (sizeof(T) == 2)                                                                                           \
      asm volatile("st.global" hint ".u16 [%0], %1;" ::"l"(address), "h"(static_cast<unsigned short>(words[0]))        \
                   : "memory");                                                                                        \
    else if (sizeof(T) == 4)                                                                                           \
      asm volatile("st.global" hint ".u32 [%0], %1;" ::"l"(address), "r"(static_cast<unsigned>(words[0])) : "memory"); \
    else if (sizeof(T) == 8) asm volatile("st.global" hint ".u64 [%0], %1;" ::"l"(address), "l"(words[0]) : "memory"); \
    else                                                                                                               \
      asm volatile("st.global" hint ".v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(words[0]), "l"(words[1])             \
                   : "memory");                                                                                        \
  }
MULCIBER_STORE(__stwb, ".wb")
MULCIBER_STORE(__stcg, ".cg")
MULCIBER_STORE(__stcs, ".cs")
MULCIBER_STORE(__stwt, ".wt")
#undef MULCIBER_STORE

#endif
