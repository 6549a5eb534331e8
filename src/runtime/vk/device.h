// A Vulkan device opened for CUDA: queues, memory, pipelines, and what probing found out about it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/vk/instance.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/pipeline.h"
#include "runtime/vk/probes.h"
#include "runtime/vk/queue.h"
#include "runtime/vk/status.h"
#include "runtime/vk/workarounds.h"

namespace mulciber::vk {

class Builtins;
class ClockKeeper;
class Descriptors;
class HostWrites;

// A queue of an engine's, which others use too.
struct AdoptedQueue {
  VkQueue handle = VK_NULL_HANDLE;
  uint32_t family = 0;
  QueueLock lock;
};

// Where an engine wants to allocate the device's memory itself; null where it does not.
struct DeviceMemoryCallbacks {
  VkResult (*allocate)(void* user, const VkMemoryAllocateInfo* info, VkDeviceMemory* out) = nullptr;
  void (*free)(void* user, VkDeviceMemory memory) = nullptr;
  void* user = nullptr;
};

// A device that an engine has made and still owns.
struct AdoptedDevice {
  VkDevice handle = VK_NULL_HANDLE;
  std::unique_ptr<const PhysicalDevice> physical;  // with the features it was made with
  std::vector<AdoptedQueue> queues;                // at least one
  std::vector<uint32_t> families;                  // of all queues that may use our memory
  VkBufferUsageFlags bufferUsage = 0;              // of our memory, beside our own
  const VkAllocationCallbacks* callbacks = nullptr;
  DeviceMemoryCallbacks memory;
  bool mayStartThreads = true;
};

class Device {
 public:
  // `known`: what probing this device with this driver gave before; null to probe now.
  static Status create(const PhysicalDevice& physical, const ProbeResults* known, std::shared_ptr<Device>& out);
  // The same on an engine's device. It never waits for other work there, and leaves the process's signals alone.
  static Status adopt(AdoptedDevice device, const ProbeResults* known, std::shared_ptr<Device>& out);
  ~Device();

  VkDevice handle() const { return handle_; }
  const AdoptedDevice* adopted() const { return adopted_.get(); }  // null for one of our own
  const VkAllocationCallbacks* callbacks() const { return callbacks_; }
  const VolkDeviceTable& api() const { return api_; }
  // The only ways to the device's memory: the engine may want to allocate it itself.
  VkResult allocateMemory(const VkMemoryAllocateInfo& info, VkDeviceMemory& out);
  void freeMemory(VkDeviceMemory memory);
  const PhysicalDevice& physical() const { return physical_; }
  const ProbeResults& probes() const { return probes_; }
  const TargetProfile& profile() const { return profile_; }  // for the translator
  const Workarounds& workarounds() const { return workarounds_; }
  Allocator& allocator() { return *allocator_; }
  Builtins& builtins() const { return *builtins_; }
  VkPipelineLayout layout() const { return layout_; }
  Descriptors* descriptors() { return descriptors_.get(); }  // null where kernels cannot choose images

  std::span<const std::unique_ptr<Queue>> queues() const { return queues_; }
  size_t kernelQueueCount() const { return kernelQueues_; }
  Queue& queue(size_t index) { return *queues_[index % kernelQueues_]; }  // of those that kernels run on
  // For large copies between memory of the host and of the device. Null where copies go with kernels.
  Queue* copyQueue(bool toDevice) const;
  // Whether there is work under way beside what ends at `last`.
  bool isBusyBeside(const Point& last);
  // So that all queues may use the buffer.
  void share(VkBufferCreateInfo& info) const;
  // One beside those: work for them never comes to it.
  Status makeQueue(VkQueue queue, uint32_t family, const QueueLock& lock, std::unique_ptr<Queue>& out);
  Queue& idleQueue();  // the first that has nothing to do, if any has not: for what the host waits for

  Status timestamp(TimestampRef& out);

  // Once lost, every call gives DeviceLost.
  bool isLost() const { return lost_.load(std::memory_order_acquire); }
  void setLost() { lost_.store(true, std::memory_order_release); }
  // Threads of a CPU's driver sleep in kernels that used illegal addresses, and may hold its locks: nothing is
  // destroyed.
  bool isStuck() const;
  Status status(VkResult result, const char* what);  // logs failures
  // Returns when nothing runs on the device any more, lost or not: the program may drop a device that still works. Of
  // an engine's device: nothing of ours.
  void waitIdle();

