#include "runtime/api/runtime/graph_parameters.h"

#include "runtime/api/common/external.h"
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/launch_arguments.h"
#include "runtime/api/runtime/copy_box.h"
#include "runtime/api/runtime/runtime.h"

namespace mulciber::api {

namespace {

Error errorOf(cudaError_t code) { return static_cast<Error>(code); }

Error finish(core::CopyNode node, cudaMemcpyKind kind, core::NodeParameters& out) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return errorOf(cudaErrorInvalidMemcpyDirection);
  if (isTooNarrow(node.copy)) return errorOf(cudaErrorInvalidPitchValue);
  node.copy.kind = static_cast<core::CopyKind>(kind);
  TRY(core::check(*node.context, node.copy));
  out = std::move(node);
  return Error::Success;
}

}  // namespace

Error readKernel(const cudaKernelNodeParams& given, core::NodeParameters& out) {
  core::ContextRef context;
  TRY(core::ensureRuntimeContext(context));
  core::Function* function = nullptr;
  const Error found = findFunction(given.func, *context, function);
  if (found == Error::InvalidHandle) return errorOf(cudaErrorInvalidDeviceFunction);
  if (found != Error::Success) return found;
  core::Arguments arguments;
  TRY(readArguments(given.kernelParams, given.extra, arguments));
  core::KernelNode& node = out.emplace<core::KernelNode>();
  node.handle = given.func;
  const core::Launch launch{{given.gridDim.x, given.gridDim.y, given.gridDim.z},
                            {given.blockDim.x, given.blockDim.y, given.blockDim.z},
                            given.sharedMemBytes,
                            false};
  return core::describe(*function, launch, arguments, node);
}

Error readCopy(const cudaMemcpy3DParms& given, core::NodeParameters& out) {
  core::CopyNode node;
  TRY(core::ensureRuntimeContext(node.context));
  TRY(errorOf(readBox(given, node.copy)));
  return finish(std::move(node), given.kind, out);
}

Error readCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, core::NodeParameters& out) {
  core::CopyNode node;
  TRY(core::ensureRuntimeContext(node.context));
  node.copy = linear(to, from, bytes);
  return finish(std::move(node), kind, out);
}

Error readSymbolCopy(SymbolIs side, const void* symbol, const void* other, size_t bytes, size_t offset,
                     cudaMemcpyKind kind, core::NodeParameters& out) {
  core::CopyNode node;
  TRY(core::ensureRuntimeContext(node.context));
  uint64_t address = 0;
  size_t size = 0;
  TRY(errorOf(findSymbol(symbol, *node.context, address, size)));
  if (!other || offset > size || bytes > size - offset) return Error::InvalidValue;
  const cudaMemcpyKind fitting = side == SymbolIs::Destination ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind != fitting && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return errorOf(cudaErrorInvalidMemcpyDirection);
  node.copy = linear(other, other, bytes);
  (side == SymbolIs::Destination ? node.copy.destination : node.copy.source) = address + offset;
  return finish(std::move(node), kind, out);
}

Error readFill(const cudaMemsetParams& given, core::NodeParameters& out) {
  core::FillNode node;
  TRY(core::ensureRuntimeContext(node.context));
  return finishFill(std::move(node), addressOf(given.dst), given, out);
}

Error readAny(cudaGraphNodeParams& given, core::NodeParameters& out) {
  switch (given.type) {
    case cudaGraphNodeTypeKernel: {
      const auto& k = given.kernel;
      return readKernel({k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra}, out);
    }
    case cudaGraphNodeTypeMemcpy: return readCopy(given.memcpy.copyParams, out);
    case cudaGraphNodeTypeMemset: {
      const auto& m = given.memset;
      return readFill({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height}, out);
    }
    case cudaGraphNodeTypeHost: return readHost(given.host.fn, given.host.userData, out);
    case cudaGraphNodeTypeGraph: return readChild(given.graph.graph, given.graph.ownership, out);
    case cudaGraphNodeTypeEmpty: out = core::EmptyNode{}; return Error::Success;
    case cudaGraphNodeTypeWaitEvent: return readEvent(core::NodeType::EventWait, given.eventWait.event, out);
    case cudaGraphNodeTypeEventRecord: return readEvent(core::NodeType::EventRecord, given.eventRecord.event, out);
    case cudaGraphNodeTypeMemAlloc: {
      core::ContextRef context;
      TRY(core::ensureRuntimeContext(context));
      return readAllocation(*driverForm(&given.alloc), out);
    }
    case cudaGraphNodeTypeMemFree: return readFree(addressOf(given.free.dptr), out);
    case cudaGraphNodeTypeExtSemaphoreSignal: return readSemaphores<core::SemaphoreSignalNode>(given.extSemSignal, out);
    case cudaGraphNodeTypeExtSemaphoreWait: return readSemaphores<core::SemaphoreWaitNode>(given.extSemWait, out);
    case cudaGraphNodeTypeConditional: {
      core::ContextRef context;
      TRY(core::ensureRuntimeContext(context));
      const auto& c = given.conditional;
      return readConditional(c.handle, c.type, c.size, std::move(context), out);
    }
    default: return Error::InvalidValue;
  }
}

void writeKernel(core::GraphNode& node, const core::KernelNode& kernel, cudaKernelNodeParams& out) {
  out.func = const_cast<void*>(kernel.handle);
  out.gridDim = {kernel.launch.grid[0], kernel.launch.grid[1], kernel.launch.grid[2]};
  out.blockDim = {kernel.launch.block[0], kernel.launch.block[1], kernel.launch.block[2]};
  out.sharedMemBytes = kernel.launch.dynamicSharedBytes;
  out.kernelParams = node.argumentPointers();
  out.extra = nullptr;
}

// Memory as the address of its first byte: the positions have been added. Beside an array, all counts its elements.
void writeCopy(const core::CopyNode& node, cudaMemcpy3DParms& out) {
  const core::Copy& copy = node.copy;
  size_t elementBytes = 1;
  const auto writeSide = [&](const core::ArrayPlace& place, uint64_t address, size_t pitch, size_t slice,
                             cudaArray_t& array, cudaPos& position, cudaPitchedPtr& memory) {
    if (place.array) {
      elementBytes = place.array->format().bytes;
      array = reinterpret_cast<cudaArray_t>(place.array.get());
      position = {place.x / elementBytes, place.y, place.z};
    } else {
      memory = {reinterpret_cast<void*>(address), pitch, copy.width, pitch == 0 ? 0 : slice / pitch};
    }
  };
  out = {};
  writeSide(copy.sourceArray, copy.source, copy.sourcePitch, copy.sourceSlice, out.srcArray, out.srcPos, out.srcPtr);
  writeSide(copy.destinationArray, copy.destination, copy.destinationPitch, copy.destinationSlice, out.dstArray,
            out.dstPos, out.dstPtr);
  out.extent = {copy.width / elementBytes, copy.height, copy.depth};
  out.kind = static_cast<cudaMemcpyKind>(copy.kind);
}

void writeFill(const core::FillNode& node, cudaMemsetParams& out) {
  const core::Fill& fill = node.fill;
  out = {reinterpret_cast<void*>(fill.destination), fill.pitch, fill.value, fill.valueBytes, fill.width, fill.height};
}

}  // namespace mulciber::api
