// What tools that watch devices ask, beyond what CUDA itself tells.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/core/error.h"

namespace mulciber::core {

class Device;

struct DeviceReport {
  std::string driver;  // the version, in the driver's own words
  uint32_t pciDomain, pciBus, pciDevice, pciVendorId, pciDeviceId;
};

DeviceReport reportOf(const Device& device);

// Of the whole device, whoever uses it, as far as the driver knows.
Error memoryOf(Device& device, uint64_t& freeBytes, uint64_t& totalBytes);

}  // namespace mulciber::core
