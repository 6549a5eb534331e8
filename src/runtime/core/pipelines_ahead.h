// Pipelines that earlier runs of this program launched, made in the background before they are launched again. The
// cache remembers for each program which kernels it launched with which block sizes, in the order of their first
// launches. What is made is exactly what a launch would make: memory of another program costs time and nothing else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/core/kernel_pipeline.h"

namespace mulciber::core {

struct KernelUse {
  std::string contentKey, kernel;
  PipelineVariant variant;
  bool operator==(const KernelUse&) const = default;
};
std::vector<uint8_t> writeUses(std::span<const KernelUse> uses);
std::vector<KernelUse> readUses(std::span<const uint8_t> bytes);  // empty when damaged

class PipelinesAhead {
 public:
  explicit PipelinesAhead(Context& context) : context_(context) {}
  ~PipelinesAhead() { stop(); }
  PipelinesAhead(const PipelinesAhead&) = delete;
  PipelinesAhead& operator=(const PipelinesAhead&) = delete;

  void begin();  // with what the cache remembers of the program
  void stop();   // waits for the one that is being made

  // Null when the caller has to make it: it was not made ahead, and will not be.
  std::shared_ptr<const vk::Pipeline> take(const std::string& key);
  void remember(const KernelUse& use);            // it was launched
  bool isDone() const { return isDone_.load(); }  // nothing is left to be made

  // While a launch makes a pipeline, or waits for one, no other is begun.
  class Turn {
   public:
    explicit Turn(PipelinesAhead& ahead) : ahead_(ahead) { ++ahead_.launches_; }
    ~Turn() {
      if (--ahead_.launches_ == 0) ahead_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    PipelinesAhead& ahead_;
  };

 private:
  struct Item {
    bool isUnderWay = false, isTaken = false;
    std::shared_ptr<const vk::Pipeline> pipeline;
  };

  void run();
  std::shared_ptr<const vk::Pipeline> make(const KernelUse& use, const std::string& translationKey,
                                           const std::string& key, size_t& wordsLeft);

  Context& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string programKey_;
  std::vector<KernelUse> uses_;                  // what the cache remembers
  std::unordered_map<std::string, Item> items_;  // by pipelineKey
  std::atomic<int> launches_{0};
  std::atomic<bool> isDone_{true};
  bool isStopping_ = false;
  std::thread thread_;
};

}  // namespace mulciber::core
