#include "runtime/vk/device.h"

#include <algorithm>
#include <array>
#include <optional>

#include "mulciber/kernel_abi.h"
#include "runtime/vk/builtins.h"
#include "runtime/vk/clock_keeper.h"
#include "runtime/vk/descriptors.h"
#include "runtime/vk/driver_stacks.h"
#include "runtime/vk/faults.h"
#include "runtime/vk/features.h"
#include "runtime/vk/host_writes.h"
#include "runtime/vk/illegal_address.h"
#include "runtime/vk/queue_plan.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

constexpr uint32_t timestampsPerPool = 1024;

}  // namespace

Status Device::create(const PhysicalDevice& physical, const ProbeResults* known, std::shared_ptr<Device>& out) {
  if (physical.isCpu() && wasAddressIllegal()) return Status::DeviceLost;
  std::shared_ptr<Device> device(new Device(physical));
  const Status opened = device->open();
  return finish(std::move(device), opened, known, out);
}

Status Device::adopt(AdoptedDevice engine, const ProbeResults* known, std::shared_ptr<Device>& out) {
  std::shared_ptr<Device> device(new Device(std::move(engine)));
  const Status opened = device->prepareAdopted();
  return finish(std::move(device), opened, known, out);
}

Status Device::finish(std::shared_ptr<Device> device, Status opened, const ProbeResults* known,
                      std::shared_ptr<Device>& out) {
  if (opened != Status::Ok) return opened;
  TRY(Builtins::create(*device, device->builtins_));
  if (known) device->probes_ = *known;
  else TRY(probe(*device, device->probes_));
  device->fillProfile();
  // A CPU device's memory lies open. On others nothing but probes has run so far.
  device->hostReads_ = device->hostSeesAll_ = device->physical_.isCpu();
  out = std::move(device);
  return Status::Ok;
}

Device::Device(const PhysicalDevice& physical) : physical_(physical), workarounds_(Workarounds::of(physical)) {}

Device::Device(AdoptedDevice engine)
    : adopted_(std::make_unique<AdoptedDevice>(std::move(engine))),
      physical_(*adopted_->physical),
      workarounds_(Workarounds::of(physical_)),
      callbacks_(adopted_->callbacks),
      handle_(adopted_->handle) {}

Device::~Device() {
  if (handle_ == VK_NULL_HANDLE) return;
  hostWrites_.reset();
  for (const auto& queue : queues_) queue->stop();
  if (clockKeeper_) clockKeeper_->stop();  // while its queue may still tell it of work
  clockKeeper_.reset();
  if (physical_.isCpu() && !adopted_) forgetIllegalAddresses(lost_);
  if (isStuck()) {  // the driver would wait for ever: all stays as it is
    for (auto& queue : queues_) (void)queue.release();
    (void)builtins_.release();
    (void)descriptors_.release();
    (void)allocator_.release();
    return;
  }
  if (!adopted_) api_.vkDeviceWaitIdle(handle_);
  else waitIdle();
  workarounds_ = {};  // nothing runs any more: what queues keep is destroyed at once
  for (const auto& destroy : delayed_) destroy();
  queues_.clear();
  builtins_.reset();
  allocator_.reset();
  for (VkQueryPool pool : timestampPools_) api_.vkDestroyQueryPool(handle_, pool, callbacks_);
  descriptors_.reset();
  if (layout_ != VK_NULL_HANDLE) api_.vkDestroyPipelineLayout(handle_, layout_, callbacks_);
  if (setLayout_ != VK_NULL_HANDLE) api_.vkDestroyDescriptorSetLayout(handle_, setLayout_, callbacks_);
  if (!adopted_) api_.vkDestroyDevice(handle_, callbacks_);
}

// A device of our own has everything that we use of what there is.
Status Device::createHandle(const std::vector<VkDeviceQueueCreateInfo>& queues) {
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  FeatureRequest request(physical_);
  request.addTo(info);
  std::optional<LargeDriverStacks> stacks;
  if (physical_.isCpu()) stacks.emplace();
  const VkResult result = physical_.functions.vkCreateDevice(physical_.handle, &info, callbacks_, &handle_);
  if (result != VK_SUCCESS) handle_ = VK_NULL_HANDLE;
  return status(result, "creating the Vulkan device");
}

