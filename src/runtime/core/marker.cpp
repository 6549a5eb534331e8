#include "runtime/core/marker.h"

#include <chrono>

#include "util/exit_gate.h"

namespace mulciber::core {

void Marker::resolve(const vk::Point& point, vk::TimestampRef timestamp) {
  {
    std::lock_guard lock(mutex_);
    point_ = point;
    timestamp_ = std::move(timestamp);
    resolved_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

vk::Status Marker::waitResolved() const {
  constexpr auto slice = std::chrono::milliseconds(100);  // between looks at whether the process is ending
  if (isResolved()) return vk::Status::Ok;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, slice, [this] { return isResolved(); }))
    if (util::mustLeave()) return vk::Status::Ended;
  return vk::Status::Ok;
}

vk::Status Marker::poll() const {
  TRY(point_.queue->submit(point_.value));
  const vk::Status status = point_.queue->poll(point_.value);
  return status == vk::Status::NotReady && timestamp_ && timestamp_->isWritten() ? vk::Status::Ok : status;
}

vk::Status Marker::wait(vk::WaitMode mode) const {
  return timestamp_ ? point_.queue->wait(point_.value, *timestamp_, mode) : point_.queue->wait(point_.value, mode);
}

}  // namespace mulciber::core
