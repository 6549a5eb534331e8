#include "runtime/api/common/graph_memory.h"

#include "runtime/api/common/memory_pools.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

// CUDA counts memory of graphs as used by whole segments, until they are trimmed.
bool hasPoolAttribute(CUgraphMem_attribute attribute, core::PoolAttribute& out) {
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: out = core::PoolAttribute::ReservedCurrent; return true;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: out = core::PoolAttribute::ReservedHigh; return true;
  }
  return false;
}

uint64_t addressOfNode(CUgraphNode handle) {
  const auto* const node = reinterpret_cast<const core::GraphNode*>(handle)->as<core::AllocationNode>();
  return node ? node->memory->address() : 0;
}

}  // namespace

// Only the device itself reaches its memory.
Error readAllocation(const CUDA_MEM_ALLOC_NODE_PARAMS& given, core::NodeParameters& out) {
  PoolPlace place{};
  TRY(readPlace(&given.poolProps.location, given.poolProps.allocType, place));
  if (given.accessDescCount != 0 && !given.accessDescs) return Error::InvalidValue;
  for (size_t i = 0; i < given.accessDescCount; ++i) {
    const CUmemAccessDesc& access = given.accessDescs[i];
    if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE || access.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
        !core::Platform::get().device(access.location.id))
      return Error::InvalidValue;
    if (access.location.id != place.device->ordinal()) return Error::NotSupported;
  }
  core::AllocationNode node;
  TRY(core::currentContext(node.context));
  if (&node.context->device() != place.device) return Error::NotSupported;
  node.kind = place.kind;
  node.bytes = given.bytesize;
  out = std::move(node);
  return Error::Success;
}

Error readFree(CUdeviceptr address, core::NodeParameters& out) {
  core::FreeNode node{core::GraphMemory::find(core::currentMemory(), address)};
  if (!node.memory) return Error::InvalidValue;
  out = std::move(node);
  return Error::Success;
}

Error addAllocation(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies,
                    CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  if (!parameters) return Error::InvalidValue;
  const Error error =
      addNode(out, graph, dependencies, [&](core::NodeParameters& read) { return readAllocation(*parameters, read); });
  if (error == Error::Success) parameters->dptr = addressOfNode(*out);
  return error;
}

Error addAnyNode(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies, const ReadParameters& read,
                 CUDA_MEM_ALLOC_NODE_PARAMS_v2& allocation, CUgraph*& conditionalGraphs) {
  TRY(addNode(out, graph, dependencies, read));
  if (const uint64_t address = addressOfNode(*out)) allocation.dptr = address;
  auto* const node = reinterpret_cast<core::GraphNode*>(*out);
  if (node->type() == core::NodeType::Conditional)
    conditionalGraphs = reinterpret_cast<CUgraph*>(node->conditionalGraphs());
  return Error::Success;
}

Error allocationOf(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return withNodeOf<core::AllocationNode>(handle, [&](const core::AllocationNode& node) {
    if (!out) return Error::InvalidValue;
    *out = {};
    const bool isManaged = node.kind == core::MemoryKind::Managed;
    out->poolProps.allocType = isManaged ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    if (node.kind == core::MemoryKind::Pinned) out->poolProps.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    else out->poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, node.context->device().ordinal()};
    out->bytesize = node.bytes;
    out->dptr = node.memory->address();
    return Error::Success;
  });
}

Error freedBy(CUgraphNode handle, CUdeviceptr* out) {
  return withNodeOf<core::FreeNode>(handle, [&](const core::FreeNode& node) {
    if (!out) return Error::InvalidValue;
    *out = node.memory->address();
    return Error::Success;
  });
}

Error trimGraphMemory(core::Device& device) {
  device.trimGraphPools();
  return Error::Success;
}

Error graphMemoryAttribute(core::Device& device, CUgraphMem_attribute attribute, uint64_t* value) {
  core::PoolAttribute wanted{};
  if (!value || !hasPoolAttribute(attribute, wanted)) return Error::InvalidValue;
  return device.graphPool(core::MemoryKind::Device)->attribute(wanted, *value);
}

Error setGraphMemoryAttribute(core::Device& device, CUgraphMem_attribute attribute, const uint64_t* value) {
  core::PoolAttribute wanted{};
  if (!value || !hasPoolAttribute(attribute, wanted)) return Error::InvalidValue;
  return device.graphPool(core::MemoryKind::Device)->setAttribute(wanted, *value);
}

}  // namespace mulciber::api
