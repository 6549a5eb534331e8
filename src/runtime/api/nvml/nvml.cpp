// NVML as far as programs ask it: which devices there are, and how much memory. What Vulkan does not know, such as
// temperatures, clocks and utilisation, answers that it is not supported (generate.py).
#include "runtime/api/nvml/nvml.h"

#include <cuda.h>
#include <fmt/core.h>
#include <strings.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include "runtime/api/entry.h"
#include "runtime/core/device.h"
#include "runtime/core/device_report.h"
#include "runtime/core/platform.h"
#include "util/environment.h"
#include "util/exit_gate.h"

namespace mulciber::api {

int refuse(const char* name) {
  reportUnsupported(name);
  return NVML_ERROR_NOT_SUPPORTED;
}

namespace {

// How many more times a program has initialised NVML than shut it down.
std::atomic<unsigned> users = 0;

nvmlReturn_t resultOf(core::Error error) {
  switch (error) {
    case core::Error::Success: return NVML_SUCCESS;
    case core::Error::OutOfMemory: return NVML_ERROR_MEMORY;
    case core::Error::NoDevice: return NVML_ERROR_DRIVER_NOT_LOADED;
    default: return NVML_ERROR_UNKNOWN;
  }
}

template <class Body>
nvmlReturn_t guarded(Body&& body) {
  const util::Inside inside;
  if (!inside) return NVML_ERROR_UNINITIALIZED;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return NVML_ERROR_MEMORY;
  } catch (...) {
    return NVML_ERROR_UNKNOWN;
  }
}

template <class Body>
nvmlReturn_t whenInitialized(Body&& body) {
  return guarded([&] { return users == 0 ? NVML_ERROR_UNINITIALIZED : body(); });
}

nvmlDevice_t handleOf(core::Device& device) { return reinterpret_cast<nvmlDevice_t>(&device); }

template <class Body>
nvmlReturn_t withDevice(nvmlDevice_t handle, Body&& body) {
  return whenInitialized([&] {
    for (const auto& device : core::Platform::get().devices()) {
      if (handleOf(*device) == handle) return body(*device);
    }
    return NVML_ERROR_INVALID_ARGUMENT;
  });
}

// The first device of which it is true.
template <class Is>
nvmlReturn_t findDevice(nvmlDevice_t* out, Is&& is) {
  return whenInitialized([&] {
    if (!out) return NVML_ERROR_INVALID_ARGUMENT;
    for (const auto& device : core::Platform::get().devices()) {
      if (!is(*device)) continue;
      *out = handleOf(*device);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

nvmlReturn_t copyText(const std::string& text, char* out, unsigned bytes) {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  if (bytes <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

std::string uuidOf(const core::Device& device) {
  std::string text = "GPU";
  unsigned count = 0;
  for (const uint8_t byte : device.uuid()) {
    const bool beginsGroup = count == 0 || count == 4 || count == 6 || count == 8 || count == 10;
    text += fmt::format("{}{:02x}", beginsGroup ? "-" : "", byte);
    ++count;
  }
  return text;
}

// Domains have four digits in the one form, eight in the other.
std::string busIdOf(const core::DeviceReport& report, int domainDigits) {
  return fmt::format("{:0{}X}:{:02X}:{:02X}.0", report.pciDomain, domainDigits, report.pciBus, report.pciDevice);
}

bool isBusIdOf(const core::Device& device, const char* id) {
  const core::DeviceReport report = core::reportOf(device);
  return strcasecmp(id, busIdOf(report, 4).c_str()) == 0 || strcasecmp(id, busIdOf(report, 8).c_str()) == 0;
}

template <class Info>
void fillPciInfo(const core::DeviceReport& report, Info& info) {
  info = {};
  info.domain = report.pciDomain;
  info.bus = report.pciBus;
  info.device = report.pciDevice;
  info.pciDeviceId = report.pciDeviceId << 16 | report.pciVendorId;
}

constexpr unsigned memoryVersion2 = sizeof(nvmlMemory_v2_t) | 2u << 24;

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(nvmlReturn_t, nvmlInitWithFlags)(unsigned) {
  return guarded([] {
    const nvmlReturn_t result = resultOf(core::Platform::get().initialize());
    if (result == NVML_SUCCESS) ++users;
    return result;
  });
}

CUDA_API(nvmlReturn_t, nvmlInit)() { return nvmlInitWithFlags(0); }
CUDA_API(nvmlReturn_t, nvmlInit_v2)() { return nvmlInitWithFlags(0); }

CUDA_API(nvmlReturn_t, nvmlShutdown)() {
  unsigned count = users;
  while (count != 0 && !users.compare_exchange_weak(count, count - 1)) continue;
  return count == 0 ? NVML_ERROR_UNINITIALIZED : NVML_SUCCESS;
}

CUDA_API(const char*, nvmlErrorString)(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_ALREADY_INITIALIZED: return "Already Initialized";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case NVML_ERROR_MEMORY: return "Insufficient Memory";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument Version Mismatch";
    case NVML_ERROR_UNKNOWN: break;
  }
  return "Unknown Error";
}

CUDA_API(nvmlReturn_t, nvmlSystemGetDriverVersion)(char* version, unsigned bytes) {
  return whenInitialized([&] {
    const auto& devices = core::Platform::get().devices();
    if (devices.empty()) return NVML_ERROR_NOT_SUPPORTED;
    return copyText(core::reportOf(*devices.front()).driver, version, bytes);
  });
}

CUDA_API(nvmlReturn_t, nvmlSystemGetCudaDriverVersion)(int* version) {
  if (!version) return NVML_ERROR_INVALID_ARGUMENT;
  *version = static_cast<int>(mulciber::util::environment().driverVersion);
  return NVML_SUCCESS;
}

CUDA_API(nvmlReturn_t, nvmlSystemGetCudaDriverVersion_v2)(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetCount)(unsigned* count) {
  return whenInitialized([&] {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = static_cast<unsigned>(core::Platform::get().devices().size());
    return NVML_SUCCESS;
  });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetCount_v2)(unsigned* count) { return nvmlDeviceGetCount(count); }

CUDA_API(nvmlReturn_t, nvmlDeviceGetHandleByIndex)(unsigned index, nvmlDevice_t* out) {
  const nvmlReturn_t result =
      findDevice(out, [&](core::Device& device) { return device.ordinal() == static_cast<int>(index); });
  return result == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : result;
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetHandleByIndex_v2)(unsigned index, nvmlDevice_t* out) {
  return nvmlDeviceGetHandleByIndex(index, out);
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetHandleByUUID)(const char* uuid, nvmlDevice_t* out) {
  if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
  return findDevice(out, [&](core::Device& device) { return strcasecmp(uuid, uuidOf(device).c_str()) == 0; });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetHandleByPciBusId)(const char* id, nvmlDevice_t* out) {
  if (!id) return NVML_ERROR_INVALID_ARGUMENT;
  return findDevice(out, [&](core::Device& device) { return isBusIdOf(device, id); });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetHandleByPciBusId_v2)(const char* id, nvmlDevice_t* out) {
  return nvmlDeviceGetHandleByPciBusId(id, out);
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetIndex)(nvmlDevice_t handle, unsigned* index) {
  return withDevice(handle, [&](core::Device& device) {
    if (!index) return NVML_ERROR_INVALID_ARGUMENT;
    *index = static_cast<unsigned>(device.ordinal());
    return NVML_SUCCESS;
  });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetName)(nvmlDevice_t handle, char* name, unsigned bytes) {
  return withDevice(handle, [&](core::Device& device) { return copyText(device.name(), name, bytes); });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetUUID)(nvmlDevice_t handle, char* uuid, unsigned bytes) {
  return withDevice(handle, [&](core::Device& device) { return copyText(uuidOf(device), uuid, bytes); });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetCudaComputeCapability)(nvmlDevice_t handle, int* major, int* minor) {
  return withDevice(handle, [&](core::Device& device) {
    if (!major || !minor) return NVML_ERROR_INVALID_ARGUMENT;
    *major = static_cast<int>(device.computeCapability() / 10);
    *minor = static_cast<int>(device.computeCapability() % 10);
    return NVML_SUCCESS;
  });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetMemoryInfo)(nvmlDevice_t handle, nvmlMemory_t* memory) {
  return withDevice(handle, [&](core::Device& device) {
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    uint64_t available = 0, total = 0;
    const nvmlReturn_t result = resultOf(core::memoryOf(device, available, total));
    if (result == NVML_SUCCESS) *memory = {total, available, total - available};
    return result;
  });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetMemoryInfo_v2)(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
  if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
  if (memory->version != memoryVersion2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  nvmlMemory_t plain;
  const nvmlReturn_t result = nvmlDeviceGetMemoryInfo(handle, &plain);
  if (result == NVML_SUCCESS) *memory = {memoryVersion2, plain.total, 0, plain.free, plain.used};
  return result;
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetPciInfo_v3)(nvmlDevice_t handle, nvmlPciInfo_t* info) {
  return withDevice(handle, [&](core::Device& device) {
    if (!info) return NVML_ERROR_INVALID_ARGUMENT;
    const core::DeviceReport report = core::reportOf(device);
    fillPciInfo(report, *info);
    copyText(busIdOf(report, 4), info->busIdLegacy, sizeof(info->busIdLegacy));
    return copyText(busIdOf(report, 8), info->busId, sizeof(info->busId));
  });
}

CUDA_API(nvmlReturn_t, nvmlDeviceGetPciInfo_v2)(nvmlDevice_t handle, nvmlPciInfo_v2_t* info) {
  return withDevice(handle, [&](core::Device& device) {
    if (!info) return NVML_ERROR_INVALID_ARGUMENT;
    const core::DeviceReport report = core::reportOf(device);
    fillPciInfo(report, *info);
    return copyText(busIdOf(report, 4), info->busId, sizeof(info->busId));
  });
}