  // To be held while a queue is given work and says so; not locked where no work-around needs it. On NVIDIA's driver
  // the first work of a queue never ran if another queue got work at that moment (docs/reliability.md).
  std::unique_lock<std::mutex> lockSubmission();
  // Calls `destroy` now or, where Workaround::ImagesBetweenKernels is on and something runs, later: before work is next
  // submitted, or something else destroyed, while nothing runs.
  void destroyWhenIdle(std::function<void()> destroy);
  // Nothing is submitted while they are held.
  std::vector<std::unique_lock<std::mutex>> lockQueues();
  // Counts the copies that images got to show their blocks: copies to these images that were recorded before miss them.
  void noteBlockCopy() { blockCopies_.fetch_add(1, std::memory_order_acq_rel); }
  uint64_t blockCopies() const { return blockCopies_.load(std::memory_order_acquire); }
  void queueHasWork() { queuesWithoutWork_.fetch_sub(1, std::memory_order_acq_rel); }

  // Whether the host may read what kernels write: before it has memory that they reach, batches need not make their
  // writes visible to it, and a launch and its wait are 1.5 us shorter (H200).
  bool hostReads() const { return hostReads_.load(std::memory_order_acquire); }
  void hostWillRead();
  // Whether the host sees all that finished kernels wrote. To be asked before a read. The first two answers are no,
  // and so are later ones until the batches under way have ended.
  bool hostSeesAll();

  // A queue was given work.
  void noteWork(const Queue& queue);
  ClockKeeper* clockKeeper() const { return clockKeeper_.get(); }  // null where the device needs none

  // Until `point` is passed, running kernels see the host's writes. Does nothing on devices that need no help.
  void showHostWrites(const Point& point);

  PFN_vkMapMemory2KHR mapMemory2 = nullptr;  // null when the device has no placed mapping
  PFN_vkUnmapMemory2KHR unmapMemory2 = nullptr;

 private:
  friend class Timestamp;
  explicit Device(const PhysicalDevice& physical);
  explicit Device(AdoptedDevice device);
  static Status finish(std::shared_ptr<Device> device, Status opened, const ProbeResults* known,
                       std::shared_ptr<Device>& out);
  Status open();
  Status createHandle(const std::vector<VkDeviceQueueCreateInfo>& queues);
  Status prepareAdopted();
  void loadFunctions();
  Status addQueue(VkQueue queue, uint32_t family, const QueueLock& lock);
  Status mapCommandMemory(uint32_t family);
  Status createLayout();
  bool hasConstantBuffers() const;
  void destroyDelayed();  // with submission_ locked
  void fillProfile();

  const std::unique_ptr<const AdoptedDevice> adopted_;
  const PhysicalDevice& physical_;
  Workarounds workarounds_;
  const VkAllocationCallbacks* callbacks_ = nullptr;
  VkDevice handle_ = VK_NULL_HANDLE;
  VolkDeviceTable api_{};
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<Descriptors> descriptors_;
  std::unique_ptr<Builtins> builtins_;
  std::vector<std::unique_ptr<Queue>> queues_;  // for kernels; then, where there are such, for copies in and out
  size_t kernelQueues_ = 0;
  std::vector<uint32_t> families_;  // of all queues that may use our memory
  std::unique_ptr<ClockKeeper> clockKeeper_;
  std::unique_ptr<HostWrites> hostWrites_;  // null where there is no queue for it, and on a CPU
  std::atomic<size_t> queuesWithoutWork_{0};
  std::mutex submission_, makingVisible_;
  std::vector<std::function<void()>> delayed_;  // by destroyWhenIdle()
  std::atomic<bool> hostReads_{true}, hostSeesAll_{true};
  std::atomic<int> hostQuestions_{0};
  std::atomic<uint64_t> blockCopies_{0};
  ProbeResults probes_;
  TargetProfile profile_;
  std::atomic<bool> lost_{false};

  std::mutex timestampMutex_;
  std::vector<VkQueryPool> timestampPools_;
  struct Slot {
    VkQueryPool pool;
    uint32_t index;
  };
  std::vector<Slot> freeTimestamps_;
};

}  // namespace mulciber::vk
