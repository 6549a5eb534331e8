// Barriers, fences, clocks, memory on the device, printf and assert.
#ifndef MULCIBER_DEVICE_SYSTEM_H
#define MULCIBER_DEVICE_SYSTEM_H

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

extern "C" {
// What `<<<>>>` becomes on the host.
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0, void* stream = 0);

__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
__device__ int vprintf(const char*, const char*);
__device__ int printf(const char*, ...);
__device__ void* malloc(size_t) __attribute__((nothrow, malloc));
__device__ void free(void*) __attribute__((nothrow));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t charSize);
// What the C library's assert calls.
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
__device__ static inline void* memcpy(void* to, const void* from, size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}
__device__ static inline void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
}
namespace std {
using ::memcpy;
using ::memset;
__device__ static inline void* malloc(size_t bytes) { return ::malloc(bytes); }
__device__ static inline void free(void* pointer) { ::free(pointer); }
}  // namespace std

// __syncthreads() is a builtin of Clang.
MULCIBER_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
MULCIBER_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
MULCIBER_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
MULCIBER_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
MULCIBER_DEVICE void __threadfence() { __nvvm_membar_gl(); }
MULCIBER_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
MULCIBER_DEVICE void __trap() { asm volatile("trap;"); }
MULCIBER_DEVICE void __brkpt() { asm volatile("brkpt;"); }
MULCIBER_DEVICE void __nanosleep(unsigned nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds)); }
MULCIBER_DEVICE long long clock64() {
  long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}
MULCIBER_DEVICE clock_t clock() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return static_cast<int>(now);
}
MULCIBER_DEVICE unsigned long long globaltimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

MULCIBER_DEVICE unsigned __isGlobal(const void* pointer) { return __nvvm_isspacep_global(pointer); }
MULCIBER_DEVICE unsigned __isShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
MULCIBER_DEVICE unsigned __isConstant(const void* pointer) { return __nvvm_isspacep_const(pointer); }
MULCIBER_DEVICE unsigned __isLocal(const void* pointer) { return __nvvm_isspacep_local(pointer); }
#define MULCIBER_SPACE(name, number)                                      \
  MULCIBER_DEVICE size_t __cvta_generic_to_##name(const void* pointer) {  \
    return (size_t)(void __attribute__((address_space(number)))*)pointer; \
  }                                                                       \
  MULCIBER_DEVICE void* __cvta_##name##_to_generic(size_t address) {      \
    return (void*)(void __attribute__((address_space(number)))*)address;  \
  }
MULCIBER_SPACE(global, 1)
MULCIBER_SPACE(shared, 3)
MULCIBER_SPACE(constant, 4)
MULCIBER_SPACE(local, 5)
#undef MULCIBER_SPACE

#endif
