// A device queue with its timeline. Work is recorded into an open batch (a command buffer). A batch is submitted at
// once when the queue is idle, in growing groups when it is busy, and at the latest when the queue runs dry.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/vk/commands.h"
#include "runtime/vk/status.h"
#include "runtime/vk/timestamp.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
class Queue;

// A place in a queue's work: passed once the timeline reaches `value`. The epoch (Hazards) tells later work on the same
// queue whether it needs a barrier.
struct Point {
  Queue* queue = nullptr;  // null: nothing to wait for
  uint64_t value = 0;
  uint64_t epoch = 0;
};

// What the next work of a stream comes after: the stream's own last work, and points on other queues.
struct Position {
  explicit Position(Queue& queue) : last{&queue, 0, 0} {}
  void moveTo(Queue& queue) {  // where the next work is given
    if (last.queue == &queue) return;
    const Point before = last;
    last = {&queue, 0, 0};
    if (before.value != 0) waits.push_back(before);
  }

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

// An engine's lock for a queue that it shares: Vulkan forbids two threads to use a queue at once.
struct QueueLock {
  void (*lock)(void* user) = nullptr;
  void (*unlock)(void* user) = nullptr;
  void* user = nullptr;
};

// A semaphore of another owner and, for a timeline, the value to wait for or to signal.
struct SemaphorePoint {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  uint64_t value = 0;
};

enum class WaitMode : uint8_t { Auto, Spin, Yield, Block };

class Queue {
 public:
  Queue(Device& device, VkQueue queue, uint32_t family, const QueueLock& shared);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Status start();
  void stop();      // ends the thread that watches the queue; work is submitted at once from then on
  Status warmUp();  // makes what the first launches would make

  // Calls record(Commands&) with the queue locked; what it records comes after `position`, which moves behind it.
  template <typename Record>
  Status record(Position& position, Record&& record) {
    std::unique_lock lock = prepare(position);
    TRY(begin(position));
    Commands& commands = *open_->commands;
    const uint32_t before = commands.count();
    const Status status = record(commands);
    if (commands.count() == before) return status;
    position.last = {this, openValue_, commands.hazards().epoch};
    given_.store(openValue_, std::memory_order_release);
    const Status submitted = appended();
    return status != Status::Ok ? status : submitted;
  }
  // Runs commands recorded before (Commands::Kind::Reusable) after `position`, which moves behind them.
  Status run(std::shared_ptr<Commands> commands, Position& position);
  // What comes after `position` waits for some semaphores, and others are signalled when all up to here is done;
  // `owner` lives until then. Submitted at once. Whoever signals what is waited for must not come later in this queue.
  Status exchange(Position& position, std::span<const SemaphorePoint> waits, std::span<const SemaphorePoint> signals,
                  std::shared_ptr<const void> owner);
  uint32_t family() const { return family_; }
  VkSemaphore timeline() const { return timeline_; }

  // The end of everything at `position`: no work recorded later delays it.
  Point seal(Position& position);

  // The end of everything recorded so far; later work may delay it.
  Point end();

  Status submit(uint64_t value);  // everything up to there, if that has not been done
  // Whether it has been given work, submitted or not, that has not run.
  bool isBusy() { return poll(given_.load(std::memory_order_acquire)) == Status::NotReady; }
  bool isRunning() { return poll(submitted_.load(std::memory_order_acquire)) == Status::NotReady; }
  bool isSubmitted(uint64_t value) const { return submitted_.load(std::memory_order_acquire) >= value; }
  // Whether a wait for `value` waits for the last work there and for nothing else: that work is done already, or it had
  // a batch of its own.
  bool isExactEnd(uint64_t value) const {
    return isKnownPassed(value) || (isSubmitted(value) && wentAlone_.load(std::memory_order_acquire) == value);
  }
  Status poll(uint64_t value);  // Ok when passed, NotReady when not; submits nothing
  // Does not ask the driver: that would make the thread wait while another one submits.
  bool isKnownPassed(uint64_t value) const { return completed_.load(std::memory_order_acquire) >= value; }
  Status wait(uint64_t value, WaitMode mode);  // submits first
  // For a timestamp in the batch that ends at `value`: done when that is written, whatever follows it in the batch.
  Status wait(uint64_t value, const Timestamp& timestamp, WaitMode mode);
  bool isIdle();  // now: other threads may give it work at any time
  Status waitIdle(WaitMode mode);
  // Makes visible to the host what the work so far writes, once that is done; isVisibleToHost() says when.
  Status makeVisibleToHost();
  bool isVisibleToHost() { return poll(visibleFrom_.load(std::memory_order_acquire)) == Status::Ok; }
  Status bindSparse(const VkBindSparseInfo& info, VkFence fence);
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }  // nothing is submitted meanwhile

  Device& device() const { return device_; }

 private:
  // A command buffer on its way through the queue.
  struct Batch {
    std::shared_ptr<Commands> commands;
    uint64_t value = 0;  // of the timeline, once it has run
    std::vector<SemaphorePoint> waits, signals;
    std::vector<VkSemaphoreSubmitInfo> waitInfos, signalInfos;  // storage for the submission
  };

  std::unique_lock<std::mutex> prepare(Position& position);
  Status begin(Position& position);
  bool hasOpenCommands() const { return open_ && open_->commands->count() != 0; }
  Status appended();
  bool hasWorkAhead();
  Status submitGroup();
  Status startWatching();
  Status openBatch();
  Status newBatch(std::unique_ptr<Batch>& out) const;
  void startWatcher();
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
  const QueueLock shared_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;

  std::mutex mutex_;
  std::unique_ptr<Batch> open_;                 // being recorded; may be null
  std::deque<std::unique_ptr<Batch>> closed_;   // recorded, not submitted
  std::deque<std::unique_ptr<Batch>> running_;  // submitted
  std::vector<std::unique_ptr<Batch>> free_;
  uint64_t openValue_ = 1;        // what the timeline reaches when the open batch has run
  Hazards hazards_;               // at the end of the last closed batch
  bool closeBeforeNext_ = false;  // a point was sealed: what comes next goes to another batch
  uint32_t threshold_ = 1;
  std::atomic<uint64_t> submitted_{0}, completed_{0};
  std::atomic<uint64_t> given_{0};        // where the timeline stands once all work has run
  std::atomic<uint64_t> wentAlone_{0};    // the last batch of one command
  std::atomic<uint64_t> visibleFrom_{0};  // where the timeline stands once makeVisibleToHost() has taken effect

  std::condition_variable wake_;
  std::thread watcher_;
  bool watching_ = false, stopping_ = false;
  std::chrono::steady_clock::time_point lastGiven_;
  std::atomic<uint32_t> burst_{0};  // pieces of work that came soon after another, since the last wait
  bool holdsBurst_ = false;         // the open batch is kept back although the device may be idle
  bool staysAhead_ = false;         // what is kept back is submitted before the last of what was submitted has run
};

}  // namespace mulciber::vk
