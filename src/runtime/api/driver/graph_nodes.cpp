// Nodes of graphs: making them, and what they do.
#include "runtime/api/common/graphs.h"

#include "runtime/api/common/external.h"
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/stream_calls.h"
#include "runtime/api/driver/driver.h"
#include "runtime/api/driver/graph_parameters.h"

using namespace mulciber::api;
namespace core = mulciber::core;

#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphAddNode

namespace {

CUDA_KERNEL_NODE_PARAMS_v2 newer(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  return {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
          p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    nullptr,     nullptr};
}
CUDA_KERNEL_NODE_PARAMS_v2 newer(const CUDA_KERNEL_NODE_PARAMS_v2& p) { return p; }

// How each structure is read, when there is one.
template <class Parameters, class... Context>
ReadParameters reading(const Parameters* given, Context... context) {
  return [=](core::NodeParameters& out) {
    if (!given) return Error::InvalidValue;
    if constexpr (std::is_same_v<Parameters, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1>)
      return readSemaphores<core::SemaphoreSignalNode>(*given, out);
    else if constexpr (std::is_same_v<Parameters, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1>)
      return readSemaphores<core::SemaphoreWaitNode>(*given, out);
    else if constexpr (requires { given->paramArray; }) return readBatch(*given, out);
    else if constexpr (requires { given->func; }) return readKernel(newer(*given), out);
    else if constexpr (requires { given->WidthInBytes; }) return readCopy(*given, context..., out);
    else if constexpr (requires { given->elementSize; }) return readFill(*given, context..., out);
    else return readHost(given->fn, given->userData, out);
  };
}

ReadParameters reading(core::NodeType type, CUevent event) {
  return [=](core::NodeParameters& out) { return readEvent(type, event, out); };
}

ReadParameters readingAny(CUgraphNodeParams* given) {
  return [=](core::NodeParameters& out) { return given ? readAny(*given, out) : Error::InvalidValue; };
}

CUresult addAny(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies, CUgraphNodeParams* p,
                const char* call = __builtin_FUNCTION()) {
  return guarded(
      [&] {
        return p ? addAnyNode(out, graph, dependencies, readingAny(p), p->alloc, p->conditional.phGraph_out)
                 : Error::InvalidValue;
      },
      call);
}

CUresult add(CUgraphNode* out, CUgraph graph, const Dependencies& dependencies, const ReadParameters& read,
             const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return addNode(out, graph, dependencies, read); }, call);
}

CUresult set(CUgraphNode node, const ReadParameters& read, const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return setNode(node, read); }, call);
}

CUresult set(CUgraphExec graph, CUgraphNode node, const ReadParameters& read, const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return setExecutableNode(graph, node, read); }, call);
}

// A copy's or a fill's parameters that belong to the context of the node that is set.
template <class Node>
CUcontext contextOfNode(CUgraphNode handle) {
  core::ContextRef context;
  (void)withNodeOf<Node>(handle, [&](const Node& node) {
    context = node.context;
    return Error::Success;
  });
  return context ? handleOf(context) : nullptr;
}

}  // namespace

CUDA_API(CUresult, cuGraphAddKernelNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphAddKernelNode_v2)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphKernelNodeGetParams)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  return guarded([&] { return describeKernel(node, out, writeKernel<CUDA_KERNEL_NODE_PARAMS_v1>); });
}
CUDA_API(CUresult, cuGraphKernelNodeGetParams_v2)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* out) {
  return guarded([&] { return describeKernel(node, out, writeKernel<CUDA_KERNEL_NODE_PARAMS_v2>); });
}
CUDA_API(CUresult, cuGraphKernelNodeSetParams)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return set(node, reading(p));
}
CUDA_API(CUresult, cuGraphKernelNodeSetParams_v2)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return set(node, reading(p));
}
CUDA_API(CUresult, cuGraphExecKernelNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) { return set(graph, node, reading(p)); }
CUDA_API(CUresult, cuGraphExecKernelNodeSetParams_v2)
(CUgraphExec graph, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) { return set(graph, node, reading(p)); }

CUDA_API(CUresult, cuGraphKernelNodeCopyAttributes)(CUgraphNode to, CUgraphNode from) {
  return guarded([&] { return copyKernelAttributes(to, from); });
}
CUDA_API(CUresult, cuGraphKernelNodeGetAttribute)(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* out) {
  return guarded([&] { return kernelAttribute(node, id, out); });
}
CUDA_API(CUresult, cuGraphKernelNodeSetAttribute)
(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue* value) {
  return guarded([&] { return setKernelAttribute(node, id, value); });
}

