#include "runtime/api/driver/graph_parameters.h"

#include <algorithm>

#include "runtime/api/common/external.h"
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/launch_arguments.h"
#include "runtime/api/driver/copy_box.h"
#include "runtime/api/driver/driver.h"
#include "runtime/api/driver/memory_operations.h"

namespace mulciber::api {

namespace {

// The named context, or the thread's own.
Error readContext(CUcontext handle, core::ContextRef& out) {
  if (!handle) return core::currentContext(out);
  out = contextOf(handle);
  return out ? out->error() : Error::InvalidContext;
}

}  // namespace

Error readKernel(const CUDA_KERNEL_NODE_PARAMS_v2& given, core::NodeParameters& out) {
  const void* const handle = given.func ? static_cast<const void*>(given.func) : given.kern;
  core::ContextRef context;
  TRY(readContext(given.ctx, context));
  core::Function* function = nullptr;
  TRY(functionOf(handle, context.get(), function));
  core::Arguments arguments;
  TRY(readArguments(given.kernelParams, given.extra, arguments));
  core::KernelNode& node = out.emplace<core::KernelNode>();
  node.handle = handle;
  const core::Launch launch{{given.gridDimX, given.gridDimY, given.gridDimZ},
                            {given.blockDimX, given.blockDimY, given.blockDimZ},
                            given.sharedMemBytes,
                            false};
  return core::describe(*function, launch, arguments, node);
}

Error readCopy(const CUDA_MEMCPY3D& given, CUcontext handle, core::NodeParameters& out) {
  core::CopyNode node;
  TRY(readContext(handle, node.context));
  TRY(readBox(given, node.copy));
  TRY(core::check(*node.context, node.copy));
  out = std::move(node);
  return Error::Success;
}

Error readFill(const CUDA_MEMSET_NODE_PARAMS_v1& given, CUcontext handle, core::NodeParameters& out) {
  core::FillNode node;
  TRY(readContext(handle, node.context));
  return finishFill(std::move(node), given.dst, given, out);
}

Error readBatch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v1& given, core::NodeParameters& out) {
  core::MemoryOperationsNode node;
  TRY(readContext(given.ctx, node.context));
  if (given.count == 0) return Error::InvalidValue;
  TRY(readOperations(given.paramArray, given.count, given.flags, node.operations));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(given.paramArray);
  node.given.assign(bytes, bytes + given.count * sizeof(*given.paramArray));
  out = std::move(node);
  return Error::Success;
}

Error readAny(CUgraphNodeParams& given, core::NodeParameters& out) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& k = given.kernel;
      return readKernel({k.func, k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX, k.blockDimY, k.blockDimZ,
                         k.sharedMemBytes, k.kernelParams, k.extra, k.kern, k.ctx},
                        out);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return readCopy(given.memcpy.copyParams, given.memcpy.copyCtx, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& m = given.memset;
      return readFill({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height}, m.ctx, out);
    }
    case CU_GRAPH_NODE_TYPE_HOST: return readHost(given.host.fn, given.host.userData, out);
    case CU_GRAPH_NODE_TYPE_GRAPH: return readChild(given.graph.graph, given.graph.ownership, out);
    case CU_GRAPH_NODE_TYPE_EMPTY: out = core::EmptyNode{}; return Error::Success;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return readEvent(core::NodeType::EventWait, given.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return readEvent(core::NodeType::EventRecord, given.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      const auto& a = given.alloc;
      return readAllocation({a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize, a.dptr}, out);
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return readFree(given.free.dptr, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const auto& m = given.memOp;
      return readBatch({m.ctx, m.count, m.paramArray, m.flags}, out);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: return readSemaphores<core::SemaphoreSignalNode>(given.extSemSignal, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return readSemaphores<core::SemaphoreWaitNode>(given.extSemWait, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      const auto& c = given.conditional;
      const auto isSet = [](int word) { return word != 0; };
      if (std::ranges::any_of(given.reserved0, isSet) || given.reserved2 != 0) return Error::InvalidValue;
      core::ContextRef context = contextOf(c.ctx);
      if (!context) return Error::InvalidContext;
      return readConditional(c.handle, c.type, c.size, std::move(context), out);
    }
    default: return Error::InvalidValue;
  }
}

// Memory as the address of its first byte: the offsets have been added.
void writeCopy(const core::CopyNode& node, CUDA_MEMCPY3D& out) {
  const core::Copy& copy = node.copy;
  using Kind = core::CopyKind;
  const auto typeOf = [&](const core::ArrayPlace& place, Kind pinned) {
    return place.array                                            ? CU_MEMORYTYPE_ARRAY
           : copy.kind == Kind::Default                           ? CU_MEMORYTYPE_UNIFIED
           : copy.kind == Kind::HostToHost || copy.kind == pinned ? CU_MEMORYTYPE_HOST
                                                                  : CU_MEMORYTYPE_DEVICE;
  };
  const auto handleOf = [](const core::ArrayPlace& place) { return reinterpret_cast<CUarray>(place.array.get()); };
  out = {};
  out.srcMemoryType = typeOf(copy.sourceArray, Kind::HostToDevice);
  out.dstMemoryType = typeOf(copy.destinationArray, Kind::DeviceToHost);
  if (out.srcMemoryType == CU_MEMORYTYPE_HOST) out.srcHost = reinterpret_cast<const void*>(copy.source);
  else out.srcDevice = copy.source;
  if (out.dstMemoryType == CU_MEMORYTYPE_HOST) out.dstHost = reinterpret_cast<void*>(copy.destination);
  else out.dstDevice = copy.destination;
  out.srcArray = handleOf(copy.sourceArray);
  out.srcXInBytes = copy.sourceArray.x;
  out.srcY = copy.sourceArray.y;
  out.srcZ = copy.sourceArray.z;
  out.dstArray = handleOf(copy.destinationArray);
  out.dstXInBytes = copy.destinationArray.x;
  out.dstY = copy.destinationArray.y;
  out.dstZ = copy.destinationArray.z;
  out.srcPitch = copy.sourcePitch;
  out.dstPitch = copy.destinationPitch;
  if (copy.sourcePitch != 0) out.srcHeight = copy.sourceSlice / copy.sourcePitch;
  if (copy.destinationPitch != 0) out.dstHeight = copy.destinationSlice / copy.destinationPitch;
  out.WidthInBytes = copy.width;
  out.Height = copy.height;
  out.Depth = copy.depth;
}

// The operations are the node's own, until it gets others.
void writeBatch(const core::MemoryOperationsNode& node, CUDA_BATCH_MEM_OP_NODE_PARAMS_v1& out) {
  auto* const given = reinterpret_cast<CUstreamBatchMemOpParams*>(const_cast<uint8_t*>(node.given.data()));
  out = {handleOf(node.context), static_cast<unsigned>(node.operations.size()), given, 0};
}

void writeFill(const core::FillNode& node, CUDA_MEMSET_NODE_PARAMS_v1& out) {
  const core::Fill& fill = node.fill;
  out = {fill.destination, fill.pitch, fill.value, fill.valueBytes, fill.width, fill.height};
}

}  // namespace mulciber::api
