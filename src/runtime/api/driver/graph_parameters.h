// Parameters of graph nodes between the driver API's structures and core's.
#pragma once

#include <cuda.h>

#include "runtime/api/common/library.h"
#include "runtime/core/graph.h"

namespace mulciber::api {

core::Error readKernel(const CUDA_KERNEL_NODE_PARAMS_v2& given, core::NodeParameters& out);
core::Error readCopy(const CUDA_MEMCPY3D& given, CUcontext context, core::NodeParameters& out);
core::Error readFill(const CUDA_MEMSET_NODE_PARAMS_v1& given, CUcontext context, core::NodeParameters& out);
core::Error readBatch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v1& given, core::NodeParameters& out);
// Of whatever type they say; what they point to for the program to read stays as it is.
core::Error readAny(CUgraphNodeParams& given, core::NodeParameters& out);

// Both versions: the newer one has the members of the older one, then more.
template <class Parameters>
void writeKernel(core::GraphNode& node, const core::KernelNode& kernel, Parameters& out) {
  out = {};
  // Kernels of the runtime API are named by an address of the program's own.
  const void* const handle = Kernel::ofLive(kernel.handle) ? kernel.handle : kernel.function;
  out.func = static_cast<CUfunction>(const_cast<void*>(handle));
  out.gridDimX = kernel.launch.grid[0];
  out.gridDimY = kernel.launch.grid[1];
  out.gridDimZ = kernel.launch.grid[2];
  out.blockDimX = kernel.launch.block[0];
  out.blockDimY = kernel.launch.block[1];
  out.blockDimZ = kernel.launch.block[2];
  out.sharedMemBytes = kernel.launch.dynamicSharedBytes;
  out.kernelParams = node.argumentPointers();
}
void writeCopy(const core::CopyNode& node, CUDA_MEMCPY3D& out);
void writeBatch(const core::MemoryOperationsNode& node, CUDA_BATCH_MEM_OP_NODE_PARAMS_v1& out);
void writeFill(const core::FillNode& node, CUDA_MEMSET_NODE_PARAMS_v1& out);

}  // namespace mulciber::api