CUDA_API(CUresult, cuGraphAddMemcpyNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMCPY3D* p,
 CUcontext context) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p, context));
}
CUDA_API(CUresult, cuGraphMemcpyNodeGetParams)(CUgraphNode handle, CUDA_MEMCPY3D* out) {
  return guarded([&] { return describeNode<core::CopyNode>(handle, out, writeCopy); });
}
CUDA_API(CUresult, cuGraphMemcpyNodeSetParams)(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return set(node, reading(p, contextOfNode<core::CopyNode>(node)));
}
CUDA_API(CUresult, cuGraphExecMemcpyNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_MEMCPY3D* p, CUcontext context) {
  return set(graph, node, reading(p, context));
}

CUDA_API(CUresult, cuGraphAddMemsetNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMSET_NODE_PARAMS_v1* p,
 CUcontext context) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p, context));
}
CUDA_API(CUresult, cuGraphMemsetNodeGetParams)(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS_v1* out) {
  return guarded([&] { return describeNode<core::FillNode>(handle, out, writeFill); });
}
CUDA_API(CUresult, cuGraphMemsetNodeSetParams)(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1* p) {
  return set(node, reading(p, contextOfNode<core::FillNode>(node)));
}
CUDA_API(CUresult, cuGraphExecMemsetNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS_v1* p, CUcontext context) {
  return set(graph, node, reading(p, context));
}

CUDA_API(CUresult, cuGraphAddHostNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_HOST_NODE_PARAMS_v1* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphHostNodeGetParams)(CUgraphNode handle, CUDA_HOST_NODE_PARAMS_v1* out) {
  return guarded([&] {
    return withNodeOf<core::HostNode>(handle, [&](const core::HostNode& node) {
      return give(out, CUDA_HOST_NODE_PARAMS_v1{node.function, node.data});
    });
  });
}
CUDA_API(CUresult, cuGraphHostNodeSetParams)(CUgraphNode node, const CUDA_HOST_NODE_PARAMS_v1* p) {
  return set(node, reading(p));
}
CUDA_API(CUresult, cuGraphExecHostNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_HOST_NODE_PARAMS_v1* p) { return set(graph, node, reading(p)); }

CUDA_API(CUresult, cuGraphAddChildGraphNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraph child) {
  return add(out, graph, {dependencies, nullptr, count}, [&](core::NodeParameters& parameters) {
    return readChild(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, parameters);
  });
}
CUDA_API(CUresult, cuGraphChildGraphNodeGetGraph)(CUgraphNode handle, CUgraph* out) {
  return guarded([&] {
    return withNodeOf<core::ChildGraphNode>(
        handle, [&](const core::ChildGraphNode& node) { return give(out, handleOf(*node.graph)); });
  });
}
CUDA_API(CUresult, cuGraphExecChildGraphNodeSetParams)(CUgraphExec graph, CUgraphNode node, CUgraph child) {
  return guarded([&] { return setChild(graph, node, child); });
}

CUDA_API(CUresult, cuGraphAddEmptyNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return add(out, graph, {dependencies, nullptr, count}, [](core::NodeParameters&) { return Error::Success; });
}

CUDA_API(CUresult, cuGraphAddEventRecordNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
  return add(out, graph, {dependencies, nullptr, count}, reading(core::NodeType::EventRecord, event));
}
CUDA_API(CUresult, cuGraphEventRecordNodeGetEvent)(CUgraphNode node, CUevent* out) {
  return guarded([&] { return eventOf<core::EventRecordNode>(node, out); });
}
CUDA_API(CUresult, cuGraphEventRecordNodeSetEvent)(CUgraphNode node, CUevent event) {
  return set(node, reading(core::NodeType::EventRecord, event));
}
CUDA_API(CUresult, cuGraphExecEventRecordNodeSetEvent)(CUgraphExec graph, CUgraphNode node, CUevent event) {
  return set(graph, node, reading(core::NodeType::EventRecord, event));
}

CUDA_API(CUresult, cuGraphAddEventWaitNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
  return add(out, graph, {dependencies, nullptr, count}, reading(core::NodeType::EventWait, event));
}
CUDA_API(CUresult, cuGraphEventWaitNodeGetEvent)(CUgraphNode node, CUevent* out) {
  return guarded([&] { return eventOf<core::EventWaitNode>(node, out); });
}
CUDA_API(CUresult, cuGraphEventWaitNodeSetEvent)(CUgraphNode node, CUevent event) {
  return set(node, reading(core::NodeType::EventWait, event));
}
CUDA_API(CUresult, cuGraphExecEventWaitNodeSetEvent)(CUgraphExec graph, CUgraphNode node, CUevent event) {
  return set(graph, node, reading(core::NodeType::EventWait, event));
}

