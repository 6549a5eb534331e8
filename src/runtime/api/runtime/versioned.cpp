// Functions whose meaning or structures changed between CUDA 11, 12 and 13: compiled once for each, into the library of
// that version.

// Our headers declare CUDA 13's forms; here the names stand for those of the version that is being built.
#define cudaGetDeviceProperties cudaGetDeviceProperties_13
#define cudaChooseDevice cudaChooseDevice_13
#define cudaMemAdvise cudaMemAdvise_13
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_13
#define cudaGetDriverEntryPoint cudaGetDriverEntryPoint_13
#define cudaMemcpyBatchAsync cudaMemcpyBatchAsync_13
#define cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_13
#include <cuda_runtime.h>
#undef cudaGetDeviceProperties
#undef cudaChooseDevice
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaGetDriverEntryPoint
#undef cudaMemcpyBatchAsync
#undef cudaMemcpy3DBatchAsync

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "runtime/api/common/batch_copies.h"
#include "runtime/api/common/managed.h"
#include "runtime/api/runtime/properties.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

constexpr int runtimeVersion = MULCIBER_CUDART_MAJOR == 11   ? 11080
                               : MULCIBER_CUDART_MAJOR == 12 ? 12080
                                                             : CUDART_VERSION;

#if MULCIBER_CUDART_MAJOR >= 12
cudaError_t copyPieces(const void* const* to, const void* const* from, const size_t* sizes, size_t count,
                       const cudaMemcpyAttributes* attributes, const size_t* firsts, size_t attributeCount,
                       size_t* failed, cudaStream_t handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    return copyBatch(stream, reinterpret_cast<const CUdeviceptr*>(to), reinterpret_cast<const CUdeviceptr*>(from),
                     sizes, count, reinterpret_cast<const CUmemcpyAttributes*>(attributes), firsts, attributeCount,
                     failed);
  });
}

cudaError_t copyBoxesIn(const cudaMemcpy3DBatchOp* boxes, size_t count, unsigned long long flags, size_t* failed,
                        cudaStream_t handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    return copyBoxes(stream, reinterpret_cast<const CUDA_MEMCPY3D_BATCH_OP*>(boxes), count, flags, failed);
  });
}
#endif

// What the per-thread forms ask the driver for when the program asks for nothing.
constexpr unsigned long long perThreadFlags(unsigned long long flags) {
  return flags == cudaEnableDefault ? static_cast<unsigned long long>(cudaEnablePerThreadDefaultStream) : flags;
}

