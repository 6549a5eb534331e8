// A place in a stream. Resolved once everything before it has gone to the queue; complete once its point has passed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/vk/queue.h"

namespace mulciber::core {

// How exactly a marker tells that the work before it is done. Loose: later work in the same batch may delay it. Exact:
// it ends a batch, which costs a submission. Timed: it has a timestamp, which tells when it is passed whatever follows.
// Cheap: as precise as either, by a timestamp only where ending a batch would cost more.
enum class Precision : uint8_t { Loose, Exact, Timed, Cheap };

class Marker {
 public:
  bool isResolved() const { return resolved_.load(std::memory_order_acquire); }
  void resolve(const vk::Point& point, vk::TimestampRef timestamp);
  vk::Status waitResolved() const;
  // Of a resolved marker.
  vk::Status poll() const;  // submits first
  vk::Status wait(vk::WaitMode mode) const;
  const vk::Point& point() const { return point_; }
  const vk::TimestampRef& timestamp() const { return timestamp_; }
  // Of two markers of one stream the later has the larger number, whether it is resolved or not.
  uint64_t place() const { return place_; }
  void setPlace(uint64_t place) { place_ = place; }

 private:
  uint64_t place_ = 0;
  std::atomic<bool> resolved_{false};
  vk::Point point_;
  vk::TimestampRef timestamp_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};
using MarkerRef = std::shared_ptr<Marker>;

}  // namespace mulciber::core
