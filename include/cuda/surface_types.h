// Types of surface objects in the CUDA runtime API.
#ifndef MULCIBER_CUDA_SURFACE_TYPES_H
#define MULCIBER_CUDA_SURFACE_TYPES_H

#include "driver_types.h"

// clang-format off
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2
};
enum cudaSurfaceFormatMode {
  cudaFormatModeForced = 0, cudaFormatModeAuto = 1
};
typedef unsigned long long cudaSurfaceObject_t;
// clang-format on

#endif
