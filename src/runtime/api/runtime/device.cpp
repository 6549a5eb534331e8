#include <cstring>

#include "runtime/api/runtime/channels.h"
#include "runtime/api/runtime/runtime.h"
#include "util/environment.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaGetDeviceCount)(int* count) {
  if (!count) return record(cudaErrorInvalidValue);
  *count = 0;
  // Once the devices are known, host functions may ask too.
  if (core::Platform::get().isInitialized() && !core::Platform::get().devices().empty()) {
    *count = static_cast<int>(core::Platform::get().devices().size());
    return cudaSuccess;
  }
  return withPlatform([&] {
    *count = static_cast<int>(core::Platform::get().devices().size());
    return *count ? cudaSuccess : cudaErrorNoDevice;
  });
}

CUDA_API(cudaError_t, cudaSetDevice)(int ordinal) {
  return withDevice(ordinal, [&](core::Device&) { return core::setRuntimeDevice(ordinal); });
}

CUDA_API(cudaError_t, cudaGetDevice)(int* ordinal) {
  return withPlatform([&] {
    if (!ordinal) return cudaErrorInvalidValue;
    *ordinal = core::runtimeDevice();
    return cudaSuccess;
  });
}

// HOST-08. All devices there are can be used, so the first of the list is taken.
CUDA_API(cudaError_t, cudaSetValidDevices)(int* devices, int count) {
  return withPlatform([&] {
    if (count < 0 || (count > 0 && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!core::Platform::get().device(devices[i])) return cudaErrorInvalidDevice;
    }
    return count > 0 ? codeOf(core::setRuntimeDevice(devices[0])) : cudaSuccess;
  });
}

CUDA_API(cudaError_t, cudaInitDevice)(int ordinal, unsigned int deviceFlags, unsigned int flags) {
  return withDevice(ordinal, [&](core::Device& device) {
    if (flags & cudaInitDeviceFlagsAreValid) {
      if (deviceFlags & ~unsigned{cudaDeviceMask}) return Error::InvalidValue;
      TRY(device.setPrimaryFlags(deviceFlags));
    }
    core::ContextRef context;
    return device.retainPrimary(context);
  });
}

CUDA_API(cudaError_t, cudaSetDeviceFlags)(unsigned int flags) {
  return withDevice(core::runtimeDevice(), [&](core::Device& device) {
    return flags & ~unsigned{cudaDeviceMask} ? Error::InvalidValue : device.setPrimaryFlags(flags | cudaDeviceMapHost);
  });
}

CUDA_API(cudaError_t, cudaGetDeviceFlags)(unsigned int* flags) {
  return withDevice(core::runtimeDevice(), [&](core::Device& device) {
    if (!flags) return Error::InvalidValue;
    bool active = false;
    device.primaryState(*flags, active);
    if (active) *flags |= cudaDeviceMapHost;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetAttribute)(int* value, cudaDeviceAttr attribute, int ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    return value ? attributeOf(device, attribute, *value) : Error::InvalidValue;
  });
}

// The same of every format, as the attribute says it.
CUDA_API(cudaError_t, cudaDeviceGetTexture1DLinearMaxWidth)
(size_t* texels, const cudaChannelFormatDesc* channels, int ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    if (!texels || !channels || !formatOf(*channels)) return Error::InvalidValue;
    int most = 0;
    TRY(device.attribute(cudaDevAttrMaxTexture1DLinearWidth, most));
    *texels = static_cast<size_t>(most);
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetPCIBusId)(char* id, int bytes, int ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    const std::string text = device.pciBusId();
    if (!id || bytes <= static_cast<int>(text.size())) return Error::InvalidValue;
    std::memcpy(id, text.c_str(), text.size() + 1);
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetByPCIBusId)(int* out, const char* id) {
  return withPlatform([&] {
    if (!out || !id) return cudaErrorInvalidValue;
    for (const auto& device : core::Platform::get().devices()) {
      if (strcasecmp(device->pciBusId().c_str(), id) == 0) {
        *out = device->ordinal();
        return cudaSuccess;
      }
    }
    return isPciBusId(id) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
  });
}

