// Lets kernels see what the host writes while they run.
//
// NVIDIA's device keeps lines of host memory in its L2 cache, and no load of Vulkan's bypasses that: with every scope,
// order and kind of memory tried, a kernel that waits for the host reads an old value for ever (docs/runtime.md).
// The device drops these lines when a queue of another family is given work, even an empty submission. So while a
// kernel runs that may wait for the host, a thread makes such submissions. The family should only copy, or decode
// video: where another process waits for the multiprocessors, a submission to a family that draws waits behind it, it
// waits for the kernel, and after 5 s NVIDIA's driver ends the context. Nothing else may be given to the queue: what
// waits for the kernel would stand before the submission.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vk/queue.h"

namespace mulciber::vk {

class HostWrites {
 public:
  // `queue`: used for nothing else, and of another family than those that kernels run on.
  HostWrites(Device& device, VkQueue queue) : device_(device), queue_(queue) {}
  ~HostWrites();

  HostWrites(const HostWrites&) = delete;
  HostWrites& operator=(const HostWrites&) = delete;

  // What the device runs sees the host's writes soon after they were made, until `point` is passed.
  void showUntil(const Point& point);
  void stop();

 private:
  void run();
  bool isAnyRunning();  // forgets the points that were passed
  Status submitNothing();

  Device& device_;
  const VkQueue queue_;
  VkFence fence_ = VK_NULL_HANDLE;
  bool hasWorked_ = false;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Point> points_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace mulciber::vk
