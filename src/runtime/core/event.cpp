#include "runtime/core/event.h"

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

MarkerRef Event::marker() const {
  std::lock_guard lock(mutex_);
  return marker_;
}

std::shared_ptr<const CapturedEvent> Event::captured() const {
  std::lock_guard lock(mutex_);
  return captured_;
}

void Event::setMarker(MarkerRef marker) {
  std::lock_guard lock(mutex_);
  marker_ = std::move(marker);
  captured_ = nullptr;
}

void Event::setCaptured(std::shared_ptr<const CapturedEvent> captured) {
  std::lock_guard lock(mutex_);
  captured_ = std::move(captured);
  marker_ = nullptr;
}

Error Event::query() const {
  TRY(context_->error());
  if (const auto captured = this->captured()) return captured->refuse();
  TRY(unsafeDuringCapture());
  return poll();
}

Error Event::poll() const {
  TRY(context_->error());
  const MarkerRef marker = this->marker();
  if (!marker) return Error::Success;
  if (!marker->isResolved()) return Error::NotReady;
  TRY(context_->errorAfter(marker->poll()));
  return context_->services().afterWait();
}

Error Event::synchronize() const {
  TRY(context_->error());
  if (const auto captured = this->captured()) return captured->refuse();
  TRY(unsafeDuringCapture());
  const MarkerRef marker = this->marker();
  if (!marker) return Error::Success;
  const auto mode = (flags_ & BlockingSync) != 0 ? vk::WaitMode::Block : context_->waitMode();
  vk::Status status = marker->waitResolved();
  if (status == vk::Status::Ok) status = marker->wait(mode);
  TRY(context_->errorAfter(status));
  context_->device().trimPools();
  return context_->services().afterWait();
}

Error Event::elapsed(const Event& start, const Event& end, float& milliseconds) {
  if (start.context_ != end.context_) return Error::InvalidHandle;
  if (((start.flags_ | end.flags_) & DisableTiming) != 0) return Error::InvalidHandle;
  if (start.captured() || end.captured()) return Error::CapturedEvent;
  const MarkerRef first = start.marker(), last = end.marker();
  if (!first || !last) return Error::InvalidHandle;
  for (const Event* event : {&start, &end}) TRY(event->poll());
  double from = 0, to = 0;
  for (const auto& [marker, time] : {std::pair{&first, &from}, std::pair{&last, &to}})
    TRY(errorFrom((*marker)->timestamp()->nanoseconds(*time)));
  milliseconds = static_cast<float>((to - from) * 1e-6);
  return Error::Success;
}

}  // namespace mulciber::core
