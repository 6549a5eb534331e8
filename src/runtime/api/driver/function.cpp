// Functions: attributes, parameters, occupancy.
#include "runtime/api/common/launch_attributes.h"
#include "runtime/api/driver/driver.h"

#include <algorithm>

#include "runtime/api/common/module_queries.h"

namespace mulciber::api {
namespace {

// Calls the program's callback, or gives the fixed amount.
struct SharedOf {
  CUoccupancyB2DSize callback;
  size_t fixed;
  size_t operator()(int blockThreads) const { return callback ? callback(blockThreads) : fixed; }
};

// The block size that keeps most threads resident, largest first (HOST-22).
Error bestBlock(core::Function& function, const SharedOf& sharedOf, int limit, int& grid, int& block) {
  core::Device& device = function.module().context().device();
  int warp = 0, multiprocessors = 0, most = 0;
  TRY(device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, warp));
  TRY(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors));
  TRY(function.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, most));
  if (limit > 0 && limit < most) most = limit;
  int resident = 0;
  for (int rounded = (most + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    const int threads = std::min(rounded, most);
    int blocks = 0;
    const auto count = static_cast<uint32_t>(threads);
    TRY(function.maxActiveBlocks(count, sharedOf(threads), blocks));
    if (blocks * threads > resident) {
      resident = blocks * threads;
      block = threads;
      grid = blocks * multiprocessors;
    }
  }
  return Error::Success;
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuFuncGetAttribute)(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return withFunction(handle, [&](core::Function& function) {
    return value ? function.attribute(attribute, *value) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuFuncSetAttribute)(CUfunction handle, CUfunction_attribute attribute, int value) {
  return withFunction(handle, [&](core::Function& function) { return function.setAttribute(attribute, value); });
}

CUDA_API(CUresult, cuFuncSetCacheConfig)(CUfunction handle, CUfunc_cache config) {
  return withFunction(handle, [&](core::Function&) {
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL ? Error::InvalidValue
                                                                                     : Error::Success;
  });
}

CUDA_API(CUresult, cuFuncSetSharedMemConfig)(CUfunction handle, CUsharedconfig config) {
  return withFunction(handle, [&](core::Function&) {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? Error::InvalidValue
               : Error::Success;
  });
}

CUDA_API(CUresult, cuFuncGetModule)(CUmodule* out, CUfunction handle) {
  if (!out || !handle) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    if (!out) return Error::InvalidValue;
    *out = reinterpret_cast<CUmodule>(&function.module());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuFuncGetName)(const char** name, CUfunction handle) {
  if (!name || !handle) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    if (!name) return Error::InvalidValue;
    *name = function.name().c_str();
    return Error::Success;
  });
}

CUDA_API(CUresult, cuFuncGetParamInfo)(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) { return parameterInfo(function, index, offset, size); });
}

CUDA_API(CUresult, cuFuncIsLoaded)(CUfunctionLoadingState* state, CUfunction handle) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  if (Kernel::ofLive(handle)) return CUDA_ERROR_INVALID_HANDLE;  // whose function may be in no context yet
  return withFunction(handle, [&](core::Function&) {
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuFuncLoad)(CUfunction handle) {
  return withFunction(handle, [&](core::Function& function) {
    const mulciber::KernelInfo* info = nullptr;
    return function.info(info);
  });
}

CUDA_API(CUresult, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int* blocks, CUfunction handle, int blockThreads, size_t dynamicShared, unsigned int flags) {
  if (!blocks) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    if (!blocks || blockThreads <= 0 || (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE})) {
      return Error::InvalidValue;
    }
    return function.maxActiveBlocks(static_cast<uint32_t>(blockThreads), dynamicShared, *blocks);
  });
}

CUDA_API(CUresult, cuOccupancyMaxActiveBlocksPerMultiprocessor)
(int* blocks, CUfunction function, int blockThreads, size_t dynamicShared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockThreads, dynamicShared, 0);
}

CUDA_API(CUresult, cuOccupancyMaxActiveClusters)(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  if (!clusters || !config) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    const uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    return maxActiveClusters(function, config->attrs, config->numAttrs, threads, config->sharedMemBytes, *clusters);
  });
}

CUDA_API(CUresult, cuOccupancyMaxPotentialClusterSize)(int* blocks, CUfunction handle, const CUlaunchConfig* config) {
  if (!blocks || !config) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    const uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    return maxClusterSize(function, threads, config->sharedMemBytes, *blocks);
  });
}

CUDA_API(CUresult, cuOccupancyMaxPotentialBlockSizeWithFlags)
(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize sharedOf, size_t dynamicShared, int limit,
 unsigned int flags) {
  if (!grid || !block || limit < 0) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(handle, [&](core::Function& function) {
    *grid = *block = 0;
    if (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) return Error::InvalidValue;
    return bestBlock(function, {sharedOf, dynamicShared}, limit, *grid, *block);
  });
}

CUDA_API(CUresult, cuOccupancyMaxPotentialBlockSize)
(int* grid, int* block, CUfunction function, CUoccupancyB2DSize sharedOf, size_t dynamicShared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, sharedOf, dynamicShared, limit, 0);
}

CUDA_API(CUresult, cuOccupancyAvailableDynamicSMemPerBlock)
(size_t* bytes, CUfunction handle, int blocks, int blockThreads) {
  if (!bytes || blocks <= 0 || blockThreads <= 0) return CUDA_ERROR_INVALID_VALUE;
  return withFunction(
      handle, [&](core::Function& function) { return availableDynamicShared(function, blocks, blockThreads, *bytes); });
}
