#include "runtime/core/kernel_services.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/device_printf.h"
#include "runtime/core/module.h"
#include "runtime/core/texture_table.h"
#include "runtime/vk/device.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::core {

namespace {
constexpr uint32_t gridWorkspace[] = {8, 0};  // as cooperative_groups finds it: its size, the state of the barrier
}  // namespace

Error KernelServices::create(Context& context, std::unique_ptr<KernelServices>& out) {
  std::unique_ptr<KernelServices> services(new KernelServices(context));
  vk::Allocator& allocator = context.vulkan().allocator();
  // Errors are looked for after kernels that may report some: launchState() says so.
  TRY(errorFrom(allocator.allocate(vk::MemoryUse::Staging, sizeof(abi::ErrorRecord), services->errorMemory_)));
  std::memset(services->errorMemory_.host, 0, sizeof(abi::ErrorRecord));
  services->error_ = static_cast<abi::ErrorRecord*>(services->errorMemory_.host);
  // Kernels with textures begin with a look at it, which takes a microsecond across the bus.
  vk::Memory& state = services->launchStateMemory_;
  TRY(errorFrom(allocator.allocate(vk::MemoryUse::Upload, sizeof(abi::LaunchState), state)));
  services->launchState_.errorWord = services->errorMemory_.address;
  std::memcpy(state.host, &services->launchState_, sizeof(abi::LaunchState));
  out = std::move(services);
  return Error::Success;
}

KernelServices::~KernelServices() {
  vk::Allocator& allocator = context_.vulkan().allocator();
  for (const vk::Memory& memory : {launchStateMemory_, errorMemory_, printf_, heap_, locks_}) allocator.free(memory);
}

void KernelServices::set(uint64_t abi::LaunchState::*field, uint64_t value) {
  std::lock_guard lock(stateMutex_);
  launchState_.*field = value;
  static_cast<abi::LaunchState*>(launchStateMemory_.host)->*field = value;
}

void KernelServices::setTextures(uint64_t table) { set(&abi::LaunchState::textures, table); }

Error KernelServices::allocatePrintf() {
  vk::Allocator& allocator = context_.vulkan().allocator();
  TRY(errorFrom(allocator.allocate(vk::MemoryUse::Host, printfBytes_ + sizeof(abi::PrintfBuffer), printf_)));
  auto* buffer = static_cast<abi::PrintfBuffer*>(printf_.host);
  buffer->capacity = static_cast<uint32_t>(printfBytes_);
  buffer->used = 0;
  set(&abi::LaunchState::printfBuffer, printf_.address);
  return Error::Success;
}

Error KernelServices::launchState(const KernelInfo& kernel, uint64_t& address) {
  address = launchStateMemory_.address;
  if (kernel.reportsErrors) context_.vulkan().hostWillRead();
  if (kernel.usesTextures) {
    uint64_t table = 0;
    TRY(context_.textures().address(table));
  }
  if (!kernel.usesPrintf && !kernel.usesHeap && !kernel.usesLocks) return Error::Success;
  std::lock_guard lock(mutex_);
  if (kernel.usesPrintf && !printf_.chunk) TRY(allocatePrintf());
  if (kernel.usesLocks && !locks_.chunk) {
    const std::vector<uint32_t> free(abi::lockCount, 0);
    TRY(allocateFilled(free.size() * 4, free.data(), free.size() * 4, locks_));
    set(&abi::LaunchState::locks, locks_.address);
  }
  if (!kernel.usesHeap || heap_.chunk) return Error::Success;
  abi::Heap header{};
  header.size = std::max<uint64_t>(heapBytes_, 2 * sizeof(abi::Heap));
  header.used = sizeof(abi::Heap);
  TRY(allocateFilled(header.size, &header, sizeof(header), heap_));
  set(&abi::LaunchState::heap, heap_.address);
  return Error::Success;
}

// The first bytes are written before a kernel that uses the memory can be submitted.
Error KernelServices::allocateFilled(uint64_t bytes, const void* first, uint64_t firstBytes, vk::Memory& memory) {
  vk::Device& vulkan = context_.vulkan();
  TRY(errorFrom(vulkan.allocator().allocate(vk::MemoryUse::Device, bytes, memory)));
  vk::Queue& queue = vulkan.queue(0);
  vk::Position position(queue);
  vk::Status status = queue.record(position, [&](vk::Commands& commands) {
    void* host = nullptr;
    uint64_t address = 0;
    TRY(commands.upload(firstBytes, host, address));
    std::memcpy(host, first, firstBytes);
    commands.copy({memory.address, address, firstBytes});
    return vk::Status::Ok;
  });
  if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  return errorFrom(status);
}

Error KernelServices::ownMemory(uint64_t scratchBytes, bool isCooperative, OwnMemory& out) {
  vk::Allocator& allocator = context_.vulkan().allocator();
  vk::Memory memory;
  TRY(errorFrom(allocator.allocate(vk::MemoryUse::Device, scratchBytes + sizeof(gridWorkspace), memory)));
  out.memory = allocator.owner(memory);
  out.scratch = memory.address;
  out.gridWorkspace = isCooperative ? memory.address + scratchBytes : 0;
  return Error::Success;
}

vk::Status KernelServices::prepareGridWorkspace(const OwnMemory& memory, vk::Commands& commands) const {
  void* host = nullptr;
  uint64_t address = 0;
  TRY(commands.upload(sizeof(gridWorkspace), host, address));
  std::memcpy(host, gridWorkspace, sizeof(gridWorkspace));
  commands.copy({memory.gridWorkspace, address, sizeof(gridWorkspace)});
  commands.barrier();
  return vk::Status::Ok;
}

