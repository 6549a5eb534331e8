#include "runtime/core/worker.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "runtime/core/stream.h"
#include "util/exit_gate.h"

namespace mulciber::core {

namespace {
// How often work that waits for the device is looked at: a host function starts this late at most.
constexpr auto pollInterval = std::chrono::microseconds(50);
// Where a stream has just come or moved and waits for its own work, it is likely to move soon: a loop whose runs the
// host looks at, functions in a row. One that waits for a semaphore of an engine's may wait for a frame.
constexpr auto watchInterval = std::chrono::microseconds(300);
// A stream that was held up at this many looks is taken to stay held up.
constexpr unsigned looksForWords = 50;
constexpr auto lookInterval = std::chrono::milliseconds(1);
}  // namespace

Worker::~Worker() { stop(); }

void Worker::add(Stream& stream) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  const auto held = std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == &stream; });
  if (held == streams_.end()) streams_.push_back(stream.shared_from_this());
  wake();
}

void Worker::keep(std::shared_ptr<Marker> until, std::shared_ptr<const void> object) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;  // all work has ended
  kept_.push_back({std::move(until), std::move(object)});
  wake();
}

void Worker::wake() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

// Does not wait for streams that other threads add meanwhile, or it might never end.
void Worker::waitIdle() {
  for (const StreamRef& stream : deferred()) {
    std::shared_ptr<Marker> marker;
    if (stream->mark(Precision::Loose, marker) != Error::Success) continue;
    stream->finishCopies(*marker);
    if (marker->waitResolved() != vk::Status::Ok) return;
  }
}

std::vector<StreamRef> Worker::deferred() {
  std::lock_guard lock(mutex_);
  return stopping_ ? std::vector<StreamRef>() : streams_;
}

std::vector<std::shared_ptr<Marker>> Worker::marks() {
  std::vector<std::shared_ptr<Marker>> ends;
  for (const StreamRef& stream : deferred())
    if (std::shared_ptr<Marker> marker; stream->mark(Precision::Loose, marker) == Error::Success)
      ends.push_back(std::move(marker));
  return ends;
}

void Worker::finish() {
  const std::vector<std::shared_ptr<Marker>> given = marks();
  const auto isHeldUp = [](const StreamRef& stream) { return stream->isHeldUp(); };
  for (unsigned looks = 0; looks < looksForWords && !util::mustLeave();) {
    if (std::ranges::all_of(given, [](const auto& marker) { return marker->isResolved(); })) return;
    looks = std::ranges::all_of(deferred(), isHeldUp) ? looks + 1 : 0;
    std::this_thread::sleep_for(lookInterval);
  }
}

void Worker::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
  std::vector<StreamRef> left;
  std::vector<Kept> kept;
  {
    std::lock_guard lock(mutex_);
    left.swap(streams_);
    kept.swap(kept_);
  }
  for (const StreamRef& stream : left) stream->abandon();
}

bool Worker::letGo() {
  std::vector<Kept> kept;
  {
    std::lock_guard lock(mutex_);
    kept.swap(kept_);
  }
  const auto mayGo = std::ranges::partition(
      kept, [](const Kept& one) { return !one.until->isResolved() || one.until->poll() == vk::Status::NotReady; });
  {
    std::lock_guard lock(mutex_);
    kept_.insert(kept_.end(), std::make_move_iterator(kept.begin()), std::make_move_iterator(mayGo.begin()));
  }
  return !mayGo.empty();
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  std::chrono::steady_clock::time_point lastMove;
  while (!stopping_) {
    if (streams_.empty() && kept_.empty()) {
      wake_.wait(lock);
      lastMove = std::chrono::steady_clock::now();
      continue;
    }
    std::vector<StreamRef> round = streams_;
    const bool keeps = !kept_.empty();
    lock.unlock();
    bool moved = false, mayMoveSoon = false;
    for (const StreamRef& stream : round) {
      util::Inside inside(util::Caller::Service);
      if (!inside) return;
      const Stream::Progress progress = stream->advance();
      moved |= progress == Stream::Progress::Done;
      mayMoveSoon |= progress != Stream::Progress::Elsewhere;
    }
    round.clear();
    if (keeps) {
      util::Inside inside(util::Caller::Service);
      if (!inside) return;
      moved |= letGo();
    }
    lock.lock();
    const auto done = [](const StreamRef& stream) { return !stream->isDeferred(); };
    streams_.erase(std::remove_if(streams_.begin(), streams_.end(), done), streams_.end());
    const auto now = std::chrono::steady_clock::now();
    if (moved) lastMove = now;
    else if (!mayMoveSoon || now - lastMove > watchInterval) wake_.wait_for(lock, pollInterval);
    else {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }
}

}  // namespace mulciber::core
