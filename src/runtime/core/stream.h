// A stream: an ordered list of operations on a device queue, and on those for copies. Operations go straight into the
// queue's open batch, unless something before them in the stream waits for the host: then the stream keeps them back,
// and the context's worker carries them out in order. So a queue that other streams share never waits for the host.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/core/event.h"
#include "runtime/core/operation.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

class Capture;
class Context;

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
  // Ordered with the legacy default stream: all but the non-blocking ones.
  bool isBlocking() const { return role_ == Role::Ordinary && (flags_ & NonBlocking) == 0; }
  bool isOrdered() const { return isLegacy() || isBlocking(); }

  // While the stream is captured, what it is given goes to the capture, and whatever no node can stand for is refused,
  // which invalidates the capture. Programs ask before each of their calls, so this is one load.
  bool isCapturing() const { return isCapturing_.load(std::memory_order_relaxed); }
  // Null when the stream is not captured.
  std::shared_ptr<Capture> capture() const { return isCapturing() ? captureOfNow() : nullptr; }
  bool enterCapture(const std::shared_ptr<Capture>& capture);  // false when it is in one
  void leaveCapture();
  // Success when captures do not forbid to give the stream work. Otherwise they are invalidated: the stream's own, or
  // those that the legacy stream would have to come after.
  Error refuseInCapture();

  uint32_t queueFamily() const { return queue_.family(); }
  Error query();  // Success or NotReady
  // Whether an operation given now is known to have nothing to wait for. Does not ask the driver.
  Error isFree(bool& out);
  // Whether the device has work under way that is not this stream's.
  bool isBesideOthers();
  // Waits for what the stream was given, and drains printf and reports what kernels did wrong.
  Error synchronize();
  // The same for calls that are themselves the stream's next operation: what that comes after is waited for too.
  // Captures elsewhere do not forbid it.
  Error finish();
  // External: a captured stream records the event, or waits for it, each time the graph runs. Of other streams,
  // IllegalState.
  Error record(Event& event, bool isExternal = false);
  Error wait(Event& event, bool isExternal = false);
  // The context's worker thread calls it after all before it; what follows waits for it.
  Error hostFunction(std::function<void(Error status)> function);
  Error hostFunction(void (*function)(void*), void* data);  // not called once the context is broken
  // What follows waits for the word. The worker thread polls it, and gives the wait up when the context
  // breaks.
  Error waitForWord(const AllocationRef& allocation, const WordWait& wait);
  Error enqueue(const DeviceWork& work);
  Error enqueue(const KernelLaunch& launch);         // the same, and quicker: nothing is moved into a variant
  Error enqueue(std::vector<Operation> operations);  // with no other work between them
  // The same, and then what is in the list whenever `next` has been called, until that is nothing.
  Error enqueue(std::vector<Operation>& operations, const std::function<Error()>& next);

  // Whether operations are being kept back, and so outlive the call that gives them.
  bool isDeferred() const;

  // The place all work given so far ends at.
  Error mark(Precision precision, std::shared_ptr<Marker>& out);
  // What comes next in this stream comes after the marker.
  void follow(const std::shared_ptr<Marker>& marker);
  Error waitFor(const Marker& marker);
  // A marker that is an operation of its own: after all the stream's next operation must come after.
  Error place(std::shared_ptr<Marker>& out);

  // What the program set by CUlaunchAttributeID: hints, kept to be told back. False when it set none.
  using AttributeValue = std::array<uint8_t, 64>;
  bool attribute(int id, AttributeValue& value) const;
  void setAttribute(int id, const AttributeValue& value);
  void copyAttributes(const Stream& from);

  // The waiting thread does the copies that are kept back before the marker, which the worker would do otherwise. So no
  // other thread has to wake it.
  void finishCopies(const Marker& marker);
  // One step of a kept-back stream, by the worker. Blocked: what its first operation needs is not there yet. Elsewhere:
  // nor does the end of the stream's own work bring it.
  enum class Progress : uint8_t { Nothing, Elsewhere, Blocked, Done };
  Progress advance();
  void abandon();  // drops what is kept back; nobody waits for it any longer
  // Whether what is kept back may stay so: the stream waits for a word, or for another stream.
  bool isHeldUp();
  // Returns when every thread that is giving work, and has found the context unbroken, has given it.
  void settle() { std::lock_guard lock(mutex_); }

 private:
  std::shared_ptr<Capture> captureOfNow() const;
  template <class Work>
  vk::Status give(const Work& work, vk::Queue& queue);
  vk::Status give(const DeviceWork& work);
  vk::Status give(const KernelLaunch& work) { return give(work, queue_); }
  template <class Work>
  Error enqueueWork(const Work& work);
  bool carryOut(const Operation& operation, vk::Status& status);
  Error keepBack(Operation operation);
  static bool needsThread(const Operation& operation);
  static Error refuseWithoutThreads();
  void callFront(std::unique_lock<std::mutex>& lock);
  void decide();      // puts what the first operation chooses in its place
  void dropPassed();  // of what the next operation waits for
  bool isDone();
  bool hasPassed(const MarkerRef& marker);  // isDone() where there is none
  Error waitForAll();                       // that was given so far
  Error broken() const;                     // the context's error
  Error before();
  Error after(vk::Status status);
  void resolve(Marker& marker, Precision precision, const vk::TimestampRef& timestamp);
  void givePlace(Marker& marker) { marker.setPlace(++lastPlace_); }  // the caller holds the lock

  friend class StreamOrder;
  Context& context_;
  const Role role_;
  const uint32_t flags_;
  const int priority_;
  const uint64_t id_;
  vk::Queue& queue_;  // of all its work but copies that go beside other streams' kernels

  mutable std::mutex mutex_;
  vk::Position position_;
  std::deque<Operation> pending_;
  uint64_t lastPlace_ = 0;  // of a marker
  bool isCalling_ = false;  // a thread does what the host has to do of the first of them
  std::map<int, AttributeValue> attributes_;
  std::shared_ptr<Capture> capture_;
  std::atomic<bool> isCapturing_{false};

  // For the order with the legacy default stream: see stream_order.h.
  std::atomic<bool> hasNewWork_{false};
  std::atomic<uint64_t> legacySeen_{0};
};
using StreamRef = std::shared_ptr<Stream>;

}  // namespace mulciber::core
