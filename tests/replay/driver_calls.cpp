#include "replay.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

constexpr uint64_t huge = uint64_t{1} << 46;
constexpr uint64_t minusOne = 0xFFFFFFFF;
const Group G = Group::Driver;

Choices parameters() {
  return of("parameters", [](World& w) { return bits(w.kernelParameters); });
}

Choices copy2d() {
  const auto with = structures<CUDA_MEMCPY2D>([](World& w, CUDA_MEMCPY2D& copy) {
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = w.device;
    copy.srcPitch = 512;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = w.host;
    copy.dstPitch = 512;
    copy.WidthInBytes = 100;
    copy.Height = 10;
  });
  using C = CUDA_MEMCPY2D;
  return of("copy", with(unchanged))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("empty width", with([](C& c) { c.WidthInBytes = 0; }))
      .add("empty height", with([](C& c) { c.Height = 0; }))
      .add("narrow source pitch", with([](C& c) { c.srcPitch = 64; }))
      .add("narrow target pitch", with([](C& c) { c.dstPitch = 64; }))
      .add("no source pitch", with([](C& c) { c.srcPitch = 0; }))
      .add("source type 0", with([](C& c) { c.srcMemoryType = static_cast<CUmemorytype>(0); }))
      .add("target type 9", with([](C& c) { c.dstMemoryType = static_cast<CUmemorytype>(9); }))
      .add("null source", with([](C& c) { c.srcDevice = 0; }))
      .add("null target", with([](C& c) { c.dstHost = nullptr; }))
      .add("unified", with([](C& c) {
             c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
             c.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
             c.dstDevice = bits(c.dstHost);
           }))
      .add("x beyond pitch", with([](C& c) { c.srcXInBytes = 500; }))
      .add("too high", with([](C& c) { c.Height = 1000; }));
}

Choices copy3d() {
  const auto with = structures<CUDA_MEMCPY3D>([](World& w, CUDA_MEMCPY3D& copy) {
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = w.device;
    copy.srcPitch = 256;
    copy.srcHeight = 16;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = w.host;
    copy.dstPitch = 256;
    copy.dstHeight = 16;
    copy.WidthInBytes = 100;
    copy.Height = 10;
    copy.Depth = 3;
  });
  using C = CUDA_MEMCPY3D;
  return of("copy", with(unchanged))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("empty width", with([](C& c) { c.WidthInBytes = 0; }))
      .add("empty height", with([](C& c) { c.Height = 0; }))
      .add("empty depth", with([](C& c) { c.Depth = 0; }))
      .add("narrow pitch", with([](C& c) { c.srcPitch = 64; }))
      .add("low slices", with([](C& c) { c.srcHeight = 5; }))
      .add("source type 0", with([](C& c) { c.srcMemoryType = static_cast<CUmemorytype>(0); }))
      .add("null source", with([](C& c) { c.srcDevice = 0; }))
      .add("null target", with([](C& c) { c.dstHost = nullptr; }));
}

Choices poolProperties() {
  const auto with = structures<CUmemPoolProps>([](World&, CUmemPoolProps& made) {
    made.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  });
  using P = CUmemPoolProps;
  return of("properties", with(unchanged))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("allocation type 0", with([](P& p) { p.allocType = CU_MEM_ALLOCATION_TYPE_INVALID; }))
      .add("allocation type 9", with([](P& p) { p.allocType = static_cast<CUmemAllocationType>(9); }))
      .add("location type 0", with([](P& p) { p.location.type = CU_MEM_LOCATION_TYPE_INVALID; }))
      .add("location type 9", with([](P& p) { p.location.type = static_cast<CUmemLocationType>(9); }))
      .add("device -1", with([](P& p) { p.location.id = -1; }))
      .add("device 77", with([](P& p) { p.location.id = 77; }))
      .add("handle type 16", with([](P& p) { p.handleTypes = static_cast<CUmemAllocationHandleType>(16); }))
      .add("1 MiB", with([](P& p) { p.maxSize = 1 << 20; }));
}

