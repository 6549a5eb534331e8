// A stream: an ordered list of operations on one device queue. Operations go straight into the queue's open batch,
// unless something before them in the stream waits for the host: then they are kept and replayed in order by the
// context's worker, so that a queue shared with other streams never waits for the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/core/event.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

class Context;

// A place in a stream. Resolved once everything before it has gone to the queue; complete once `point` has passed.
class Marker {
 public:
  bool isResolved() const { return resolved_.load(std::memory_order_acquire); }
  void resolve(const vk::Point& point, vk::TimestampRef timestamp = {});
  bool wait() const;  // until resolved
  const vk::Point& point() const { return point_; }
  const vk::TimestampRef& timestamp() const { return timestamp_; }

 private:
  std::atomic<bool> resolved_{false};
  vk::Point point_;
  vk::TimestampRef timestamp_;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum Flags : uint32_t { Default = 0, NonBlocking = 1 };
  enum class Role : uint8_t { Ordinary, Legacy };

  Stream(Context& context, Role role, uint32_t flags, int priority, vk::Queue& queue);

  Context& context() const { return context_; }
  uint32_t flags() const { return flags_; }
  int priority() const { return priority_; }
  uint64_t id() const { return id_; }
  bool isLegacy() const { return role_ == Role::Legacy; }

  Error query();        // Success or NotReady
  Error synchronize();  // also drains printf and reports what kernels did wrong
  Error record(Event& event);
  Error wait(const Event& event);
  // Runs on the context's worker thread after all before it; what follows waits for it. `status` is the error of the
  // work before it.
  Error hostFunction(std::function<void(Error status)> function);

  // Work for the device: `record` puts it into the batch, now or when what it waits for is done.
  using Work = std::function<vk::Status(vk::Recorder& recorder)>;
  template <typename Record>
  Error enqueue(Record&& record);

  // The place all work given so far ends at.
  MarkerRef mark(bool timed = false);

 private:
  friend class Worker;
  Error enqueueLater(Work work);

  Context& context_;
  const Role role_;
  const uint32_t flags_;
  const int priority_;
  const uint64_t id_;
};
using StreamRef = std::shared_ptr<Stream>;

}  // namespace mulciber::core
