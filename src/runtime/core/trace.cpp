#include "runtime/core/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/occupancy.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"
#include "util/environment.h"
#include "util/exit_gate.h"
#include "util/file.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr size_t mostSpans = 4'000'000;  // of the host, and of the device
constexpr size_t collectEvery = 2048;    // pieces of work under way
constexpr int64_t longCall = 20'000;     // nanoseconds
constexpr auto mostWaitAtEnd = std::chrono::seconds(2);
constexpr int clockReadings = 8;

struct OpenCall {
  int depth = 0;
  const char* name = nullptr;
  int64_t begin = 0;
};
thread_local OpenCall openCall;

int64_t hostClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void finishActive() { Trace::active()->finish(); }

void describe(const KernelLaunch& launch, const Device& device, DeviceSpan& span) {
  span.kind = DeviceSpan::Kind::Kernel;
  span.name = launch.kernel->name;
  std::copy_n(launch.groups, 3, span.grid.begin());
  std::copy_n(launch.block, 3, span.block.begin());
  span.sharedBytes = launch.sharedBytes;
  // Vulkan does not tell how many registers a kernel takes, so they do not count here.
  span.blocksPerMultiprocessor = static_cast<uint32_t>(
      blocksThatFit(device.shape(), {span.block[0] * span.block[1] * span.block[2], 1, launch.sharedBytes}));
}

void describe(const vk::FillRegion& fill, const Device&, DeviceSpan& span) {
  span.kind = DeviceSpan::Kind::Fill;
  span.bytes = fill.width * fill.height * fill.depth * fill.valueBytes;
}

uint64_t bytesOf(const vk::CopyRegion& region) { return region.width * region.height * region.depth; }
uint64_t bytesOf(const vk::ImageBox& box) { return box.rowBytes * box.height * box.depth; }
uint64_t bytesOf(const DeviceCopy& copy) { return bytesOf(copy.region); }
uint64_t bytesOf(const BufferCopy& copy) { return copy.bytes; }
uint64_t bytesOf(const Upload& upload) { return bytesOf(upload.region); }
uint64_t bytesOf(const ArrayCopy& copy) { return bytesOf(copy.array); }
uint64_t bytesOf(const ArrayUpload& upload) { return bytesOf(upload.array); }
uint64_t bytesOf(const ArrayToArrayCopy& copy) { return bytesOf(copy.destination); }

template <class Copy>
void describe(const Copy& copy, const Device&, DeviceSpan& span) {
  span.kind = DeviceSpan::Kind::Copy;
  span.bytes = bytesOf(copy);
}

}  // namespace

int64_t TracedDevice::onHost(double deviceNanoseconds) const {
  if (clocks.empty()) return 0;
  const ClockPair &first = clocks.front(), &last = clocks.back();
  double rate = 1;  // the two clocks drift apart
  if (last.device - first.device > 1e8) rate = double(last.host - first.host) / (last.device - first.device);
  return first.host + static_cast<int64_t>((deviceNanoseconds - first.device) * rate);
}

Trace* const Trace::active_ = Trace::start();

// When the library is loaded, so that active() is one load. The environment is read as a whole only where it is asked
// for.
Trace* Trace::start() {
  const auto isSet = [](const char* name) {
    const char* const value = std::getenv(name);
    return value && *value;
  };
  if (!isSet("MULCIBER_TRACE") && !isSet("MULCIBER_PROFILE")) return nullptr;
  if (util::environment().trace.empty() && !util::environment().profile) return nullptr;
  std::atexit(finishActive);  // of a program that opens no device
  return new Trace;           // never destroyed: exit handlers of the program may still call in
}

Trace::Trace() : start_(hostClock()) {}

int64_t Trace::now() const { return hostClock() - start_; }

int Trace::threadId() {
  static thread_local const int id = static_cast<int>(syscall(SYS_gettid));
  return id;
}

void Trace::enterCall(const char* name) {
  if (openCall.depth++ != 0) return;
  openCall.name = name;
  openCall.begin = now();
}

void Trace::leaveCall() {
  if (--openCall.depth != 0) return;
  const int64_t end = now();
  add({openCall.name, "api", threadId(), openCall.begin, end});
  // A call that took so long may have waited for work. Where layers are, none can be asked for when the process ends.
  if (end - openCall.begin < longCall) return;
  if (const util::Inside inside; inside) {
    std::lock_guard lock(mutex_);
    collect();
  }
}

void Trace::add(HostSpan span) {
  std::lock_guard lock(mutex_);
  if (calls_.size() < mostSpans) calls_.push_back(std::move(span));
  else ++leftOut_;
}

void Trace::addDevice(const std::shared_ptr<vk::Device>& vulkan, const Device& device) {
  size_t index = 0;
  {
    std::lock_guard lock(mutex_);
    index = devices_.size();
    const DeviceShape shape = device.shape();
    devices_.push_back({device.name(), shape.multiprocessors, shape.threadsPerMultiprocessor, {}});
    vulkans_.push_back(vulkan);
  }
  readClock(index);
  std::atexit(finishActive);  // before the driver's own objects go
}

