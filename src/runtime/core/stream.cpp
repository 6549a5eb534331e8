#include "runtime/core/stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/stream_order.h"
#include "runtime/core/trace.h"
#include "runtime/core/worker.h"
#include "runtime/vk/device.h"
#include "util/exit_gate.h"
#include "util/log.h"

namespace mulciber::core {

namespace {
std::atomic<uint64_t> nextStreamId{1};
}

Stream::Stream(Context& context, Role role, uint32_t flags, int priority, vk::Queue& queue)
    : context_(context),
      role_(role),
      flags_(flags),
      priority_(priority),
      id_(nextStreamId.fetch_add(1)),
      queue_(queue),
      position_(queue) {}

Error Stream::broken() const { return context_.error(); }

Error Stream::before() {
  TRY(context_.error());
  if (isLegacy() || isCapturing()) TRY(refuseInCapture());
  return isOrdered() ? context_.order().before(*this) : Error::Success;
}

CaptureRef Stream::captureOfNow() const {
  std::lock_guard lock(mutex_);
  return capture_;
}

bool Stream::enterCapture(const CaptureRef& capture) {
  std::lock_guard lock(mutex_);
  if (capture_) return false;
  capture_ = capture;
  isCapturing_.store(true, std::memory_order_relaxed);
  if (isBlocking()) context_.order().captureBegins();
  return true;
}

void Stream::leaveCapture() {
  std::lock_guard lock(mutex_);
  if (!capture_) return;
  capture_ = nullptr;
  isCapturing_.store(false, std::memory_order_relaxed);
  if (isBlocking()) context_.order().captureEnds();
}

Error Stream::refuseInCapture() {
  if (isLegacy()) return context_.order().refuseInCapture();
  const CaptureRef capture = this->capture();
  if (!capture) return Error::Success;
  capture->invalidate();
  return Error::StreamCaptureUnsupported;
}

Error Stream::after(vk::Status status) {
  if (isOrdered()) context_.order().after(*this);
  return status == vk::Status::Ok ? Error::Success : context_.errorAfter(status);
}

// The caller holds the lock.
template <class Work>
vk::Status Stream::give(const Work& work, vk::Queue& queue) {
  willBeRecorded(work);
  const vk::Status status = queue.record(position_, [&](vk::Commands& commands) {
    if (Trace* const trace = Trace::active()) return trace->record(work, commands, queue, *this);
    return core::record(work, commands);
  });
  wasRecorded(work, position_.last);
  return status;
}

vk::Status Stream::give(const DeviceWork& work) {
  const auto* copy = std::get_if<BufferCopy>(&work);
  if (!copy || !copy->queue) return give(work, queue_);
  const vk::Status status = give(work, *copy->queue);
  // It is large: nothing is gained by waiting for more.
  return status == vk::Status::Ok ? copy->queue->submit(position_.last.value) : status;
}

bool Stream::isBesideOthers() {
  std::lock_guard lock(mutex_);
  return context_.vulkan().isBusyBeside(position_.last);
}

template <class Work>
Error Stream::enqueueWork(const Work& work) {
  TRY(before());
  vk::Status status = vk::Status::Ok;
  {
    std::lock_guard lock(mutex_);
    TRY(broken());
    if (pending_.empty()) status = give(work);
    else pending_.emplace_back(DeviceWork(work));
  }
  return after(status);
}

Error Stream::enqueue(const DeviceWork& work) { return enqueueWork(work); }
Error Stream::enqueue(const KernelLaunch& launch) { return enqueueWork(launch); }

// Does what needs nothing that only the host can see. False when the operation must be kept back; the caller holds the
// lock.
bool Stream::carryOut(const Operation& operation, vk::Status& status) {
  if (const auto* work = std::get_if<DeviceWork>(&operation)) {
    status = give(*work);
  } else if (const auto* recorded = std::get_if<RecordedWorkRef>(&operation)) {
    Trace* const trace = Trace::active();
    status = trace ? trace->run(**recorded, queue_, position_, *this) : run(**recorded, queue_, position_);
  } else if (const auto* semaphores = std::get_if<SemaphoreExchange>(&operation)) {
    status = queue_.exchange(position_, semaphores->waits, semaphores->signals, semaphores->owner);
  } else if (const auto* external = std::get_if<WaitForSemaphore>(&operation)) {
    if (context_.mayStartThreads() && !external->semaphore->hasReached(external->value)) return false;
    // What was done before the signal is visible only to what waits for it on the device.
    const vk::SemaphorePoint point{external->semaphore->handle(), external->value};
    status = queue_.exchange(position_, {&point, 1}, {}, external->semaphore);
  } else if (const auto* wait = std::get_if<WaitForMarker>(&operation)) {
    if (!wait->marker->isResolved()) return false;
    position_.after(wait->marker->point());
  } else if (const auto* resolved = std::get_if<ResolveMarker>(&operation)) {
    resolve(*resolved->marker, resolved->precision, resolved->timestamp);
  } else {
    return false;
  }
  return true;
}

// Whether a thread of the context's has to carry it out, whatever has happened before.
bool Stream::needsThread(const Operation& operation) {
  return std::holds_alternative<HostCall>(operation) || std::holds_alternative<WaitForDevice>(operation) ||
         std::holds_alternative<WaitForWord>(operation) || std::holds_alternative<Decision>(operation);
}

Error Stream::refuseWithoutThreads() {
  util::log().warn(
      "functions of the host, waits for words or other devices, and conditional nodes need a thread, and the engine "
      "lets "
      "its context start none (MULCIBER_CONTEXT_NO_THREADS)");
  return Error::NotSupported;
}

Error Stream::enqueue(std::vector<Operation> operations) {
  return enqueue(operations, [&] {
    operations.clear();
    return Error::Success;
  });
}

Error Stream::enqueue(std::vector<Operation>& operations, const std::function<Error()>& next) {
  TRY(before());
  if (!context_.mayStartThreads() && std::ranges::any_of(operations, needsThread)) return refuseWithoutThreads();
  vk::Status status = vk::Status::Ok;
  Error error = Error::Success;
  bool isKeptBack = false;
  {
    std::lock_guard lock(mutex_);
    TRY(broken());
    do {
      for (Operation& operation : operations) {
        if (const auto* resolved = std::get_if<ResolveMarker>(&operation)) givePlace(*resolved->marker);
        if (status == vk::Status::Ok && (!pending_.empty() || !carryOut(operation, status)))
          pending_.push_back(std::move(operation));
      }
      if (status == vk::Status::Ok) error = next();
    } while (status == vk::Status::Ok && error == Error::Success && !operations.empty());
    isKeptBack = !pending_.empty();
  }
  if (isKeptBack) context_.worker().add(*this);
  if (error != Error::Success) return error;
  return after(status);
}

// For what the worker carries out: it is kept back even when nothing is before it.
Error Stream::keepBack(Operation operation) {
  TRY(before());
  if (!context_.mayStartThreads()) return refuseWithoutThreads();
  {
    std::lock_guard lock(mutex_);
    pending_.push_back(std::move(operation));
  }
  context_.worker().add(*this);
  return after(vk::Status::Ok);
}

bool Stream::isDeferred() const {
  std::lock_guard lock(mutex_);
  return !pending_.empty();
}

// The caller holds the lock. A marker that waits for other queues, or is timed, is a piece of work of its own.
void Stream::resolve(Marker& marker, Precision precision, const vk::TimestampRef& timestamp) {
  if (timestamp || !position_.waits.empty())
    // A failure means that the device is lost, which the thread that waits for the marker finds out.
    (void)queue_.record(position_, [&](vk::Commands& commands) {
      commands.mark();
      if (timestamp) commands.write(timestamp);
      return vk::Status::Ok;
    });
  marker.resolve(precision == Precision::Exact ? position_.last.queue->seal(position_) : position_.last, timestamp);
}

Error Stream::mark(Precision precision, std::shared_ptr<Marker>& out) {
  if (precision == Precision::Cheap) {
    std::lock_guard lock(mutex_);
    const bool isExact =
        pending_.empty() && position_.waits.empty() && position_.last.queue->isExactEnd(position_.last.value);
    precision = isExact ? Precision::Exact : Precision::Timed;
  }
  vk::TimestampRef timestamp;
  if (precision == Precision::Timed) TRY(errorFrom(context_.vulkan().timestamp(timestamp)));
  out = std::make_shared<Marker>();
  std::lock_guard lock(mutex_);
  givePlace(*out);
  if (pending_.empty()) resolve(*out, precision, timestamp);
  else pending_.emplace_back(ResolveMarker{out, precision, timestamp});
  return Error::Success;
}

Error Stream::place(std::shared_ptr<Marker>& out) {
  TRY(before());
  TRY(mark(Precision::Loose, out));
  return after(vk::Status::Ok);
}

void Stream::follow(const std::shared_ptr<Marker>& marker) {
  if (!marker) return;
  {
    std::lock_guard lock(mutex_);
    if (pending_.empty() && marker->isResolved()) {
      position_.after(marker->point());
      return;
    }
    pending_.emplace_back(WaitForMarker{marker});
  }
  context_.worker().add(*this);
}

Error Stream::waitFor(const Marker& marker) {
  vk::Status status = marker.waitResolved();
  if (status == vk::Status::Ok) status = marker.wait(context_.waitMode());
  return context_.errorAfter(status);
}

Error Stream::isFree(bool& out) {
  TRY(before());
  std::lock_guard lock(mutex_);
  const auto passed = [](const vk::Point& point) { return point.queue->isKnownPassed(point.value); };
  out = pending_.empty() && passed(position_.last) && std::ranges::all_of(position_.waits, passed);
  return Error::Success;
}

// The caller holds the lock.
void Stream::dropPassed() {
  std::erase_if(position_.waits,
                [](const vk::Point& point) { return point.queue->poll(point.value) == vk::Status::Ok; });
}

Error Stream::query() {
  // No operation: what was given to the stream so far is asked about, not what the next one would come after.
  TRY(context_.error());
  TRY(refuseInCapture());
  TRY(unsafeDuringCapture());
  Marker marker;
  {
    std::lock_guard lock(mutex_);
    if (!pending_.empty()) return Error::NotReady;
    dropPassed();
    resolve(marker, Precision::Loose, nullptr);
  }
  TRY(context_.errorAfter(marker.poll()));
  return context_.services().afterWait();
}

Error Stream::synchronize() {
  TRY(context_.error());
  TRY(refuseInCapture());
  TRY(unsafeDuringCapture());
  // The legacy stream stands for all that its next operation would come after. Of the others, what the program has
  // given them is waited for, and not what their next operation would come after.
  if (isLegacy()) TRY(before());
  return waitForAll();
}

Error Stream::finish() {
  TRY(before());
  return waitForAll();
}

Error Stream::waitForAll() {
  std::shared_ptr<Marker> marker;
  TRY(mark(Precision::Loose, marker));
  finishCopies(*marker);
  TRY(waitFor(*marker));
  context_.device().trimPools();
  return context_.services().afterWait();
}

Error Stream::record(Event& event, bool isExternal) {
  if (&event.context() != &context_) return Error::InvalidHandle;
  if (const CaptureRef capture = this->capture()) {
    if (isExternal) return capture->add(*this, EventRecordNode{event.shared_from_this()});
    return capture->record(*this, event);
  }
  if (isExternal) return Error::IllegalState;
  TRY(before());
  std::shared_ptr<Marker> marker;
  const bool isTimed = (event.flags() & Event::DisableTiming) == 0;
  TRY(mark(isTimed ? Precision::Timed : Precision::Cheap, marker));
  event.setMarker(marker);
  return after(vk::Status::Ok);
}

Error Stream::wait(Event& event, bool isExternal) {
  if (const CaptureRef capture = this->capture(); capture && isExternal)
    return capture->add(*this, EventWaitNode{event.shared_from_this()});
  if (isExternal) return Error::IllegalState;
  if (isCapturing() || event.captured()) return Capture::wait(shared_from_this(), event);
  const std::shared_ptr<Marker> marker = event.marker();
  // Timelines belong to one device: for that of another the worker waits.
  if (marker && &event.context().vulkan() != &context_.vulkan()) return keepBack(WaitForDevice{marker});
  TRY(before());
  follow(marker);
  return after(vk::Status::Ok);
}

Error Stream::hostFunction(std::function<void(Error status)> function) {
  return keepBack(HostCall{std::move(function)});
}

Error Stream::hostFunction(void (*function)(void*), void* data) {
  if (const CaptureRef capture = this->capture()) return capture->add(*this, HostNode{function, data});
  return hostFunction([=](Error status) {
    if (status == Error::Success) function(data);
  });
}

Error Stream::waitForWord(const AllocationRef& allocation, const WordWait& wait) {
  return keepBack(WaitForWord{allocation, wait});
}

bool Stream::attribute(int id, AttributeValue& value) const {
  std::lock_guard lock(mutex_);
  const auto found = attributes_.find(id);
  if (found == attributes_.end()) return false;
  value = found->second;
  return true;
}

void Stream::setAttribute(int id, const AttributeValue& value) {
  std::lock_guard lock(mutex_);
  attributes_[id] = value;
}

void Stream::copyAttributes(const Stream& from) {
  std::unique_lock theirs(from.mutex_);
  std::map<int, AttributeValue> copied = from.attributes_;
  theirs.unlock();  // the two may be one
  std::lock_guard lock(mutex_);
  attributes_ = std::move(copied);
}

// Whether the device has done all that was handed to it; the caller holds the lock.
bool Stream::isDone() {
  if (!position_.waits.empty())
    (void)queue_.record(position_, [](vk::Commands& commands) {
      commands.mark();
      return vk::Status::Ok;
    });
  vk::Queue& queue = *position_.last.queue;
  vk::Status status = queue.submit(position_.last.value);
  if (status == vk::Status::Ok) status = queue.poll(position_.last.value);
  (void)context_.errorAfter(status);
  return status != vk::Status::NotReady;
}

// What was given behind the marker is submitted too.
bool Stream::hasPassed(const MarkerRef& marker) {
  if (!marker) return isDone();
  vk::Status status = position_.last.queue->submit(position_.last.value);
  if (status == vk::Status::Ok) status = marker->poll();
  (void)context_.errorAfter(status);
  return status != vk::Status::NotReady;
}

namespace {

// Whether the operation waits for something that only the host can see, and what it waits for has not come.
bool mustWait(const Operation& operation, Context& context) {
  if (const auto* wait = std::get_if<WaitForDevice>(&operation))
    return !wait->marker->isResolved() || wait->marker->poll() == vk::Status::NotReady;
  const auto* wait = std::get_if<WaitForWord>(&operation);
  return wait && !isMet(context, *wait->allocation, wait->wait);
}

}  // namespace

// The caller holds the lock.
void Stream::decide() {
  Decision decision = std::move(std::get<Decision>(pending_.front()));
  pending_.pop_front();
  const auto chosen = decision.choose(__atomic_load_n(decision.word, __ATOMIC_ACQUIRE));
  if (!chosen) return;
  if (decision.laterWord) decision.word = std::exchange(decision.laterWord, nullptr);
  std::vector<Operation> next = chosen->operations;
  if (decision.looksAhead) {
    const bool isFirst = !std::exchange(decision.after, std::make_shared<Marker>());
    if (isFirst) {
      next.emplace_back(ResolveMarker{decision.after, Precision::Loose, nullptr});
      const auto later = decision.choose(1);
      next.insert(next.end(), later->operations.begin(), later->operations.end());
    } else {
      resolve(*decision.after, Precision::Loose, nullptr);
    }
  }
  if (decision.isRepeated) pending_.emplace_front(std::move(decision));
  pending_.insert(pending_.begin(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
}

// With the lock released, as when what the function keeps goes: destructors may be the program's. The call stays in
// front meanwhile, so that operations given now are kept behind it.
void Stream::callFront(std::unique_lock<std::mutex>& lock) {
  HostCall call = std::move(std::get<HostCall>(pending_.front()));
  isCalling_ = true;
  lock.unlock();
  (void)context_.services().afterWait();  // what kernels did wrong is known before it is told
  if (call.isCopy) {
    call.function(context_.error());
  } else {
    util::Outside outside;
    call.function(context_.error());
  }
  call.function = nullptr;  // what it holds may be the program's objects, whose ends are the program's functions
  lock.lock();
  isCalling_ = false;
  if (!pending_.empty()) pending_.pop_front();  // else all was abandoned meanwhile
}

void Stream::finishCopies(const Marker& marker) {
  std::unique_lock lock(mutex_);
  while (!marker.isResolved() && !pending_.empty() && !isCalling_ && context_.error() == Error::Success) {
    const auto* call = std::get_if<HostCall>(&pending_.front());
    vk::Status status = vk::Status::Ok;
    if (!call && carryOut(pending_.front(), status)) {
      if (status != vk::Status::Ok) context_.setError(errorFrom(status));
      pending_.pop_front();
    } else if (!call || !call->isCopy) {
      return;
    } else if (isDone()) {
      callFront(lock);
    } else {
      const vk::Point last = position_.last;
      lock.unlock();
      if (last.queue->wait(last.value, context_.waitMode()) != vk::Status::Ok) return;
      lock.lock();
    }
  }
}

Stream::Progress Stream::advance() {
  std::unique_lock lock(mutex_);
  bool moved = false;
  const auto blocked = [&](Progress by = Progress::Blocked) { return moved ? Progress::Done : by; };
  while (!pending_.empty()) {
    Operation& first = pending_.front();
    vk::Status status = vk::Status::Ok;
    if (carryOut(first, status)) {
      if (status != vk::Status::Ok) context_.setError(errorFrom(status));
    } else if (std::holds_alternative<WaitForMarker>(first)) {
      return blocked(Progress::Elsewhere);
    } else if (std::holds_alternative<WaitForSemaphore>(first) && context_.error() == Error::Success) {
      (void)isDone();  // what the stream did before must not wait with it
      return blocked(Progress::Elsewhere);
    } else if (const auto* decision = std::get_if<Decision>(&first); decision && context_.error() == Error::Success) {
      if (!hasPassed(decision->after)) return blocked();
      decide();
      return Progress::Done;  // a loop must not keep the worker to itself
    } else if (std::holds_alternative<HostCall>(first)) {
      if (isCalling_ || !isDone()) return blocked();
      callFront(lock);
      // The other streams get their turn, or one that is always given more would keep the worker to itself.
      return Progress::Done;
    } else if (context_.error() == Error::Success) {
      // What the stream did before must not wait with it.
      const bool done = isDone();
      const Operation awaited = first;
      lock.unlock();
      const bool isMet = done && !mustWait(awaited, context_);
      lock.lock();
      if (!isMet) return blocked();
    }
    pending_.pop_front();
    moved = true;
  }
  return moved ? Progress::Done : Progress::Nothing;
}

bool Stream::isHeldUp() {
  std::lock_guard lock(mutex_);
  if (pending_.empty()) return true;
  const Operation& first = pending_.front();
  if (const auto* wait = std::get_if<WaitForMarker>(&first)) return !wait->marker->isResolved();
  if (const auto* wait = std::get_if<WaitForSemaphore>(&first)) return !wait->semaphore->hasReached(wait->value);
  return std::holds_alternative<WaitForWord>(first) && isDone() && mustWait(first, context_);
}

void Stream::abandon() {
  std::deque<Operation> dropped;  // ends without the lock: see callFront()
  std::lock_guard lock(mutex_);
  dropped.swap(pending_);
  for (const Operation& operation : dropped)
    if (const auto* resolved = std::get_if<ResolveMarker>(&operation))
      resolved->marker->resolve(position_.last, nullptr);
}

}  // namespace mulciber::core
