#include <cstring>

#include "runtime/api/driver/driver.h"
#include "runtime/core/array.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuDeviceGetCount)(int* count) {
  return withDriver([&] {
    if (!count) return Error::InvalidValue;
    *count = static_cast<int>(core::Platform::get().devices().size());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGet)(CUdevice* device, int ordinal) {
  return withDriver([&] {
    if (!device) return Error::InvalidValue;
    if (!core::Platform::get().device(ordinal)) return Error::InvalidDevice;
    *device = ordinal;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGetName)(char* name, int bytes, CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) { return copyText(device.name(), name, bytes); });
}

CUDA_API(CUresult, cuDeviceGetUuid_v2)(CUuuid* uuid, CUdevice ordinal) {
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  return withDevice(ordinal, [&](core::Device& device) {
    const auto bytes = device.uuid();
    std::memcpy(uuid->bytes, bytes.data(), bytes.size());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceTotalMem_v2)(size_t* bytes, CUdevice ordinal) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  *bytes = 0;
  return withDevice(ordinal, [&](core::Device& device) {
    *bytes = device.totalMemory();
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGetAttribute)(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  return withDevice(
      ordinal, [&](core::Device& device) { return value ? device.attribute(attribute, *value) : Error::InvalidValue; });
}

// The same of every format, as the attribute says it.
CUDA_API(CUresult, cuDeviceGetTexture1DLinearMaxWidth)
(size_t* texels, CUarray_format format, unsigned int channels, CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    if (!texels || !core::findArrayFormat(format, channels)) return Error::InvalidValue;
    int most = 0;
    TRY(device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, most));
    *texels = static_cast<size_t>(most);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceComputeCapability)(int* major, int* minor, CUdevice ordinal) {
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  return withDevice(ordinal, [&](core::Device& device) {
    *major = static_cast<int>(device.computeCapability() / 10);
    *minor = static_cast<int>(device.computeCapability() % 10);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGetProperties)(CUdevprop* properties, CUdevice ordinal) {
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  return withDevice(ordinal, [&](core::Device& device) {
    struct {
      CUdevice_attribute attribute;
      int* value;
    } const fields[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &properties->maxThreadsPerBlock},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &properties->maxThreadsDim[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &properties->maxThreadsDim[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &properties->maxThreadsDim[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &properties->maxGridSize[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &properties->maxGridSize[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &properties->maxGridSize[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &properties->sharedMemPerBlock},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &properties->totalConstantMemory},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &properties->SIMDWidth},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, &properties->memPitch},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &properties->regsPerBlock},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &properties->clockRate},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &properties->textureAlign},
    };
    for (const auto& field : fields) {
      TRY(device.attribute(field.attribute, *field.value));
    }
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGetPCIBusId)(char* id, int bytes, CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    const std::string text = device.pciBusId();
    if (!id || bytes <= static_cast<int>(text.size())) return Error::InvalidValue;
    return copyText(text, id, bytes);
  });
}

CUDA_API(CUresult, cuDeviceGetByPCIBusId)(CUdevice* out, const char* id) {
  return withDriver([&] {
    if (!out || !id) return Error::InvalidValue;
    for (const auto& device : core::Platform::get().devices()) {
      if (strcasecmp(device->pciBusId().c_str(), id) == 0) {
        *out = device->ordinal();
        return Error::Success;
      }
    }
    return isPciBusId(id) ? Error::InvalidDevice : Error::InvalidValue;
  });
}

// Devices cannot reach each other's memory; copies between them go through the host.
CUDA_API(CUresult, cuDeviceCanAccessPeer)(int* can, CUdevice ordinal, CUdevice peer) {
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  return withDevice(ordinal, [&](core::Device&) {
    if (!core::Platform::get().device(peer)) return Error::InvalidDevice;
    *can = 0;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDeviceGetP2PAttribute)(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  return withDevice(from, [&](core::Device&) {
    if (!value) return Error::InvalidValue;
    if (from == to || !core::Platform::get().device(to)) return Error::InvalidDevice;
    if (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attribute > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED) {
      return Error::InvalidValue;
    }
    *value = 0;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDevicePrimaryCtxRetain)(CUcontext* out, CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    if (!out) return Error::InvalidValue;
    core::ContextRef context;
    TRY(device.retainPrimary(context));
    *out = handleOf(context);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuDevicePrimaryCtxRelease_v2)(CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) { return device.releasePrimary(); });
}

CUDA_API(CUresult, cuDevicePrimaryCtxReset_v2)(CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) { return device.resetPrimary(); });
}

CUDA_API(CUresult, cuDevicePrimaryCtxSetFlags_v2)(CUdevice ordinal, unsigned int flags) {
  return withDevice(ordinal, [&](core::Device& device) {
    return flags & CU_CTX_MAP_HOST ? Error::InvalidValue : device.setPrimaryFlags(flags);
  });
}

CUDA_API(CUresult, cuDevicePrimaryCtxGetState)(CUdevice ordinal, unsigned int* flags, int* active) {
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  return withDevice(ordinal, [&](core::Device& device) {
    bool isActive = false;
    device.primaryState(*flags, isActive);
    *active = isActive;
    return Error::Success;
  });
}