Choices location() {
  const auto with = locationOf<CUmemLocation>;
  return of("device 0", with(1, 0))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("device -1", with(1, -1))
      .add("device 77", with(1, 77))
      .add("type 0", with(0, 0))
      .add("type 9", with(9, 0));
}

// By value.
Choices locationValue() {
  Choices made = location();
  made.all.erase(made.all.begin() + 1);
  made.all.push_back({"host", [](World& w) {
                        auto& host = w.make<CUmemLocation>();
                        host.type = CU_MEM_LOCATION_TYPE_HOST;
                        return bits(&host);
                      }});
  return made;
}

Choices valuePointer() {
  return of("value",
            [](World& w) {
              auto& value = w.make<uint64_t>();
              value = 1;
              return bits(&value);
            })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("zero", [](World& w) { return bits(&w.make<uint64_t>()); });
}

Choices accessDescription() {
  const auto with = [](int type, int id, int flags) {
    return [=](World& w) {
      auto& made = w.make<CUmemAccessDesc>();
      made.location = {static_cast<CUmemLocationType>(type), id};
      made.flags = static_cast<CUmemAccess_flags>(flags);
      return bits(&made);
    };
  };
  return of("own, all", with(1, 0, 3))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("own, none", with(1, 0, 0))
      .add("own, read", with(1, 0, 1))
      .add("own, flags 2", with(1, 0, 2))
      .add("device 77", with(1, 77, 3))
      .add("type 0", with(0, 0, 3));
}

void devices() {
  call(G, FUNCTION(cuInit), number(0, {1}));
  call(G, FUNCTION(cuDriverGetVersion), out(0));
  call(G, FUNCTION(cuGetErrorName), number(1, {0, 100, 12345, minusOne}), out(0));
  call(G, FUNCTION(cuGetErrorString), number(1, {0, 100, 12345, minusOne}), out(0));
  call(G, FUNCTION(cuDeviceGet), show(0, 4), number(0, {minusOne, 77}));
  call(G, FUNCTION(cuDeviceGetCount), out(0));
  call(G, FUNCTION(cuDeviceGetName), out(0), number(100, {0, 1, minusOne}), ordinal());
  call(G, FUNCTION(cuDeviceGetUuid), out(0), ordinal());
  call(G, FUNCTION(cuDeviceTotalMem), out(0), ordinal());
  call(G, FUNCTION(cuDeviceGetAttribute), out(0), number(1, {0, minusOne, 5000}), ordinal());
  call(G, FUNCTION(cuDeviceGetProperties), out(0), ordinal());
  call(G, FUNCTION(cuDeviceComputeCapability), out(0), out(1), ordinal());
  call(G, FUNCTION(cuDeviceGetByPCIBusId), out(0), text("zz", {nullptr, "", "0000:ff:1f.7"}));
  call(G, FUNCTION(cuDeviceGetPCIBusId), out(0), number(64, {0, 5, minusOne}), ordinal());
  call(G, FUNCTION(cuDeviceGetP2PAttribute), out(0), number(1, {0, 77}), ordinal(), ordinal());
  call(G, FUNCTION(cuDeviceCanAccessPeer), show(0, 4), ordinal(), ordinal());
  call(G, FUNCTION(cuDeviceGetDefaultMemPool), out(0), ordinal());
  call(G, FUNCTION(cuDeviceGetMemPool), out(0), ordinal());
  call(G, FUNCTION(cuDeviceSetMemPool), ordinal(), pool());
  call(G, FUNCTION(cuGetProcAddress), text("cuMemAlloc", {nullptr, "", "cuNoSuchThing"}), out(0),
       number(12000, {0, 1000, 99000}), number(0, {1, 2, 64}), out(1));
}