void Device::loadFunctions() {
  loadDeviceTable(api_, handle_, physical_.functions.vkGetDeviceProcAddr);
  prepareFaults(api_);
  if (physical_.mapPlaced.memoryMapPlaced == VK_FALSE) return;
  const auto find = physical_.functions.vkGetDeviceProcAddr;
  mapMemory2 = reinterpret_cast<PFN_vkMapMemory2KHR>(find(handle_, "vkMapMemory2KHR"));
  unmapMemory2 = reinterpret_cast<PFN_vkUnmapMemory2KHR>(find(handle_, "vkUnmapMemory2KHR"));
}

Status Device::open() {
  QueuePlan::Wishes wishes;
  wishes.kernelQueues = static_cast<uint32_t>(std::clamp<int64_t>(util::environment().queues, 1, 64));
  if (const int64_t most = util::environment().maxConnections; most > 0 && most < wishes.kernelQueues)
    wishes.kernelQueues = static_cast<uint32_t>(most);
  wishes.copyQueues = util::environment().copyQueues;
  wishes.clockKeeper = workarounds_.has(Workaround::IdleClocks);
  wishes.hostWrites = workarounds_.has(Workaround::HostWrites);
  const QueuePlan plan = QueuePlan::of(physical_.queueFamilies, wishes);
  families_ = plan.families();
  std::vector<VkDeviceQueueCreateInfo> queueInfos;
  std::vector<std::vector<float>> priorities;
  for (uint32_t family = 0; family < physical_.queueFamilies.size(); ++family) {
    VkDeviceQueueCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    info.queueFamilyIndex = family;
    info.queueCount = plan.queuesOf(family);
    info.pQueuePriorities = priorities.emplace_back(info.queueCount, 1.0f).data();
    if (info.queueCount != 0) queueInfos.push_back(info);
  }
  TRY(createHandle(queueInfos));
  loadFunctions();
  if (physical_.isCpu()) watchIllegalAddresses(lost_);
  TRY(createLayout());
  allocator_ = std::make_unique<Allocator>(*this);
  const auto handleOf = [&](const QueuePlan::Place& place) {
    VkQueue queue = VK_NULL_HANDLE;
    api_.vkGetDeviceQueue(handle_, place.family, place.index, &queue);
    return queue;
  };
  for (const QueuePlan::Place& place : plan.kernels) TRY(addQueue(handleOf(place), place.family, {}));
  kernelQueues_ = queues_.size();
  for (const auto& place : {plan.copiesIn, plan.copiesOut})
    if (place) TRY(addQueue(handleOf(*place), place->family, {}));
  if (plan.clockKeeper) {
    std::unique_ptr<Queue> queue;
    TRY(makeQueue(handleOf(*plan.clockKeeper), plan.clockKeeper->family, {}, queue));
    clockKeeper_ = std::make_unique<ClockKeeper>(*this, std::move(queue));
  }
  if (plan.hostWrites) hostWrites_ = std::make_unique<HostWrites>(*this, handleOf(*plan.hostWrites));
  return workarounds_.has(Workaround::CommandMemory) ? mapCommandMemory(families_.front()) : Status::Ok;
}

// The driver gives each command buffer 64 KiB with its first command, and takes them back when the command buffer is
// destroyed. They come from larger pieces, of which it maps another when none has room: for twelve command buffers it
// has to, so that later launches find room.
Status Device::mapCommandMemory(uint32_t family) {
  std::array<std::unique_ptr<Commands>, 16> all;
  for (std::unique_ptr<Commands>& commands : all) {
    TRY(Commands::create(*this, family, Commands::Kind::Transient, commands));
    TRY(commands->begin({}));
    commands->comeAfterOwner();  // a command without effect
    TRY(commands->end());
  }
  return Status::Ok;
}

