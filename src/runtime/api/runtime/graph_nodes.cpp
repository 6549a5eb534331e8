// Nodes of graphs: making them, and what they do. cudaGraphAddNode, which changed, stands in versioned_graph.cpp.
#include "runtime/api/common/external.h"
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/stream_calls.h"
#include "runtime/api/runtime/copy_box.h"
#include "runtime/api/runtime/graph_parameters.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

// How each structure is read, when there is one.
template <class Parameters>
ReadParameters reading(const Parameters* given) {
  return [=](core::NodeParameters& out) {
    if (!given) return Error::InvalidValue;
    if constexpr (std::is_same_v<Parameters, cudaExternalSemaphoreSignalNodeParams>)
      return readSemaphores<core::SemaphoreSignalNode>(*given, out);
    else if constexpr (std::is_same_v<Parameters, cudaExternalSemaphoreWaitNodeParams>)
      return readSemaphores<core::SemaphoreWaitNode>(*given, out);
    else if constexpr (requires { given->func; }) return readKernel(*given, out);
    else if constexpr (requires { given->extent; }) return readCopy(*given, out);
    else if constexpr (requires { given->elementSize; }) return readFill(*given, out);
    else return readHost(given->fn, given->userData, out);
  };
}

ReadParameters reading(core::NodeType type, cudaEvent_t event) {
  return [=](core::NodeParameters& out) { return readEvent(type, event, out); };
}

ReadParameters readingCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return [=](core::NodeParameters& out) { return readCopy(to, from, bytes, kind, out); };
}

ReadParameters readingSymbol(SymbolIs side, const void* symbol, const void* other, size_t bytes, size_t offset,
                             cudaMemcpyKind kind) {
  return [=](core::NodeParameters& out) { return readSymbolCopy(side, symbol, other, bytes, offset, kind, out); };
}

cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const Dependencies& dependencies, const ReadParameters& read,
                const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return addNode(out, graph, dependencies, read); }, call);
}

cudaError_t set(cudaGraphNode_t node, const ReadParameters& read, const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return setNode(node, read); }, call);
}

cudaError_t set(cudaGraphExec_t graph, cudaGraphNode_t node, const ReadParameters& read,
                const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return setExecutableNode(graph, node, read); }, call);
}

}  // namespace

CUDA_API(cudaError_t, cudaGraphAddKernelNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaKernelNodeParams* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphKernelNodeGetParams)(cudaGraphNode_t handle, cudaKernelNodeParams* out) {
  return guarded([&] { return describeKernel(handle, out, writeKernel); });
}
CUDA_API(cudaError_t, cudaGraphKernelNodeSetParams)(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return set(node, reading(p));
}
CUDA_API(cudaError_t, cudaGraphExecKernelNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaKernelNodeParams* p) { return set(graph, node, reading(p)); }

CUDA_API(cudaError_t, cudaGraphKernelNodeCopyAttributes)(cudaGraphNode_t to, cudaGraphNode_t from) {
  return guarded([&] { return copyKernelAttributes(to, from); });
}
CUDA_API(cudaError_t, cudaGraphKernelNodeGetAttribute)
(cudaGraphNode_t node, cudaKernelNodeAttrID id, cudaKernelNodeAttrValue* out) {
  return guarded([&] { return kernelAttribute(node, id, reinterpret_cast<CUlaunchAttributeValue*>(out)); });
}
CUDA_API(cudaError_t, cudaGraphKernelNodeSetAttribute)
(cudaGraphNode_t node, cudaKernelNodeAttrID id, const cudaKernelNodeAttrValue* value) {
  return guarded([&] { return setKernelAttribute(node, id, reinterpret_cast<const CUlaunchAttributeValue*>(value)); });
}