CUDA_API(cudaError_t, cudaDeviceSynchronize)() {
  return withContext([](core::Context& context) { return context.synchronize(); });
}

CUDA_API(cudaError_t, cudaDeviceReset)() {
  return withDevice(core::runtimeDevice(), [](core::Device& device) { return device.resetPrimary(); });
}

CUDA_API(cudaError_t, cudaDeviceGetLimit)(size_t* value, cudaLimit limit) {
  return withContext([&](core::Context& context) {
    return value ? context.limit(static_cast<core::Limit>(limit), *value) : Error::InvalidValue;
  });
}

CUDA_API(cudaError_t, cudaDeviceSetLimit)(cudaLimit limit, size_t value) {
  return withContext([&](core::Context& context) { return context.setLimit(static_cast<core::Limit>(limit), value); });
}

// HOST-21: hints for hardware that has a choice.
CUDA_API(cudaError_t, cudaDeviceGetCacheConfig)(cudaFuncCache* config) {
  return withContext([&](core::Context&) {
    if (!config) return Error::InvalidValue;
    *config = cudaFuncCachePreferNone;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceSetCacheConfig)(cudaFuncCache config) {
  return withContext([&](core::Context&) {
    return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual ? Error::InvalidValue : Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetSharedMemConfig)(cudaSharedMemConfig* config) {
  return withContext([&](core::Context&) {
    if (!config) return Error::InvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceSetSharedMemConfig)(cudaSharedMemConfig config) {
  return withContext([&](core::Context&) {
    return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte ? Error::InvalidValue
                                                                                            : Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetStreamPriorityRange)(int* least, int* greatest) {
  return withContext([&](core::Context& context) {
    int supported = 0;
    TRY(context.device().attribute(cudaDevAttrStreamPrioritiesSupported, supported));
    if (least) *least = leastPriority;
    if (greatest) *greatest = supported ? greatestPriority : leastPriority;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaCtxResetPersistingL2Cache)() {
  return withContext([](core::Context&) { return Error::Success; });
}

// Devices cannot reach each other's memory; copies between them go through the host.
CUDA_API(cudaError_t, cudaDeviceCanAccessPeer)(int* can, int ordinal, int peer) {
  return withDevice(ordinal, [&](core::Device&) {
    if (!can) return Error::InvalidValue;
    if (!core::Platform::get().device(peer)) return Error::InvalidDevice;
    *can = 0;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDeviceEnablePeerAccess)(int peer, unsigned int flags) {
  return withContext([&](core::Context&) {
    if (!core::Platform::get().device(peer)) return Error::InvalidDevice;
    return flags != 0 ? Error::InvalidValue : Error::PeerAccessUnsupported;
  });
}

CUDA_API(cudaError_t, cudaDeviceDisablePeerAccess)(int peer) {
  return withContext([&](core::Context&) {
    return core::Platform::get().device(peer) ? Error::PeerAccessNotEnabled : Error::InvalidDevice;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetP2PAttribute)(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return withDevice(from, [&](core::Device&) {
    if (!value) return Error::InvalidValue;
    if (from == to || !core::Platform::get().device(to)) return Error::InvalidDevice;
    if (attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported) {
      return Error::InvalidValue;
    }
    *value = 0;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaDriverGetVersion)(int* version) {
  if (!version) return record(cudaErrorInvalidValue);
  *version = static_cast<int>(mulciber::util::environment().driverVersion);
  return cudaSuccess;
}

CUDA_API(cudaError_t, cudaProfilerStart)() {
  return withContext([](core::Context&) { return Error::Success; });
}
CUDA_API(cudaError_t, cudaProfilerStop)() {
  return withContext([](core::Context&) { return Error::Success; });
}