Status Device::prepareAdopted() {
  loadFunctions();
  TRY(createLayout());
  allocator_ = std::make_unique<Allocator>(*this);
  for (const AdoptedQueue& queue : adopted_->queues) TRY(addQueue(queue.handle, queue.family, queue.lock));
  kernelQueues_ = queues_.size();
  families_ = adopted_->families;
  if (!adopted_->mayStartThreads)
    for (const auto& queue : queues_) queue->stop();
  return Status::Ok;
}

Status Device::addQueue(VkQueue queue, uint32_t family, const QueueLock& lock) {
  return makeQueue(queue, family, lock, queues_.emplace_back());
}

Status Device::makeQueue(VkQueue queue, uint32_t family, const QueueLock& lock, std::unique_ptr<Queue>& out) {
  out = std::make_unique<Queue>(*this, queue, family, lock);
  ++queuesWithoutWork_;
  return out->start();
}

// Whether a module's constants can be a uniform buffer: arrays of bytes, and no sets to look after.
bool Device::hasConstantBuffers() const {
  return physical_.has("VK_KHR_push_descriptor") && (physical_.features12.uniformBufferStandardLayout == VK_TRUE ||
                                                     physical_.features12.scalarBlockLayout == VK_TRUE);
}

// One for all pipelines: those that read no constants have nothing bound.
Status Device::createLayout() {
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = physical_.limits().maxPushConstantsSize;
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  if (hasConstantBuffers()) {
    VkDescriptorSetLayoutBinding binding{};
    binding.binding = abi::constantBinding;
    binding.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    VkDescriptorSetLayoutCreateInfo setInfo{};
    setInfo.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    setInfo.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    setInfo.bindingCount = 1;
    setInfo.pBindings = &binding;
    TRY(status(api_.vkCreateDescriptorSetLayout(handle_, &setInfo, callbacks_, &setLayout_),
               "creating the layout of constants"));
    info.setLayoutCount = 1;
    info.pSetLayouts = &setLayout_;
  }
  if (Status made =
          status(api_.vkCreatePipelineLayout(handle_, &info, callbacks_, &layout_), "creating the pipeline layout");
      made != Status::Ok || setLayout_ == VK_NULL_HANDLE || !Descriptors::areSupported(physical_))
    return made;
  return Descriptors::create(*this, setLayout_, descriptors_);
}

Status Device::timestamp(TimestampRef& out) {
  std::lock_guard lock(timestampMutex_);
  if (freeTimestamps_.empty()) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = timestampsPerPool;
    VkQueryPool pool = VK_NULL_HANDLE;
    TRY(status(api_.vkCreateQueryPool(handle_, &info, callbacks_, &pool), "creating timestamps"));
    timestampPools_.push_back(pool);
    for (uint32_t i = timestampsPerPool; i-- > 0;) freeTimestamps_.push_back({pool, i});
  }
  const Slot slot = freeTimestamps_.back();
  freeTimestamps_.pop_back();
  api_.vkResetQueryPool(handle_, slot.pool, slot.index, 1);
  out = std::make_shared<Timestamp>(*this, slot.pool, slot.index);
  return Status::Ok;
}

Status Device::status(VkResult result, const char* what) {
  switch (result) {
    case VK_SUCCESS: return Status::Ok;
    case VK_NOT_READY:
    case VK_TIMEOUT: return Status::NotReady;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_MEMORY_MAP_FAILED: return Status::OutOfMemory;
    case VK_ERROR_DEVICE_LOST:
      if (!isLost()) util::log().error("{}: the device was lost", what);
      setLost();
      return Status::DeviceLost;
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      util::log().error("{}: the driver refuses (VkResult {})", what, static_cast<int>(result));
      return Status::Unsupported;
    default: util::log().error("{} failed (VkResult {})", what, static_cast<int>(result)); return Status::Failed;
  }
}

std::unique_lock<std::mutex> Device::lockSubmission() {
  const bool isFirst =
      workarounds_.has(Workaround::FirstWorkAlone) && queuesWithoutWork_.load(std::memory_order_acquire) != 0;
  const bool delays = workarounds_.has(Workaround::ImagesBetweenKernels);
  if (!isFirst && !delays) return {};
  std::unique_lock lock(submission_);
  if (delays) destroyDelayed();
  return lock;
}

