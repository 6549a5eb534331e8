// What takes more than one call to see.
#include "replay.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;

void contexts() {
  sequence(D, "pop until the stack is empty", [](World&) {
    CUcontext popped = nullptr;
    Notes notes;
    for (int i = 0; i < 3; ++i) notes << FUNCTION(cuCtxPopCurrent)(&popped) << (popped != nullptr);
    return notes << FUNCTION(cuCtxSynchronize)();
  });
  sequence(D, "a destroyed context stays current", [](World& w) {
    CUcontext made = nullptr, current = nullptr;
    CUdeviceptr memory = 0;
    CUdevice device = 5;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cuCtxDestroy)(made);
    notes << FUNCTION(cuCtxGetCurrent)(&current) << (current == made) << (current == w.context);
    return notes << FUNCTION(cuMemAlloc)(&memory, size_t{64}) << FUNCTION(cuCtxGetDevice)(&device);
  });
  sequence(D, "a context destroyed elsewhere in the stack", [](World& w) {
    CUcontext made = nullptr, current = nullptr;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cuCtxPushCurrent)(w.context);
    notes << FUNCTION(cuCtxDestroy)(made) << FUNCTION(cuCtxSynchronize)();
    notes << FUNCTION(cuCtxPopCurrent)(&current) << FUNCTION(cuCtxSynchronize)();
    return notes << FUNCTION(cuCtxPopCurrent)(&current);
  });
  sequence(D, "handles of another context", [](World& w) {
    CUcontext made = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0) << FUNCTION(cuStreamCreate)(&stream, 0u);
    notes << FUNCTION(cuEventCreate)(&event, 0u);
    notes << FUNCTION(cuEventRecord)(event, w.stream) << FUNCTION(cuEventRecord)(w.event, stream);
    notes << FUNCTION(cuStreamWaitEvent)(stream, w.event, 0u) << FUNCTION(cuStreamSynchronize)(w.stream);
    notes << FUNCTION(cuStreamQuery)(w.stream) << FUNCTION(cuEventQuery)(w.event);
    notes << FUNCTION(cuMemsetD8Async)(w.device, static_cast<unsigned char>(1), size_t{16}, stream);
    notes << FUNCTION(cuLaunchKernel)(w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, w.kernelParameters, nullptr);
    notes << FUNCTION(cuMemFree)(w.other);
    return notes << FUNCTION(cuCtxDestroy)(made);
  });
  sequence(D, "primary context: count and state", [](World& w) {
    CUcontext again = nullptr;
    unsigned flags = 9;
    int active = 9;
    Notes notes;
    notes << FUNCTION(cuDevicePrimaryCtxRetain)(&again, 0) << (again == w.context);
    notes << FUNCTION(cuDevicePrimaryCtxRelease)(0) << FUNCTION(cuDevicePrimaryCtxGetState)(0, &flags, &active);
    return notes << active << FUNCTION(cuCtxSynchronize)();
  });
  sequence(D, "destroying the primary context",
           [](World& w) { return Notes() << FUNCTION(cuCtxDestroy)(w.context) << FUNCTION(cuCtxSynchronize)(); });
  sequence(R, "reset and go on", [](World&) {
    void* before = nullptr;
    void* after = nullptr;
    Notes notes;
    notes << FUNCTION(cudaMalloc)(&before, size_t{4096}) << FUNCTION(cudaDeviceReset)();
    notes << FUNCTION(cudaFree)(before) << FUNCTION(cudaGetLastError)() << FUNCTION(cudaMalloc)(&after, size_t{4096});
    return notes << FUNCTION(cudaFree)(after) << FUNCTION(cudaDeviceSynchronize)();
  });
}