CUDA_API(cudaError_t, cudaGraphAddMemcpyNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaMemcpy3DParms* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphAddMemcpyNode1D)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, void* to, const void* from,
 size_t bytes, cudaMemcpyKind kind) {
  return add(out, graph, {dependencies, nullptr, count}, readingCopy(to, from, bytes, kind));
}
CUDA_API(cudaError_t, cudaGraphAddMemcpyNodeToSymbol)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, const void* symbol,
 const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return add(out, graph, {dependencies, nullptr, count},
             readingSymbol(SymbolIs::Destination, symbol, from, bytes, offset, kind));
}
CUDA_API(cudaError_t, cudaGraphAddMemcpyNodeFromSymbol)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, void* to,
 const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return add(out, graph, {dependencies, nullptr, count},
             readingSymbol(SymbolIs::Source, symbol, to, bytes, offset, kind));
}
CUDA_API(cudaError_t, cudaGraphMemcpyNodeGetParams)(cudaGraphNode_t handle, cudaMemcpy3DParms* out) {
  return guarded([&] { return describeNode<core::CopyNode>(handle, out, writeCopy); });
}
CUDA_API(cudaError_t, cudaGraphMemcpyNodeSetParams)(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return set(node, reading(p));
}
CUDA_API(cudaError_t, cudaGraphMemcpyNodeSetParams1D)
(cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return set(node, readingCopy(to, from, bytes, kind));
}
CUDA_API(cudaError_t, cudaGraphMemcpyNodeSetParamsToSymbol)
(cudaGraphNode_t node, const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return set(node, readingSymbol(SymbolIs::Destination, symbol, from, bytes, offset, kind));
}
CUDA_API(cudaError_t, cudaGraphMemcpyNodeSetParamsFromSymbol)
(cudaGraphNode_t node, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return set(node, readingSymbol(SymbolIs::Source, symbol, to, bytes, offset, kind));
}
CUDA_API(cudaError_t, cudaGraphExecMemcpyNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemcpy3DParms* p) { return set(graph, node, reading(p)); }
CUDA_API(cudaError_t, cudaGraphExecMemcpyNodeSetParams1D)
(cudaGraphExec_t graph, cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return set(graph, node, readingCopy(to, from, bytes, kind));
}
CUDA_API(cudaError_t, cudaGraphExecMemcpyNodeSetParamsToSymbol)
(cudaGraphExec_t graph, cudaGraphNode_t node, const void* symbol, const void* from, size_t bytes, size_t offset,
 cudaMemcpyKind kind) {
  return set(graph, node, readingSymbol(SymbolIs::Destination, symbol, from, bytes, offset, kind));
}
CUDA_API(cudaError_t, cudaGraphExecMemcpyNodeSetParamsFromSymbol)
(cudaGraphExec_t graph, cudaGraphNode_t node, void* to, const void* symbol, size_t bytes, size_t offset,
 cudaMemcpyKind kind) {
  return set(graph, node, readingSymbol(SymbolIs::Source, symbol, to, bytes, offset, kind));
}

CUDA_API(cudaError_t, cudaGraphAddMemsetNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaMemsetParams* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphMemsetNodeGetParams)(cudaGraphNode_t handle, cudaMemsetParams* out) {
  return guarded([&] { return describeNode<core::FillNode>(handle, out, writeFill); });
}
CUDA_API(cudaError_t, cudaGraphMemsetNodeSetParams)(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return set(node, reading(p));
}
CUDA_API(cudaError_t, cudaGraphExecMemsetNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemsetParams* p) { return set(graph, node, reading(p)); }

CUDA_API(cudaError_t, cudaGraphAddHostNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaHostNodeParams* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphHostNodeGetParams)(cudaGraphNode_t handle, cudaHostNodeParams* out) {
  return guarded([&] {
    return withNodeOf<core::HostNode>(handle, [&](const core::HostNode& node) {
      return give(out, cudaHostNodeParams{node.function, node.data});
    });
  });
}
CUDA_API(cudaError_t, cudaGraphHostNodeSetParams)(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return set(node, reading(p));
}
CUDA_API(cudaError_t, cudaGraphExecHostNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaHostNodeParams* p) { return set(graph, node, reading(p)); }

CUDA_API(cudaError_t, cudaGraphAddChildGraphNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, cudaGraph_t child) {
  return add(out, graph, {dependencies, nullptr, count}, [&](core::NodeParameters& parameters) {
    return readChild(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, parameters);
  });
}
CUDA_API(cudaError_t, cudaGraphChildGraphNodeGetGraph)(cudaGraphNode_t handle, cudaGraph_t* out) {
  return guarded([&] {
    return withNodeOf<core::ChildGraphNode>(
        handle, [&](const core::ChildGraphNode& node) { return give(out, handleOf(*node.graph)); });
  });
}
CUDA_API(cudaError_t, cudaGraphExecChildGraphNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraph_t child) {
  return guarded([&] { return setChild(graph, node, child); });
}

CUDA_API(cudaError_t, cudaGraphAddEmptyNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count) {
  return add(out, graph, {dependencies, nullptr, count}, [](core::NodeParameters&) { return Error::Success; });
}

CUDA_API(cudaError_t, cudaGraphAddEventRecordNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return add(out, graph, {dependencies, nullptr, count}, reading(core::NodeType::EventRecord, event));
}
CUDA_API(cudaError_t, cudaGraphEventRecordNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t* out) {
  return guarded([&] { return eventOf<core::EventRecordNode>(node, out); });
}
CUDA_API(cudaError_t, cudaGraphEventRecordNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, reading(core::NodeType::EventRecord, event));
}
CUDA_API(cudaError_t, cudaGraphExecEventRecordNodeSetEvent)
(cudaGraphExec_t graph, cudaGraphNode_t node, cudaEvent_t event) {
  return set(graph, node, reading(core::NodeType::EventRecord, event));
}

