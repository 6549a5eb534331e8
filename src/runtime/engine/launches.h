// From engine.h's launches to core's.
#pragma once

#include "runtime/core/launch.h"
#include "runtime/engine/handles.h"

namespace mulciber::engine_api {

// Before each piece of work that is recorded.
MulciberResult checkOpen(MulciberRecording recording);

inline core::Launch shapeOf(const MulciberLaunch& launch) {
  core::Launch shape;
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = launch.grid[i];
    shape.block[i] = launch.block[i];
  }
  shape.dynamicSharedBytes = launch.sharedBytes;
  return shape;
}

inline core::Arguments argumentsOf(const MulciberLaunch& launch) {
  core::Arguments arguments;
  arguments.pointers = launch.arguments;
  arguments.packed = launch.packed;
  arguments.packedBytes = launch.packedBytes;
  return arguments;
}

inline MulciberResult prepare(const MulciberKernel_T& kernel, const MulciberLaunch& launch, core::KernelLaunch& out) {
  const Error error =
      core::prepare(*kernel.function, shapeOf(launch), argumentsOf(launch), *kernel.module->context->context, out);
  return resultOf(error, kernel.function->name().c_str());
}

}  // namespace mulciber::engine_api
