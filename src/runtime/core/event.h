// An event: the last place in a stream, or in a capture, it was recorded at.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/core/marker.h"

namespace mulciber::core {

class Context;
struct CapturedEvent;

class Event : public std::enable_shared_from_this<Event> {
 public:
  enum Flags : uint32_t { BlockingSync = 1, DisableTiming = 2, Interprocess = 4 };

  Event(std::shared_ptr<Context> context, uint32_t flags) : context_(std::move(context)), flags_(flags) {}

  Error query() const;  // Success or NotReady; Success when never recorded
  Error synchronize() const;
  // Milliseconds from `start` to `end`; InvalidHandle when one was never recorded or has no timing, NotReady when one
  // is not complete.
  static Error elapsed(const Event& start, const Event& end, float& milliseconds);

  Context& context() const { return *context_; }
  uint32_t flags() const { return flags_; }
  // Where it was recorded last: in a stream, in a capture, or, when both are null, nowhere yet.
  MarkerRef marker() const;
  std::shared_ptr<const CapturedEvent> captured() const;
  void setMarker(MarkerRef marker);
  void setCaptured(std::shared_ptr<const CapturedEvent> captured);

 private:
  Error poll() const;

  std::shared_ptr<Context> context_;
  uint32_t flags_;
  mutable std::mutex mutex_;
  MarkerRef marker_;
  std::shared_ptr<const CapturedEvent> captured_;
};
using EventRef = std::shared_ptr<Event>;

}  // namespace mulciber::core
