// The words CUDA source marks functions and variables with. A host compiler ignores them.
#ifndef MULCIBER_CUDA_HOST_DEFINES_H
#define MULCIBER_CUDA_HOST_DEFINES_H
#define __HOST_DEFINES_H__

#ifndef __CUDACC__
#define __host__
#define __device__
#define __global__
#define __constant__
#define __shared__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#endif

#define __align__(n) __attribute__((aligned(n)))
#ifndef __noinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#endif
