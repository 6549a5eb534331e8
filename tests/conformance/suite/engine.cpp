#include "conformance/suite/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace mulciber::conformance {

std::array<uint8_t, kExtraBytes> extraBytes() {
  std::array<uint8_t, kExtraBytes> bytes;
  for (unsigned i = 0; i < kExtraBytes; ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  return bytes;
}

void Engine::run(const Batch& batch, const InputTable& inputs, const std::function<void(const Case&, Outcome)>& take) {
  std::vector<uint64_t> results;
  const std::string error = launch(batch, inputs, results);
  if (error.empty()) {
    auto at = results.begin();
    for (const Case* one : batch) {
      const auto end = at + static_cast<long>(size_t(columnsOf(*one)) * inputs.rows);
      take(*one, {std::vector<uint64_t>(at, end), {}});
      at = end;
    }
  } else if (batch.size() == 1) {
    take(*batch.front(), {{}, error});
  } else {
    const auto middle = batch.begin() + static_cast<long>(batch.size() / 2);
    run(Batch(batch.begin(), middle), inputs, take);
    run(Batch(middle, batch.end()), inputs, take);
  }
}

namespace {

// Says what runs and for how long.
class Progress {
 public:
  Progress(size_t kernels, const std::function<void(const std::string&)>& say) : kernels_(kernels), say_(say) {
    if (say_) thread_ = std::thread([this] { watch(); });
  }
  ~Progress() {
    {
      const std::lock_guard lock(mutex_);
      isOver_ = true;
    }
    over_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  void begin(size_t kernel, const std::string& name) {
    const std::lock_guard lock(mutex_);
    running_[kernel] = {name, Clock::now()};
  }
  void end(size_t kernel) {
    const std::lock_guard lock(mutex_);
    running_.erase(kernel);
    ++done_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{5};
  struct Kernel {
    std::string name;
    Clock::time_point begin;
  };

  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_.wait_for(lock, kInterval, [&] { return isOver_; })) {
      say_(std::to_string(done_) + " of " + std::to_string(kernels_) + " kernels");
      for (const auto& [number, kernel] : running_) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - kernel.begin);
        if (seconds >= kInterval) say_("  since " + std::to_string(seconds.count()) + " s: " + kernel.name);
      }
    }
  }

  const size_t kernels_;
  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool isOver_ = false;
  size_t done_ = 0;
  std::map<size_t, Kernel> running_;
  std::thread thread_;
};

}  // namespace

void runCases(Engine& engine, std::span<const Case* const> cases, const RunOptions& options,
              const std::function<bool(const Case&)>& isAlone, const std::function<void(const Case&, Outcome)>& take) {
  std::vector<const Case*> together;
  std::vector<Batch> batches;
  for (const Case* one : cases)
    if (isAlone(*one)) batches.push_back({one});
    else together.push_back(one);
  for (Batch& batch : makeBatches(together, 32)) batches.push_back(std::move(batch));
  const size_t count = (batches.size() + options.shards - 1 - options.shard) / options.shards;
  Progress progress(count, options.progress);
  std::atomic<size_t> next = options.shard;
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next.fetch_add(options.shards); i < batches.size(); i = next.fetch_add(options.shards)) {
      progress.begin(i, batches[i].front()->name + " ... " + batches[i].back()->name);
      engine.run(batches[i], makeInputs(batches[i].front()->inputs), [&](const Case& one, Outcome outcome) {
        const std::lock_guard lock(mutex);
        take(one, std::move(outcome));
      });
      progress.end(i);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < options.threads; ++i) pool.emplace_back(work);
  for (std::thread& thread : pool) thread.join();
}

}  // namespace mulciber::conformance
