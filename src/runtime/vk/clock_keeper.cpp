#include "runtime/vk/clock_keeper.h"

#include <chrono>
#include <vector>

#include "runtime/vk/device.h"
#include "shaders/spin.h"
#include "util/exit_gate.h"

namespace mulciber::vk {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds clocksOfNewDevices = std::chrono::seconds(2), patience = std::chrono::seconds(5);
// As long as a spin at full clocks: the driver keeps them from 40 % of the time on.
constexpr microseconds pause(1000);
constexpr uint32_t rounds = 160'000;

struct Push {
  uint64_t result;  // where the shader would store 0x600DF00D, but these rounds give 0x9FD161DC
  uint32_t rounds;
};

}  // namespace

ClockKeeper::~ClockKeeper() { stop(); }

void ClockKeeper::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  queue_->stop();
}

void ClockKeeper::wake() {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  isAsleep_ = false;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

bool ClockKeeper::isStopped(Clock::duration within) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return stopping_; });
}

void ClockKeeper::sleepUntilWork(uint64_t seen) {
  std::unique_lock lock(mutex_);
  isAsleep_ = true;
  changed_.wait(lock, [&] { return stopping_ || works_.load() != seen; });
  isAsleep_ = false;
}

void ClockKeeper::run() {
  if (isStopped(made_ + clocksOfNewDevices - Clock::now())) return;
  uint64_t seen = works_.load();
  Clock::time_point last = Clock::now();
  while (!isStopped(pause)) {
    if (const uint64_t works = works_.load(); works != seen) {
      seen = works;
      last = Clock::now();
    } else if (Clock::now() - last > patience) {
      sleepUntilWork(seen);
      continue;
    }
    const util::Inside inside;
    if (!inside) return;
    if (!isBusy() && spin() != Status::Ok) return;
  }
}

bool ClockKeeper::isBusy() {
  return std::ranges::any_of(device_.queues(), [](const auto& queue) { return queue->isRunning(); });
}

Status ClockKeeper::spin() {
  if (!pipeline_) {
    PipelineDescription description;
    description.spirv = ::spin;
    std::vector<uint8_t> cache;
    TRY(Pipeline::create(device_, description, cache, pipeline_));
  }
  const Push push{0, rounds};
  Position position(*queue_);
  TRY(queue_->record(position, [&](Commands& commands) {
    commands.dispatch(*pipeline_, &push, sizeof push, {1, 1, 1});
    return Status::Ok;
  }));
  TRY(queue_->wait(position.last.value, WaitMode::Block));
  spins_.fetch_add(1, std::memory_order_relaxed);
  return Status::Ok;
}

}  // namespace mulciber::vk
