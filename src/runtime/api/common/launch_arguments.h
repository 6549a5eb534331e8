// A launch's arguments as both APIs take them for graphs, and the driver API for launches.
#pragma once

#include <cuda.h>

#include "runtime/core/launch.h"

namespace mulciber::api {

// One of the two ways: an array of pointers, or `extra`: pairs of a name and a value, up to the end mark (DRV-13).
inline core::Error readArguments(void** parameters, void** extra, core::Arguments& out) {
  if (parameters && extra) return core::Error::InvalidValue;
  out.pointers = parameters;
  if (!extra) return core::Error::Success;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) out.packed = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) out.packedBytes = *static_cast<const size_t*>(extra[1]);
    else return core::Error::InvalidValue;
  }
  return core::Error::Success;
}

}  // namespace mulciber::api
