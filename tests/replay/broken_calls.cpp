// What calls answer once a kernel has failed, and what brings the device back.
#include <string>

#include "replay.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;

constexpr const char* failingPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 word[2] = {120, 0};
.visible .entry stop() { trap; ret; }
.visible .entry check() {
  .reg .b64 %rd<2>;
  mov.u64 %rd0, word;
  cvta.global.u64 %rd1, %rd0;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd1;
    st.param.b64 [b], %rd1;
    st.param.b32 [c], 7;
    st.param.b64 [d], %rd1;
    st.param.b64 [e], 1;
    call __assertfail, (a, b, c, d, e); }
  ret;
}
)";

int launchFailing(const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (const int error = FUNCTION(cuModuleLoadData)(&module, failingPtx)) return error;
  if (const int error = FUNCTION(cuModuleGetFunction)(&function, module, name)) return error;
  return FUNCTION(cuLaunchKernel)(function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{}, nullptr, nullptr);
}

struct After {
  const char* name;
  int (*call)(World&);
};

constexpr After driverCalls[] = {
    {"cuCtxSynchronize", [](World&) { return FUNCTION(cuCtxSynchronize)(); }},
    {"cuStreamSynchronize", [](World& w) { return FUNCTION(cuStreamSynchronize)(w.stream); }},
    {"cuStreamQuery", [](World& w) { return FUNCTION(cuStreamQuery)(w.stream); }},
    {"cuEventQuery", [](World& w) { return FUNCTION(cuEventQuery)(w.event); }},
    {"cuEventSynchronize", [](World& w) { return FUNCTION(cuEventSynchronize)(w.event); }},
    {"cuEventRecord", [](World& w) { return FUNCTION(cuEventRecord)(w.event, w.stream); }},
    {"cuMemAlloc", [](World& w) { return FUNCTION(cuMemAlloc)(&w.other, size_t{64}); }},
    {"cuMemFree", [](World& w) { return FUNCTION(cuMemFree)(w.device); }},
    {"cuMemAllocHost",
     [](World& w) { return FUNCTION(cuMemAllocHost)(reinterpret_cast<void**>(&w.host), size_t{64}); }},
    {"cuMemFreeHost", [](World& w) { return FUNCTION(cuMemFreeHost)(static_cast<void*>(w.host)); }},
    {"cuMemGetInfo",
     [](World&) {
       size_t free = 0, total = 0;
       return FUNCTION(cuMemGetInfo)(&free, &total);
     }},
    {"cuMemcpyDtoH", [](World& w) { return FUNCTION(cuMemcpyDtoH)(static_cast<void*>(w.host), w.device, size_t{4}); }},
    {"cuMemsetD8Async",
     [](World& w) { return FUNCTION(cuMemsetD8Async)(w.device, static_cast<unsigned char>(1), size_t{4}, w.stream); }},
    {"cuLaunchKernel",
     [](World& w) {
       return FUNCTION(cuLaunchKernel)(w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, w.stream, w.kernelParameters, nullptr);
     }},
    {"cuStreamCreate", [](World& w) { return FUNCTION(cuStreamCreate)(&w.stream, 0u); }},
    {"cuStreamDestroy", [](World& w) { return FUNCTION(cuStreamDestroy)(w.stream); }},
    {"cuEventCreate", [](World& w) { return FUNCTION(cuEventCreate)(&w.event, 0u); }},
    {"cuEventDestroy", [](World& w) { return FUNCTION(cuEventDestroy)(w.event); }},
    {"cuModuleUnload", [](World& w) { return FUNCTION(cuModuleUnload)(w.module); }},
    {"cuModuleGetFunction", [](World& w) { return FUNCTION(cuModuleGetFunction)(&w.function, w.module, "scale"); }},
    {"cuFuncGetAttribute",
     [](World& w) {
       int value = 0;
       return FUNCTION(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, w.function);
     }},
    {"cuPointerGetAttribute",
     [](World& w) {
       unsigned type = 0;
       return FUNCTION(cuPointerGetAttribute)(static_cast<void*>(&type), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w.device);
     }},
    {"cuCtxGetCurrent", [](World& w) { return FUNCTION(cuCtxGetCurrent)(&w.context); }},
    {"cuCtxGetDevice",
     [](World&) {
       CUdevice device = 0;
       return FUNCTION(cuCtxGetDevice)(&device);
     }},
    {"cuCtxSetCurrent", [](World& w) { return FUNCTION(cuCtxSetCurrent)(w.context); }},
    {"cuCtxGetLimit",
     [](World&) {
       size_t value = 0;
       return FUNCTION(cuCtxGetLimit)(&value, CU_LIMIT_STACK_SIZE);
     }},
    {"cuDeviceGetCount",
     [](World&) {
       int count = 0;
       return FUNCTION(cuDeviceGetCount)(&count);
     }},
    {"cuDevicePrimaryCtxReset", [](World&) { return FUNCTION(cuDevicePrimaryCtxReset)(0); }},
    {"cuDevicePrimaryCtxRelease", [](World&) { return FUNCTION(cuDevicePrimaryCtxRelease)(0); }},
    {"cuCtxCreate",
     [](World&) {
       CUcontext made = nullptr;
       const int error = FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0);
       return error ? error : FUNCTION(cuCtxSynchronize)();
     }},
};

