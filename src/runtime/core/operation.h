// What a stream does, as data. An operation goes to the stream's queue at once, or stays in the stream while something
// before it waits for the host.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/launch.h"
#include "runtime/core/marker.h"
#include "runtime/core/memory_map.h"
#include "runtime/core/memory_operations.h"
#include "runtime/vk/commands.h"
#include "runtime/vk/external.h"
#include "runtime/vk/image.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

// Between addresses, by a shader.
struct DeviceCopy {
  vk::CopyRegion region;
  bool hostReads = false;                         // at the destination, in memory of MemoryUse::Staging
  std::shared_ptr<const void> staging = nullptr;  // what this owns of it; null when the caller does
};

// Between host and device, by the copy engine.
struct BufferCopy {
  AllocationRef destination, source;
  uint64_t destinationOffset, sourceOffset, bytes;
  vk::Queue* queue = nullptr;  // the stream's own when null
};

// From bytes of the program's that the call has copied; region.source is the offset in them.
struct Upload {
  vk::CopyRegion region;
  std::shared_ptr<const std::vector<char>> bytes;
};

// Between an array and memory.
struct ArrayCopy {
  vk::ImageBox array;
  vk::MemoryBox memory;
  bool toArray;
  AllocationRef allocation;  // of the memory; null when it is staging memory, which the host reads afterwards
};

// From bytes of the program's that the call has copied, without gaps.
struct ArrayUpload {
  vk::ImageBox array;
  std::shared_ptr<const std::vector<char>> bytes;
};

struct ArrayToArrayCopy {
  vk::ImageBox destination, source;
};

// Work for the device. It owns what it needs.
using DeviceWork = std::variant<KernelLaunch, DeviceCopy, BufferCopy, Upload, ArrayCopy, ArrayUpload, ArrayToArrayCopy,
                                vk::FillRegion>;

vk::Status record(const DeviceWork& work, vk::Commands& commands);
inline vk::Status record(const KernelLaunch& launch, vk::Commands& commands) { return launch.record(commands); }
// To be called around: before the work may begin, and once it has its place in a queue.
void willBeRecorded(const DeviceWork& work);
void willBeRecorded(const KernelLaunch& launch);
void wasRecorded(const DeviceWork& work, const vk::Point& point);
void wasRecorded(const KernelLaunch& launch, const vk::Point& point);

// Command buffers recorded before, which may run many times, with what their kernels need of the host.
struct RecordedWork {
  std::shared_ptr<vk::Commands> commands;
  KernelServices* services = nullptr;
  bool usesPrintf = false, readsHostWrites = false;
  std::vector<std::string> kernels;  // their names, where a fault is to name them
};

using RecordedWorkRef = std::shared_ptr<const RecordedWork>;

vk::Status run(const RecordedWork& work, vk::Queue& queue, vk::Position& position);

// A function of the program, or what the host copies for a graph. It gets the error of the work before it.
struct HostCall {
  std::function<void(Error status)> function;
  bool isCopy = false;  // which any thread may do
};

// What follows comes after a marker.
struct WaitForMarker {
  MarkerRef marker;
};

// The marker stands for all work given before.
struct ResolveMarker {
  MarkerRef marker;
  Precision precision = Precision::Loose;
  vk::TimestampRef timestamp;
};

// What follows waits until the worker has seen that a marker of another device has passed.
struct WaitForDevice {
  MarkerRef marker;
};

// What follows waits until the worker has seen the word as it must be, which may never come.
struct WaitForWord {
  AllocationRef allocation;
  WordWait wait;
};

// What operations on words of memory become.
Error prepare(Context& context, const WordWait& wait, WaitForWord& out);
Error prepare(Context& context, const WordWrite& write, DeviceWork& out);

// Semaphores of other interfaces: what follows waits for some; others are signalled after all work before.
struct SemaphoreExchange {
  std::vector<vk::SemaphorePoint> waits, signals;
  std::shared_ptr<const void> owner;
};

// What follows comes after a semaphore of another interface has the value. The stream is kept back until then: a queue
// must not wait for what later work in that queue may have to signal.
struct WaitForSemaphore {
  std::shared_ptr<vk::ImportedSemaphore> semaphore;
  uint64_t value;
};

// What comes next is chosen by a word that the device wrote: the worker looks at it once all before has ended.
struct OperationList;
struct Decision {
  const uint32_t* word;                                                       // in memory of MemoryUse::Staging
  std::shared_ptr<const void> owner;                                          // of the word
  std::function<std::shared_ptr<const OperationList>(uint32_t word)> choose;  // null: nothing
  bool isRepeated = false;  // after what was chosen it is asked again, until nothing is
  // The first time two lists are chosen, and from then on the worker looks while the device does the later one: once
  // the marker behind the earlier one has passed.
  bool looksAhead = false;
  MarkerRef after;
  const uint32_t* laterWord = nullptr;  // what is looked at from the second time on; null: the same word
};

using Operation = std::variant<DeviceWork, RecordedWorkRef, HostCall, WaitForMarker, ResolveMarker, WaitForDevice,
                               WaitForWord, SemaphoreExchange, WaitForSemaphore, Decision>;

struct OperationList {
  std::vector<Operation> operations;
};

}  // namespace mulciber::core
