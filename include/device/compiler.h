// What mulciberc++ includes before each CUDA source: the device side of CUDA C++ for Clang's CUDA mode, in the order in
// which its parts need each other. Clang's own headers give threadIdx and its kin, and the overloads in namespace std.
#ifndef MULCIBER_DEVICE_COMPILER_H
#define MULCIBER_DEVICE_COMPILER_H

#if !defined(__clang__) || !defined(__CUDA__)
#error "this header is for mulciberc++, which is Clang in its CUDA mode"
#endif

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
// For the host Clang has them in its HIP mode alone, in which mulciberc++ compiles sources with this word.
#ifdef __HIP__
#define __managed__ __attribute__((managed))
#elif !defined(__CUDA_ARCH__)
#define __managed__ _Pragma("GCC error \"mulciberc++ does not look for __managed__ in system headers\"")
#else
#define __managed__ __attribute__((device))
#endif
// A function of the device's library: none is emitted that is not called.
#define MULCIBER_DEVICE static __device__ __inline__ __attribute__((always_inline))
// The same for what the host's library lacks.
#define MULCIBER_BOTH static __host__ __device__ __inline__ __attribute__((always_inline))

#include <__clang_cuda_math_forward_declares.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

// From Clang 15 on this is a word of the language. Headers of the C++ library write it between two pairs of brackets
// too, where it stays what it is for having been included first.
#if __clang_major__ < 15
#include <memory>
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))

// The order matters.
// clang-format off
#include "cuda_runtime.h"

#include <__clang_cuda_builtin_vars.h>

#include "detail/integers.h"
#include "detail/floats.h"
#include "detail/conversions.h"
#include "detail/system.h"
#include "detail/warps.h"
#include "detail/atomics.h"
#include "detail/memory.h"
#include "detail/simd.h"
#include "detail/textures.h"
#include "detail/math.h"

#include <__clang_cuda_cmath.h>
// The C++ library's overloads without std, for the host.
#include <math.h>
#ifdef __HIP__
#include "detail/managed.h"
#endif
// clang-format on

#endif
