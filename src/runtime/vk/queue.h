// A device queue with its timeline. Work is recorded into an open batch (a command buffer); batches are submitted at
// once when the queue is idle, in growing groups when it is busy, and at the latest when the queue runs dry.
#pragma once

#include <algorithm>
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

// What the next work of a stream comes after: the stream's own last work, all on one queue, and points on others.
struct Position {
  explicit Position(Queue& queue) : last{&queue, 0, 0} {}

  Point last;
  std::vector<Point> waits;

  void after(const Point& point) {
    if (!point.queue) return;
    if (point.queue != last.queue) {
      waits.push_back(point);
      return;
    }
    last.value = std::max(last.value, point.value);
    last.epoch = std::max(last.epoch, point.epoch);
  }
};

// A device timestamp: a slot of a query pool, given back when the last reference goes.
class Timestamp {
 public:
  Timestamp(Device& device, VkQueryPool pool, uint32_t index) : device_(device), pool_(pool), index_(index) {}
  ~Timestamp();
  Timestamp(const Timestamp&) = delete;
  Timestamp& operator=(const Timestamp&) = delete;

  Status nanoseconds(double& out) const;  // NotReady until the device has written it
  bool isWritten() const;
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

// Writes work into a queue's open batch; exists while the queue is locked. Everything recorded through one recorder
// comes after the stream's position, but its pieces are not ordered among themselves: call barrier() between them.
class Recorder {
 public:
  // The workgroups from `first` on, of which the whole grid may have more.
  void dispatch(const Pipeline& pipeline, const void* push, uint32_t pushBytes, const uint32_t (&groups)[3],
                const uint32_t (&first)[3] = {0, 0, 0});
  // What kernels dispatched from here on read as constants: the first bytes of the memory.
  void useConstants(const Memory& memory, uint32_t bytes);
  void copy(const CopyRegion& region);
  void fill(const FillRegion& region);
  // Both pieces of memory known: the copy engine's way, for transfers between host and device.
  void copyBuffer(const Memory& destination, uint64_t destinationOffset, const Memory& source, uint64_t sourceOffset,
                  uint64_t bytes);
  // Written once all before it is done and the host can see what that wrote.
  void write(const TimestampRef& timestamp);
  void barrier();
  void show();          // the host reads what this writes
  Point point() const;  // what the timeline reaches when this has run
  void mark();          // no command, but a point of its own, after all the position waits for

  // Memory the host fills now and the device reads in this batch; gone when the batch has run.
  Status upload(uint64_t bytes, void*& host, uint64_t& address);
  // Held until the batch has run.
  void keep(std::shared_ptr<const void> object);

  Device& device() const;

 private:
  friend class Queue;
  Recorder(Queue& queue, Position& position) : queue_(queue), position_(position) {}
  VkCommandBuffer beginCompute();
  template <typename Body>
  void inParts(uint32_t unitsPerGroup, uint64_t width, uint64_t height, uint64_t depth, Body&& body);
  void copyUnits(const CopyRegion& region, uint32_t unitBytes);
  void fillUnits(const FillRegion& region, uint32_t unitBytes);

  Queue& queue_;
  Position& position_;
};

enum class WaitMode : uint8_t { Auto, Spin, Yield, Block };

class Queue {
 public:
  Queue(Device& device, VkQueue queue, uint32_t family);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Status start();
  void stop();  // ends the thread that watches the queue; work is submitted at once from then on

  // Calls record(Recorder&) with the queue locked; what it records comes after `position`, which moves behind it.
  template <typename Record>
  Status record(Position& position, Record&& record) {
    std::unique_lock lock = prepare(position);
    if (Status status = begin(position); status != Status::Ok) return status;
    const uint32_t before = commands();
    Recorder recorder(*this, position);
    const Status status = record(recorder);
    if (commands() == before) return status;
    position.last = {this, openValue_, epoch_};
    const Status submitted = appended();
    return status != Status::Ok ? status : submitted;
  }

  // The end of everything at `position`: no work recorded later delays it.
  Point seal(Position& position);

  Status submit(uint64_t value);  // everything up to there, if that has not been done
  bool isSubmitted(uint64_t value) const { return submitted_.load(std::memory_order_acquire) >= value; }
  // Whether who waits for `value` waits for nothing but the work that is last there: it is done already, or it went in
  // a batch of its own.
  bool isExactEnd(uint64_t value) const {
    return isKnownPassed(value) || (isSubmitted(value) && wentAlone_.load(std::memory_order_acquire) == value);
  }
  Status poll(uint64_t value);  // Ok when passed, NotReady when not; submits nothing
  // As far as is known without asking the driver, which keeps a thread waiting while another one submits.
  bool isKnownPassed(uint64_t value) const { return completed_.load(std::memory_order_acquire) >= value; }
  Status wait(uint64_t value, WaitMode mode);  // submits first
  // For a timestamp in the batch that ends at `value`: done when that is written, whatever follows it in the batch.
  Status wait(uint64_t value, const Timestamp& timestamp, WaitMode mode);
  Status waitIdle(WaitMode mode);
  // Makes visible to the host what the work so far writes, once that is done; isShown() says when.
  Status showHost();
  bool isShown() { return poll(shownFrom_.load(std::memory_order_acquire)) == Status::Ok; }
  Status bindSparse(const VkBindSparseInfo& info, VkFence fence);
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }  // nothing is submitted meanwhile

  Device& device() const { return device_; }

 private:
  friend class Recorder;
  std::unique_lock<std::mutex> prepare(Position& position);
  Status begin(Position& position);
  uint32_t commands() const;  // in the open batch
  Status appended();
  Status openBatch();
  Status closeBatch();
  Status submitClosed();
  Status submitAll();
  Status waitForRoom(uint64_t last);
  void retire();
  void watch();
  Status waitSemaphore(uint64_t value, uint64_t nanoseconds);
  template <typename IsDone>
  Status waitUntil(uint64_t value, WaitMode mode, uint64_t slice, IsDone&& isDone);

  Device& device_;
  const VkQueue queue_;
  const uint32_t family_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;

  std::mutex mutex_;
  std::unique_ptr<Batch> open_;                 // being recorded; may be null
  std::deque<std::unique_ptr<Batch>> closed_;   // recorded, not submitted
  std::deque<std::unique_ptr<Batch>> running_;  // submitted
  std::vector<std::unique_ptr<Batch>> free_;
  uint64_t openValue_ = 1;  // what the timeline reaches when the open batch has run
  uint64_t epoch_ = 1;      // barriers recorded so far
  bool transferSinceBarrier_ = false;
  bool closeBeforeNext_ = false;  // a point was sealed: what comes next goes to another batch
  uint32_t threshold_ = 1;
  std::atomic<uint64_t> submitted_{0}, completed_{0};
  std::atomic<uint64_t> wentAlone_{0};  // the last batch of one command
  std::atomic<uint64_t> shownFrom_{0};  // where the timeline stands once showHost() has taken effect

  std::condition_variable wake_;
  std::thread watcher_;
  bool watching_ = false, stopping_ = false;
};

}  // namespace mulciber::vk