void contexts() {
  call(G, FUNCTION(cuDevicePrimaryCtxRetain), out(0), ordinal());
  call(G, FUNCTION(cuDevicePrimaryCtxRelease), number(77, {minusOne}));
  call(G, FUNCTION(cuDevicePrimaryCtxReset), number(77, {minusOne}));
  call(G, FUNCTION(cuDevicePrimaryCtxSetFlags), ordinal(), number(0, {1, 2, 3, 4, 5, 8, 16, 256, 0x10000}));
  call(G, FUNCTION(cuDevicePrimaryCtxGetState), ordinal(), out(0), show(1, 4));
  call(G, FUNCTION(cuCtxCreate), out(0), number(0), number(0, {3, 5, 6, 256, 0x10000}), ordinal());
  call(G, FUNCTION(cuCtxDestroy), number(0));
  call(G, FUNCTION(cuCtxPushCurrent), context());
  call(G, FUNCTION(cuCtxPopCurrent), out(0));
  call(G, FUNCTION(cuCtxSetCurrent), context());
  call(G, FUNCTION(cuCtxGetCurrent), out(0));
  call(G, FUNCTION(cuCtxGetDevice), show(0, 4));
  call(G, FUNCTION(cuCtxGetFlags), show(0, 4));
  call(G, FUNCTION(cuCtxSetFlags), number(0, {1, 3, 8, 256, 0x10000}));
  call(G, FUNCTION(cuCtxGetId), context(), out(0));
  call(G, FUNCTION(cuCtxSynchronize));
  call(G, FUNCTION(cuCtxSetLimit), number(0, {1, 2, 3, 4, 5, 6, 7, 8, 100, minusOne}), number(4096, {0, huge}));
  call(G, FUNCTION(cuCtxGetLimit), out(0), number(0, {1, 2, 3, 4, 5, 6, 7, 8, 100, minusOne}));
  call(G, FUNCTION(cuCtxGetCacheConfig), show(0, 4));
  call(G, FUNCTION(cuCtxSetCacheConfig), number(0, {1, 2, 3, 4, minusOne}));
  call(G, FUNCTION(cuCtxGetSharedMemConfig), show(0, 4));
  call(G, FUNCTION(cuCtxSetSharedMemConfig), number(0, {1, 2, 3, minusOne}));
  call(G, FUNCTION(cuCtxGetApiVersion), context(), out(0));
  call(G, FUNCTION(cuCtxGetStreamPriorityRange), show(0, 4), show(1, 4));
  call(G, FUNCTION(cuCtxResetPersistingL2Cache));
  call(G, FUNCTION(cuCtxEnablePeerAccess), context(), number(0, {1}));
  call(G, FUNCTION(cuCtxDisablePeerAccess), context());
  call(G, FUNCTION(cuProfilerStart));
  call(G, FUNCTION(cuProfilerStop));
}

void modules() {
  const auto image = [] {
    return of("ptx", [](World&) { return bits(test::scalePtx); })
        .add("null", [](World&) { return uint64_t{0}; })
        .add("wrong ptx",
             [](World&) {
               return bits(".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { no.such.thing; }\n");
             })
        .add("no image", [](World&) { return bits("this is no image at all, but some text"); })
        .add("empty", [](World&) { return bits(""); });
  };
  const auto name = [] { return text("scale", {nullptr, "", "counter", "nothing"}); };
  const auto variable = [] { return text("counter", {nullptr, "", "scale", "offsets", "nothing"}); };
  call(G, FUNCTION(cuModuleLoad), out(0), text("/no/such/file", {nullptr, ""}));
  call(G, FUNCTION(cuModuleLoadData), out(0), image());
  call(G, FUNCTION(cuModuleLoadDataEx), out(0), image(), number(0, {1}), number(0), number(0));
  call(G, FUNCTION(cuModuleLoadFatBinary), out(0), image());
  call(G, FUNCTION(cuModuleUnload), module());
  call(G, FUNCTION(cuModuleGetLoadingMode), out(0));
  call(G, FUNCTION(cuModuleGetFunction), out(0), module(), name());
  call(G, FUNCTION(cuModuleGetFunctionCount), show(0, 4), module());
  call(G, FUNCTION(cuModuleEnumerateFunctions), out(0), number(1, {0, 5}), module());
  call(G, FUNCTION(cuModuleGetGlobal), out(0), show(1, 8), module(), variable());
  call(G, FUNCTION(cuLibraryLoadData), out(0), image(), number(0), number(0), number(0, {1}), number(0), number(0),
       number(0, {1}));
  call(G, FUNCTION(cuLibraryLoadFromFile), out(0), text("/no/such/file", {nullptr, ""}), number(0), number(0),
       number(0), number(0), number(0), number(0));
  call(G, FUNCTION(cuLibraryUnload), library());
  call(G, FUNCTION(cuLibraryGetKernel), out(0), library(), name());
  call(G, FUNCTION(cuLibraryGetKernelCount), show(0, 4), library());
  call(G, FUNCTION(cuLibraryEnumerateKernels), out(0), number(1, {0, 5}), library());
  call(G, FUNCTION(cuLibraryGetModule), out(0), library());
  call(G, FUNCTION(cuLibraryGetGlobal), out(0), show(1, 8), library(), variable());
  call(G, FUNCTION(cuLibraryGetManaged), out(0), out(1), library(), variable());
  call(G, FUNCTION(cuKernelGetFunction), out(0), kernel());
  call(G, FUNCTION(cuKernelGetLibrary), out(0), kernel());
  call(G, FUNCTION(cuKernelGetName), out(0), kernel());
  call(G, FUNCTION(cuKernelGetParamInfo), kernel(), number(1, {0, 2, 3, 99}), show(0, 8), show(1, 8));
  call(G, FUNCTION(cuKernelGetAttribute), out(0), number(0, {1, 2, 3, 7, 8, 9, 99, minusOne}), kernel(), ordinal());
  call(G, FUNCTION(cuKernelSetAttribute), number(8, {0, 1, 9, 99, minusOne}), number(1024, {0, minusOne, 1 << 30}),
       kernel(), ordinal());
  call(G, FUNCTION(cuKernelSetCacheConfig), kernel(), number(0, {1, 2, 3, 4, minusOne}), ordinal());
  call(G, FUNCTION(cuLinkCreate), number(0, {1}), number(0), number(0), out(0));
  call(G, FUNCTION(cuLinkDestroy), number(0));
}