vk::Status KernelServices::ownState(const Blocks& blocks, const OwnMemory& memory, vk::Commands& commands,
                                    uint64_t& address) const {
  std::unique_lock lock(stateMutex_);
  abi::LaunchState own = launchState_;
  lock.unlock();
  own.scratch = memory.scratch;
  own.gridWorkspace = memory.gridWorkspace;
  uint64_t stride = blocks.scratchBytes;
  for (int i = 0; i < 3; ++i) {
    own.scratchStride[i] = stride;
    own.scratch -= stride * blocks.first[i];  // of block (0, 0, 0), which need not be among them
    stride *= blocks.count[i];
  }
  void* host = nullptr;
  TRY(commands.upload(sizeof(abi::LaunchState), host, address));
  std::memcpy(host, &own, sizeof(own));
  return vk::Status::Ok;
}

void KernelServices::launchesPrinting() {
  std::lock_guard lock(mutex_);
  ++launchingPrinting_;
}

void KernelServices::launchedPrinting(const vk::Point& point) {
  std::lock_guard lock(mutex_);
  --launchingPrinting_;
  printed_ = true;
  for (vk::Point& held : printing_)
    if (held.queue == point.queue) {
      held.value = std::max(held.value, point.value);
      return;
    }
  printing_.push_back(point);
}

Error KernelServices::afterWait() {
  if (error_->error != 0) TRY(reportError());
  std::lock_guard lock(mutex_);
  if (!printed_ || launchingPrinting_ != 0) return context_.error();
  // Kernels that still run may be writing a record.
  for (const vk::Point& point : printing_)
    if (point.queue->poll(point.value) == vk::Status::NotReady) return context_.error();
  drainPrintf();
  printing_.clear();
  printed_ = false;
  return context_.error();
}

Error KernelServices::reportError() {
  std::lock_guard lock(mutex_);
  const auto kind = static_cast<abi::KernelError>(error_->error);
  const Error error = kind == abi::KernelError::Assert           ? Error::Assert
                      : kind == abi::KernelError::OutOfStack     ? Error::HardwareStackError
                      : kind == abi::KernelError::IllegalAddress ? Error::IllegalAddress
                      : kind == abi::KernelError::Misaligned     ? Error::MisalignedAddress
                                                                 : Error::LaunchFailed;
  if (!reported_) {
    reported_ = true;
    drainPrintf();
    if (kind == abi::KernelError::Assert)
      std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                   deviceString(error_->file).c_str(), error_->line, deviceString(error_->function).c_str(),
                   error_->block[0], error_->block[1], error_->block[2], error_->thread[0], error_->thread[1],
                   error_->thread[2], deviceString(error_->message).c_str());
    else if (kind == abi::KernelError::NoTexture)
      util::log().error(
          "a kernel used {:#x}, which is not a texture or surface object (block {},{},{}, thread {},{},{})",
          error_->message, error_->block[0], error_->block[1], error_->block[2], error_->thread[0], error_->thread[1],
          error_->thread[2]);
    else
      util::log().error("a kernel failed: {} (block {},{},{}, thread {},{},{})", errorDescription(error),
                        error_->block[0], error_->block[1], error_->block[2], error_->thread[0], error_->thread[1],
                        error_->thread[2]);
    if (util::environment().waitsOnException) {  // ENV-11
      util::log().error("process {} is stopped for a debugger, as CUDA_DEVICE_WAITS_ON_EXCEPTION asks", getpid());
      (void)std::raise(SIGSTOP);
    }
  }
  context_.setError(error);
  return error;
}

void KernelServices::drainPrintf() {
  if (!printf_.chunk) return;
  auto* buffer = static_cast<abi::PrintfBuffer*>(printf_.host);
  const uint8_t* records = reinterpret_cast<const uint8_t*>(buffer + 1);
  const uint32_t end = std::min(buffer->used, buffer->capacity);
  for (uint32_t offset = 0; offset + 16 <= end;) {
    uint32_t bytes = 0, argumentBytes = 0;
    uint64_t format = 0;
    std::memcpy(&bytes, records + offset, 4);
    std::memcpy(&argumentBytes, records + offset + 4, 4);
    std::memcpy(&format, records + offset + 8, 8);
    // A record that did not fit was reserved and never written.
    if (bytes < 16 || bytes % 8 != 0 || bytes > end - offset || argumentBytes > bytes - 16) break;
    const uint8_t* arguments = records + offset + 16;
    const std::string text = formatDevicePrintf(deviceString(format), {arguments, argumentBytes},
                                                {arguments + argumentBytes, bytes - 16 - argumentBytes});
    std::fwrite(text.data(), 1, text.size(), stdout);
    offset += bytes;
  }
  std::fflush(stdout);
  std::memset(buffer + 1, 0, end);
  buffer->used = 0;
}

// Constant strings from the modules as they were loaded, others from device memory.
std::string KernelServices::deviceString(uint64_t address) {
  std::string text;
  for (const ModuleRef& module : context_.modules())
    if (module->string(address, text)) return text;
  context_.readString(address, text);
  return text;
}

Error KernelServices::setPrintfBytes(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (printf_.chunk) return Error::InvalidValue;
  printfBytes_ = std::clamp<size_t>(bytes, 4096, size_t(1) << 30);
  return Error::Success;
}

Error KernelServices::setHeapBytes(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (heap_.chunk) return Error::InvalidValue;
  heapBytes_ = bytes;
  return Error::Success;
}

}  // namespace mulciber::core
