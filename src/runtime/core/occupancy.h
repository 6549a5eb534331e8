// How many blocks a multiprocessor holds, as CUDA counts it (HOST-22).
#pragma once

#include <cstdint>

namespace mulciber::core {

struct DeviceShape;

// What a multiprocessor of that compute capability has, by CUDA's tables.
struct MultiprocessorLimits {
  uint32_t blocks;
  uint32_t sharedBytes;
  uint32_t sharedReserved;  // bytes that each block takes besides its own
  uint32_t sharedUnit;      // a block gets a multiple of this many bytes
};
MultiprocessorLimits multiprocessorLimits(uint32_t computeCapability);

struct BlockNeeds {
  uint32_t threads;
  uint32_t registers;    // of each thread
  uint64_t sharedBytes;  // static and dynamic
};
// That each thread of such a block can have.
uint32_t mostRegisters(uint32_t threads);
uint32_t blocksThatFit(const DeviceShape& shape, const BlockNeeds& needs);

}  // namespace mulciber::core