void errors() {
  sequence(R, "the last error is kept, and taken once", [](World&) {
    Notes notes;
    notes << FUNCTION(cudaMemcpy)(nullptr, nullptr, size_t{16}, cudaMemcpyHostToDevice);
    notes << FUNCTION(cudaDeviceSynchronize)() << FUNCTION(cudaPeekAtLastError)() << FUNCTION(cudaPeekAtLastError)();
    return notes << FUNCTION(cudaGetLastError)() << FUNCTION(cudaGetLastError)();
  });
  sequence(R, "a later error takes the place of the last", [](World& w) {
    void* memory = nullptr;
    Notes notes;
    notes << FUNCTION(cudaSetDevice)(77) << FUNCTION(cudaMalloc)(&memory, size_t{1} << 46);
    notes << FUNCTION(cudaEventQuery)(w.event);
    return notes << FUNCTION(cudaGetLastError)();
  });
  sequence(R, "driver errors are not remembered", [](World&) {
    Notes notes;
    CUdeviceptr memory = 0;
    notes << FUNCTION(cuMemAlloc)(&memory, size_t{0});
    return notes << FUNCTION(cudaGetLastError)();
  });
  sequence(D, "memory runs out and comes back", [](World&) {
    CUdeviceptr memory = 0;
    Notes notes;
    notes << FUNCTION(cuMemAlloc)(&memory, size_t{1} << 45) << FUNCTION(cuMemAlloc)(&memory, size_t{4096});
    return notes << FUNCTION(cuMemFree)(memory) << FUNCTION(cuMemFree)(memory);
  });
}

void streams() {
  sequence(D, "events that were never recorded", [](World& w) {
    CUevent fresh = nullptr, second = nullptr;
    float milliseconds = 0;
    Notes notes;
    notes << FUNCTION(cuEventCreate)(&fresh, 0u) << FUNCTION(cuEventCreate)(&second, 0u);
    notes << FUNCTION(cuEventQuery)(fresh) << FUNCTION(cuEventSynchronize)(fresh);
    notes << FUNCTION(cuStreamWaitEvent)(w.stream, fresh, 0u);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, fresh, second);
    notes << FUNCTION(cuEventRecord)(fresh, w.stream) << FUNCTION(cuEventElapsedTime)(&milliseconds, fresh, second);
    return notes << FUNCTION(cuStreamSynchronize)(w.stream);
  });
  sequence(D, "a stream that waits for a word is not ready", [](World& w) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    auto* const word = reinterpret_cast<volatile unsigned*>(w.host);
    float milliseconds = 0;
    *word = 0;
    Notes notes;
    notes << FUNCTION(cuStreamCreate)(&stream, 1u) << FUNCTION(cuEventCreate)(&event, 0u);
    notes << FUNCTION(cuStreamWaitValue32)(stream, bits(w.host), 1u, unsigned{CU_STREAM_WAIT_VALUE_EQ});
    notes << FUNCTION(cuStreamWriteValue64)(stream, bits(w.host + 8), cuuint64_t{77}, 0u);
    notes << FUNCTION(cuEventRecord)(event, stream) << FUNCTION(cuStreamQuery)(stream) << FUNCTION(cuEventQuery)(event);
    notes << FUNCTION(cuEventElapsedTime)(&milliseconds, w.timed, event) << FUNCTION(cuStreamQuery)(w.stream);
    *word = 1;
    notes << FUNCTION(cuStreamSynchronize)(stream) << *reinterpret_cast<long long*>(w.host + 8);
    return notes << FUNCTION(cuEventQuery)(event) << FUNCTION(cuStreamQuery)(stream);
  });
  sequence(D, "a destroyed stream finishes", [](World& w) {
    CUstream stream = nullptr;
    unsigned seen = 0;
    Notes notes;
    notes << FUNCTION(cuStreamCreate)(&stream, 0u) << FUNCTION(cuMemsetD32Async)(w.device, 5u, size_t{4}, stream);
    notes << FUNCTION(cuStreamDestroy)(stream) << FUNCTION(cuMemcpyDtoH)(&seen, w.device, sizeof(seen));
    return notes << seen;
  });
  sequence(D, "priorities are cut to what there is", [](World&) {
    Notes notes;
    for (const int priority : {-100, -5, -3, 0, 1, 100}) {
      CUstream stream = nullptr;
      int got = 55;
      notes << FUNCTION(cuStreamCreateWithPriority)(&stream, 1u, priority);
      notes << FUNCTION(cuStreamGetPriority)(stream, &got) << got;
      FUNCTION(cuStreamDestroy)(stream);
    }
    return notes;
  });
}

