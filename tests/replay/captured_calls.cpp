// Calls about streams, events, modules and contexts, and those of the runtime, made while a stream is being captured.
#include <thread>
#include <utility>
#include <vector>

#include "capture_scene.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;

enum class Thread : uint8_t { Same, Other, Relaxed };

void inSetting(Notes& notes, World& w, const Deed& deed, CUstreamCaptureMode mode, Thread thread,
               unsigned streamFlags) {
  Scene s{w, newStream(streamFlags), newStream(CU_STREAM_NON_BLOCKING), newEvent(), newEvent(), 0, 0, nullptr, nullptr};
  FUNCTION(cuMemAlloc)(&s.memory, size_t{4096});
  FUNCTION(cuMemAllocAsync)(&s.pooled, size_t{4096}, s.other);
  FUNCTION(cuMemAllocHost)(&s.host, size_t{4096});
  FUNCTION(cuModuleLoadData)(&s.module, test::scalePtx);
  FUNCTION(cuEventRecord)(s.outside, s.other);
  FUNCTION(cuCtxSynchronize)();
  FUNCTION(cuStreamBeginCapture)(s.captured, mode);
  FUNCTION(cuMemsetD8Async)(w.device, static_cast<unsigned char>(1), capturedBytes, s.captured);
  FUNCTION(cuEventRecord)(s.inside, s.captured);
  int code = -1;
  if (thread == Thread::Same) code = deed(s);
  else
    std::thread([&] {
      FUNCTION(cuCtxSetCurrent)(w.context);
      CUstreamCaptureMode mine = CU_STREAM_CAPTURE_MODE_RELAXED;
      if (thread == Thread::Relaxed) FUNCTION(cuThreadExchangeStreamCaptureMode)(&mine);
      code = deed(s);
    }).join();
  notes << code;
  noteStatus(notes, s.captured);
  noteEnd(notes, s.captured);
  FUNCTION(cuCtxSynchronize)();
  FUNCTION(cuStreamDestroy)(s.captured);
  FUNCTION(cuStreamDestroy)(s.other);
  FUNCTION(cuMemFree)(s.memory);
  FUNCTION(cuMemFreeHost)(s.host);
}

}  // namespace

void whileCapturing(Group group, std::string name, const Deed& deed, unsigned streamFlags) {
  sequence(group, std::move(name) + " while a stream is captured", [=](World& w) {
    Notes notes;
    for (const Thread thread : {Thread::Same, Thread::Other})
      for (const int mode : {0, 1, 2}) inSetting(notes, w, deed, CUstreamCaptureMode(mode), thread, streamFlags);
    inSetting(notes, w, deed, CU_STREAM_CAPTURE_MODE_GLOBAL, Thread::Relaxed, streamFlags);
    return notes << FUNCTION(cuCtxSynchronize)();
  });
}

