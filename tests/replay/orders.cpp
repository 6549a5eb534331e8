// What waits for what, what a context's end takes with it, and linking.
#include <cstring>
#include <string>

#include "replay.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;

// Keeps a stream from going on until it is let go.
class Held {
 public:
  Held(World& w, CUstream stream) : word_(reinterpret_cast<volatile unsigned*>(w.host)) {
    *word_ = 0;
    FUNCTION(cuStreamWaitValue32)(stream, bits(w.host), 1u, unsigned{CU_STREAM_WAIT_VALUE_EQ});
  }
  void letGo() { *word_ = 1; }

 private:
  volatile unsigned* word_;
};

CUstream newStream(unsigned flags) {
  CUstream made = nullptr;
  FUNCTION(cuStreamCreate)(&made, flags);
  return made;
}

void streams() {
  const CUstream legacy = nullptr, perThread = CU_STREAM_PER_THREAD;
  const auto fill = [](World& w, CUstream stream) {
    return FUNCTION(cuMemsetD8Async)(w.device, static_cast<unsigned char>(1), size_t{64}, stream);
  };
  for (const bool isLegacyHeld : {false, true})
    sequence(D, isLegacyHeld ? "what waits for the legacy stream" : "what the legacy stream waits for", [=](World& w) {
      const CUstream held = isLegacyHeld ? legacy : newStream(0), blocking = newStream(0),
                     free = newStream(CU_STREAM_NON_BLOCKING);
      Notes notes;
      Held word(w, held);
      for (const CUstream stream : {blocking, free, perThread}) notes << fill(w, stream);
      if (!isLegacyHeld) notes << fill(w, legacy) << FUNCTION(cuStreamQuery)(legacy);
      // What is not held may still need its time.
      notes << FUNCTION(cuStreamSynchronize)(free) << FUNCTION(cuStreamQuery)(free);
      notes << FUNCTION(cuStreamQuery)(held);
      if (isLegacyHeld) notes << FUNCTION(cuStreamQuery)(blocking) << FUNCTION(cuStreamQuery)(perThread);
      if (!isLegacyHeld) {
        notes << fill(w, blocking) << FUNCTION(cuStreamQuery)(blocking);  // after the legacy stream's
        notes << fill(w, perThread) << FUNCTION(cuStreamQuery)(perThread);
      }
      word.letGo();
      notes << FUNCTION(cuCtxSynchronize)();
      for (const CUstream stream : {held, blocking, free, perThread, legacy}) notes << FUNCTION(cuStreamQuery)(stream);
      return notes;
    });
  sequence(D, "events of the legacy stream", [=](World& w) {
    CUevent event = nullptr;
    const CUstream held = newStream(0), other = newStream(CU_STREAM_NON_BLOCKING);
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&event, 0u);
    Held word(w, held);
    notes << FUNCTION(cuEventRecord)(event, legacy) << FUNCTION(cuEventQuery)(event);
    notes << FUNCTION(cuStreamWaitEvent)(other, event, 0u) << FUNCTION(cuStreamQuery)(other);
    // Recorded again, the event is the new record's; who waits for the old one waits on.
    notes << FUNCTION(cuEventRecord)(event, newStream(CU_STREAM_NON_BLOCKING)) << FUNCTION(cuEventSynchronize)(event);
    notes << FUNCTION(cuEventQuery)(event) << FUNCTION(cuStreamQuery)(other);
    word.letGo();
    return notes << FUNCTION(cuStreamSynchronize)(other) << FUNCTION(cuEventDestroy)(event);
  });
  sequence(D, "an event destroyed while it is waited for", [=](World& w) {
    CUevent event = nullptr;
    const CUstream held = newStream(CU_STREAM_NON_BLOCKING), other = newStream(CU_STREAM_NON_BLOCKING);
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&event, 0u);
    Held word(w, held);
    notes << FUNCTION(cuEventRecord)(event, held) << FUNCTION(cuStreamWaitEvent)(other, event, 0u);
    notes << FUNCTION(cuEventDestroy)(event) << FUNCTION(cuStreamQuery)(other);
    notes << FUNCTION(cuStreamDestroy)(held);
    word.letGo();
    return notes << FUNCTION(cuStreamSynchronize)(other) << FUNCTION(cuStreamQuery)(other);
  });
  sequence(D, "a wait for what comes later in the same stream", [=](World& w) {
    CUevent event = nullptr;
    const CUstream stream = newStream(CU_STREAM_NON_BLOCKING);
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&event, 0u) << FUNCTION(cuStreamWaitEvent)(stream, event, 0u);
    notes << FUNCTION(cuEventRecord)(event, stream) << FUNCTION(cuStreamWaitEvent)(stream, event, 0u);
    notes << fill(w, stream) << FUNCTION(cuStreamSynchronize)(stream);
    return notes << FUNCTION(cuEventQuery)(event);
  });
  sequence(D, "times between events", [=](World& w) {
    CUevent first = nullptr, second = nullptr, untimed = nullptr;
    const CUstream held = newStream(CU_STREAM_NON_BLOCKING);
    float milliseconds = -1;
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&first, 0u) << FUNCTION(cuEventCreate)(&second, unsigned{CU_EVENT_BLOCKING_SYNC});
    notes << FUNCTION(cuEventCreate)(&untimed, unsigned{CU_EVENT_DISABLE_TIMING});
    notes << FUNCTION(cuEventRecord)(first, held);
    Held word(w, held);
    notes << FUNCTION(cuEventRecord)(second, held) << FUNCTION(cuEventRecord)(untimed, held);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, first, second);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, second, first);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, first, untimed);
    word.letGo();
    notes << FUNCTION(cuStreamSynchronize)(held) << FUNCTION(cuEventElapsedTime)(&milliseconds, first, second);
    notes << (milliseconds > 0) << FUNCTION(cuEventElapsedTime)(&milliseconds, second, first) << (milliseconds < 0);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, first, first) << (milliseconds == 0);
    return notes << FUNCTION(cuEventElapsedTime)(&milliseconds, untimed, first);
  });
  sequence(D, "callbacks are told what came before them", [=](World& w) {
    static int told;
    told = 99;
    const CUstream stream = newStream(CU_STREAM_NON_BLOCKING);
    Notes notes;
    notes << fill(w, stream);
    notes << FUNCTION(cuStreamAddCallback)(
        stream, +[](CUstream, CUresult error, void* data) { *static_cast<int*>(data) = error; },
        static_cast<void*>(&told), 0u);
    return notes << FUNCTION(cuStreamSynchronize)(stream) << told;
  });
  for (const bool isCallback : {false, true})
    sequence(R, isCallback ? "calls from a callback" : "calls from a host function", [=](World&) {
      static Notes told;
      told = {};
      const auto make = [] {
        void* memory = nullptr;
        int number = 0;
        unsigned long long id = 0;
        CUcontext current = nullptr;
        const char* text = nullptr;
        told << FUNCTION(cudaMalloc)(&memory, size_t{64}) << FUNCTION(cudaStreamQuery)(cudaStream_t{});
        told << FUNCTION(cudaGetLastError)() << FUNCTION(cudaGetDevice)(&number) << FUNCTION(cudaSetDevice)(0);
        told << FUNCTION(cudaGetDeviceCount)(&number) << FUNCTION(cudaDriverGetVersion)(&number);
        told << FUNCTION(cudaGetLastError)() << FUNCTION(cuDeviceGetCount)(&number);
        told << FUNCTION(cuCtxGetCurrent)(&current) << FUNCTION(cuCtxGetId)(current, &id);
        told << FUNCTION(cuCtxSynchronize)() << FUNCTION(cuGetErrorName)(CUDA_SUCCESS, &text);
        told << FUNCTION(cuInit)(0u) << FUNCTION(cuMemFree)(CUdeviceptr{0}) << FUNCTION(cudaPeekAtLastError)();
      };
      static const std::function<void()> makeThem = make;
      const CUstream stream = newStream(CU_STREAM_NON_BLOCKING);
      Notes notes;
      if (isCallback)
        notes << FUNCTION(cudaStreamAddCallback)(
            stream, +[](cudaStream_t, cudaError_t, void*) { makeThem(); }, static_cast<void*>(nullptr), 0u);
      else
        notes << FUNCTION(cudaLaunchHostFunc)(
            stream, +[](void*) { makeThem(); }, static_cast<void*>(nullptr));
      notes << FUNCTION(cudaStreamSynchronize)(stream) << FUNCTION(cudaGetLastError)();
      return std::string(notes) + " | " + std::string(told);
    });
}

