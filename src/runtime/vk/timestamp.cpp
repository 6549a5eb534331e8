#include "runtime/vk/timestamp.h"

#include "runtime/vk/device.h"

namespace mulciber::vk {

Timestamp::~Timestamp() {
  std::lock_guard lock(device_.timestampMutex_);
  device_.freeTimestamps_.push_back({pool_, index_});
}

Status Timestamp::nanoseconds(double& out) const {
  uint64_t ticks = 0;
  const VkResult result = device_.api().vkGetQueryPoolResults(device_.handle(), pool_, index_, 1, sizeof(ticks), &ticks,
                                                              sizeof(ticks), VK_QUERY_RESULT_64_BIT);
  if (result == VK_NOT_READY) return Status::NotReady;
  out = static_cast<double>(ticks) * static_cast<double>(device_.physical().limits().timestampPeriod);
  return device_.status(result, "reading a timestamp");
}

bool Timestamp::isWritten() const {
  double ignored = 0;
  return nanoseconds(ignored) == Status::Ok;
}

}  // namespace mulciber::vk
