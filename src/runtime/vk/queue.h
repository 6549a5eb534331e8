// A device queue with its timeline. Work is recorded into an open batch (a command buffer); batches are submitted at
// once when the queue is idle, in growing groups when it is busy, and at the latest when the queue runs dry.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vk/memory.h"
#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
class Pipeline;
class Queue;
struct Batch;

// A place in a queue's work: passed once the timeline reaches `value`. The epoch says which barrier the work before it
// lies behind, so that later work on the same queue knows whether it needs one.
struct Point {
  Queue* queue = nullptr;  // null: nothing to wait for
  uint64_t value = 0;
  uint64_t epoch = 0;
};

// A device timestamp: a slot of a query pool, given back when the last reference goes.
class Timestamp {
 public:
  Timestamp(Device& device, VkQueryPool pool, uint32_t index) : device_(device), pool_(pool), index_(index) {}
  ~Timestamp();
  Timestamp(const Timestamp&) = delete;
  Timestamp& operator=(const Timestamp&) = delete;

  Status nanoseconds(double& out) const;  // NotReady until the device has written it
  VkQueryPool pool() const { return pool_; }
  uint32_t index() const { return index_; }

 private:
  Device& device_;
  const VkQueryPool pool_;
  const uint32_t index_;
};
using TimestampRef = std::shared_ptr<Timestamp>;

// Bytes to copy between addresses: width x height x depth, as CUDA's copies.
struct CopyRegion {
  uint64_t destination, source;
  uint64_t width, height = 1, depth = 1;
  uint64_t destinationPitch = 0, sourcePitch = 0, destinationSlice = 0, sourceSlice = 0;
};

struct FillRegion {
  uint64_t destination;
  uint32_t value, valueBytes;             // 1, 2 or 4
  uint64_t width, height = 1, depth = 1;  // width in values
  uint64_t pitch = 0, slice = 0;
};

// Writes work into a queue's open batch; exists while the queue is locked.
class Recorder {
 public:
  // What follows comes after everything recorded in this epoch, with its writes visible.
  void dispatch(const Pipeline& pipeline, const void* push, uint32_t pushBytes, const uint32_t (&groups)[3]);
  void copy(const CopyRegion& region);
  void fill(const FillRegion& region);
  // Both pieces of memory known: the copy engine's way, for transfers between host and device.
  void copyBuffer(const Memory& destination, uint64_t destinationOffset, const Memory& source, uint64_t sourceOffset,
                  uint64_t bytes);
  TimestampRef timestamp();

  // Memory the host fills now and the device reads in this batch; gone when the batch has run.
  Status upload(uint64_t bytes, void*& host, uint64_t& address);
  // Held until the batch has run.
  void keep(std::shared_ptr<const void> object);

  Device& device() const;

 private:
  friend class Queue;
  Recorder(Queue& queue, uint64_t& epoch) : queue_(queue), epoch_(epoch) {}
  VkCommandBuffer begin(VkPipelineStageFlags2 stage);

  Queue& queue_;
  uint64_t& epoch_;
};

enum class WaitMode : uint8_t { Auto, Spin, Yield, Block };

class Queue {
 public:
  Queue(Device& device, VkQueue queue, uint32_t family);
  ~Queue();

  // Calls record(Recorder&) with the queue locked. `after` is what the work must come after: points of this queue are
  // kept apart by barriers, points of others by waiting on their timelines. It is set to the point of the new work.
  template <typename Record>
  Status record(Point& after, Record&& record) {
    std::lock_guard lock(mutex_);
    if (Status status = open(after); status != Status::Ok) return status;
    uint64_t epoch = after.queue == this ? after.epoch : 0;
    Recorder recorder(*this, epoch);
    const Status status = record(recorder);
    after = {this, openValue(), epoch};
    const Status submitted = appended();
    return status != Status::Ok ? status : submitted;
  }

  // The point of all work so far is `point` exactly: nothing recorded later delays it.
  void seal(const Point& point);
  Status flush();                              // submits what is open
  Status poll(uint64_t value);                 // Ok when passed, NotReady when not; does not submit
  Status wait(uint64_t value, WaitMode mode);  // submits first
  bool isIdle();

  Device& device() const { return device_; }

 private:
  friend class Recorder;
  Status open(const Point& after);
  uint64_t openValue() const;
  Status appended();

  Device& device_;
  const VkQueue queue_;
  const uint32_t family_;
  std::mutex mutex_;
};

}  // namespace mulciber::vk
