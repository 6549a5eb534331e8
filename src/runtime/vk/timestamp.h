// A device timestamp: a slot of a query pool, given back when the last reference goes.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;

class Timestamp {
 public:
  Timestamp(Device& device, VkQueryPool pool, uint32_t index) : device_(device), pool_(pool), index_(index) {}
  ~Timestamp();
  Timestamp(const Timestamp&) = delete;
  Timestamp& operator=(const Timestamp&) = delete;

  Status nanoseconds(double& out) const;  // NotReady until the device has written it
  bool isWritten() const;
  VkQueryPool pool() const { return pool_; }
  uint32_t index() const { return index_; }

 private:
  Device& device_;
  const VkQueryPool pool_;
  const uint32_t index_;
};
using TimestampRef = std::shared_ptr<Timestamp>;

}  // namespace mulciber::vk
