// Nodes that allocate and free memory, and the memory that graphs hold, as both APIs show them: the runtime API's
// structures are laid out like the driver API's.
#pragma once

#include "runtime/api/common/graphs.h"
#include "runtime/core/device.h"

namespace mulciber::api {

core::Error readAllocation(const CUDA_MEM_ALLOC_NODE_PARAMS& given, core::NodeParameters& out);
core::Error readFree(CUdeviceptr address, core::NodeParameters& out);

// The address of what a new node allocates goes into the program's structure.
core::Error addAllocation(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies,
                          CUDA_MEM_ALLOC_NODE_PARAMS* parameters);
// A node of any type, read from a structure that has places for the address, and for a conditional node's graphs.
core::Error addAnyNode(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies, const ReadParameters& read,
                       CUDA_MEM_ALLOC_NODE_PARAMS_v2& allocation, CUgraph*& conditionalGraphs);
core::Error allocationOf(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out);
core::Error freedBy(CUgraphNode node, CUdeviceptr* out);

core::Error trimGraphMemory(core::Device& device);
core::Error graphMemoryAttribute(core::Device& device, CUgraphMem_attribute attribute, uint64_t* value);
core::Error setGraphMemoryAttribute(core::Device& device, CUgraphMem_attribute attribute, const uint64_t* value);

}  // namespace mulciber::api
