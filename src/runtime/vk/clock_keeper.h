// Keeps the clocks of a GPU up while a program uses it in short pieces.
//
// NVIDIA's driver lowers the clocks of a GPU that has had little to do for about 3 s, from 1,980 to 345 MHz on an H100,
// and raises them again only after a while of steady work: a kernel of 50 us then takes 280. Natively a CUDA context
// keeps the clocks up for as long as it lives; nothing of Vulkan's does. So while the program gives the device work now
// and then, a thread has one warp spin for half of the time in which nothing else runs (docs/runtime.md, "Clocks").
// A new device's clocks are up for its first 3 s, so it begins 2 s after the device was made: it costs each launch that
// is waited for some 2 us, which programs that end soon are spared. It pauses 5 s after the last work.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/vk/pipeline.h"
#include "runtime/vk/queue.h"

namespace mulciber::vk {

class ClockKeeper {
 public:
  // `queue`: of the family that kernels run on, and used for nothing else.
  ClockKeeper(Device& device, std::unique_ptr<Queue> queue)
      : device_(device), queue_(std::move(queue)), made_(std::chrono::steady_clock::now()) {}
  ~ClockKeeper();
  ClockKeeper(const ClockKeeper&) = delete;
  ClockKeeper& operator=(const ClockKeeper&) = delete;

  // The device was given work on that queue.
  void noteWork(const Queue& queue) {
    if (&queue == queue_.get()) return;
    works_.fetch_add(1);
    if (isAsleep_.load()) wake();
  }
  void stop();
  uint64_t spins() const { return spins_.load(std::memory_order_relaxed); }

 private:
  void wake();
  void run();
  bool isStopped(std::chrono::steady_clock::duration within);
  void sleepUntilWork(uint64_t seen);
  bool isBusy();
  Status spin();

  Device& device_;
  const std::unique_ptr<Queue> queue_;
  const std::chrono::steady_clock::time_point made_;
  std::unique_ptr<Pipeline> pipeline_;
  std::atomic<uint64_t> works_{0}, spins_{0};
  std::atomic<bool> isAsleep_{true};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace mulciber::vk
