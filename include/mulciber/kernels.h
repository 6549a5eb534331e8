/* What headers of kernels translated ahead of time are made of: `mulciber translate --library` writes those. */
#ifndef MULCIBER_KERNELS_H
#define MULCIBER_KERNELS_H

#include "mulciber/engine.h"

#ifdef __cplusplus
#define MULCIBER_ALIGNED(bytes) alignas(bytes)
#define MULCIBER_LIES_AT(type, member, offset) \
  static_assert(offsetof(type, member) == (offset), "the kernel reads it elsewhere")
#else
#define MULCIBER_ALIGNED(bytes) _Alignas(bytes)
#define MULCIBER_LIES_AT(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), "the kernel reads it elsewhere")
#endif

typedef struct MulciberShape {
  uint32_t grid[3], block[3];
  uint32_t sharedBytes; /* dynamic shared memory */
} MulciberShape;

static inline MulciberLaunch mulciberShaped(const MulciberShape* shape, const void* arguments, size_t bytes) {
  MulciberLaunch launch = {{shape->grid[0], shape->grid[1], shape->grid[2]},
                           {shape->block[0], shape->block[1], shape->block[2]},
                           shape->sharedBytes,
                           0,
                           arguments,
                           bytes};
  return launch;
}

#endif
