#include "runtime/vk/queue.h"

#include <chrono>

#include "runtime/vk/device.h"
#include "util/environment.h"
#include "util/exit_gate.h"

namespace mulciber::vk {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t firstThreshold = 4;
// A program that gives one piece of work after another, each within this time, is in a burst. A submission takes 5 to
// 12 us of its thread, so that small kernels end sooner than the next one comes. From the fourth piece on such work is
// submitted in groups even to an idle device.
constexpr std::chrono::microseconds burstGap(30);
constexpr uint32_t submittedAlone = 3, firstOfBurst = 8, mostOfBurst = 64;
// Batches submitted and not done, at most: a thread that gives more waits, as with CUDA's own queues. There are enough
// of them that the device still has work when the waiting thread has woken up.
constexpr uint64_t mostRunning = 1024;
constexpr uint64_t sliceNanoseconds = 100'000'000;   // of a blocking wait, between looks at whether the device is lost
constexpr uint64_t shortSliceNanoseconds = 200'000;  // when a timestamp within the batch is waited for

// How long to poll: waking up from a blocking wait costs up to 0.2 ms on a GPU; on a CPU device polling takes time away
// from the kernel itself.
std::chrono::microseconds spinTime(const Device& device, WaitMode mode) {
  if (mode == WaitMode::Block) return std::chrono::microseconds(0);
  const int64_t wanted = util::environment().spinMicroseconds;
  return std::chrono::microseconds(wanted >= 0 ? wanted : device.physical().isCpu() ? 50 : 20'000);
}

uint32_t mostInGroup() { return static_cast<uint32_t>(std::clamp<int64_t>(util::environment().maxBatch, 1, 65536)); }

VkSemaphoreSubmitInfo submitInfo(const SemaphorePoint& point) {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = point.semaphore;
  info.value = point.value;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  return info;
}

// Holds a queue that an engine uses too.
class Held {
 public:
  explicit Held(const QueueLock& lock) : lock_(lock) {
    if (lock_.lock) lock_.lock(lock_.user);
  }
  ~Held() {
    if (lock_.unlock) lock_.unlock(lock_.user);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  const QueueLock& lock_;
};

void raise(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t now = value.load(std::memory_order_relaxed);
  while (now < to && !value.compare_exchange_weak(now, to, std::memory_order_acq_rel)) {
  }
}

}  // namespace

Queue::Queue(Device& device, VkQueue queue, uint32_t family, const QueueLock& shared)
    : device_(device), queue_(queue), family_(family), shared_(shared) {}

Status Queue::start() {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  return device_.status(device_.api().vkCreateSemaphore(device_.handle(), &info, device_.callbacks(), &timeline_),
                        "creating a timeline");
}

Queue::~Queue() {
  stop();
  if (timeline_ != VK_NULL_HANDLE) device_.api().vkDestroySemaphore(device_.handle(), timeline_, device_.callbacks());
}

void Queue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

std::unique_lock<std::mutex> Queue::prepare(Position& position) {
  position.moveTo(*this);
  // Other queues first: two queues are never locked at once.
  for (const Point& point : position.waits)
    if (point.queue->poll(point.value) == Status::NotReady) (void)point.queue->submit(point.value);
  return std::unique_lock(mutex_);
}

Status Queue::begin(Position& position) {
  if (device_.isLost()) return Status::DeviceLost;
  // What is recorded next must not delay a sealed point, nor may work that waits delay the open batch.
  bool mustWait = false;
  for (const Point& point : position.waits) mustWait |= !point.queue->isKnownPassed(point.value);
  if (hasOpenCommands() && (closeBeforeNext_ || mustWait)) TRY(closeBatch());
  closeBeforeNext_ = false;
  if (!open_) TRY(openBatch());
  for (const Point& point : position.waits)
    if (!point.queue->isKnownPassed(point.value)) open_->waits.push_back({point.queue->timeline_, point.value});
  position.waits.clear();
  open_->commands->after(position.last.epoch);
  return Status::Ok;
}

Status Queue::newBatch(std::unique_ptr<Batch>& out) const {
  std::unique_ptr<Commands> commands;
  TRY(Commands::create(device_, family_, Commands::Kind::Transient, commands));
  out = std::make_unique<Batch>();
  out->commands = std::move(commands);
  return Status::Ok;
}

Status Queue::warmUp() {
  constexpr size_t batches = 4;
  for (size_t i = 0; i < batches; ++i) {
    std::unique_ptr<Batch> batch;
    TRY(newBatch(batch));
    std::lock_guard lock(mutex_);
    if (stopping_ || util::isProcessEnding()) return Status::Ok;
    free_.push_back(std::move(batch));
    startWatcher();
  }
  return Status::Ok;
}

Status Queue::openBatch() {
  retire();
  if (free_.empty()) {
    std::unique_ptr<Batch> batch;
    TRY(newBatch(batch));
    free_.push_back(std::move(batch));
  }
  // A batch that could not begin must not be recorded into.
  TRY(free_.back()->commands->begin(hazards_));
  open_ = std::move(free_.back());
  free_.pop_back();
  return Status::Ok;
}

Status Queue::closeBatch() {
  open_->value = openValue_++;
  Commands& commands = *open_->commands;
  if (commands.count() == 1) wentAlone_.store(open_->value, std::memory_order_release);
  hazards_ = commands.hazards();
  const Status status = commands.end();
  closed_.push_back(std::move(open_));
  // The recorded work cannot run, so later points would never be passed: the device is of no more use.
  if (status != Status::Ok) device_.setLost();
  return status;
}

// A batch of its own between those that the queue records: the open one ends before it.
Status Queue::run(std::shared_ptr<Commands> commands, Position& position) {
  std::unique_lock lock = prepare(position);
  TRY(begin(position));
  auto batch = std::make_unique<Batch>();
  if (!hasOpenCommands()) batch->waits.swap(open_->waits);
  else TRY(closeBatch());
  batch->commands = std::move(commands);
  batch->value = openValue_++;
  // The epoch does not end here, and what depends on this run needs a barrier of all stages.
  hazards_.transferSinceBarrier = true;
  position.last = {this, batch->value, hazards_.epoch};
  given_.store(batch->value, std::memory_order_release);
  closed_.push_back(std::move(batch));
  if (open_) {  // begun with the hazards of before
    open_->commands->reset();
    free_.push_back(std::move(open_));
  }
  if (!hasWorkAhead()) return submitAll();
  // The device has more than one piece of work to do: there is time to submit several at once.
  if (closed_.size() >= threshold_) return submitGroup();
  staysAhead_ = true;
  return startWatching();
}

// Whether more than one batch has been submitted and has not run.
bool Queue::hasWorkAhead() {
  const uint64_t submitted = submitted_.load(std::memory_order_acquire);
  return submitted > 1 && !stopping_ && !util::isProcessEnding() && poll(submitted - 1) == Status::NotReady;
}

Status Queue::exchange(Position& position, std::span<const SemaphorePoint> waits,
                       std::span<const SemaphorePoint> signals, std::shared_ptr<const void> owner) {
  std::unique_lock lock = prepare(position);
  TRY(begin(position));
  if (!waits.empty() && hasOpenCommands()) {  // what is there already need not wait
    TRY(closeBatch());
    TRY(openBatch());
  }
  open_->waits.insert(open_->waits.end(), waits.begin(), waits.end());
  open_->signals.insert(open_->signals.end(), signals.begin(), signals.end());
  open_->commands->mark();
  open_->commands->keep(std::move(owner));
  position.last = {this, openValue_, open_->commands->hazards().epoch};
  given_.store(openValue_, std::memory_order_release);
  return submitAll();
}

Status Queue::appended() {
  if (stopping_ || util::isProcessEnding()) return submitAll();
  const Clock::time_point now = Clock::now();
  const uint32_t burst = now - lastGiven_ < burstGap ? burst_.fetch_add(1, std::memory_order_relaxed) + 1 : 0;
  if (burst == 0) burst_.store(0, std::memory_order_relaxed);
  lastGiven_ = now;
  // Idle: at once, for latency. Busy: in groups that grow while it stays busy, and when the watcher sees it run dry.
  const uint64_t submitted = submitted_.load(std::memory_order_acquire);
  const uint32_t commands = open_->commands->count();
  const bool isIdle = isKnownPassed(submitted) || (commands == 1 && poll(submitted) == Status::Ok);
  if (isIdle && burst < submittedAlone) {
    threshold_ = firstThreshold;
    return submitAll();
  }
  holdsBurst_ = isIdle;
  const uint32_t wanted =
      isIdle ? std::min(std::clamp(threshold_, firstOfBurst, mostOfBurst), mostInGroup()) : threshold_;
  if (commands >= wanted || closed_.size() >= wanted) return submitGroup();
  return startWatching();
}

Status Queue::submitGroup() {
  threshold_ = std::min(threshold_ * 2, mostInGroup());
  return submitAll();
}

void Queue::startWatcher() {
  if (!watcher_.joinable()) watcher_ = std::thread([this] { watch(); });
}

Status Queue::startWatching() {
  if (!watching_) {
    watching_ = true;
    startWatcher();
    wake_.notify_one();
  }
  return Status::Ok;
}

// While work is kept back, waits for what was submitted before and then submits it: a program that polls memory
// instead of calling us must see its kernels run.
void Queue::watch() {
  std::unique_lock lock(mutex_);
  const auto isInBurst = [&] { return holdsBurst_ && Clock::now() < lastGiven_ + burstGap; };
  while (!stopping_) {
    if (!watching_) {
      wake_.wait(lock);
      continue;
    }
    if (isInBurst()) {
      wake_.wait_until(lock, lastGiven_ + burstGap);
      continue;
    }
    const uint64_t value = submitted_.load(std::memory_order_acquire) - (staysAhead_ ? 1 : 0);
    lock.unlock();
    util::Inside inside;
    const Status waited = inside ? waitSemaphore(value, sliceNanoseconds) : Status::Ended;
    lock.lock();
    if (waited == Status::Ended) return;  // what is given from now on is submitted at once
    if (waited == Status::NotReady || isInBurst()) continue;
    if (waited != Status::Ok || submitAll() != Status::Ok || !hasOpenCommands()) watching_ = false;
  }
}

Status Queue::submitAll() {
  if (hasOpenCommands()) TRY(closeBatch());
  closeBeforeNext_ = holdsBurst_ = false;
  return submitClosed();
}

Status Queue::submitClosed() {
  staysAhead_ = false;
  if (closed_.empty()) return Status::Ok;
  if (device_.isLost()) return Status::DeviceLost;
  std::vector<VkSubmitInfo2> submits;
  std::vector<VkCommandBufferSubmitInfo> commandBuffers(closed_.size());
  for (size_t i = 0; i < closed_.size(); ++i) {
    Batch& batch = *closed_[i];
    commandBuffers[i].sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
    commandBuffers[i].commandBuffer = batch.commands->handle();
    batch.waitInfos.clear();
    for (const SemaphorePoint& wait : batch.waits) batch.waitInfos.push_back(submitInfo(wait));
    batch.signalInfos.assign(1, submitInfo({timeline_, batch.value}));
    for (const SemaphorePoint& signal : batch.signals) batch.signalInfos.push_back(submitInfo(signal));
    VkSubmitInfo2 submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    submit.waitSemaphoreInfoCount = static_cast<uint32_t>(batch.waitInfos.size());
    submit.pWaitSemaphoreInfos = batch.waitInfos.data();
    submit.commandBufferInfoCount = 1;
    submit.pCommandBufferInfos = &commandBuffers[i];
    submit.signalSemaphoreInfoCount = static_cast<uint32_t>(batch.signalInfos.size());
    submit.pSignalSemaphoreInfos = batch.signalInfos.data();
    submits.push_back(submit);
  }
  const uint64_t last = closed_.back()->value;
  std::unique_lock submission = device_.lockSubmission();
  VkResult result = VK_SUCCESS;
  {
    const Held held(shared_);
    result =
        device_.api().vkQueueSubmit2(queue_, static_cast<uint32_t>(submits.size()), submits.data(), VK_NULL_HANDLE);
  }
  if (submitted_.load(std::memory_order_relaxed) == 0) device_.queueHasWork();
  if (result == VK_SUCCESS) submitted_.store(last, std::memory_order_release);
  if (submission) submission.unlock();
  device_.noteWork(*this);
  for (auto& batch : closed_) running_.push_back(std::move(batch));
  closed_.clear();
  if (result != VK_SUCCESS) {
    // Later points would never be passed: the device is of no more use.
    device_.setLost();
    return device_.status(result, "submitting work");
  }
  TRY(waitForRoom(last));
  // The next batch is made ready while the device works.
  return open_ ? Status::Ok : openBatch();
}

// Reads the timeline and does not store what it read: a queue that has run dry since then still takes work in groups,
// which is what makes long chains of small launches cheap.
Status Queue::waitForRoom(uint64_t last) {
  if (last <= mostRunning || isKnownPassed(last - mostRunning)) return Status::Ok;
  uint64_t now = 0;
  if (device_.api().vkGetSemaphoreCounterValue(device_.handle(), timeline_, &now) == VK_SUCCESS &&
      now >= last - mostRunning)
    return Status::Ok;
  Status status = Status::NotReady;
  while (status == Status::NotReady) status = waitSemaphore(last - mostRunning, sliceNanoseconds);
  return status;
}

void Queue::retire() {
  const uint64_t completed = completed_.load(std::memory_order_acquire);
  while (!running_.empty() && running_.front()->value <= completed) {
    std::unique_ptr<Batch> batch = std::move(running_.front());
    running_.pop_front();
    if (batch->commands->kind() != Commands::Kind::Transient) continue;
    batch->commands->reset();
    batch->waits.clear();
    batch->signals.clear();
    free_.push_back(std::move(batch));
  }
}

Point Queue::end() {
  std::lock_guard lock(mutex_);
  return {this, hasOpenCommands() ? openValue_ : openValue_ - 1, 0};
}

Point Queue::seal(Position& position) {
  std::lock_guard lock(mutex_);
  Point point = position.last;
  if (point.queue == this && hasOpenCommands() && point.value == openValue_) closeBeforeNext_ = true;
  return point;
}

Status Queue::submit(uint64_t value) {
  if (isSubmitted(value)) return Status::Ok;
  std::lock_guard lock(mutex_);
  if (isSubmitted(value)) return Status::Ok;
  return submitAll();
}

bool Queue::isIdle() {
  std::lock_guard lock(mutex_);
  return !hasOpenCommands() && closed_.empty() && poll(submitted_.load(std::memory_order_acquire)) == Status::Ok;
}

Status Queue::waitIdle(WaitMode mode) {
  // Each free of memory waits for all queues, which as a rule have nothing to do.
  if (isKnownPassed(given_.load(std::memory_order_acquire))) return Status::Ok;
  {
    std::lock_guard lock(mutex_);
    TRY(submitAll());
  }
  return wait(submitted_.load(std::memory_order_acquire), mode);
}

Status Queue::makeVisibleToHost() {
  std::lock_guard lock(mutex_);
  const bool hasWorked = openValue_ > 1 || hasOpenCommands();
  if (!hasWorked) return Status::Ok;
  if (!open_) TRY(openBatch());
  open_->commands->mark();
  given_.store(openValue_, std::memory_order_release);
  visibleFrom_.store(openValue_, std::memory_order_release);
  return submitAll();
}

Status Queue::bindSparse(const VkBindSparseInfo& info, VkFence fence) {
  std::lock_guard lock(mutex_);
  const auto submission = device_.lockSubmission();
  const Held held(shared_);
  return device_.status(device_.api().vkQueueBindSparse(queue_, 1, &info, fence), "mapping memory");
}

Status Queue::poll(uint64_t value) {
  if (isKnownPassed(value)) return Status::Ok;
  if (device_.isLost()) return Status::DeviceLost;
  uint64_t now = 0;
  const VkResult result = device_.api().vkGetSemaphoreCounterValue(device_.handle(), timeline_, &now);
  if (result != VK_SUCCESS) return device_.status(result, "reading a timeline");
  raise(completed_, now);
  return now >= value ? Status::Ok : Status::NotReady;
}

Status Queue::waitSemaphore(uint64_t value, uint64_t nanoseconds) {
  if (device_.isLost()) return Status::DeviceLost;
  if (util::mustLeave()) return Status::Ended;
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  const VkResult result = device_.api().vkWaitSemaphores(device_.handle(), &info, nanoseconds);
  if (result == VK_SUCCESS) raise(completed_, value);
  return device_.status(result, "waiting for the device");
}

Status Queue::wait(uint64_t value, WaitMode mode) {
  return waitUntil(value, mode, sliceNanoseconds, [] { return false; });
}

Status Queue::wait(uint64_t value, const Timestamp& timestamp, WaitMode mode) {
  return waitUntil(value, mode, shortSliceNanoseconds, [&] { return timestamp.isWritten(); });
}

template <typename IsDone>
Status Queue::waitUntil(uint64_t value, WaitMode mode, uint64_t slice, IsDone&& isDone) {
  if (isKnownPassed(value)) return Status::Ok;  // without a look at the clock
  burst_.store(0, std::memory_order_relaxed);
  TRY(submit(value));
  const auto until = Clock::now() + spinTime(device_, mode);
  while (true) {
    const Status status = poll(value);
    if (status != Status::NotReady) return status;
    if (isDone()) return Status::Ok;
    if (util::mustLeave()) return Status::Ended;
    if (mode == WaitMode::Spin) continue;
    if (mode == WaitMode::Yield) std::this_thread::yield();
    else if (Clock::now() >= until) break;
  }
  Status status = Status::NotReady;
  while (status == Status::NotReady && !isDone()) status = waitSemaphore(value, slice);
  return status == Status::NotReady ? Status::Ok : status;
}

}  // namespace mulciber::vk