CUDA_API(cudaError_t, cudaGraphAddEventWaitNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return add(out, graph, {dependencies, nullptr, count}, reading(core::NodeType::EventWait, event));
}
CUDA_API(cudaError_t, cudaGraphEventWaitNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t* out) {
  return guarded([&] { return eventOf<core::EventWaitNode>(node, out); });
}
CUDA_API(cudaError_t, cudaGraphEventWaitNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, reading(core::NodeType::EventWait, event));
}
CUDA_API(cudaError_t, cudaGraphExecEventWaitNodeSetEvent)
(cudaGraphExec_t graph, cudaGraphNode_t node, cudaEvent_t event) {
  return set(graph, node, reading(core::NodeType::EventWait, event));
}

CUDA_API(cudaError_t, cudaGraphAddExternalSemaphoresSignalNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaExternalSemaphoreSignalNodeParams* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphExternalSemaphoresSignalNodeGetParams)
(cudaGraphNode_t node, cudaExternalSemaphoreSignalNodeParams* out) {
  return guarded([&] { return semaphoresOf<core::SemaphoreSignalNode>(node, out); });
}
CUDA_API(cudaError_t, cudaGraphExternalSemaphoresSignalNodeSetParams)
(cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* p) { return set(node, reading(p)); }
CUDA_API(cudaError_t, cudaGraphExecExternalSemaphoresSignalNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* p) {
  return set(graph, node, reading(p));
}

CUDA_API(cudaError_t, cudaGraphAddExternalSemaphoresWaitNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 const cudaExternalSemaphoreWaitNodeParams* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(cudaError_t, cudaGraphExternalSemaphoresWaitNodeGetParams)
(cudaGraphNode_t node, cudaExternalSemaphoreWaitNodeParams* out) {
  return guarded([&] { return semaphoresOf<core::SemaphoreWaitNode>(node, out); });
}
CUDA_API(cudaError_t, cudaGraphExternalSemaphoresWaitNodeSetParams)
(cudaGraphNode_t node, const cudaExternalSemaphoreWaitNodeParams* p) { return set(node, reading(p)); }
CUDA_API(cudaError_t, cudaGraphExecExternalSemaphoresWaitNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaExternalSemaphoreWaitNodeParams* p) {
  return set(graph, node, reading(p));
}

CUDA_API(cudaError_t, cudaGraphAddMemAllocNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
 cudaMemAllocNodeParams* p) {
  return guarded([&] {
    core::ContextRef context;
    const Error error = core::ensureRuntimeContext(context);
    return error == Error::Success ? addAllocation(out, graph, {dependencies, nullptr, count}, driverForm(p)) : error;
  });
}
CUDA_API(cudaError_t, cudaGraphMemAllocNodeGetParams)(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return guarded([&] { return allocationOf(node, driverForm(out)); });
}
CUDA_API(cudaError_t, cudaGraphAddMemFreeNode)
(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count, void* address) {
  return add(out, graph, {dependencies, nullptr, count},
             [&](core::NodeParameters& parameters) { return readFree(addressOf(address), parameters); });
}
CUDA_API(cudaError_t, cudaGraphMemFreeNodeGetParams)(cudaGraphNode_t node, void* out) {
  return guarded([&] { return freedBy(node, static_cast<CUdeviceptr*>(out)); });
}

CUDA_API(cudaError_t, cudaGraphNodeSetParams)(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return set(node, [&](core::NodeParameters& out) { return p ? readAny(*p, out) : Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaGraphExecNodeSetParams)
(cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return set(graph, node, [&](core::NodeParameters& out) { return p ? readAny(*p, out) : Error::InvalidValue; });
}

CUDA_API(cudaError_t, cudaGraphConditionalHandleCreate)
(cudaGraphConditionalHandle* out, cudaGraph_t graph, unsigned int first, unsigned int flags) {
  return guarded([&] {
    core::ContextRef context;
    TRY(core::ensureRuntimeContext(context));
    return createConditionalHandle(reinterpret_cast<uint64_t*>(out), graph, std::move(context), first, flags);
  });
}

CUDA_API(cudaError_t, cudaGraphNodeGetType)(cudaGraphNode_t handle, cudaGraphNodeType* out) {
  return guarded([&] { return withNode(handle, [&](core::GraphNode& node) { return give(out, node.type()); }); });
}

CUDA_API(cudaError_t, cudaGraphDestroyNode)(cudaGraphNode_t node) {
  return guarded([&] { return destroyNode(node); });
}
