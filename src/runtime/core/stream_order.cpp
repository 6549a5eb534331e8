#include "runtime/core/stream_order.h"

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/stream.h"

namespace mulciber::core {

Error StreamOrder::before(Stream& stream) {
  if (stream.isLegacy()) {
    if (blockingWork_.load(std::memory_order_acquire) == blockingSeen_.load(std::memory_order_acquire))
      return Error::Success;
    std::lock_guard lock(legacyMutex_);
    const uint64_t work = blockingWork_.load(std::memory_order_acquire);
    if (work == blockingSeen_.load(std::memory_order_acquire)) return Error::Success;
    for (const StreamRef& other : context_.streams()) {
      if (!other->isBlocking() || !other->hasNewWork_.exchange(false, std::memory_order_acq_rel)) continue;
      std::shared_ptr<Marker> marker;
      TRY(other->mark(Precision::Loose, marker));
      stream.follow(marker);
    }
    blockingSeen_.store(work, std::memory_order_release);
    return Error::Success;
  }
  if (!stream.isBlocking()) return Error::Success;
  const uint64_t work = legacyWork_.load(std::memory_order_acquire);
  if (work == stream.legacySeen_.load(std::memory_order_acquire)) return Error::Success;
  std::shared_ptr<Marker> marker;
  TRY(context_.legacyStream()->mark(Precision::Loose, marker));
  stream.follow(marker);
  stream.legacySeen_.store(work, std::memory_order_release);
  return Error::Success;
}

Error StreamOrder::refuseInCapture() {
  if (!isBeingCaptured()) return Error::Success;
  for (const StreamRef& stream : context_.streams())
    if (const CaptureRef capture = stream->isBlocking() ? stream->capture() : nullptr) capture->invalidate();
  return Error::StreamCaptureImplicit;
}

void StreamOrder::after(Stream& stream) {
  if (stream.isLegacy()) {
    legacyWork_.fetch_add(1, std::memory_order_acq_rel);
  } else if (stream.isBlocking()) {
    stream.hasNewWork_.store(true, std::memory_order_release);
    blockingWork_.fetch_add(1, std::memory_order_acq_rel);
  }
}

}  // namespace mulciber::core