void functions() {
  call(G, FUNCTION(cuFuncGetAttribute), out(0), number(0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, minusOne}), function());
  call(G, FUNCTION(cuFuncSetAttribute), function(), number(8, {0, 1, 2, 3, 4, 7, 9, 10, 11, 99, minusOne}),
       number(1024, {0, minusOne, 100, 1 << 30}));
  call(G, FUNCTION(cuFuncSetCacheConfig), function(), number(0, {1, 2, 3, 4, minusOne}));
  call(G, FUNCTION(cuFuncSetSharedMemConfig), function(), number(0, {1, 2, 3, minusOne}));
  call(G, FUNCTION(cuFuncGetModule), out(0), function());
  call(G, FUNCTION(cuFuncGetName), out(0), function());
  call(G, FUNCTION(cuFuncGetParamInfo), function(), number(1, {0, 2, 3, 99}), show(0, 8), show(1, 8));
  call(G, FUNCTION(cuFuncLoad), function());
  const auto dimension = [](uint64_t right, uint64_t most) { return number(right, {0, most, minusOne}); };
  call(G, FUNCTION(cuLaunchKernel), function(), dimension(2, 0x80000000), dimension(1, 65536), dimension(1, 65536),
       dimension(32, 1025), dimension(1, 1025), dimension(1, 65), number(0, {1024, 49153, 1 << 30, minusOne}), stream(),
       parameters().add("null", [](World&) { return uint64_t{0}; }), number(0));
  call(G, FUNCTION(cuLaunchCooperativeKernel), function(), dimension(2, 1 << 30), dimension(1, 65536), number(1, {0}),
       dimension(32, 1025), number(1), number(1), number(0, {49153}), stream(), parameters());
  call(G, FUNCTION(cuLaunchHostFunc), stream(),
       of("function", [](World&) { return bits(+[](void*) {}); }).add("null", [](World&) { return uint64_t{0}; }),
       number(0));
  call(G, FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor), out(0), function(), number(32, {0, 1025, minusOne}),
       number(0, {1024, 1 << 20}));
  call(G, FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags), out(0), function(),
       number(32, {0, 1025, minusOne}), number(0, {1024, 1 << 20}), number(0, {1, 2, 99}));
  call(G, FUNCTION(cuOccupancyMaxPotentialBlockSize), out(0), out(1), function(), number(0), number(0, {1 << 20}),
       number(0, {32, 5000, minusOne}));
  call(G, FUNCTION(cuOccupancyMaxPotentialBlockSizeWithFlags), out(0), out(1), function(), number(0),
       number(0, {1 << 20}), number(0, {32, 5000}), number(0, {1, 2}));
  call(G, FUNCTION(cuOccupancyAvailableDynamicSMemPerBlock), out(0), function(), number(1, {0, 10000, minusOne}),
       number(32, {0, 1025, minusOne}));
}

