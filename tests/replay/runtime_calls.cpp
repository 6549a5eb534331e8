#include "replay.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

constexpr uint64_t huge = uint64_t{1} << 46;
constexpr uint64_t minusOne = 0xFFFFFFFF;
const Group G = Group::Runtime;

// A cudaKernel_t stands for a function.
Choices entry() {
  return of("kernel", [](World& w) { return bits(w.kernel); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("nothing", [](World& w) { return bits(w.slot[7]); });
}

Choices dimensions(std::string name, unsigned x, unsigned y, unsigned z) {
  return of(std::move(name), [=](World& w) {
    auto& made = w.make<uint3>();
    made = {x, y, z};
    return bits(&made);
  });
}

Choices andDimensions(Choices&& choices, std::string name, unsigned x, unsigned y, unsigned z) {
  choices.all.push_back(dimensions(std::move(name), x, y, z).all.front());
  return std::move(choices);
}

Choices grid() {
  Choices made = dimensions("(2,1,1)", 2, 1, 1);
  made = andDimensions(std::move(made), "(0,1,1)", 0, 1, 1);
  made = andDimensions(std::move(made), "(1,65536,1)", 1, 65536, 1);
  return andDimensions(std::move(made), "(1,1,0)", 1, 1, 0);
}

Choices block() {
  Choices made = dimensions("(32,1,1)", 32, 1, 1);
  made = andDimensions(std::move(made), "(0,1,1)", 0, 1, 1);
  made = andDimensions(std::move(made), "(1025,1,1)", 1025, 1, 1);
  made = andDimensions(std::move(made), "(1,1,65)", 1, 1, 65);
  return andDimensions(std::move(made), "(64,32,1)", 64, 32, 1);
}

Choices extent() {
  const auto with = [](size_t width, size_t height, size_t depth) {
    return [=](World& w) {
      auto& made = w.make<cudaExtent>();
      made = {width, height, depth};
      return bits(&made);
    };
  };
  return of("100x4x2", with(100, 4, 2))
      .add("0x4x2", with(0, 4, 2))
      .add("100x0x2", with(100, 0, 2))
      .add("100x4x0", with(100, 4, 0))
      .add("huge", with(huge, 4, 2));
}

Choices pitched() {
  const auto with = structures<cudaPitchedPtr>([](World& w, cudaPitchedPtr& made) {
    made = {reinterpret_cast<void*>(w.device), 512, 512, 4};
  });
  return of("pitched", with(unchanged))
      .add("null", with([](cudaPitchedPtr& p) { p.ptr = nullptr; }))
      .add("narrow", with([](cudaPitchedPtr& p) { p.pitch = 64; }));
}

Choices parameters() {
  return of("parameters", [](World& w) { return bits(w.kernelParameters); }).add("null", [](World&) {
    return uint64_t{0};
  });
}

Choices managedMemory() {
  return of("managed", [](World& w) { return w.managed; })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("device", [](World& w) { return w.device; })
      .add("pinned", [](World& w) { return bits(w.host); });
}

Choices location() {
  const auto with = locationOf<cudaMemLocation>;
  Choices made = of("device 0", with(1, 0));
  return std::move(made)
      .add("device 77", with(1, 77))
      .add("type 0", with(0, 0))
      .add("type 9", with(9, 0))
      .add("host", with(2, 0));
}

Choices access() {
  const auto with = [](int type, int id, int flags) {
    return structures<cudaMemAccessDesc>([=](World&, cudaMemAccessDesc& made) {
      made.location = {static_cast<cudaMemLocationType>(type), id};
      made.flags = static_cast<cudaMemAccessFlags>(flags);
    })(unchanged);
  };
  return of("own, all", with(1, 0, 3))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("own, none", with(1, 0, 0))
      .add("own, read", with(1, 0, 1))
      .add("own, flags 2", with(1, 0, 2))
      .add("device 77", with(1, 77, 3))
      .add("type 0", with(0, 0, 3));
}

Choices poolProperties() {
  const auto with = structures<cudaMemPoolProps>([](World&, cudaMemPoolProps& made) {
    made.allocType = cudaMemAllocationTypePinned;
    made.location = {cudaMemLocationTypeDevice, 0};
  });
  using P = cudaMemPoolProps;
  return of("properties", with(unchanged))
      .add("null", [](World&) { return uint64_t{0}; })
      .add("allocation type 0", with([](P& p) { p.allocType = cudaMemAllocationTypeInvalid; }))
      .add("device 77", with([](P& p) { p.location.id = 77; }));
}

Choices valuePointer() {
  return of("value",
            [](World& w) {
              auto& value = w.make<uint64_t>();
              value = 1;
              return bits(&value);
            })
      .add("null", [](World&) { return uint64_t{0}; });
}

void devices() {
  call(G, FUNCTION(cudaDriverGetVersion), out(0));
  call(G, FUNCTION(cudaRuntimeGetVersion), show(0, 4));
  call(G, FUNCTION(cudaGetDeviceCount), out(0));
  call(G, FUNCTION(cudaGetDevice), show(0, 4));
  call(G, FUNCTION(cudaSetDevice), number(0, {minusOne, 77}));
  call(G, FUNCTION(cudaInitDevice), ordinal(), number(0, {3, 256}), number(0, {1, 2}));
  call(G, FUNCTION(cudaSetDeviceFlags), number(0, {1, 2, 3, 4, 5, 6, 8, 16, 256, 0x10000}));
  call(G, FUNCTION(cudaGetDeviceFlags), out(0));
  call(G, FUNCTION(cudaDeviceGetAttribute), out(0), number(1, {0, minusOne, 5000}), ordinal());
  call(G, FUNCTION(cudaGetDeviceProperties), out(0), ordinal());
  call(G, FUNCTION(cudaChooseDevice), show(0, 4), of("properties", [](World& w) {
                                                    return bits(&w.make<cudaDeviceProp>());
                                                  }).add("null", [](World&) { return uint64_t{0}; }));
  call(G, FUNCTION(cudaSetValidDevices),
       of("list", [](World& w) { return bits(&w.make<int>()); }).add("null", [](World&) { return uint64_t{0}; }),
       number(1, {0, minusOne}));
  call(G, FUNCTION(cudaDeviceGetByPCIBusId), out(0), text("zz", {nullptr, ""}));
  call(G, FUNCTION(cudaDeviceGetPCIBusId), out(0), number(64, {0, 5, minusOne}), ordinal());
  call(G, FUNCTION(cudaDeviceGetP2PAttribute), out(0), number(1, {0, 77}), ordinal(), ordinal());
  call(G, FUNCTION(cudaDeviceCanAccessPeer), show(0, 4), ordinal(), ordinal());
  call(G, FUNCTION(cudaDeviceEnablePeerAccess), ordinal(), number(0, {1}));
  call(G, FUNCTION(cudaDeviceDisablePeerAccess), ordinal());
  call(G, FUNCTION(cudaDeviceSetLimit), number(0, {1, 2, 3, 4, 5, 6, 7, minusOne}), number(4096, {0, huge}));
  call(G, FUNCTION(cudaDeviceGetLimit), out(0), number(0, {1, 2, 3, 4, 5, 6, 7, minusOne}));
  call(G, FUNCTION(cudaDeviceGetCacheConfig), show(0, 4));
  call(G, FUNCTION(cudaDeviceSetCacheConfig), number(0, {1, 2, 3, 4, minusOne}));
  call(G, FUNCTION(cudaDeviceGetSharedMemConfig), show(0, 4));
  call(G, FUNCTION(cudaDeviceSetSharedMemConfig), number(0, {1, 2, 3, minusOne}));
  call(G, FUNCTION(cudaDeviceGetStreamPriorityRange), show(0, 4), show(1, 4));
  call(G, FUNCTION(cudaDeviceSynchronize));
  call(G, FUNCTION(cudaCtxResetPersistingL2Cache));
  call(G, FUNCTION(cudaGetLastError));
  call(G, FUNCTION(cudaPeekAtLastError));
  call(G, FUNCTION(cudaDeviceGetDefaultMemPool), out(0), ordinal());
  call(G, FUNCTION(cudaDeviceGetMemPool), out(0), ordinal());
  call(G, FUNCTION(cudaDeviceSetMemPool), ordinal(), pool());
}

void memory() {
  call(G, FUNCTION(cudaMalloc), out(0), number(4096, {0, 1, huge, UINT64_MAX}));
  call(G, FUNCTION(cudaMallocHost), out(0), number(4096, {0, huge}));
  call(G, FUNCTION(cudaMallocPitch), out(0), out(1), number(100, {0, huge}), number(10, {0, huge}));
  call(G, FUNCTION(cudaMalloc3D), out(0), extent());
  call(G, FUNCTION(cudaMallocManaged), out(0), number(4096, {0, huge}), number(1, {0, 2, 3, 4}));
  call(G, FUNCTION(cudaHostAlloc), out(0), number(4096, {0, huge}), number(0, {1, 2, 4, 7, 8, 16, minusOne}));
  call(G, FUNCTION(cudaFree), deviceMemory());
  call(G, FUNCTION(cudaFreeHost), hostMemory());
  call(G, FUNCTION(cudaHostUnregister), hostMemory());
  call(G, FUNCTION(cudaHostGetDevicePointer), out(0), hostMemory(), number(0, {1}));
  call(G, FUNCTION(cudaHostGetFlags), show(0, 4), hostMemory());
  call(G, FUNCTION(cudaMemGetInfo), out(0), out(1));
  call(G, FUNCTION(cudaPointerGetAttributes), show(0, 4), deviceMemory());
  call(G, FUNCTION(cudaMemAdvise), managedMemory(), number(4096, {0, huge}), number(1, {0, 2, 3, 4, 5, 6, 7, 99}),
       location());
  call(G, FUNCTION(cudaMemPrefetchAsync), managedMemory(), number(4096, {0, huge}), location(), number(0, {1}),
       stream());
  call(G, FUNCTION(cudaMemRangeGetAttribute), show(0, 4), number(4, {0, 3, 8}), number(1, {0, 2, 3, 4, 5, 6, 7, 8, 9}),
       managedMemory(), number(4096, {0, huge}));
}

void copies() {
  const auto bytes = [] { return number(256, {0, 1, World::deviceBytes + 1, huge}); };
  const auto kind = [](uint64_t right) { return number(right, {0, 1, 2, 3, 4, 5, minusOne}); };
  const auto other = [] { return of("other", [](World& w) { return w.other; }); };
  call(G, FUNCTION(cudaMemcpy), deviceMemory(), hostMemory(), bytes(), kind(1));
  call(G, FUNCTION(cudaMemcpy), hostMemory(), deviceMemory(), bytes(), kind(2));
  call(G, FUNCTION(cudaMemcpy), deviceMemory(), other(), bytes(), kind(3));
  call(G, FUNCTION(cudaMemcpy), deviceMemory(), hostMemory(), bytes(), kind(4));
  call(G, FUNCTION(cudaMemcpyAsync), deviceMemory(), hostMemory(), bytes(), kind(1), stream());
  call(G, FUNCTION(cudaMemcpyPeer), of("device", [](World& w) { return w.device; }), ordinal(), other(), ordinal(),
       bytes());
  call(G, FUNCTION(cudaMemcpyPeerAsync), of("device", [](World& w) { return w.device; }), ordinal(), other(), ordinal(),
       bytes(), stream());
  const auto pitch = [] { return number(512, {0, 8, 99, huge}); };
  call(G, FUNCTION(cudaMemcpy2D), deviceMemory(), pitch(), hostMemory(), pitch(), number(100, {0, huge}),
       number(4, {0, 10000}), kind(1));
  call(G, FUNCTION(cudaMemcpy2DAsync), deviceMemory(), pitch(), hostMemory(), pitch(), number(100, {0, huge}),
       number(4, {0, 10000}), kind(1), stream());
  call(G, FUNCTION(cudaMemset), deviceMemory(), number(1, {300}), number(64, {0, World::deviceBytes + 1, huge}));
  call(G, FUNCTION(cudaMemsetAsync), deviceMemory(), number(1), number(64, {0, World::deviceBytes + 1, huge}),
       stream());
  call(G, FUNCTION(cudaMemset2D), deviceMemory(), pitch(), number(1), number(16, {0, huge}), number(4, {0, 10000}));
  call(G, FUNCTION(cudaMemset3D), pitched(), number(1), extent());
  call(G, FUNCTION(cudaMemset2DAsync), deviceMemory(), pitch(), number(1), number(16, {0, huge}), number(4, {0, 10000}),
       stream());
  call(G, FUNCTION(cudaMemset3DAsync), pitched(), number(1), extent(), stream());
}

void streams() {
  call(G, FUNCTION(cudaStreamCreate), out(0));
  call(G, FUNCTION(cudaStreamCreateWithFlags), out(0), number(0, {1, 2, 3}));
  call(G, FUNCTION(cudaStreamCreateWithPriority), out(0), number(0, {1, 2}), number(0, {0xFFFFFFFB, 0xFFFFFF9C, 100}));
  call(G, FUNCTION(cudaStreamDestroy), stream());
  call(G, FUNCTION(cudaStreamGetPriority), stream(), show(0, 4));
  call(G, FUNCTION(cudaStreamGetFlags), stream(), show(0, 4));
  call(G, FUNCTION(cudaStreamGetId), stream(), out(0));
  call(G, FUNCTION(cudaStreamGetDevice), stream(), show(0, 4));
  call(G, FUNCTION(cudaStreamCopyAttributes), stream(), stream());
  call(G, FUNCTION(cudaStreamGetAttribute), stream(), number(3, {0, 1, 99, minusOne}), out(0));
  call(G, FUNCTION(cudaStreamSetAttribute), stream(), number(3, {0, 99, minusOne}), valuePointer());
  call(G, FUNCTION(cudaStreamQuery), stream());
  call(G, FUNCTION(cudaStreamSynchronize), stream());
  call(G, FUNCTION(cudaStreamIsCapturing), stream(), show(0, 4));
  call(G, FUNCTION(cudaStreamWaitEvent), stream(), event(), number(0, {1, 2}));
  call(G, FUNCTION(cudaStreamAddCallback), stream(),
       of("function", [](World&) { return bits(+[](cudaStream_t, cudaError_t, void*) {}); })
           .add("null", [](World&) { return uint64_t{0}; }),
       number(0), number(0, {1}));
  call(G, FUNCTION(cudaLaunchHostFunc), stream(),
       of("function", [](World&) { return bits(+[](void*) {}); }).add("null", [](World&) { return uint64_t{0}; }),
       number(0));
  call(G, FUNCTION(cudaStreamAttachMemAsync), stream(), managedMemory(), number(0, {1, World::deviceBytes}),
       number(1, {0, 2, 3, 4, 5}));
  call(G, FUNCTION(cudaThreadExchangeStreamCaptureMode), valuePointer());
  call(G, FUNCTION(cudaEventCreate), out(0));
  call(G, FUNCTION(cudaEventCreateWithFlags), out(0), number(0, {1, 2, 3, 4, 6, 8, minusOne}));
  call(G, FUNCTION(cudaEventRecord), event(), stream());
  call(G, FUNCTION(cudaEventRecordWithFlags), event(), stream(), number(0, {1, 2}));
  call(G, FUNCTION(cudaEventQuery), event());
  call(G, FUNCTION(cudaEventSynchronize), event());
  call(G, FUNCTION(cudaEventDestroy), event());
  call(G, FUNCTION(cudaEventElapsedTime), out(0), event(),
       of("timed", [](World& w) {
         return bits(w.timed);
       }).add("null", [](World&) {
           return uint64_t{0};
         }).add("untimed", [](World& w) { return bits(w.untimed); }));
  call(G, FUNCTION(cudaMallocAsync), out(0), number(4096, {0, 1, huge}), stream());
  call(G, FUNCTION(cudaMallocFromPoolAsync), out(0), number(4096, {0, 1, huge}), pool(), stream());
  call(G, FUNCTION(cudaFreeAsync),
       of("pooled", [](World& w) { return w.pooled; })
           .add("null", [](World&) { return uint64_t{0}; })
           .add("device", [](World& w) { return w.device; })
           .add("pinned", [](World& w) { return bits(w.host); }),
       stream());
  call(G, FUNCTION(cudaMemPoolCreate), out(0), poolProperties());
  call(G, FUNCTION(cudaMemPoolDestroy), pool());
  call(G, FUNCTION(cudaMemPoolTrimTo), pool(), number(0));
  call(G, FUNCTION(cudaMemPoolGetAttribute), pool(), number(4, {0, 1, 2, 3, 5, 6, 7, 8, 99}), show(0, 4));
  call(G, FUNCTION(cudaMemPoolGetAccess), show(0, 4), pool(), location());
  call(G, FUNCTION(cudaMemPoolSetAccess), pool(), access(), number(1, {0}));
  call(G, FUNCTION(cudaMemGetDefaultMemPool), out(0), location(), number(1, {0, 9}));
  call(G, FUNCTION(cudaMemGetMemPool), out(0), location(), number(1, {0, 9}));
  call(G, FUNCTION(cudaMemSetMemPool), location(), number(1, {0, 9}), pool());
  call(G, FUNCTION(cudaMemPoolSetAttribute), pool(), number(4, {0, 1, 2, 3, 5, 6, 7, 8, 99}), valuePointer());
}

void kernels() {
  call(G, FUNCTION(cudaLaunchKernel), entry(), grid(), block(), parameters(), number(0, {49153, 1 << 30}), stream());
  call(G, FUNCTION(cudaLaunchCooperativeKernel), entry(), grid(), block(), parameters(), number(0, {49153}), stream());
  const auto config = [] {
    const auto with = structures<cudaLaunchConfig_t>([](World& w, cudaLaunchConfig_t& made) {
      made.gridDim = dim3(2);
      made.blockDim = dim3(32);
      made.stream = w.stream;
    });
    using C = cudaLaunchConfig_t;
    return of("config", with(unchanged))
        .add("null", [](World&) { return uint64_t{0}; })
        .add("no blocks", with([](C& c) { c.gridDim.y = 0; }))
        .add("no threads", with([](C& c) { c.blockDim.z = 0; }))
        .add("1025 threads", with([](C& c) { c.blockDim.x = 1025; }))
        .add("much shared memory", with([](C& c) { c.dynamicSmemBytes = 1 << 30; }))
        .add("no attributes, but one", with([](C& c) { c.numAttrs = 1; }));
  };
  call(G, FUNCTION(cudaLaunchKernelExC), config(), entry(), parameters());
  call(G, FUNCTION(cudaFuncGetAttributes), out(0), entry());
  call(G, FUNCTION(cudaFuncSetAttribute), entry(), number(8, {0, 1, 9, 10, 11, 99, minusOne}),
       number(1024, {0, minusOne, 100, 1 << 30}));
  call(G, FUNCTION(cudaKernelSetAttributeForDevice), kernel(), number(8, {0, 1, 9, 10, 11, 99, minusOne}),
       number(1024, {0, minusOne, 1 << 30}), ordinal());
  call(G, FUNCTION(cudaFuncSetCacheConfig), entry(), number(0, {1, 2, 3, 4, minusOne}));
  call(G, FUNCTION(cudaFuncSetSharedMemConfig), entry(), number(0, {1, 2, 3}));
  call(G, FUNCTION(cudaFuncGetName), out(0), entry());
  call(G, FUNCTION(cudaFuncGetParamInfo), entry(), number(1, {0, 2, 3, 99}), show(0, 8), show(1, 8));
  call(G, FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor), out(0), entry(), number(32, {0, 1025, minusOne}),
       number(0, {1024, 1 << 20}));
  call(G, FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags), out(0), entry(), number(32, {0, 1025}),
       number(0, {1 << 20}), number(0, {1, 2}));
  call(G, FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock), out(0), entry(), number(1, {0, 10000, minusOne}),
       number(32, {0, 1025, minusOne}));
  const auto image = [] {
    return of("ptx", [](World&) { return bits(test::scalePtx); }).add("null", [](World&) { return uint64_t{0}; });
  };
  call(G, FUNCTION(cudaLibraryLoadData), out(0), image(), number(0), number(0), number(0), number(0), number(0),
       number(0));
  call(G, FUNCTION(cudaLibraryLoadFromFile), out(0), text("/no/such/file", {nullptr}), number(0), number(0), number(0),
       number(0), number(0), number(0));
  call(G, FUNCTION(cudaLibraryUnload), library());
  call(G, FUNCTION(cudaLibraryGetKernel), out(0), library(), text("scale", {nullptr, "", "nothing"}));
  call(G, FUNCTION(cudaLibraryGetGlobal), out(0), show(1, 8), library(), text("counter", {nullptr, "", "nothing"}));
  call(G, FUNCTION(cudaLibraryGetManaged), out(0), out(1), library(), text("counter", {nullptr, "nothing"}));
  call(G, FUNCTION(cudaLibraryGetKernelCount), show(0, 4), library());
  call(G, FUNCTION(cudaLibraryEnumerateKernels), out(0), number(1, {0, 5}), library());
}

}  // namespace

void addRuntimeCalls() {
  devices();
  memory();
  copies();
  streams();
  kernels();
}

}  // namespace mulciber::replay
