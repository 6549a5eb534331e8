#include "runtime/vk/host_writes.h"

#include <algorithm>
#include <chrono>

#include "runtime/vk/device.h"
#include "util/exit_gate.h"

namespace mulciber::vk {

namespace {

// Between submissions. A kernel that ends within the first is not helped, and needs no help.
constexpr std::chrono::microseconds pause(20);
constexpr uint64_t sliceNanoseconds = 100'000'000;  // of a wait, between checks whether to wait longer

}  // namespace

HostWrites::~HostWrites() {
  stop();
  if (fence_ != VK_NULL_HANDLE) device_.api().vkDestroyFence(device_.handle(), fence_, device_.callbacks());
}

void HostWrites::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostWrites::showUntil(const Point& point) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  // One point for each queue will do: the later one is passed after the earlier.
  for (Point& known : points_)
    if (known.queue == point.queue) {
      known.value = std::max(known.value, point.value);
      return;
    }
  points_.push_back(point);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

void HostWrites::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !points_.empty(); });
      if (stopping_) return;
    }
    std::this_thread::sleep_for(pause);
    const util::Inside inside;
    if (!inside) return;
    if (isAnyRunning() && submitNothing() != Status::Ok) return;  // the device is lost, or the process ends
  }
}

bool HostWrites::isAnyRunning() {
  std::lock_guard lock(mutex_);
  std::erase_if(points_, [](const Point& point) {
    return point.queue->isSubmitted(point.value) && point.queue->poll(point.value) != Status::NotReady;
  });
  return std::ranges::any_of(points_, [](const Point& point) { return point.queue->isSubmitted(point.value); });
}

Status HostWrites::submitNothing() {
  const VolkDeviceTable& api = device_.api();
  if (fence_ == VK_NULL_HANDLE) {
    VkFenceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    TRY(device_.status(api.vkCreateFence(device_.handle(), &info, device_.callbacks(), &fence_), "creating a fence"));
  }
  VkSubmitInfo2 nothing{};
  nothing.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  {
    // See Device::lockSubmission: while a queue gets its first work, no other may get any.
    std::vector<std::unique_lock<std::mutex>> others;
    if (!hasWorked_) others = device_.lockQueues();
    hasWorked_ = true;
    TRY(device_.status(api.vkQueueSubmit2(queue_, 1, &nothing, fence_), "showing the host's writes"));
  }
  while (true) {
    if (util::mustLeave()) return Status::Ended;
    const Status waited = device_.status(api.vkWaitForFences(device_.handle(), 1, &fence_, VK_TRUE, sliceNanoseconds),
                                         "showing the host's writes");
    if (waited == Status::Ok) break;
    if (waited != Status::NotReady) return waited;
  }
  return device_.status(api.vkResetFences(device_.handle(), 1, &fence_), "showing the host's writes");
}

}  // namespace mulciber::vk