void pools() {
  sequence(D, "memory of a pool is another stream's when it is freed in both", [](World& w) {
    const CUstream first = newStream(1), second = newStream(1);
    CUdeviceptr memory = 0, again = 0;
    Notes notes;
    notes << FUNCTION(cuMemAllocAsync)(&memory, size_t{4096}, first) << FUNCTION(cuMemFreeAsync)(memory, second);
    notes << FUNCTION(cuStreamSynchronize)(second) << FUNCTION(cuMemFreeAsync)(memory, first);
    notes << FUNCTION(cuMemAllocAsync)(&again, size_t{0}, first) << (again == 0);
    (void)w;
    return notes << FUNCTION(cuStreamSynchronize)(first);
  });
  sequence(D, "attributes of a pool, told back", [](World& w) {
    Notes notes;
    for (int attribute = 1; attribute <= 8; ++attribute) {
      uint64_t value = 99;
      notes << FUNCTION(cuMemPoolGetAttribute)(w.pool, static_cast<CUmemPool_attribute>(attribute),
                                               static_cast<void*>(&value));
      notes << static_cast<int>(value);
    }
    for (const uint64_t given : {uint64_t{0}, uint64_t{12345}, UINT64_MAX}) {
      uint64_t value = given;
      notes << FUNCTION(cuMemPoolSetAttribute)(w.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, static_cast<void*>(&value));
      value = 99;
      notes << FUNCTION(cuMemPoolGetAttribute)(w.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, static_cast<void*>(&value));
      notes << static_cast<long long>(value);
    }
    for (const int given : {0, 1, 2, -1}) {
      int value = given;
      notes << FUNCTION(cuMemPoolSetAttribute)(w.pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                                               static_cast<void*>(&value));
      notes << FUNCTION(cuMemPoolGetAttribute)(w.pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                                               static_cast<void*>(&value));
      notes << value;
    }
    return notes;
  });
  sequence(D, "properties of physical memory", [](World&) {
    CUmemAllocationProp properties{}, told{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    Notes notes;
    notes << FUNCTION(cuMemCreate)(&handle, size_t{2} << 20, &properties, 0ull);
    notes << FUNCTION(cuMemGetAllocationPropertiesFromHandle)(&told, handle);
    notes << told.type << told.location.type << told.location.id << told.requestedHandleTypes;
    notes << FUNCTION(cuMemGetAllocationPropertiesFromHandle)(static_cast<CUmemAllocationProp*>(nullptr), handle);
    notes << FUNCTION(cuMemRelease)(handle);
    return notes << FUNCTION(cuMemGetAllocationPropertiesFromHandle)(&told, handle);
  });
}

void contextsEnd() {
  sequence(D, "what a destroyed context had", [](World& w) {
    CUcontext made = nullptr;
    CUdeviceptr memory = 0, start = 0;
    size_t bytes = 0;
    void* pinned = nullptr;
    unsigned type = 0;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cuMemAlloc)(&memory, size_t{48} << 20);
    notes << FUNCTION(cuMemAllocHost)(&pinned, size_t{4096}) << FUNCTION(cuCtxDestroy)(made);
    notes << FUNCTION(cuCtxSetCurrent)(w.context);
    notes << FUNCTION(cuPointerGetAttribute)(static_cast<void*>(&type), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory);
    notes << FUNCTION(cuMemGetAddressRange)(&start, &bytes, memory) << FUNCTION(cuMemFree)(memory);
    return notes << FUNCTION(cuMemFreeHost)(pinned);
  });
  sequence(D, "a context's memory used from another", [](World& w) {
    CUcontext made = nullptr;
    CUdeviceptr memory = 0;
    unsigned value = 5, seen = 0;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cuMemAlloc)(&memory, size_t{4096});
    notes << FUNCTION(cuMemsetD32)(memory, 3u, size_t{4}) << FUNCTION(cuCtxSynchronize)();
    notes << FUNCTION(cuCtxSetCurrent)(w.context);
    notes << FUNCTION(cuMemcpyDtoH)(&seen, memory, size_t{4}) << seen;
    notes << FUNCTION(cuMemcpyHtoD)(memory, &value, size_t{4}) << FUNCTION(cuMemcpyDtoD)(w.device, memory, size_t{4});
    notes << FUNCTION(cuMemcpyDtoH)(&seen, w.device, size_t{4}) << seen << FUNCTION(cuMemFree)(memory);
    return notes << FUNCTION(cuCtxDestroy)(made);
  });
  sequence(D, "flags of contexts", [](World& w) {
    Notes notes;
    for (const unsigned flags : {0u, 1u, 2u, 4u, 8u, 16u, 31u}) {
      CUcontext made = nullptr;
      unsigned told = 99;
      notes << FUNCTION(cuCtxCreate)(&made, nullptr, flags, 0);
      if (!made) continue;
      notes << FUNCTION(cuCtxGetFlags)(&told) << told;
      notes << FUNCTION(cuCtxSetFlags)(4u) << FUNCTION(cuCtxGetFlags)(&told) << told;
      notes << FUNCTION(cuCtxDestroy)(made) << FUNCTION(cuCtxSetCurrent)(w.context);
    }
    return notes;
  });
  sequence(D, "the stack of contexts", [](World& w) {
    CUcontext first = nullptr, second = nullptr, popped = nullptr, current = nullptr;
    const auto nameOf = [&](CUcontext context) {
      return context == first ? 1 : context == second ? 2 : context == w.context ? 3 : context == nullptr ? 0 : 9;
    };
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&first, nullptr, 0u, 0) << FUNCTION(cuCtxCreate)(&second, nullptr, 0u, 0);
    notes << FUNCTION(cuCtxPushCurrent)(first) << FUNCTION(cuCtxPushCurrent)(first);
    notes << FUNCTION(cuCtxSetCurrent)(w.context);
    for (int i = 0; i < 4; ++i) {
      notes << FUNCTION(cuCtxPopCurrent)(&popped) << nameOf(popped);
      notes << FUNCTION(cuCtxGetCurrent)(&current) << nameOf(current);
    }
    notes << FUNCTION(cuCtxSetCurrent)(CUcontext{}) << FUNCTION(cuCtxGetCurrent)(&current) << nameOf(current);
    notes << FUNCTION(cuCtxPopCurrent)(&popped) << FUNCTION(cuCtxPushCurrent)(second);
    notes << FUNCTION(cuCtxSetCurrent)(CUcontext{}) << FUNCTION(cuCtxGetCurrent)(&current) << nameOf(current);
    return notes << FUNCTION(cuCtxDestroy)(first) << FUNCTION(cuCtxDestroy)(second);
  });
  sequence(R, "the runtime takes the driver's context, and gives it a device", [](World& w) {
    CUcontext made = nullptr, current = nullptr;
    int device = 99;
    void* memory = nullptr;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cudaGetDevice)(&device) << device;
    notes << FUNCTION(cudaMalloc)(&memory, size_t{64}) << FUNCTION(cuCtxGetCurrent)(&current) << (current == made);
    notes << FUNCTION(cudaSetDevice)(0) << FUNCTION(cuCtxGetCurrent)(&current) << (current == w.context);
    notes << FUNCTION(cudaFree)(memory) << FUNCTION(cuCtxSetCurrent)(CUcontext{});
    notes << FUNCTION(cudaMalloc)(&memory, size_t{64}) << FUNCTION(cuCtxGetCurrent)(&current) << (current == w.context);
    return notes << FUNCTION(cudaFree)(memory) << FUNCTION(cuCtxDestroy)(made);
  });
  sequence(R, "what a reset takes with it", [](World& w) {
    Notes notes;
    unsigned flags = 99;
    cudaPointerAttributes attributes{};
    notes << FUNCTION(cudaDeviceReset)() << FUNCTION(cudaGetLastError)();
    notes << FUNCTION(cudaPointerGetAttributes)(&attributes, reinterpret_cast<const void*>(w.device))
          << attributes.type;
    notes << FUNCTION(cudaHostGetFlags)(&flags, static_cast<void*>(w.host)) << FUNCTION(cudaGetLastError)();
    notes << FUNCTION(cudaFree)(reinterpret_cast<void*>(w.device))
          << FUNCTION(cudaFreeHost)(static_cast<void*>(w.host));
    return notes << FUNCTION(cudaGetLastError)() << FUNCTION(cudaDeviceSynchronize)();
  });
  sequence(R, "resetting twice, with nothing made", [](World&) {
    Notes notes;
    notes << FUNCTION(cudaDeviceReset)() << FUNCTION(cudaDeviceReset)() << FUNCTION(cudaDeviceSynchronize)();
    return notes << FUNCTION(cudaDeviceReset)() << FUNCTION(cudaGetLastError)();
  });
  sequence(R, "flags of the device before and after its context", [](World&) {
    unsigned flags = 99;
    Notes notes;
    notes << FUNCTION(cudaDeviceReset)() << FUNCTION(cudaSetDeviceFlags)(unsigned{cudaDeviceScheduleBlockingSync});
    notes << FUNCTION(cudaGetDeviceFlags)(&flags) << flags << FUNCTION(cudaDeviceSynchronize)();
    notes << FUNCTION(cudaGetDeviceFlags)(&flags) << flags << FUNCTION(cudaSetDeviceFlags)(unsigned{cudaDeviceMapHost});
    notes << FUNCTION(cudaGetDeviceFlags)(&flags) << flags << FUNCTION(cudaDeviceReset)();
    notes << FUNCTION(cudaGetDeviceFlags)(&flags) << flags << FUNCTION(cudaFree)(static_cast<void*>(nullptr));
    notes << FUNCTION(cudaGetDeviceFlags)(&flags) << flags << FUNCTION(cudaDeviceReset)();
    notes << FUNCTION(cudaSetDevice)(0) << FUNCTION(cudaGetDeviceFlags)(&flags) << flags;
    return notes << FUNCTION(cuCtxGetFlags)(&flags) << flags << FUNCTION(cudaGetLastError)();
  });
}