CUDA_API(CUresult, cuGraphAddExternalSemaphoresSignalNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
 const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphExternalSemaphoresSignalNodeGetParams)
(CUgraphNode node, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1* out) {
  return guarded([&] { return semaphoresOf<core::SemaphoreSignalNode>(node, out); });
}
CUDA_API(CUresult, cuGraphExternalSemaphoresSignalNodeSetParams)
(CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1* p) { return set(node, reading(p)); }
CUDA_API(CUresult, cuGraphExecExternalSemaphoresSignalNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1* p) {
  return set(graph, node, reading(p));
}

CUDA_API(CUresult, cuGraphAddExternalSemaphoresWaitNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
 const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphExternalSemaphoresWaitNodeGetParams)
(CUgraphNode node, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1* out) {
  return guarded([&] { return semaphoresOf<core::SemaphoreWaitNode>(node, out); });
}
CUDA_API(CUresult, cuGraphExternalSemaphoresWaitNodeSetParams)
(CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1* p) { return set(node, reading(p)); }
CUDA_API(CUresult, cuGraphExecExternalSemaphoresWaitNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1* p) {
  return set(graph, node, reading(p));
}

CUDA_API(CUresult, cuGraphAddMemAllocNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return guarded([&] { return addAllocation(out, graph, {dependencies, nullptr, count}, p); });
}
CUDA_API(CUresult, cuGraphMemAllocNodeGetParams)(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return guarded([&] { return allocationOf(node, out); });
}
CUDA_API(CUresult, cuGraphAddMemFreeNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUdeviceptr address) {
  return add(out, graph, {dependencies, nullptr, count},
             [&](core::NodeParameters& parameters) { return readFree(address, parameters); });
}
CUDA_API(CUresult, cuGraphMemFreeNodeGetParams)(CUgraphNode node, CUdeviceptr* out) {
  return guarded([&] { return freedBy(node, out); });
}

CUDA_API(CUresult, cuGraphAddBatchMemOpNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
 const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return add(out, graph, {dependencies, nullptr, count}, reading(p));
}
CUDA_API(CUresult, cuGraphBatchMemOpNodeGetParams)(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return guarded([&] {
    return withNodeOf<core::MemoryOperationsNode>(handle, [&](const core::MemoryOperationsNode& node) {
      if (!out) return Error::InvalidValue;
      writeBatch(node, *out);
      return Error::Success;
    });
  });
}
CUDA_API(CUresult, cuGraphBatchMemOpNodeSetParams)(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return set(node, reading(p));
}
CUDA_API(CUresult, cuGraphExecBatchMemOpNodeSetParams)
(CUgraphExec graph, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) { return set(graph, node, reading(p)); }

CUDA_API(CUresult, cuGraphAddNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNodeParams* p) {
  return addAny(out, graph, {dependencies, nullptr, count}, p);
}
CUDA_API(CUresult, cuGraphAddNode_v2)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
 CUgraphNodeParams* p) {
  return addAny(out, graph, {dependencies, data, count}, p);
}
CUDA_API(CUresult, cuGraphNodeSetParams)(CUgraphNode node, CUgraphNodeParams* p) { return set(node, readingAny(p)); }
CUDA_API(CUresult, cuGraphExecNodeSetParams)(CUgraphExec graph, CUgraphNode node, CUgraphNodeParams* p) {
  return set(graph, node, readingAny(p));
}

CUDA_API(CUresult, cuGraphConditionalHandleCreate)
(CUgraphConditionalHandle* out, CUgraph graph, CUcontext handle, unsigned int first, unsigned int flags) {
  return guarded([&] {
    core::ContextRef context = contextOf(handle);
    if (!context) return Error::InvalidContext;
    return createConditionalHandle(out, graph, std::move(context), first, flags);
  });
}

CUDA_API(CUresult, cuGraphNodeGetType)(CUgraphNode handle, CUgraphNodeType* out) {
  return guarded([&] { return withNode(handle, [&](core::GraphNode& node) { return give(out, node.type()); }); });
}

CUDA_API(CUresult, cuGraphDestroyNode)(CUgraphNode node) {
  return guarded([&] { return destroyNode(node); });
}
