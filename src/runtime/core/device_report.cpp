#include "runtime/core/device_report.h"

#include "runtime/core/device.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

DeviceReport reportOf(const Device& device) {
  const vk::PhysicalDevice& physical = device.physical();
  return {physical.properties12.driverInfo, physical.pci.pciDomain,         physical.pci.pciBus,
          physical.pci.pciDevice,           physical.properties().vendorID, physical.properties().deviceID};
}

Error memoryOf(Device& device, uint64_t& freeBytes, uint64_t& totalBytes) {
  std::shared_ptr<vk::Device> vulkan;
  TRY(device.open(vulkan));
  vulkan->allocator().usage(freeBytes, totalBytes);
  return Error::Success;
}

}  // namespace mulciber::core