void linking() {
  constexpr const char* part = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func helper() { ret; }
)";
  const auto text = [](const char* ptx) { return static_cast<void*>(const_cast<char*>(ptx)); };
  const auto add = [text](CUlinkState state, int type, const char* ptx, size_t bytes) {
    return FUNCTION(cuLinkAddData)(state, static_cast<CUjitInputType>(type), text(ptx), bytes, "part", 0u,
                                   static_cast<CUjit_option*>(nullptr), static_cast<void**>(nullptr));
  };
  const auto begin = [](CUlinkState* state) {
    return FUNCTION(cuLinkCreate)(0u, static_cast<CUjit_option*>(nullptr), static_cast<void**>(nullptr), state);
  };
  sequence(D, "linking two texts", [=](World&) {
    CUlinkState state = nullptr;
    void* image = nullptr;
    size_t bytes = 0;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    Notes notes;
    notes << begin(&state) << add(state, CU_JIT_INPUT_PTX, test::scalePtx, std::strlen(test::scalePtx) + 1);
    notes << add(state, CU_JIT_INPUT_PTX, part, std::strlen(part) + 1)
          << FUNCTION(cuLinkComplete)(state, &image, &bytes);
    notes << (bytes > 0) << FUNCTION(cuModuleLoadData)(&module, static_cast<const void*>(image));
    notes << FUNCTION(cuModuleGetFunction)(&function, module, "scale");
    notes << FUNCTION(cuModuleGetFunction)(&function, module, "helper");
    return notes << FUNCTION(cuLinkDestroy)(state) << FUNCTION(cuModuleUnload)(module);
  });
  struct Given {
    const char* name;
    int type;
    const char* text;
    size_t less;  // than the text's length with its end
  };
  for (const Given& given : {Given{"what is no text", 1, "frobnicate", 0},
                             {"nothing", 1, nullptr, 0},
                             {"an empty text", 1, "", 0},
                             {"a text without its end", 1, part, 1},
                             {"no bytes", 1, part, std::strlen(part) + 1},
                             {"a text as machine code", 0, part, 0},
                             {"a text as a fat binary", 2, part, 0},
                             {"a text as an object", 3, part, 0},
                             {"a text as a library", 4, part, 0},
                             {"a text as type 5", 5, part, 0},
                             {"a text as type 99", 99, part, 0}})
    sequence(D, std::string("linking ") + given.name, [=](World&) {
      CUlinkState state = nullptr;
      void* image = nullptr;
      size_t bytes = 0;
      Notes notes;
      const size_t length = given.text ? std::strlen(given.text) + 1 - given.less : 0;
      notes << begin(&state) << add(state, given.type, given.text, length);
      return notes << FUNCTION(cuLinkComplete)(state, &image, &bytes) << FUNCTION(cuLinkDestroy)(state);
    });
  // What is missing.
  constexpr std::pair<const char*, const char*> incomplete[] = {
      {"a call of a missing function", ".extern .func elsewhere();\n.visible .entry k() { call elsewhere; ret; }\n"},
      {"a call of a missing function that nothing calls",
       ".extern .func elsewhere();\n.visible .func f() { call elsewhere; ret; }\n.visible .entry k() { ret; }\n"},
      {"a missing function without a use", ".extern .func elsewhere();\n.visible .entry k() { ret; }\n"},
      {"a missing variable without a use", ".extern .global .u32 g;\n.visible .entry k() { ret; }\n"},
      {"a missing array",
       ".extern .global .u32 g[];\n.visible .entry k() { .reg .b64 %d; mov.u64 %d, g; st.global.u32 [%d], 1; ret; }\n"},
      {"a missing function as an initial value",
       ".extern .func elsewhere();\n.visible .global .u64 p = elsewhere;\n.visible .entry k() { ret; }\n"}};
  for (const auto& [name, lines] : incomplete)
    sequence(D, std::string("linking and loading ") + name, [=, lines = lines](World&) {
      const std::string ptx = std::string(".version 8.0\n.target sm_70\n.address_size 64\n") + lines;
      CUlinkState state = nullptr;
      void* image = nullptr;
      size_t bytes = 0;
      CUmodule module = nullptr;
      Notes notes;
      notes << begin(&state) << add(state, CU_JIT_INPUT_PTX, ptx.c_str(), ptx.size() + 1);
      notes << FUNCTION(cuLinkComplete)(state, &image, &bytes) << FUNCTION(cuLinkDestroy)(state);
      return notes << FUNCTION(cuModuleLoadData)(&module, static_cast<const void*>(ptx.c_str()))
                   << FUNCTION(cuModuleUnload)(module);
    });
  sequence(D, "linking the same name twice", [=](World&) {
    CUlinkState state = nullptr;
    void* image = nullptr;
    size_t bytes = 0;
    Notes notes;
    notes << begin(&state);
    for (int i = 0; i < 2; ++i) notes << add(state, CU_JIT_INPUT_PTX, part, std::strlen(part) + 1);
    return notes << FUNCTION(cuLinkComplete)(state, &image, &bytes) << FUNCTION(cuLinkDestroy)(state);
  });
  sequence(D, "linking with nothing, and after the end", [=](World&) {
    CUlinkState state = nullptr;
    void* image = nullptr;
    size_t bytes = 0;
    Notes notes;
    notes << begin(&state) << FUNCTION(cuLinkComplete)(state, static_cast<void**>(nullptr), &bytes);
    notes << FUNCTION(cuLinkComplete)(state, &image, static_cast<size_t*>(nullptr));
    notes << add(state, CU_JIT_INPUT_PTX, part, std::strlen(part) + 1);
    return notes << FUNCTION(cuLinkComplete)(state, &image, &bytes) << FUNCTION(cuLinkDestroy)(state);
  });
  sequence(D, "linking files that are not there", [=](World&) {
    CUlinkState state = nullptr;
    Notes notes;
    notes << begin(&state);
    for (const char* path : {"/no/such/file", ""})
      notes << FUNCTION(cuLinkAddFile)(state, CU_JIT_INPUT_PTX, path, 0u, static_cast<CUjit_option*>(nullptr),
                                       static_cast<void**>(nullptr));
    return notes << FUNCTION(cuLinkDestroy)(state);
  });
}