void Device::destroyWhenIdle(std::function<void()> destroy) {
  if (!workarounds_.has(Workaround::ImagesBetweenKernels)) {
    destroy();
    return;
  }
  std::lock_guard lock(submission_);
  delayed_.push_back(std::move(destroy));
  destroyDelayed();
}

void Device::destroyDelayed() {
  if (delayed_.empty() || isStuck()) return;
  if (std::ranges::any_of(queues_, [](const auto& queue) { return queue->isRunning(); })) return;
  for (const auto& destroy : delayed_) destroy();
  delayed_.clear();
}

void Device::hostWillRead() {
  if (hostReads()) return;
  std::lock_guard lock(makingVisible_);
  if (hostReads_.exchange(true)) return;
  for (const auto& queue : queues_) (void)queue->makeVisibleToHost();
}

bool Device::hostSeesAll() {
  if (hostSeesAll_.load(std::memory_order_acquire)) return true;
  // A program that reads once or twice need not wait longer for every batch.
  if (!hostReads() && ++hostQuestions_ < 3) return false;
  hostWillRead();
  std::lock_guard lock(makingVisible_);
  for (const auto& queue : queues_)
    if (!queue->isVisibleToHost()) return false;
  hostSeesAll_.store(true, std::memory_order_release);
  return true;
}

Queue& Device::idleQueue() {
  for (size_t i = 0; i < kernelQueues_; ++i)
    if (queues_[i]->isIdle()) return *queues_[i];
  return *queues_.front();
}

Queue* Device::copyQueue(bool toDevice) const {
  return kernelQueues_ < queues_.size() ? queues_[kernelQueues_ + (toDevice ? 0 : 1)].get() : nullptr;
}

bool Device::isBusyBeside(const Point& last) {
  return std::ranges::any_of(queues_, [&](const auto& queue) {
    return queue->isBusy() && !(queue.get() == last.queue && queue->end().value == last.value);
  });
}

void Device::share(VkBufferCreateInfo& info) const {
  if (families_.size() < 2) return;
  info.sharingMode = VK_SHARING_MODE_CONCURRENT;
  info.queueFamilyIndexCount = static_cast<uint32_t>(families_.size());
  info.pQueueFamilyIndices = families_.data();
}

std::vector<std::unique_lock<std::mutex>> Device::lockQueues() {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& queue : queues_) locks.push_back(queue->lock());
  return locks;
}

void Device::noteWork(const Queue& queue) {
  if (clockKeeper_) clockKeeper_->noteWork(queue);
}

void Device::showHostWrites(const Point& point) {
  if (hostWrites_) hostWrites_->showUntil(point);
}

bool Device::isStuck() const { return physical_.isCpu() && !adopted_ && wasAddressIllegal(); }

VkResult Device::allocateMemory(const VkMemoryAllocateInfo& info, VkDeviceMemory& out) {
  const DeviceMemoryCallbacks engine = adopted_ ? adopted_->memory : DeviceMemoryCallbacks();
  const VkResult result = engine.allocate ? engine.allocate(engine.user, &info, &out)
                                          : api_.vkAllocateMemory(handle_, &info, callbacks_, &out);
  if (result != VK_SUCCESS) out = VK_NULL_HANDLE;
  return result;
}

void Device::freeMemory(VkDeviceMemory memory) {
  if (adopted_ && adopted_->memory.free) adopted_->memory.free(adopted_->memory.user, memory);
  else api_.vkFreeMemory(handle_, memory, callbacks_);
}

void Device::waitIdle() {
  if (isStuck()) return;
  if (adopted_) {  // an engine's other work is none of ours
    for (const auto& queue : queues_) (void)queue->waitIdle(WaitMode::Auto);
    return;
  }
  if (hostWrites_) hostWrites_->stop();
  if (clockKeeper_) clockKeeper_->stop();
  const auto locks = lockQueues();
  (void)api_.vkDeviceWaitIdle(handle_);
}

}  // namespace mulciber::vk
