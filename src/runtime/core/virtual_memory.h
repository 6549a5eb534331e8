// Addresses reserved apart from memory, and memory mapped into them (cuMemAddressReserve and its kin).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/core/memory_map.h"
#include "runtime/vk/sparse.h"

namespace mulciber::vk {
class Device;
}

namespace mulciber::core {

class Device;

// All of the process. Handles of memory are numbers, never given out twice.
class VirtualMemory {
 public:
  static VirtualMemory& get();
  static constexpr uint64_t granularity = vk::sparseGranularity;

  Error reserve(Device& device, uint64_t size, uint64_t alignment, uint64_t& address);
  Error unreserve(uint64_t address, uint64_t size);
  static bool canShare(const Device& device);  // memory as file descriptors
  Error create(Device& device, uint64_t size, bool isShared, uint64_t& handle);
  // InvalidValue for memory that was not created to be shared. The descriptor is the program's.
  Error exportDescriptor(uint64_t handle, int& descriptor) const;
  // The program keeps the descriptor. What was imported cannot be exported.
  Error importDescriptor(Device& device, int descriptor, uint64_t& handle);
  Error release(uint64_t handle);  // memory that is mapped stays until it is unmapped
  Error map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle);
  Error unmap(uint64_t address, uint64_t size);
  Error setAccess(uint64_t address, uint64_t size, bool isAccessible);
  // Of mapped memory; NotFound when there is none.
  Error access(uint64_t address, bool& isAccessible) const;
  Error retain(uint64_t address, uint64_t& handle);
  Error propertiesOf(uint64_t handle, int& ordinal, bool& isShared) const;

 private:
  struct Physical {
    std::shared_ptr<vk::Device> vulkan;
    vk::PhysicalMemory memory;
    uint64_t handle;
    int device;
    bool isShared = false;  // it can be exported
    int references = 1;     // of the program
    ~Physical();
  };
  using PhysicalRef = std::shared_ptr<Physical>;
  struct Mapping {
    uint64_t size;
    PhysicalRef memory;
    bool isAccessible = false;
  };
  struct Reservation {
    std::shared_ptr<vk::Device> vulkan;
    vk::AddressRange range;
    Device* device;
    uint64_t size;
    std::map<uint64_t, Mapping> mappings;           // by address
    std::map<uint64_t, AllocationRef> allocations;  // what the program may use, neighbours as one
  };

  Reservation* find(uint64_t address, uint64_t size);
  static void publish(Reservation& reservation);

  mutable std::mutex mutex_;
  std::map<uint64_t, Reservation> reservations_;  // by the address given out
  std::map<uint64_t, PhysicalRef> handles_;
  uint64_t nextHandle_ = 1;
};

}  // namespace mulciber::core
