// The legacy default stream's rule (STR-04): what is given to it comes after all that was given to any blocking stream
// of the context, and what is given to those later comes after it. Done by values, not by waiting: two counters say
// whether the other side has had work since one last looked, so that a program of one stream pays two loads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "runtime/core/error.h"

namespace mulciber::core {

class Context;
class Stream;

class StreamOrder {
 public:
  explicit StreamOrder(Context& context) : context_(context) {}

  // Puts the stream behind what its next operation must come after.
  Error before(Stream& stream);
  void after(Stream& stream);  // an operation was given to it
  // Of a blocking stream. Until it ends, the legacy stream is of no use: it would come after what is not to run yet.
  void captureBegins() { captures_.fetch_add(1, std::memory_order_acq_rel); }
  void captureEnds() { captures_.fetch_sub(1, std::memory_order_acq_rel); }

  bool isBeingCaptured() const { return captures_.load(std::memory_order_acquire) != 0; }
  Error refuseInCapture();  // of the legacy stream

 private:
  Context& context_;
  std::mutex legacyMutex_;                                   // while the legacy stream is being put behind the others
  std::atomic<uint64_t> blockingWork_{0}, blockingSeen_{0};  // operations of blocking streams
  std::atomic<uint64_t> legacyWork_{0};
  std::atomic<uint64_t> captures_{0};
};

}  // namespace mulciber::core