void pools() {
  sequence(D, "a pool's figures", [](World& w) {
    uint64_t value = 0;
    CUdeviceptr memory = 0;
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    Notes notes;
    notes << FUNCTION(cuMemPoolCreate)(&pool, &properties);
    const auto figures = [&] {
      for (const auto attribute : {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
                                   CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH}) {
        FUNCTION(cuMemPoolGetAttribute)(pool, attribute, &value);
        notes << static_cast<long long>(value);
      }
    };
    figures();
    notes << FUNCTION(cuMemAllocFromPoolAsync)(&memory, size_t{1000}, pool, w.stream);
    figures();
    notes << FUNCTION(cuStreamSynchronize)(w.stream) << FUNCTION(cuMemFreeAsync)(memory, w.stream);
    figures();
    notes << FUNCTION(cuStreamSynchronize)(w.stream);
    figures();
    value = 0;
    notes << FUNCTION(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value);
    figures();
    return notes << FUNCTION(cuMemPoolDestroy)(pool);
  });
  sequence(D, "memory freed in a stream is its next allocation", [](World& w) {
    CUdeviceptr first = 0, second = 0;
    Notes notes;
    notes << FUNCTION(cuMemAllocAsync)(&first, size_t{1} << 20, w.stream) << FUNCTION(cuMemFreeAsync)(first, w.stream);
    notes << FUNCTION(cuMemAllocAsync)(&second, size_t{1} << 20, w.stream) << (first == second);
    return notes << FUNCTION(cuMemFreeAsync)(second, w.stream) << FUNCTION(cuMemFreeAsync)(second, w.stream);
  });
  sequence(D, "memory of a pool is freed like any", [](World& w) {
    CUdeviceptr memory = 0;
    Notes notes;
    notes << FUNCTION(cuMemAllocAsync)(&memory, size_t{4096}, w.stream) << FUNCTION(cuMemFree)(memory);
    return notes << FUNCTION(cuMemFree)(memory);
  });
  sequence(D, "a destroyed pool gives way to the default one", [](World& w) {
    CUmemoryPool current = nullptr;
    CUdeviceptr memory = 0;
    Notes notes;
    notes << FUNCTION(cuDeviceSetMemPool)(0, w.pool) << FUNCTION(cuMemAllocAsync)(&memory, size_t{4096}, w.stream);
    notes << FUNCTION(cuMemPoolDestroy)(w.pool) << FUNCTION(cuDeviceGetMemPool)(&current, 0);
    return notes << (current == w.defaultPool) << FUNCTION(cuMemFreeAsync)(memory, w.stream);
  });
}