// Reads both clocks several times and keeps the pair that is known best.
void Trace::readClock(size_t index) {
  const std::shared_ptr<vk::Device> vulkan = vulkans_[index].lock();
  if (!vulkan || vulkan->isLost()) return;
  vk::Queue& queue = vulkan->idleQueue();
  TracedDevice::ClockPair best{0, 0, std::numeric_limits<int64_t>::max()};
  for (int i = 0; i < clockReadings; ++i) {
    vk::TimestampRef timestamp;
    if (vulkan->timestamp(timestamp) != vk::Status::Ok) return;
    vk::Position position(queue);
    const int64_t before = now();
    const vk::Status given = queue.record(position, [&](vk::Commands& commands) {
      commands.write(timestamp);
      return vk::Status::Ok;
    });
    if (given != vk::Status::Ok || queue.wait(position.last.value, vk::WaitMode::Spin) != vk::Status::Ok) return;
    const int64_t after = now();
    double device = 0;
    if (timestamp->nanoseconds(device) != vk::Status::Ok) return;
    if (after - before < best.width) best = {device, (before + after) / 2, after - before};
  }
  std::lock_guard lock(mutex_);
  devices_[index].clocks.push_back(best);
}

bool Trace::begin(Pending& pending, const vk::Queue& queue, const Stream& stream) {
  pending.vulkan = stream.context().sharedVulkan();
  if (pending.vulkan->timestamp(pending.begin) != vk::Status::Ok ||
      pending.vulkan->timestamp(pending.end) != vk::Status::Ok)
    return false;
  pending.span.stream = stream.id();
  pending.span.thread = threadId();
  pending.span.given = now();
  const auto queues = pending.vulkan->queues();
  const auto place = std::ranges::find(queues, &queue, [](const auto& each) { return each.get(); });
  pending.span.queue = static_cast<uint32_t>(place - queues.begin());
  std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find_if(vulkans_, [&](const auto& device) { return device.lock() == pending.vulkan; });
  pending.span.device = static_cast<size_t>(known - vulkans_.begin());
  return known != vulkans_.end();  // an engine's devices are not traced
}

vk::Status Trace::record(const DeviceWork& work, vk::Commands& commands, const vk::Queue& queue, const Stream& stream) {
  Pending pending{};
  if (isFinished_.load() || !begin(pending, queue, stream)) return core::record(work, commands);
  std::visit([&](const auto& one) { describe(one, stream.context().device(), pending.span); }, work);
  commands.barrier();
  commands.write(pending.begin);
  commands.barrier();
  const vk::Status status = core::record(work, commands);
  commands.write(pending.end);
  give(std::move(pending));
  return status;
}

vk::Status Trace::run(const RecordedWork& work, vk::Queue& queue, vk::Position& position, const Stream& stream) {
  Pending pending{};
  if (isFinished_.load() || !begin(pending, queue, stream)) return core::run(work, queue, position);
  pending.span.kind = DeviceSpan::Kind::Graph;
  const auto write = [&](const vk::TimestampRef& timestamp) {
    return queue.record(position, [&](vk::Commands& commands) {
      commands.barrier();
      commands.write(timestamp);
      return vk::Status::Ok;
    });
  };
  vk::Status status = write(pending.begin);
  if (status == vk::Status::Ok) status = core::run(work, queue, position);
  if (status == vk::Status::Ok) status = write(pending.end);
  if (status == vk::Status::Ok) give(std::move(pending));
  return status;
}

void Trace::give(Pending pending) {
  std::lock_guard lock(mutex_);
  if (works_.size() + pending_.size() >= mostSpans) {
    ++leftOut_;
    return;
  }
  pending_.push_back(std::move(pending));
  if (pending_.size() % collectEvery == 0) collect();
}

void Trace::collect() {
  std::erase_if(pending_, [&](Pending& pending) {
    if (!pending.end->isWritten()) return false;
    DeviceSpan& span = pending.span;
    if (pending.begin->nanoseconds(span.beginTicks) == vk::Status::Ok &&
        pending.end->nanoseconds(span.endTicks) == vk::Status::Ok)
      works_.push_back(std::move(span));
    else ++leftOut_;
    return true;
  });
}

void Trace::finish() {
  if (isFinished_.exchange(true)) return;
  if (const util::Inside inside; inside) {
    const auto until = std::chrono::steady_clock::now() + mostWaitAtEnd;
    while (true) {
      {
        std::lock_guard lock(mutex_);
        collect();
        if (pending_.empty() || std::chrono::steady_clock::now() > until) break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (size_t i = 0; i < devices_.size(); ++i) readClock(i);
  }
  write();
}

void Trace::write() {
  std::lock_guard lock(mutex_);
  leftOut_ += pending_.size();
  const util::Environment& environment = util::environment();
  if (!environment.trace.empty()) {
    // Another process of the same program may have written its own.
    std::string path = environment.trace;
    if (access(path.c_str(), F_OK) == 0) path += fmt::format(".{}", getpid());
    if (!util::writeFile(path, chromeTrace(calls_, works_, devices_, leftOut_)))
      util::log().error("the trace cannot be written to {}", path);
  }
  if (environment.profile) std::fputs(kernelTable(calls_, works_, devices_, leftOut_).c_str(), stderr);
}

}  // namespace mulciber::core