namespace {

int instantiateEmpty(CUgraph& graph, CUgraphExec& made) {
  FUNCTION(cuGraphCreate)(&graph, 0u);
  return FUNCTION(cuGraphInstantiate)(&made, graph, 0ull);
}

// Uses a graph without nodes that is made while the stream is captured, if it can be made then.
template <class Use>
Deed withNewGraph(Use use) {
  return [use](Scene& s) {
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    const int code = instantiateEmpty(graph, made);
    return code != 0 ? code : static_cast<int>(use(s, made));
  };
}

void streams() {
  whileCapturing(D, "cuStreamSynchronize of it", [](Scene& s) { return FUNCTION(cuStreamSynchronize)(s.captured); });
  whileCapturing(D, "cuStreamQuery of it", [](Scene& s) { return FUNCTION(cuStreamQuery)(s.captured); });
  whileCapturing(D, "cuStreamSynchronize of another", [](Scene& s) { return FUNCTION(cuStreamSynchronize)(s.other); });
  whileCapturing(D, "cuStreamQuery of another", [](Scene& s) { return FUNCTION(cuStreamQuery)(s.other); });
  whileCapturing(D, "cuEventQuery of an event in it", [](Scene& s) { return FUNCTION(cuEventQuery)(s.inside); });
  whileCapturing(D, "cuEventSynchronize of an event in it",
                 [](Scene& s) { return FUNCTION(cuEventSynchronize)(s.inside); });
  whileCapturing(D, "cuEventElapsedTime to an event in it", [](Scene& s) {
    float milliseconds = 0;
    return FUNCTION(cuEventElapsedTime)(&milliseconds, s.outside, s.inside);
  });
  whileCapturing(D, "cuEventQuery of another event", [](Scene& s) { return FUNCTION(cuEventQuery)(s.outside); });
  whileCapturing(D, "cuEventSynchronize of another event",
                 [](Scene& s) { return FUNCTION(cuEventSynchronize)(s.outside); });
  whileCapturing(D, "cuEventElapsedTime of other events", [](Scene& s) {
    float milliseconds = 0;
    return FUNCTION(cuEventElapsedTime)(&milliseconds, s.outside, s.outside);
  });
  whileCapturing(D, "cuStreamCreate", [](Scene&) {
    CUstream made = nullptr;
    return FUNCTION(cuStreamCreate)(&made, 0u);
  });
  whileCapturing(D, "cuStreamDestroy of another",
                 [](Scene& s) { return FUNCTION(cuStreamDestroy)(std::exchange(s.other, newStream(1))); });
  whileCapturing(D, "cuEventCreate", [](Scene&) {
    CUevent made = nullptr;
    return FUNCTION(cuEventCreate)(&made, 0u);
  });
  whileCapturing(D, "cuEventDestroy of an event in it", [](Scene& s) { return FUNCTION(cuEventDestroy)(s.inside); });
  whileCapturing(D, "cuStreamAddCallback in it",
                 [](Scene& s) { return FUNCTION(cuStreamAddCallback)(s.captured, callback, nullptr, 0u); });
  whileCapturing(D, "cuStreamAddCallback in another",
                 [](Scene& s) { return FUNCTION(cuStreamAddCallback)(s.other, callback, nullptr, 0u); });
  whileCapturing(D, "cuLaunchHostFunc in it",
                 [](Scene& s) { return FUNCTION(cuLaunchHostFunc)(s.captured, hostFunction, nullptr); });
  whileCapturing(D, "cuStreamAttachMemAsync in it", [](Scene& s) {
    return FUNCTION(cuStreamAttachMemAsync)(s.captured, s.w.managed, size_t{0}, unsigned{CU_MEM_ATTACH_GLOBAL});
  });
  whileCapturing(D, "cuMemPrefetchAsync in it", [](Scene& s) {
    return FUNCTION(cuMemPrefetchAsync)(s.w.managed, size_t{4096}, CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0u,
                                        s.captured);
  });
  whileCapturing(D, "a launch in it", [](Scene& s) { return launch(s, s.captured); });
  whileCapturing(D, "a cooperative launch in it", [](Scene& s) {
    return FUNCTION(cuLaunchCooperativeKernel)(s.w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, s.captured,
                                               s.w.kernelParameters);
  });
  whileCapturing(D, "a wrong launch in it", [](Scene& s) {
    return FUNCTION(cuLaunchKernel)(s.w.function, 0u, 1u, 1u, 1u, 1u, 1u, 0u, s.captured, s.w.kernelParameters,
                                    nullptr);
  });
  whileCapturing(D, "cuStreamWaitValue32 in it",
                 [](Scene& s) { return FUNCTION(cuStreamWaitValue32)(s.captured, bits(s.w.host), 1u, 0u); });
  whileCapturing(D, "cuStreamWriteValue32 in it",
                 [](Scene& s) { return FUNCTION(cuStreamWriteValue32)(s.captured, bits(s.w.host), 1u, 0u); });
  whileCapturing(D, "cuStreamBatchMemOp in it", [](Scene& s) {
    CUstreamBatchMemOpParams operations[2]{};
    for (auto& one : operations) one.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, bits(s.w.host), {1}, 0, 0};
    return FUNCTION(cuStreamBatchMemOp)(s.captured, 2u, operations, 0u);
  });
  whileCapturing(D, "cuStreamSetAttribute of it", [](Scene& s) {
    CUstreamAttrValue value{};
    value.syncPolicy = CU_SYNC_POLICY_SPIN;
    return FUNCTION(cuStreamSetAttribute)(s.captured, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
  });
  whileCapturing(D, "cuStreamCopyAttributes to it",
                 [](Scene& s) { return FUNCTION(cuStreamCopyAttributes)(s.captured, s.other); });
  whileCapturing(D, "cuStreamGetPriority of it", [](Scene& s) {
    int priority = 0;
    return FUNCTION(cuStreamGetPriority)(s.captured, &priority);
  });
  whileCapturing(D, "cuEventRecord in it", [](Scene& s) { return FUNCTION(cuEventRecord)(s.outside, s.captured); });
  whileCapturing(D, "cuEventRecordWithFlags in it, external,",
                 [](Scene& s) { return FUNCTION(cuEventRecordWithFlags)(s.outside, s.captured, 1u); });
  whileCapturing(D, "cuEventRecordWithFlags in another, external,",
                 [](Scene& s) { return FUNCTION(cuEventRecordWithFlags)(s.outside, s.other, 1u); });
  whileCapturing(D, "cuStreamWaitEvent in it, for an event outside,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.captured, s.outside, 0u); });
  whileCapturing(D, "cuStreamWaitEvent in it, for a fresh event,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.captured, newEvent(), 0u); });
  whileCapturing(D, "cuStreamWaitEvent in it, external,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.captured, s.outside, 1u); });
  whileCapturing(D, "cuStreamWaitEvent in it, external, for its own event,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.captured, s.inside, 1u); });
  whileCapturing(D, "cuStreamWaitEvent in it, for its own event,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.captured, s.inside, 0u); });
  whileCapturing(D, "cuStreamWaitEvent in another, for its event,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(s.other, s.inside, 0u); });
  whileCapturing(D, "cuStreamBeginCapture of it",
                 [](Scene& s) { return FUNCTION(cuStreamBeginCapture)(s.captured, CU_STREAM_CAPTURE_MODE_GLOBAL); });
  whileCapturing(D, "cuStreamEndCapture of another", [](Scene& s) {
    CUgraph graph = nullptr;
    return FUNCTION(cuStreamEndCapture)(s.other, &graph);
  });
  whileCapturing(D, "cuStreamEndCapture of it", [](Scene& s) {
    CUgraph graph = nullptr;
    return FUNCTION(cuStreamEndCapture)(s.captured, &graph);
  });
}

void modulesAndContexts() {
  whileCapturing(D, "cuModuleLoadData", [](Scene&) {
    CUmodule made = nullptr;
    return FUNCTION(cuModuleLoadData)(&made, test::scalePtx);
  });
  whileCapturing(D, "cuModuleUnload", [](Scene& s) { return FUNCTION(cuModuleUnload)(s.module); });
  whileCapturing(D, "cuLibraryLoadData", [](Scene&) {
    CUlibrary made = nullptr;
    return FUNCTION(cuLibraryLoadData)(&made, test::scalePtx, nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  });
  whileCapturing(D, "cuFuncSetAttribute", [](Scene& s) {
    return FUNCTION(cuFuncSetAttribute)(s.w.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
  });
  whileCapturing(D, "cuFuncGetAttribute", [](Scene& s) {
    int value = 0;
    return FUNCTION(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, s.w.function);
  });
  whileCapturing(D, "cuPointerGetAttribute", [](Scene& s) {
    int value = 0;
    return FUNCTION(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.w.device);
  });
  whileCapturing(D, "cuCtxSetLimit", [](Scene&) { return FUNCTION(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, size_t{2048}); });
  whileCapturing(D, "cuCtxGetLimit", [](Scene&) {
    size_t value = 0;
    return FUNCTION(cuCtxGetLimit)(&value, CU_LIMIT_STACK_SIZE);
  });
  whileCapturing(D, "cuCtxCreate and cuCtxDestroy", [](Scene&) {
    CUcontext made = nullptr;
    const int code = FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0);
    return code != 0 ? code : FUNCTION(cuCtxDestroy)(made);
  });
  whileCapturing(D, "cuMemAddressReserve", [](Scene&) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAddressReserve)(&made, size_t{2} << 20, size_t{0}, CUdeviceptr{0}, 0ull);
  });
  whileCapturing(D, "cuGraphInstantiate", withNewGraph([](Scene&, CUgraphExec) { return 0; }));
  whileCapturing(D, "cuGraphLaunch in another stream",
                 withNewGraph([](Scene& s, CUgraphExec made) { return FUNCTION(cuGraphLaunch)(made, s.other); }));
  whileCapturing(D, "cuGraphLaunch in it",
                 withNewGraph([](Scene& s, CUgraphExec made) { return FUNCTION(cuGraphLaunch)(made, s.captured); }));
  whileCapturing(D, "cuGraphUpload in it",
                 withNewGraph([](Scene& s, CUgraphExec made) { return FUNCTION(cuGraphUpload)(made, s.captured); }));
}

void others() {
  const auto withGraph = [](auto use) {
    return [use](Scene& s) {
      CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
      FUNCTION(cuThreadExchangeStreamCaptureMode)(&mode);
      CUgraph graph = nullptr;
      CUgraphExec made = nullptr;
      const int code = instantiateEmpty(graph, made);
      FUNCTION(cuThreadExchangeStreamCaptureMode)(&mode);
      return code != 0 ? -code : use(s, graph, made);
    };
  };
  whileCapturing(D, "cuGraphLaunch of a graph from before, in another stream,",
                 withGraph([](Scene& s, CUgraph, CUgraphExec made) { return FUNCTION(cuGraphLaunch)(made, s.other); }));
  whileCapturing(
      D, "cuGraphLaunch of a graph from before, in the legacy stream,",
      withGraph([](Scene&, CUgraph, CUgraphExec made) { return FUNCTION(cuGraphLaunch)(made, CUstream{}); }));
  whileCapturing(D, "cuGraphUpload of a graph from before, in another stream,",
                 withGraph([](Scene& s, CUgraph, CUgraphExec made) { return FUNCTION(cuGraphUpload)(made, s.other); }));
  whileCapturing(D, "cuGraphExecUpdate", withGraph([](Scene&, CUgraph graph, CUgraphExec made) {
                   CUgraphExecUpdateResultInfo info{};
                   return FUNCTION(cuGraphExecUpdate)(made, graph, &info);
                 }));
  whileCapturing(D, "cuGraphExecDestroy",
                 withGraph([](Scene&, CUgraph, CUgraphExec made) { return FUNCTION(cuGraphExecDestroy)(made); }));
  whileCapturing(D, "cuGraphDestroy of another",
                 withGraph([](Scene&, CUgraph graph, CUgraphExec) { return FUNCTION(cuGraphDestroy)(graph); }));
  whileCapturing(D, "cuDeviceGraphMemTrim", [](Scene&) { return FUNCTION(cuDeviceGraphMemTrim)(0); });
  whileCapturing(D, "cuMemFree of nothing", [](Scene&) { return FUNCTION(cuMemFree)(CUdeviceptr{0}); });
  whileCapturing(D, "cuMemFree of what is no memory", [](Scene& s) { return FUNCTION(cuMemFree)(s.w.goneDevice); });
  whileCapturing(D, "cuMemAlloc of nothing", [](Scene&) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAlloc)(&made, size_t{0});
  });
  whileCapturing(R, "cudaMalloc of nothing", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cudaMalloc)(&made, size_t{0});
  });
  whileCapturing(R, "cudaFreeHost of nothing", [](Scene&) { return FUNCTION(cudaFreeHost)(nullptr); });
  whileCapturing(D, "cuMemHostUnregister", [](Scene&) {
    alignas(4096) static char area[7][4096];
    static int next = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    FUNCTION(cuThreadExchangeStreamCaptureMode)(&mode);
    char* const mine = area[next++ % 7];
    FUNCTION(cuMemHostRegister)(mine, size_t{4096}, 0u);
    FUNCTION(cuThreadExchangeStreamCaptureMode)(&mode);
    return FUNCTION(cuMemHostUnregister)(mine);
  });
  whileCapturing(D, "cuMemPoolDestroy", [](Scene& s) {
    return FUNCTION(cuMemPoolDestroy)(std::exchange(s.w.pool, s.w.defaultPool)) == 0 ? 0 : 1;
  });
  whileCapturing(D, "cuMemPoolSetAttribute", [](Scene& s) {
    cuuint64_t value = 0;
    return FUNCTION(cuMemPoolSetAttribute)(s.w.defaultPool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
  });
  whileCapturing(D, "cuMemCreate", [](Scene&) {
    CUmemGenericAllocationHandle made = 0;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return FUNCTION(cuMemCreate)(&made, size_t{2} << 20, &properties, 0ull);
  });
  whileCapturing(D, "cuMemAdvise", [](Scene& s) {
    return FUNCTION(cuMemAdvise)(s.w.managed, size_t{8192}, CU_MEM_ADVISE_SET_READ_MOSTLY,
                                 CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 0});
  });
  whileCapturing(D, "cuMemPrefetchAsync in another stream", [](Scene& s) {
    return FUNCTION(cuMemPrefetchAsync)(s.w.managed, size_t{4096}, CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0u,
                                        s.other);
  });
  whileCapturing(D, "cuEventElapsedTime of timed events", [](Scene& s) {
    float milliseconds = 0;
    return FUNCTION(cuEventElapsedTime)(&milliseconds, s.w.timed, s.w.timed);
  });
  whileCapturing(D, "cuEventElapsedTime of a timed event in it", [](Scene& s) {
    float milliseconds = 0;
    CUevent event = nullptr;
    FUNCTION(cuEventCreate)(&event, 0u);
    FUNCTION(cuEventRecord)(event, s.captured);
    return FUNCTION(cuEventElapsedTime)(&milliseconds, s.w.timed, event);
  });
  whileCapturing(D, "cuEventQuery of a fresh event", [](Scene&) { return FUNCTION(cuEventQuery)(newEvent()); });
  whileCapturing(D, "cuLaunchHostFunc of nothing in it",
                 [](Scene& s) { return FUNCTION(cuLaunchHostFunc)(s.captured, nullptr, nullptr); });
  whileCapturing(D, "cuStreamWaitValue32 in it, of no memory,",
                 [](Scene& s) { return FUNCTION(cuStreamWaitValue32)(s.captured, CUdeviceptr{0}, 1u, 0u); });
  whileCapturing(D, "cuEventRecordWithFlags in it, of wrong flags,",
                 [](Scene& s) { return FUNCTION(cuEventRecordWithFlags)(s.outside, s.captured, 4u); });
  whileCapturing(D, "cuMemcpyBatchAsync in it", [](Scene& s) {
    CUdeviceptr to[2] = {s.w.device, s.w.device + 256}, from[2] = {s.w.other, s.w.other + 256};
    size_t sizes[2] = {64, 64}, first = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return FUNCTION(cuMemcpyBatchAsync)(to, from, sizes, size_t{2}, &attributes, &first, size_t{1}, s.captured);
  });
  whileCapturing(D, "cuLaunchKernelEx in it with programmatic serialization", [](Scene& s) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{1, 1, 1, 32, 1, 1, 0, s.captured, &attribute, 1};
    const int code = FUNCTION(cuLaunchKernelEx)(&config, s.w.function, s.w.kernelParameters, nullptr);
    return code != 0 ? code : FUNCTION(cuLaunchKernelEx)(&config, s.w.function, s.w.kernelParameters, nullptr);
  });
}

void runtime() {
  whileCapturing(R, "cudaMalloc", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cudaMalloc)(&made, size_t{4096});
  });
  whileCapturing(R, "cudaFree",
                 [](Scene& s) { return FUNCTION(cudaFree)(reinterpret_cast<void*>(std::exchange(s.memory, 0))); });
  whileCapturing(R, "cudaFree of nothing", [](Scene&) { return FUNCTION(cudaFree)(nullptr); });
  whileCapturing(R, "cudaMallocHost", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cudaMallocHost)(&made, size_t{4096});
  });
  whileCapturing(R, "cudaMallocManaged", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cudaMallocManaged)(&made, size_t{4096}, 1u);
  });
  for (const unsigned flags : {0u, 1u}) {
    const std::string kind = flags ? "" : ", blocking,";
    whileCapturing(
        R, "cudaMemcpy" + kind,
        [](Scene& s) {
          return FUNCTION(cudaMemcpy)(reinterpret_cast<void*>(s.w.device), s.w.pageable, capturedBytes,
                                      cudaMemcpyDefault);
        },
        flags);
    whileCapturing(
        R, "cudaMemset" + kind,
        [](Scene& s) { return FUNCTION(cudaMemset)(reinterpret_cast<void*>(s.w.device), 1, capturedBytes); }, flags);
    whileCapturing(
        R, "cudaDeviceSynchronize" + kind, [](Scene&) { return FUNCTION(cudaDeviceSynchronize)(); }, flags);
  }
  whileCapturing(R, "cudaMemcpyAsync in it", [](Scene& s) {
    return FUNCTION(cudaMemcpyAsync)(reinterpret_cast<void*>(s.w.device), s.w.pageable, capturedBytes,
                                     cudaMemcpyDefault, s.captured);
  });
  whileCapturing(R, "cudaMemcpyAsync in the per-thread stream", [](Scene& s) {
    return FUNCTION(cudaMemcpyAsync)(reinterpret_cast<void*>(s.w.device), s.w.host, capturedBytes, cudaMemcpyDefault,
                                     cudaStreamPerThread);
  });
  whileCapturing(R, "cudaStreamSynchronize of it",
                 [](Scene& s) { return FUNCTION(cudaStreamSynchronize)(s.captured); });
  whileCapturing(R, "cudaEventQuery of an event in it", [](Scene& s) { return FUNCTION(cudaEventQuery)(s.inside); });
  whileCapturing(R, "cudaEventQuery of another event", [](Scene& s) { return FUNCTION(cudaEventQuery)(s.outside); });
  whileCapturing(R, "cudaDeviceSetLimit",
                 [](Scene&) { return FUNCTION(cudaDeviceSetLimit)(cudaLimitStackSize, size_t{2048}); });
  whileCapturing(R, "cudaFuncSetAttribute", [](Scene& s) {
    return FUNCTION(cudaFuncSetAttribute)(static_cast<const void*>(s.w.kernel),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  });
  whileCapturing(R, "cudaSetDevice", [](Scene&) { return FUNCTION(cudaSetDevice)(0); });
  whileCapturing(R, "cudaGetLastError", [](Scene&) { return FUNCTION(cudaGetLastError)(); });
}

}  // namespace

void addCapturedCalls() {
  streams();
  modulesAndContexts();
  others();
  runtime();
}

}  // namespace mulciber::replay