constexpr After runtimeCalls[] = {
    {"cudaDeviceSynchronize", [](World&) { return FUNCTION(cudaDeviceSynchronize)(); }},
    {"cudaGetLastError", [](World&) { return FUNCTION(cudaGetLastError)(); }},
    {"cudaStreamQuery", [](World& w) { return FUNCTION(cudaStreamQuery)(w.stream); }},
    {"cudaEventQuery", [](World& w) { return FUNCTION(cudaEventQuery)(w.event); }},
    {"cudaMalloc",
     [](World&) {
       void* memory = nullptr;
       return FUNCTION(cudaMalloc)(&memory, size_t{64});
     }},
    {"cudaFree", [](World& w) { return FUNCTION(cudaFree)(reinterpret_cast<void*>(w.device)); }},
    {"cudaFree of null", [](World&) { return FUNCTION(cudaFree)(static_cast<void*>(nullptr)); }},
    {"cudaFreeHost", [](World& w) { return FUNCTION(cudaFreeHost)(static_cast<void*>(w.host)); }},
    {"cudaMemset", [](World& w) { return FUNCTION(cudaMemset)(reinterpret_cast<void*>(w.device), 0, size_t{4}); }},
    {"cudaLaunchKernel",
     [](World& w) {
       return FUNCTION(cudaLaunchKernel)(reinterpret_cast<const void*>(w.kernel), dim3(1), dim3(1), w.kernelParameters,
                                         size_t{0}, w.stream);
     }},
    {"cudaStreamDestroy", [](World& w) { return FUNCTION(cudaStreamDestroy)(w.stream); }},
    {"cudaEventDestroy", [](World& w) { return FUNCTION(cudaEventDestroy)(w.event); }},
    {"cudaSetDevice", [](World&) { return FUNCTION(cudaSetDevice)(0); }},
    {"cudaGetDevice",
     [](World&) {
       int device = 0;
       return FUNCTION(cudaGetDevice)(&device);
     }},
    {"cudaGetDeviceCount",
     [](World&) {
       int count = 0;
       return FUNCTION(cudaGetDeviceCount)(&count);
     }},
    {"cudaGetDeviceProperties",
     [](World&) {
       static cudaDeviceProp properties;
       return FUNCTION(cudaGetDeviceProperties)(&properties, 0);
     }},
    {"cudaPointerGetAttributes",
     [](World& w) {
       cudaPointerAttributes told{};
       return FUNCTION(cudaPointerGetAttributes)(&told, reinterpret_cast<const void*>(w.device));
     }},
    {"cudaDriverGetVersion",
     [](World&) {
       int version = 0;
       return FUNCTION(cudaDriverGetVersion)(&version);
     }},
    {"cudaDeviceReset", [](World&) { return FUNCTION(cudaDeviceReset)(); }},
};

}  // namespace

void addBrokenCalls() {
  for (const After& after : driverCalls)
    sequence(D, std::string("after a trap: ") + after.name, [after](World& w) {
      Notes notes;
      notes << launchFailing("stop") << FUNCTION(cuCtxSynchronize)() << after.call(w);
      return notes << FUNCTION(cuCtxSynchronize)();
    });
  for (const After& after : runtimeCalls)
    sequence(R, std::string("after a trap: ") + after.name, [after](World& w) {
      Notes notes;
      notes << launchFailing("stop") << FUNCTION(cudaDeviceSynchronize)() << FUNCTION(cudaGetLastError)();
      return notes << after.call(w) << FUNCTION(cudaGetLastError)() << FUNCTION(cudaGetLastError)();
    });
  sequence(D, "a failed assertion", [](World&) {
    Notes notes;
    return notes << launchFailing("check") << FUNCTION(cuCtxSynchronize)() << FUNCTION(cuCtxSynchronize)();
  });
  sequence(R, "a reset after a trap brings all back", [](World& w) {
    Notes notes;
    void* memory = nullptr;
    unsigned seen = 0;
    notes << launchFailing("stop") << FUNCTION(cudaDeviceSynchronize)() << FUNCTION(cudaDeviceReset)();
    notes << FUNCTION(cudaGetLastError)() << FUNCTION(cudaGetLastError)();
    notes << FUNCTION(cudaMalloc)(&memory, size_t{4096}) << FUNCTION(cudaMemset)(memory, 1, size_t{4096});
    notes << FUNCTION(cudaMemcpy)(&seen, memory, size_t{4}, cudaMemcpyDeviceToHost) << seen;
    (void)w;
    return notes << FUNCTION(cudaFree)(memory) << FUNCTION(cudaDeviceSynchronize)();
  });
  sequence(D, "a trap in another context", [](World& w) {
    CUcontext made = nullptr;
    unsigned seen = 0;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << launchFailing("stop") << FUNCTION(cuCtxSynchronize)();
    notes << FUNCTION(cuCtxSetCurrent)(w.context) << FUNCTION(cuCtxSynchronize)();
    notes << FUNCTION(cuMemsetD32)(w.device, 5u, size_t{4}) << FUNCTION(cuMemcpyDtoH)(&seen, w.device, size_t{4});
    return notes << seen << FUNCTION(cuCtxDestroy)(made) << FUNCTION(cuCtxSynchronize)();
  });
  sequence(D, "an error that comes with an event", [](World& w) {
    CUevent event = nullptr;
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&event, 0u) << launchFailing("stop") << FUNCTION(cuEventRecord)(event, CUstream{});
    notes << FUNCTION(cuEventSynchronize)(event) << FUNCTION(cuEventQuery)(event) << FUNCTION(cuStreamQuery)(w.stream);
    return notes << FUNCTION(cuEventDestroy)(event);
  });
  sequence(D, "a callback after a trap", [](World&) {
    static int told;
    told = 99;
    Notes notes;
    notes << launchFailing("stop");
    notes << FUNCTION(cuStreamAddCallback)(
        CUstream{}, +[](CUstream, CUresult error, void*) { told = error; }, static_cast<void*>(nullptr), 0u);
    return notes << FUNCTION(cuCtxSynchronize)() << told;
  });
}

}  // namespace mulciber::replay