void memory() {
  sequence(D, "registering twice, and inside", [](World& w) {
    static char area[64 << 10];
    Notes notes;
    (void)w;
    notes << FUNCTION(cuMemHostRegister)(area, sizeof(area), 0u) << FUNCTION(cuMemHostRegister)(area, sizeof(area), 0u);
    notes << FUNCTION(cuMemHostRegister)(area + 8192, size_t{4096}, 0u) << FUNCTION(cuMemHostUnregister)(area + 4096);
    return notes << FUNCTION(cuMemHostUnregister)(area) << FUNCTION(cuMemHostUnregister)(area);
  });
  sequence(D, "advice is remembered", [](World& w) {
    Notes notes;
    int value = 99;
    const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const auto attribute = [&](CUmem_range_attribute which) {
      value = 99;
      notes << FUNCTION(cuMemRangeGetAttribute)(&value, sizeof(value), which, w.managed, size_t{8192}) << value;
    };
    attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
    attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
    attribute(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
    attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{8192}, CU_MEM_ADVISE_SET_READ_MOSTLY, here);
    attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{4096}, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here);
    attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{8192}, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here);
    attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{8192}, CU_MEM_ADVISE_SET_ACCESSED_BY, here);
    attribute(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
    notes << FUNCTION(cuMemPrefetchAsync)(w.managed, size_t{8192}, here, 0u, w.stream);
    attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
    const CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0};
    notes << FUNCTION(cuMemPrefetchAsync)(w.managed, size_t{8192}, host, 0u, w.stream);
    attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
    return notes;
  });
  sequence(D, "reserve, map, use, unmap", [](World& w) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    size_t unit = 0;
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle one = 0, two = 0;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    unsigned seen[2] = {};
    Notes notes;
    notes << FUNCTION(cuMemGetAllocationGranularity)(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    notes << FUNCTION(cuMemAddressReserve)(&range, 4 * unit, size_t{0}, CUdeviceptr{0}, 0ull);
    notes << FUNCTION(cuMemCreate)(&one, unit, &properties, 0ull)
          << FUNCTION(cuMemCreate)(&two, unit, &properties, 0ull);
    notes << FUNCTION(cuMemMap)(range, unit, size_t{0}, one, 0ull);
    notes << FUNCTION(cuMemMap)(range, unit, size_t{0}, two, 0ull);  // taken
    notes << FUNCTION(cuMemMap)(range + unit, unit, size_t{0}, two, 0ull);
    notes << FUNCTION(cuMemsetD32)(range, 1u, size_t{16});  // no access yet
    notes << FUNCTION(cuMemSetAccess)(range, 2 * unit, &access, size_t{1});
    notes << FUNCTION(cuMemsetD32)(range, 3u, 2 * unit / 4);
    notes << FUNCTION(cuMemcpyDtoH)(seen, range + unit - 4, sizeof(seen)) << seen[0] << seen[1];
    notes << FUNCTION(cuMemRelease)(one) << FUNCTION(cuMemRelease)(two) << FUNCTION(cuMemRelease)(two);
    notes << FUNCTION(cuMemAddressFree)(range, 4 * unit);  // still mapped
    notes << FUNCTION(cuMemUnmap)(range, unit) << FUNCTION(cuMemUnmap)(range + unit, unit);
    notes << FUNCTION(cuMemUnmap)(range, unit) << FUNCTION(cuMemAddressFree)(range, 4 * unit);
    return notes << FUNCTION(cuMemAddressFree)(range, 4 * unit) << FUNCTION(cuStreamQuery)(w.stream);
  });
  sequence(D, "the same memory twice", [](World&) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr size_t unit = 2 << 20;
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle one = 0, again = 0;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    unsigned seen = 0;
    Notes notes;
    notes << FUNCTION(cuMemAddressReserve)(&range, 2 * unit, size_t{0}, CUdeviceptr{0}, 0ull);
    notes << FUNCTION(cuMemCreate)(&one, unit, &properties, 0ull);
    notes << FUNCTION(cuMemMap)(range, unit, size_t{0}, one, 0ull);
    notes << FUNCTION(cuMemMap)(range + unit, unit, size_t{0}, one, 0ull);
    notes << FUNCTION(cuMemSetAccess)(range, 2 * unit, &access, size_t{1});
    notes << FUNCTION(cuMemsetD32)(range, 7u, size_t{16}) << FUNCTION(cuMemcpyDtoH)(&seen, range + unit, size_t{4});
    notes << seen << FUNCTION(cuMemRetainAllocationHandle)(&again, reinterpret_cast<void*>(range)) << (again == one);
    notes << FUNCTION(cuMemUnmap)(range, 2 * unit) << FUNCTION(cuMemRelease)(one) << FUNCTION(cuMemRelease)(one);
    return notes << FUNCTION(cuMemAddressFree)(range, 2 * unit);
  });
}

}  // namespace

void addSequences() {
  contexts();
  errors();
  streams();
  pools();
  memory();
}

}  // namespace mulciber::replay