void memory() {
  call(G, FUNCTION(cuMemGetInfo), out(0), out(1));
  call(G, FUNCTION(cuMemAlloc), out(0), number(4096, {0, 1, huge, UINT64_MAX}));
  call(G, FUNCTION(cuMemAllocPitch), out(0), out(1), number(100, {0, huge, UINT64_MAX}), number(10, {0, huge}),
       number(4, {0, 1, 2, 8, 16, 32}));
  call(G, FUNCTION(cuMemFree), deviceMemory());
  call(G, FUNCTION(cuMemGetAddressRange), out(0), show(1, 8), deviceMemory());
  call(G, FUNCTION(cuMemAllocHost), out(0), number(4096, {0, huge}));
  call(G, FUNCTION(cuMemFreeHost), hostMemory());
  call(G, FUNCTION(cuMemHostAlloc), out(0), number(4096, {0, huge}), number(0, {1, 2, 4, 7, 8, 16, minusOne}));
  call(G, FUNCTION(cuMemHostGetDevicePointer), out(0), hostMemory(), number(0, {1}));
  call(G, FUNCTION(cuMemHostGetFlags), show(0, 4), hostMemory());
  call(G, FUNCTION(cuMemAllocManaged), out(0), number(4096, {0, huge}), number(1, {0, 2, 3, 4, minusOne}));
  const auto pageable = [] {
    return of("pageable", [](World& w) { return bits(w.pageable); })
        .add("null", [](World&) { return uint64_t{0}; })
        .add("pinned", [](World& w) { return bits(w.host); })
        .add("device", [](World& w) { return w.device; });
  };
  call(G, FUNCTION(cuMemHostUnregister), pageable());
  call(G, FUNCTION(cuPointerGetAttribute), out(0),
       number(1, {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 99, minusOne}), deviceMemory());
  call(G, FUNCTION(cuPointerGetAttribute), out(0), number(2, {1, 3, 4, 8, 9, 11, 12, 13}), hostMemory());
  call(G, FUNCTION(cuMemAdvise),
       of("managed", [](World& w) { return w.managed; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("device", [](World& w) { return w.device; })
           .add("pinned", [](World& w) { return bits(w.host); }),
       number(4096, {0, huge}), number(1, {0, 2, 3, 4, 5, 6, 7, 99}), locationValue());
  call(G, FUNCTION(cuMemPrefetchAsync),
       of("managed", [](World& w) { return w.managed; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("device", [](World& w) { return w.device; })
           .add("pinned", [](World& w) { return bits(w.host); }),
       number(4096, {0, huge}), locationValue(), number(0, {1}), stream());
  call(G, FUNCTION(cuMemRangeGetAttribute), show(0, 4), number(4, {0, 3, 8}), number(1, {0, 2, 3, 4, 5, 6, 7, 8, 9}),
       of("managed", [](World& w) { return w.managed; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("device", [](World& w) { return w.device; }),
       number(4096, {0, huge}));
}

void copies() {
  const auto bytes = [] { return number(256, {0, 1, World::deviceBytes + 1, huge}); };
  const auto source = [] { return deviceMemory(); };
  call(G, FUNCTION(cuMemcpy), deviceMemory(), of("other", [](World& w) { return w.other; }), bytes());
  call(G, FUNCTION(cuMemcpyAsync), deviceMemory(), of("other", [](World& w) { return w.other; }), bytes(), stream());
  call(G, FUNCTION(cuMemcpyHtoD), deviceMemory(), hostMemory(), bytes());
  call(G, FUNCTION(cuMemcpyDtoH), hostMemory(), source(), bytes());
  call(G, FUNCTION(cuMemcpyDtoD), deviceMemory(), of("other", [](World& w) { return w.other; }), bytes());
  call(G, FUNCTION(cuMemcpyHtoDAsync), deviceMemory(), hostMemory(), bytes(), stream());
  call(G, FUNCTION(cuMemcpyDtoHAsync), hostMemory(), source(), bytes(), stream());
  call(G, FUNCTION(cuMemcpyDtoDAsync), deviceMemory(), of("other", [](World& w) { return w.other; }), bytes(),
       stream());
  call(G, FUNCTION(cuMemcpyPeer), of("device", [](World& w) { return w.device; }), context(),
       of("other", [](World& w) { return w.other; }), context(), bytes());
  call(G, FUNCTION(cuMemcpyPeerAsync), of("device", [](World& w) { return w.device; }), context(),
       of("other", [](World& w) { return w.other; }), context(), bytes(), stream());
  call(G, FUNCTION(cuMemcpy2D), copy2d());
  call(G, FUNCTION(cuMemcpy2DUnaligned), copy2d());
  call(G, FUNCTION(cuMemcpy2DAsync), copy2d(), stream());
  call(G, FUNCTION(cuMemcpy3D), copy3d());
  call(G, FUNCTION(cuMemcpy3DAsync), copy3d(), stream());
  const auto count = [] { return number(64, {0, 1, World::deviceBytes + 1, huge}); };
  call(G, FUNCTION(cuMemsetD8), deviceMemory(), number(1), count());
  call(G, FUNCTION(cuMemsetD16), deviceMemory(), number(1), count());
  call(G, FUNCTION(cuMemsetD32), deviceMemory(), number(1), count());
  call(G, FUNCTION(cuMemsetD8Async), deviceMemory(), number(1), count(), stream());
  call(G, FUNCTION(cuMemsetD32Async), deviceMemory(), number(1), count(), stream());
  call(G, FUNCTION(cuMemsetD16Async), deviceMemory(), number(1), count(), stream());
  const auto pitch = [] { return number(512, {0, 8, 511, huge}); };
  call(G, FUNCTION(cuMemsetD2D8), deviceMemory(), pitch(), number(1), number(16, {0, huge}), number(4, {0, 10000}));
  call(G, FUNCTION(cuMemsetD2D16), deviceMemory(), pitch(), number(1), number(16, {0, huge}), number(4, {0, 10000}));
  call(G, FUNCTION(cuMemsetD2D32), deviceMemory(), pitch(), number(1), number(16, {0, huge}), number(4, {0, 10000}));
  const auto width = [] { return number(16, {0, huge}); };
  const auto height = [] { return number(4, {0, 10000}); };
  call(G, FUNCTION(cuMemsetD2D8Async), deviceMemory(), pitch(), number(1), width(), height(), stream());
  call(G, FUNCTION(cuMemsetD2D16Async), deviceMemory(), pitch(), number(1), width(), height(), stream());
  call(G, FUNCTION(cuMemsetD2D32Async), deviceMemory(), pitch(), number(1), width(), height(), stream());
}

void pools() {
  call(G, FUNCTION(cuMemPoolCreate), out(0), poolProperties());
  call(G, FUNCTION(cuMemPoolDestroy), pool());
  call(G, FUNCTION(cuMemPoolTrimTo), pool(), number(0, {huge}));
  call(G, FUNCTION(cuMemPoolGetAttribute), pool(), number(4, {0, 1, 2, 3, 5, 6, 7, 8, 99, minusOne}), show(0, 4));
  call(G, FUNCTION(cuMemPoolSetAttribute), pool(), number(4, {0, 1, 2, 3, 5, 6, 7, 8, 99, minusOne}), valuePointer());
  call(G, FUNCTION(cuMemPoolGetAccess), show(0, 4), pool(), location());
  call(G, FUNCTION(cuMemPoolSetAccess), pool(), accessDescription(), number(1, {0}));
  call(G, FUNCTION(cuMemAllocAsync), out(0), number(4096, {0, 1, huge, UINT64_MAX}), stream());
  call(G, FUNCTION(cuMemAllocFromPoolAsync), out(0), number(4096, {0, 1, huge}), pool(), stream());
  call(G, FUNCTION(cuMemFreeAsync),
       of("pooled", [](World& w) { return w.pooled; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("pooled+256", [](World& w) { return w.pooled + 256; })
           .add("device", [](World& w) { return w.device; })
           .add("goneDevice", [](World& w) { return w.goneDevice; })
           .add("pinned", [](World& w) { return bits(w.host); })
           .add("managed", [](World& w) { return w.managed; }),
       stream());
  call(G, FUNCTION(cuMemGetDefaultMemPool), out(0), location(), number(1, {0, 9}));
  call(G, FUNCTION(cuMemGetMemPool), out(0), location(), number(1, {0, 9}));
  call(G, FUNCTION(cuMemSetMemPool), location(), number(1, {0, 9}), pool());
}

void streams() {
  call(G, FUNCTION(cuStreamCreate), out(0), number(0, {1, 2, 3, minusOne}));
  call(G, FUNCTION(cuStreamCreateWithPriority), out(0), number(0, {1, 2}),
       number(0, {minusOne, 0xFFFFFFFB, 0xFFFFFF9C, 100}));
  call(G, FUNCTION(cuStreamDestroy), stream());
  call(G, FUNCTION(cuStreamGetPriority), stream(), show(0, 4));
  call(G, FUNCTION(cuStreamGetFlags), stream(), show(0, 4));
  call(G, FUNCTION(cuStreamGetId), stream(), out(0));
  call(G, FUNCTION(cuStreamGetCtx), stream(), out(0));
  call(G, FUNCTION(cuStreamGetDevice), stream(), show(0, 4));
  call(G, FUNCTION(cuStreamCopyAttributes), stream(), stream());
  call(G, FUNCTION(cuStreamGetAttribute), stream(), number(3, {0, 1, 99, minusOne}), out(0));
  call(G, FUNCTION(cuStreamSetAttribute), stream(), number(3, {0, 99, minusOne}), valuePointer());
  call(G, FUNCTION(cuStreamQuery), stream());
  call(G, FUNCTION(cuStreamSynchronize), stream());
  call(G, FUNCTION(cuStreamIsCapturing), stream(), show(0, 4));
  call(G, FUNCTION(cuStreamWaitEvent), stream(), event(), number(0, {1, 2}));
  call(G, FUNCTION(cuStreamAddCallback), stream(),
       of("function", [](World&) { return bits(+[](CUstream, CUresult, void*) {}); })
           .add("null", [](World&) { return uint64_t{0}; }),
       number(0), number(0, {1}));
  call(G, FUNCTION(cuStreamAttachMemAsync), stream(),
       of("managed", [](World& w) { return w.managed; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("device", [](World& w) { return w.device; })
           .add("pinned", [](World& w) { return bits(w.host); })
           .add("managed+4096", [](World& w) { return w.managed + 4096; }),
       number(0, {1, 4096, World::deviceBytes, huge}), number(1, {0, 2, 3, 4, 5}));
  call(G, FUNCTION(cuThreadExchangeStreamCaptureMode), valuePointer());
  call(G, FUNCTION(cuStreamWriteValue32), stream(), deviceMemory(), number(1), number(0, {1, 2}));
  call(G, FUNCTION(cuStreamWriteValue64), stream(), deviceMemory(), number(1), number(0, {1, 2}));
  const auto zero = [] { return number(0); };
  // What earlier cases wrote must not keep the stream waiting.
  const auto waited = [] {
    Choices made = deviceMemory();
    made.all.front().make = [](World& w) {
      FUNCTION(cuMemsetD32)(w.device, 0u, size_t{16});
      return w.device;
    };
    return made;
  };
  call(G, FUNCTION(cuStreamWaitValue32), stream(), waited(), zero(), number(0, {1, 4, 64, 1 << 30}));
  call(G, FUNCTION(cuStreamWaitValue64), stream(), waited(), zero(), number(0, {1, 4, 64, 1 << 30}));
  const auto operations = [] {
    const auto with = [](int operation, unsigned flags) {
      return [operation, flags](World& w) {
        auto& made = w.make<CUstreamBatchMemOpParams>();
        made.writeValue.operation = static_cast<CUstreamBatchMemOpType>(operation);
        made.writeValue.address = w.device;
        made.writeValue.value64 = 0;
        made.writeValue.flags = flags;
        if (operation == 3 || operation == 6) made.flushRemoteWrites.flags = flags;
        return bits(&made);
      };
    };
    return of("write 32", with(2, 0))
        .add("null", [](World&) { return uint64_t{0}; })
        .add("wait 32", with(1, 0))
        .add("wait 64", with(4, 1))
        .add("write 64", with(5, 0))
        .add("flush", with(3, 0))
        .add("barrier", with(6, 0))
        .add("barrier gpu", with(6, 1))
        .add("barrier flags 2", with(6, 2))
        .add("operation 0", with(0, 0))
        .add("operation 99", with(99, 0))
        .add("write flags 8", with(2, 8));
  };
  call(G, FUNCTION(cuStreamBatchMemOp), stream(), number(1, {0, 257}), operations(), number(0, {1}));
}

void events() {
  call(G, FUNCTION(cuEventCreate), out(0), number(0, {1, 2, 3, 4, 6, 8, minusOne}));
  call(G, FUNCTION(cuEventRecord), event(), stream());
  call(G, FUNCTION(cuEventRecordWithFlags), event(), stream(), number(0, {1, 2}));
  call(G, FUNCTION(cuEventQuery), event());
  call(G, FUNCTION(cuEventSynchronize), event());
  call(G, FUNCTION(cuEventDestroy), event());
  call(G, FUNCTION(cuEventElapsedTime), out(0), event(), of("timed", [](World& w) {
                                                           return bits(w.timed);
                                                         }).add("null", [](World&) {
                                                             return uint64_t{0};
                                                           }).add("untimed", [](World& w) { return bits(w.untimed); }));
}

void virtualMemory() {
  const auto properties = [] {
    const auto with = structures<CUmemAllocationProp>([](World&, CUmemAllocationProp& made) {
      made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
      made.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    });
    using P = CUmemAllocationProp;
    return of("properties", with(unchanged))
        .add("null", [](World&) { return uint64_t{0}; })
        .add("type 0", with([](P& p) { p.type = CU_MEM_ALLOCATION_TYPE_INVALID; }))
        .add("location 0", with([](P& p) { p.location.type = CU_MEM_LOCATION_TYPE_INVALID; }))
        .add("device 77", with([](P& p) { p.location.id = 77; }));
  };
  constexpr uint64_t unit = 2 << 20;
  call(G, FUNCTION(cuMemGetAllocationGranularity), out(0), properties(), number(0, {1, 2}));
  call(G, FUNCTION(cuMemAddressReserve), out(0), number(unit, {0, 1, unit + 4096}), number(0, {1, 3, unit, 2 * unit}),
       number(0), number(0, {1}));
  call(G, FUNCTION(cuMemAddressFree), number(0, {unit}), number(unit, {0}));
  call(G, FUNCTION(cuMemCreate), out(0), number(unit, {0, 1, unit + 4096, huge}), properties(), number(0, {1}));
  call(G, FUNCTION(cuMemRelease), number(0));
  call(G, FUNCTION(cuMemMap), number(0, {unit}), number(unit, {0}), number(0), number(0), number(0, {1}));
  call(G, FUNCTION(cuMemUnmap), number(0, {unit}), number(unit, {0}));
  call(G, FUNCTION(cuMemSetAccess), number(0, {unit}), number(unit, {0}), accessDescription(), number(1, {0}));
  call(G, FUNCTION(cuMemGetAccess), show(0, 8), location(), deviceMemory());
  call(G, FUNCTION(cuMemRetainAllocationHandle), out(0), deviceMemory());
  call(G, FUNCTION(cuMemGetAllocationPropertiesFromHandle), out(0), number(0));
}

}  // namespace

void addDriverCalls() {
  devices();
  contexts();
  modules();
  functions();
  memory();
  copies();
  pools();
  streams();
  events();
  virtualMemory();
}

}  // namespace mulciber::replay
