// Earlier versions of functions, which programs built long ago still name.
#include "replay.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver;
constexpr uint64_t minusOne = 0xFFFFFFFF;

template <class... Parameters>
Function<CUresult (*)(Parameters...)> old(const char* name) {
  return {name};
}

Choices device() { return number(0, {minusOne, 77}); }
// For cuMemAdvise and cuMemPrefetchAsync: the host too.
Choices place() { return number(0, {minusOne, 0xFFFFFFFE, 77}); }

Choices managed() {
  return of("managed", [](World& w) { return w.managed; })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("device", [](World& w) { return w.device; });
}

void contexts() {
  call(D, old<CUcontext*, unsigned, CUdevice>("cuCtxCreate_v2"), out(0), number(0, {3, 5, 256}), device());
  call(D, old<CUcontext*, void*, int, unsigned, CUdevice>("cuCtxCreate_v3"), out(0), number(0), number(0, {1}),
       number(0, {3, 5, 256}), device());
  call(D, old<CUcontext>("cuCtxDestroy"), number(0));
  call(D, old<CUcontext>("cuCtxPushCurrent"), context());
  call(D, old<CUcontext*>("cuCtxPopCurrent"), out(0));
  call(D, old<CUcontext>("cuCtxSynchronize_v2"), context());
  call(D, old<CUcontext*, unsigned>("cuCtxAttach"), out(0), number(0, {1}));
  call(D, old<CUcontext>("cuCtxDetach"), context());
  call(D, old<CUuuid*, CUdevice>("cuDeviceGetUuid"), out(0), device());
  call(D, old<CUdevice>("cuDevicePrimaryCtxRelease"), number(77, {minusOne}));
  call(D, old<CUdevice>("cuDevicePrimaryCtxReset"), number(77, {minusOne}));
  call(D, old<CUdevice, unsigned>("cuDevicePrimaryCtxSetFlags"), device(), number(0, {1, 3, 5, 256}));
  sequence(D, "a context of version 2, destroyed by version 1", [](World& w) {
    CUcontext made = nullptr, current = nullptr, popped = nullptr;
    Notes notes;
    notes << old<CUcontext*, unsigned, CUdevice>("cuCtxCreate_v2")(&made, 0u, 0);
    notes << FUNCTION(cuCtxGetCurrent)(&current) << (current == made);
    notes << old<CUcontext*>("cuCtxPopCurrent")(&popped) << (popped == made);
    notes << old<CUcontext>("cuCtxPushCurrent")(made) << old<CUcontext>("cuCtxDestroy")(made);
    notes << FUNCTION(cuCtxGetCurrent)(&current) << (current == made) << (current == w.context);
    return notes << FUNCTION(cuCtxSynchronize)();
  });
  sequence(D, "a context's count of uses", [](World& w) {
    CUcontext made = nullptr, attached = nullptr, current = nullptr;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0);
    notes << old<CUcontext*, unsigned>("cuCtxAttach")(&attached, 0u) << (attached == made);
    notes << old<CUcontext>("cuCtxDetach")(made) << FUNCTION(cuCtxSynchronize)();
    notes << old<CUcontext>("cuCtxDetach")(w.context) << old<CUcontext>("cuCtxDetach")(made);
    notes << FUNCTION(cuCtxGetCurrent)(&current) << (current == made) << (current == w.context);
    return notes << FUNCTION(cuCtxSynchronize)();
  });
}

void memory() {
  sequence(D, "registering a page and what is none, version 1", [](World&) {
    alignas(4096) static char area[64 << 10];
    const auto enlist = old<void*, size_t, unsigned>("cuMemHostRegister");
    Notes notes;
    struct Given {
      size_t offset, bytes;
      unsigned flags;
    };
    for (const Given& given : {Given{0, 4096, 0}, {0, 100, 0}, {64, 4096, 0}, {0, 0, 0}, {0, 4096, 1}, {0, 4096, 99}}) {
      const int error = enlist(static_cast<void*>(area + given.offset), given.bytes, given.flags);
      notes << error;
      if (error == 0) notes << FUNCTION(cuMemHostUnregister)(area + given.offset);
    }
    return notes;
  });
  const auto bytes = [] { return number(4096, {0, uint64_t{1} << 46}); };
  call(D, old<CUdeviceptr, size_t, CUmem_advise, CUdevice>("cuMemAdvise"), managed(), bytes(), number(1, {0, 3, 5, 99}),
       place());
  call(D, old<CUdeviceptr, size_t, CUdevice, CUstream>("cuMemPrefetchAsync"), managed(), bytes(), place(), stream());
}

void others() {
  call(D, old<CUstream>("cuStreamDestroy"), stream());
  call(D, old<CUevent>("cuEventDestroy"), event());
  call(D, old<float*, CUevent, CUevent>("cuEventElapsedTime"), out(0), event(),
       of("timed", [](World& w) { return bits(w.timed); }).add("untimed", [](World& w) { return bits(w.untimed); }));
  call(D, old<const char*, void**, int, cuuint64_t>("cuGetProcAddress"),
       text("cuMemAlloc", {nullptr, "", "cuNoSuchThing"}), out(0), number(12000, {0, 1000}), number(0, {1, 2, 64}));
  const auto status = [] { return show(0, 4); };
  using Status = CUstreamCaptureStatus*;
  call(D, old<CUstream, Status, cuuint64_t*>("cuStreamGetCaptureInfo"), stream(), status(), out(1));
  call(D, old<CUstream, Status, cuuint64_t*, void**, void**, size_t*>("cuStreamGetCaptureInfo_v2"), stream(), status(),
       out(1), out(2), out(3), out(4));
  call(D, old<CUstream, Status, cuuint64_t*, void**, void**, void**, size_t*>("cuStreamGetCaptureInfo_v3"), stream(),
       status(), out(1), out(2), out(3), out(4), out(5));
  call(Group::Runtime,
       Function<cudaError_t (*)(cudaStream_t, int*, unsigned long long*, void**, void**, void**, size_t*)>{
           "cudaStreamGetCaptureInfo"},
       stream(), status(), out(1), out(2), out(3), out(4), out(5));
  call(D, old<CUstream, CUcontext*, void**>("cuStreamGetCtx_v2"), stream(), out(0), out(1));
  call(D, old<int*, CUfunction>("cuFuncIsLoaded"), show(0, 4), function());
  call(D, old<CUdevice*, CUcontext>("cuCtxGetDevice_v2"), show(0, 4), context());
  call(D, old<const void*, int, CUdeviceptr>("cuPointerSetAttribute"),
       of("one",
          [](World& w) {
            auto& value = w.make<unsigned>();
            value = 1;
            return bits(&value);
          })
           .add("null", [](World&) { return uint64_t{0}; }),
       number(6, {0, 2, 8, 99}), deviceMemory());
  call(D, FUNCTION(cuGetExportTable), out(0), of("unknown", [](World& w) {
                                                auto& id = w.make<CUuuid>();
                                                std::memset(&id, 0x5A, sizeof(id));
                                                return bits(&id);
                                              }).add("null", [](World&) { return uint64_t{0}; }));
}

}  // namespace

void addOldCalls() {
  contexts();
  memory();
  others();
}

}  // namespace mulciber::replay