// What earlier work did, the last errors of both sides, and memory that runs out.
void errors() {
  sequence(R, "an error of a launch is the last one", [](World& w) {
    Notes notes;
    notes << FUNCTION(cudaLaunchKernel)(reinterpret_cast<const void*>(w.kernel), dim3(1), dim3(2000),
                                        w.kernelParameters, size_t{0}, w.stream);
    notes << FUNCTION(cudaStreamSynchronize)(w.stream) << FUNCTION(cudaPeekAtLastError)();
    return notes << FUNCTION(cudaGetLastError)() << FUNCTION(cudaPeekAtLastError)();
  });
  sequence(R, "what is not ready is no error", [](World& w) {
    const CUstream held = newStream(CU_STREAM_NON_BLOCKING);
    Notes notes;
    Held word(w, held);
    notes << FUNCTION(cudaStreamQuery)(held) << FUNCTION(cudaGetLastError)();
    word.letGo();
    return notes << FUNCTION(cudaStreamSynchronize)(held) << FUNCTION(cudaStreamQuery)(held);
  });
  sequence(R, "memory runs out in every way, and comes back", [](World& w) {
    constexpr size_t much = size_t{1} << 45;
    void* memory = nullptr;
    size_t pitch = 0;
    Notes notes;
    notes << FUNCTION(cudaMalloc)(&memory, much) << FUNCTION(cudaMallocHost)(&memory, much);
    notes << FUNCTION(cudaMallocPitch)(&memory, &pitch, size_t{1} << 30, size_t{1} << 20);
    notes << FUNCTION(cudaMallocAsync)(&memory, much, w.stream) << FUNCTION(cudaGetLastError)();
    notes << FUNCTION(cudaMalloc)(&memory, size_t{4096}) << FUNCTION(cudaMemset)(memory, 1, size_t{4096});
    return notes << FUNCTION(cudaFree)(memory) << FUNCTION(cudaDeviceSynchronize)();
  });
  sequence(R, "free memory goes down and up", [](World&) {
    size_t before = 0, during = 0, after = 0, total = 0;
    void* memory = nullptr;
    Notes notes;
    notes << FUNCTION(cudaMemGetInfo)(&before, &total) << FUNCTION(cudaMalloc)(&memory, size_t{256} << 20);
    notes << FUNCTION(cudaMemGetInfo)(&during, &total) << FUNCTION(cudaFree)(memory);
    notes << FUNCTION(cudaMemGetInfo)(&after, &total) << (before - during >= size_t{256} << 20) << (after == before);
    return notes << (total >= before);
  });
}

}  // namespace

void addOrders() {
  streams();
  pools();
  contextsEnd();
  linking();
  errors();
}

}  // namespace mulciber::replay
