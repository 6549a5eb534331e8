// Launching a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/error.h"

namespace mulciber::core {

class Function;
class Stream;

struct Launch {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  bool isCooperative = false;
};

// Arguments come one of two ways, as cuLaunchKernel has it: an array of pointers to each, or all of them packed as the
// kernel lays them out. They are read before the call returns.
struct Arguments {
  void* const* pointers = nullptr;
  const void* packed = nullptr;
  size_t packedBytes = 0;
};

Error launch(Function& function, const Launch& launch, const Arguments& arguments, Stream& stream);

}  // namespace mulciber::core
