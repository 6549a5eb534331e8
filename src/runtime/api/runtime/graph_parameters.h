// Parameters of graph nodes between the runtime API's structures and core's.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "runtime/core/graph.h"

namespace mulciber::api {

// Errors that only the runtime API has are among these too: every entry gives them to the program as numbers.
core::Error readKernel(const cudaKernelNodeParams& given, core::NodeParameters& out);
core::Error readCopy(const cudaMemcpy3DParms& given, core::NodeParameters& out);
core::Error readCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, core::NodeParameters& out);
enum class SymbolIs : uint8_t { Destination, Source };
core::Error readSymbolCopy(SymbolIs side, const void* symbol, const void* other, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, core::NodeParameters& out);
core::Error readFill(const cudaMemsetParams& given, core::NodeParameters& out);
core::Error readAny(cudaGraphNodeParams& given, core::NodeParameters& out);

// Structures about allocations are laid out alike in both APIs.
static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) &&
              sizeof(cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) &&
              offsetof(cudaMemAllocNodeParams, dptr) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr));
template <class Parameters>
CUDA_MEM_ALLOC_NODE_PARAMS* driverForm(Parameters* given) {
  return reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(given);
}

void writeKernel(core::GraphNode& node, const core::KernelNode& kernel, cudaKernelNodeParams& out);
void writeCopy(const core::CopyNode& node, cudaMemcpy3DParms& out);
void writeFill(const core::FillNode& node, cudaMemsetParams& out);

}  // namespace mulciber::api