// Fills either layout; fields that only one has are set where they are.
template <class Properties>
Error fillProperties(core::Device& device, Properties& p) {
  std::memset(&p, 0, sizeof(p));
  std::snprintf(p.name, sizeof(p.name), "%s", device.name().c_str());
  const auto uuid = device.uuid();
  std::memcpy(p.uuid.bytes, uuid.data(), uuid.size());
  p.totalGlobalMem = device.totalMemory();
  Error failed = Error::Success;
  auto get = [&](cudaDeviceAttr attribute) {
    int value = 0;
    if (Error error = attributeOf(device, attribute, value); error != Error::Success) failed = error;
    return value;
  };
  auto getSize = [&](cudaDeviceAttr attribute) { return static_cast<size_t>(get(attribute)); };
  p.sharedMemPerBlock = getSize(cudaDevAttrMaxSharedMemoryPerBlock);
  p.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = get(cudaDevAttrWarpSize);
  p.memPitch = getSize(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = getSize(cudaDevAttrTotalConstantMemory);
  p.major = get(cudaDevAttrComputeCapabilityMajor);
  p.minor = get(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = getSize(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = getSize(cudaDevAttrTexturePitchAlignment);
  p.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTexture2D[0] = get(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = get(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DMipmap[0] = get(cudaDevAttrMaxTexture2DMipmappedWidth);
  p.maxTexture2DMipmap[1] = get(cudaDevAttrMaxTexture2DMipmappedHeight);
  p.maxTexture3D[0] = get(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = get(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = get(cudaDevAttrMaxTexture3DDepth);
  p.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
  p.maxTexture1DLayered[0] = get(cudaDevAttrMaxTexture1DLayeredWidth);
  p.maxTexture1DLayered[1] = get(cudaDevAttrMaxTexture1DLayeredLayers);
  p.maxTexture2DLayered[0] = get(cudaDevAttrMaxTexture2DLayeredWidth);
  p.maxTexture2DLayered[1] = get(cudaDevAttrMaxTexture2DLayeredHeight);
  p.maxTexture2DLayered[2] = get(cudaDevAttrMaxTexture2DLayeredLayers);
  p.maxTextureCubemapLayered[0] = get(cudaDevAttrMaxTextureCubemapLayeredWidth);
  p.maxTextureCubemapLayered[1] = get(cudaDevAttrMaxTextureCubemapLayeredLayers);
  p.multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
  p.integrated = get(cudaDevAttrIntegrated);
  p.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
  p.surfaceAlignment = getSize(cudaDevAttrSurfaceAlignment);
  p.concurrentKernels = get(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = get(cudaDevAttrEccEnabled);
  p.pciBusID = get(cudaDevAttrPciBusId);
  p.pciDeviceID = get(cudaDevAttrPciDeviceId);
  p.pciDomainID = get(cudaDevAttrPciDomainId);
  p.tccDriver = get(cudaDevAttrTccDriver);
  p.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = get(cudaDevAttrL2CacheSize);
  p.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
  p.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = getSize(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = get(cudaDevAttrManagedMemory);
  p.isMultiGpuBoard = get(cudaDevAttrIsMultiGpuBoard);
  p.multiGpuBoardGroupID = get(cudaDevAttrMultiGpuBoardGroupID);
  p.hostNativeAtomicSupported = get(cudaDevAttrHostNativeAtomicSupported);
  p.pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
  p.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = getSize(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.pageableMemoryAccessUsesHostPageTables = get(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
  p.directManagedMemAccessFromHost = get(cudaDevAttrDirectManagedMemAccessFromHost);
  p.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
  p.reservedSharedMemPerBlock = getSize(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
  p.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
  p.timelineSemaphoreInteropSupported = get(cudaDevAttrTimelineSemaphoreInteropSupported);
  if constexpr (requires { p.clockRate; }) {
    p.clockRate = get(cudaDevAttrClockRate);
    p.memoryClockRate = get(cudaDevAttrMemoryClockRate);
    p.computeMode = get(cudaDevAttrComputeMode);
    p.kernelExecTimeoutEnabled = get(cudaDevAttrKernelExecTimeout);
    p.deviceOverlap = get(cudaDevAttrGpuOverlap);
    p.singleToDoublePrecisionPerfRatio = get(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  }
  return failed;
}

// A program's structure may be of an older, shorter layout: only `bytes` of the filled one are written.
template <class Properties>
cudaError_t getProperties(void* out, size_t bytes, int ordinal, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDevice(ordinal, [&](core::Device& device) {
    if (!out) return Error::InvalidValue;
    Properties properties;
    const Error error = fillProperties(device, properties);
    if (error == Error::Success) std::memcpy(out, &properties, bytes);
    return error;
  });
}

// How many of the wishes a device meets; wishes are the fields that are not zero (HOST-08).
int matches(core::Device& device, int major, int minor, size_t memory, int multiprocessors) {
  const int capability = 10 * major + minor;
  int count = 0, value = 0;
  if (capability != 0 && static_cast<int>(device.computeCapability()) >= capability) ++count;
  if (memory != 0 && device.totalMemory() >= memory) ++count;
  if (multiprocessors != 0 && device.attribute(cudaDevAttrMultiProcessorCount, value) == Error::Success &&
      value >= multiprocessors) {
    ++count;
  }
  return count;
}

template <class Properties>
cudaError_t chooseDevice(int* ordinal, const Properties* wanted, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withPlatform([&] {
    if (!ordinal || !wanted) return cudaErrorInvalidValue;
    int best = -1;
    for (const auto& device : core::Platform::get().devices()) {
      const int met =
          matches(*device, wanted->major, wanted->minor, wanted->totalGlobalMem, wanted->multiProcessorCount);
      if (met > best) {
        best = met;
        *ordinal = device->ordinal();
      }
    }
    return best < 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}

cudaError_t pointerAttributes(cudaPointerAttributes* out, size_t bytes, const void* pointer,
                              const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withPlatform([&] {
    if (!out) return Error::InvalidValue;
    cudaPointerAttributes attributes{};
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    // Memory CUDA does not know is ordinary host memory, and no error.
    attributes.type = cudaMemoryTypeUnregistered;
    attributes.device = cudaInvalidDeviceId;
    attributes.hostPointer = const_cast<void*>(pointer);
    if (const core::AllocationRef found = core::currentMemory().find(address)) {
      const bool byDevice = address - found->deviceAddress < found->size;
      const uint64_t offset = address - (byDevice ? found->deviceAddress : found->hostAddress);
      const bool isManaged = found->isManaged(address), isDevice = !isManaged && !found->isHost();
      attributes.type = isManaged ? cudaMemoryTypeManaged : isDevice ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
      attributes.device = found->device;
      attributes.devicePointer = reinterpret_cast<void*>(found->deviceAddress + offset);
      attributes.hostPointer =
          isDevice || !found->isHostVisible() ? nullptr : reinterpret_cast<void*>(found->hostAddress + offset);
    }
    std::memcpy(out, &attributes, bytes);
    return Error::Success;
  });
}

cudaError_t functionAttributes(cudaFuncAttributes* out, size_t bytes, const void* entry,
                               const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withFunction(entry, [&](core::Function& function) {
    if (!out) return Error::InvalidValue;
    cudaFuncAttributes attributes{};
    Error failed = Error::Success;
    auto get = [&](CUfunction_attribute attribute) {
      int value = 0;
      if (Error error = function.attribute(attribute, value); error != Error::Success) failed = error;
      return value;
    };
    attributes.sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    attributes.constSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    attributes.localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    attributes.maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attributes.numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    attributes.ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    attributes.binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    attributes.cacheModeCA = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
    attributes.maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    attributes.preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (failed == Error::Success) std::memcpy(out, &attributes, bytes);
    return failed;
  });
}

// Placement of managed memory is advice that changes nothing: both sides always reach it.
cudaError_t advise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, CUmemLocation location,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context&) {
    return adviseManaged(reinterpret_cast<uintptr_t>(pointer), bytes, static_cast<CUmem_advise>(advice), location);
  });
}

#if MULCIBER_CUDART_MAJOR >= 12
CUmemLocation locationOf(const cudaMemLocation& location) {
  return {static_cast<CUmemLocationType>(location.type), location.id};
}
#endif

cudaError_t prefetch(const void* pointer, size_t bytes, CUmemLocation location, cudaStream_t handle, bool perThread,
                     const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  // The stream of the per-thread name.
  if (!handle && perThread) handle = cudaStreamPerThread;
  return withStream(handle, [&](core::Stream& stream) {
    return prefetchManaged(stream, reinterpret_cast<uintptr_t>(pointer), bytes, location);
  });
}

// The driver API's functions by name, from the libcuda.so.1 beside this library.
cudaError_t driverEntryPoint(const char* name, void** out, unsigned version, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* status, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return guarded([&] {
    using GetProcAddress = CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    if (!name || !out) return cudaErrorInvalidValue;
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    auto* const lookUp = driver ? reinterpret_cast<GetProcAddress*>(dlsym(driver, "cuGetProcAddress_v2")) : nullptr;
    if (!lookUp) return cudaErrorInsufficientDriver;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult error = lookUp(name, out, static_cast<int>(version), flags, &found);
    if (error != CUDA_SUCCESS) return static_cast<cudaError_t>(error);
    if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
    return status || found == CU_GET_PROC_ADDRESS_SUCCESS ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

}  // namespace

CUDA_API(cudaError_t, cudaRuntimeGetVersion)(int* version) {
  if (!version) return record(cudaErrorInvalidValue);
  *version = runtimeVersion;
  return cudaSuccess;
}

#if MULCIBER_CUDART_MAJOR >= 13
CUDA_API(cudaError_t, cudaGetDeviceProperties)(cudaDeviceProp* out, int device) {
  return getProperties<cudaDeviceProp>(out, sizeof(*out), device);
}
CUDA_API(cudaError_t, cudaChooseDevice)(int* device, const cudaDeviceProp* wanted) {
  return chooseDevice(device, wanted);
}
CUDA_API(cudaError_t, cudaPointerGetAttributes)(cudaPointerAttributes* out, const void* pointer) {
  return pointerAttributes(out, sizeof(*out), pointer);
}
CUDA_API(cudaError_t, cudaMemAdvise)
(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(pointer, bytes, advice, locationOf(location));
}
#endif
#if MULCIBER_CUDART_MAJOR < 13
CUDA_API(cudaError_t, cudaGetDeviceProperties)(void* out, int device) {
  return getProperties<DeviceProperties12>(out, deviceProperties11Bytes, device);
}
CUDA_API(cudaError_t, cudaChooseDevice)(int* device, const DeviceProperties12* wanted) {
  return chooseDevice(device, wanted);
}
CUDA_API(cudaError_t, cudaPointerGetAttributes)(cudaPointerAttributes* out, const void* pointer) {
  return pointerAttributes(out, pointerAttributes12Bytes, pointer);
}
CUDA_API(cudaError_t, cudaMemAdvise)(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return advise(pointer, bytes, advice, mulciber::api::locationOf(device));
}
CUDA_API(cudaError_t, cudaThreadSynchronize)() { return cudaDeviceSynchronize(); }
CUDA_API(cudaError_t, cudaThreadExit)() { return cudaDeviceReset(); }
CUDA_API(cudaError_t, cudaThreadGetLimit)(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
CUDA_API(cudaError_t, cudaThreadSetLimit)(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
CUDA_API(cudaError_t, cudaThreadGetCacheConfig)(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
CUDA_API(cudaError_t, cudaThreadSetCacheConfig)(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
#endif
#if MULCIBER_CUDART_MAJOR == 12
CUDA_API(cudaError_t, cudaGetDeviceProperties_v2)(DeviceProperties12* out, int device) {
  return getProperties<DeviceProperties12>(out, sizeof(*out), device);
}
CUDA_API(cudaError_t, cudaMemAdvise_v2)
(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(pointer, bytes, advice, locationOf(location));
}
#endif

#if MULCIBER_CUDART_MAJOR >= 12
CUDA_API(cudaError_t, cudaFuncGetAttributes)(cudaFuncAttributes* out, const void* entry) {
  return functionAttributes(out, sizeof(*out), entry);
}
#endif
#if MULCIBER_CUDART_MAJOR < 12
CUDA_API(cudaError_t, cudaFuncGetAttributes)(cudaFuncAttributes* out, const void* entry) {
  return functionAttributes(out, functionAttributes11Bytes, entry);
}
#endif

// Managed memory stays where it is: prefetching checks its arguments and is done.
#if MULCIBER_CUDART_MAJOR >= 13
CUDA_API(cudaError_t, cudaMemPrefetchAsync)
(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  return flags != 0 ? record(cudaErrorInvalidValue) : prefetch(pointer, bytes, locationOf(location), stream, false);
}
CUDA_API(cudaError_t, cudaMemPrefetchAsync_ptsz)
(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  return flags != 0 ? record(cudaErrorInvalidValue) : prefetch(pointer, bytes, locationOf(location), stream, true);
}
#endif
#if MULCIBER_CUDART_MAJOR < 13
CUDA_API(cudaError_t, cudaMemPrefetchAsync)(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
  return prefetch(pointer, bytes, mulciber::api::locationOf(device), stream, false);
}
CUDA_API(cudaError_t, cudaMemPrefetchAsync_ptsz)(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
  return prefetch(pointer, bytes, mulciber::api::locationOf(device), stream, true);
}
#endif
#if MULCIBER_CUDART_MAJOR == 12
CUDA_API(cudaError_t, cudaMemPrefetchAsync_v2)
(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  return flags != 0 ? record(cudaErrorInvalidValue) : prefetch(pointer, bytes, locationOf(location), stream, false);
}
CUDA_API(cudaError_t, cudaMemPrefetchAsync_v2_ptsz)
(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  return flags != 0 ? record(cudaErrorInvalidValue) : prefetch(pointer, bytes, locationOf(location), stream, true);
}
#endif

// Many copies given at once. CUDA 12's forms also say which of them was wrong.
#if MULCIBER_CUDART_MAJOR == 12
CUDA_API(cudaError_t, cudaMemcpyBatchAsync)
(void** to, void** from, size_t* sizes, size_t count, cudaMemcpyAttributes* attributes, size_t* firsts,
 size_t attributeCount, size_t* failed, cudaStream_t stream) {
  return copyPieces(to, from, sizes, count, attributes, firsts, attributeCount, failed, stream);
}
CUDA_API(cudaError_t, cudaMemcpyBatchAsync_ptsz)
(void** to, void** from, size_t* sizes, size_t count, cudaMemcpyAttributes* attributes, size_t* firsts,
 size_t attributeCount, size_t* failed, cudaStream_t stream) {
  return copyPieces(to, from, sizes, count, attributes, firsts, attributeCount, failed, orPerThread(stream));
}
CUDA_API(cudaError_t, cudaMemcpy3DBatchAsync)
(size_t count, cudaMemcpy3DBatchOp* boxes, size_t* failed, unsigned long long flags, cudaStream_t stream) {
  return copyBoxesIn(boxes, count, flags, failed, stream);
}
CUDA_API(cudaError_t, cudaMemcpy3DBatchAsync_ptsz)
(size_t count, cudaMemcpy3DBatchOp* boxes, size_t* failed, unsigned long long flags, cudaStream_t stream) {
  return copyBoxesIn(boxes, count, flags, failed, orPerThread(stream));
}
#endif
#if MULCIBER_CUDART_MAJOR >= 13
CUDA_API(cudaError_t, cudaMemcpyBatchAsync)
(void* const* to, const void* const* from, const size_t* sizes, size_t count, cudaMemcpyAttributes* attributes,
 size_t* firsts, size_t attributeCount, cudaStream_t stream) {
  return copyPieces(to, from, sizes, count, attributes, firsts, attributeCount, nullptr, stream);
}
CUDA_API(cudaError_t, cudaMemcpyBatchAsync_ptsz)
(void* const* to, const void* const* from, const size_t* sizes, size_t count, cudaMemcpyAttributes* attributes,
 size_t* firsts, size_t attributeCount, cudaStream_t stream) {
  return copyPieces(to, from, sizes, count, attributes, firsts, attributeCount, nullptr, orPerThread(stream));
}
CUDA_API(cudaError_t, cudaMemcpy3DBatchAsync)
(size_t count, cudaMemcpy3DBatchOp* boxes, unsigned long long flags, cudaStream_t stream) {
  return copyBoxesIn(boxes, count, flags, nullptr, stream);
}
CUDA_API(cudaError_t, cudaMemcpy3DBatchAsync_ptsz)
(size_t count, cudaMemcpy3DBatchOp* boxes, unsigned long long flags, cudaStream_t stream) {
  return copyBoxesIn(boxes, count, flags, nullptr, orPerThread(stream));
}
#endif

#if MULCIBER_CUDART_MAJOR < 12
CUDA_API(cudaError_t, cudaGetDriverEntryPoint)(const char* name, void** out, unsigned long long flags) {
  return driverEntryPoint(name, out, runtimeVersion, flags, nullptr);
}
CUDA_API(cudaError_t, cudaGetDriverEntryPoint_ptsz)(const char* name, void** out, unsigned long long flags) {
  return driverEntryPoint(name, out, runtimeVersion, perThreadFlags(flags), nullptr);
}
#endif
#if MULCIBER_CUDART_MAJOR >= 12
CUDA_API(cudaError_t, cudaGetDriverEntryPoint)
(const char* name, void** out, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return driverEntryPoint(name, out, runtimeVersion, flags, status);
}
CUDA_API(cudaError_t, cudaGetDriverEntryPoint_ptsz)
(const char* name, void** out, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return driverEntryPoint(name, out, runtimeVersion, perThreadFlags(flags), status);
}
CUDA_API(cudaError_t, cudaGetDriverEntryPointByVersion)
(const char* name, void** out, unsigned int version, unsigned long long flags,
 cudaDriverEntryPointQueryResult* status) {
  return driverEntryPoint(name, out, version, flags, status);
}
CUDA_API(cudaError_t, cudaGetDriverEntryPointByVersion_ptsz)
(const char* name, void** out, unsigned int version, unsigned long long flags,
 cudaDriverEntryPointQueryResult* status) {
  return driverEntryPoint(name, out, version, perThreadFlags(flags), status);
}
#endif
