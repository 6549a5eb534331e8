#ifndef MULCIBER_CUDA_BUILTIN_TYPES_H
#define MULCIBER_CUDA_BUILTIN_TYPES_H

#include "driver_types.h"
#include "vector_types.h"

#endif
