#include "runtime/core/copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/core/array_copy.h"
#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/copy_end.h"
#include "runtime/core/device.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/staged_copy.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"
#include "util/uncached_read.h"

namespace mulciber::core {

namespace {

// Copies between devices are made of pieces of this size.
constexpr size_t pieceBytes = 4u << 20;
// Up to these sizes the program's thread copies itself where it reaches the device's memory through the bus (H200:
// writes at 16 to 22 GB/s; reads of 4 KiB in 5 us, and where each load waits for the one before, 64 bytes in 1 us).
// From pageable memory it has to copy in any case.
constexpr size_t mostWritten = 64u << 10, mostWrittenAsync = 16u << 10, mostWrittenPageable = 1u << 20;
constexpr size_t mostRead = 8u << 10, mostReadBehindWork = 1u << 10, mostReadSlowly = 256;
// What a command buffer has room for beside the copy itself.
constexpr size_t mostPacked = 16u << 10;
// From here on the copy engine is worth its barriers.
constexpr size_t engineBytes = 1u << 20;
// A copy of this size or more goes to a copy queue while other streams have work under way: on an H200 a kernel on one
// queue holds up the copies on the others of its family (docs/runtime.md).
constexpr size_t besideBytes = 256u << 10;

vk::CopyRegion regionOf(const Copy& copy, uint64_t destination, uint64_t source) {
  return {destination,      source,
          copy.width,       copy.height,
          copy.depth,       copy.destinationPitch,
          copy.sourcePitch, copy.destinationSlice,
          copy.sourceSlice};
}

bool isLinear(const Copy& copy) { return copy.height == 1 && copy.depth == 1; }

bool isForEngine(const Copy& copy, const End& destination, const End& source, size_t least) {
  // Mapped memory has no one buffer.
  const bool haveBuffers = destination.allocation->memory.chunk && source.allocation->memory.chunk;
  return isLinear(copy) && copy.width >= least && destination.isHost != source.isHost && haveBuffers;
}

DeviceWork onDevice(const Copy& copy, const End& destination, const End& source, vk::Queue* queue = nullptr) {
  if (queue || isForEngine(copy, destination, source, engineBytes))
    return BufferCopy{destination.allocation, source.allocation, destination.offset(),
                      source.offset(),        copy.width,        queue};
  return DeviceCopy{regionOf(copy, destination.address, source.address)};
}

// The queue that takes the copy beside the work of other streams. Null where the copy stays with its stream's own.
vk::Queue* queueBeside(Stream& stream, const Copy& copy, const End& destination, const End& source) {
  vk::Queue* const queue = stream.context().vulkan().copyQueue(source.isHost);
  const bool goes = queue && isForEngine(copy, destination, source, besideBytes) && stream.isBesideOthers();
  return goes ? queue : nullptr;
}

// The host memory is read before the call returns.
Error copySmallToDevice(Stream& stream, const Copy& copy, const End& destination, const char* source) {
  auto packed = std::make_shared<std::vector<char>>(copy.width * copy.height * copy.depth);
  copyOnHost(withStaging(copy, Staged::Destination), packed->data(), source);
  const vk::CopyRegion region = regionOf(withStaging(copy, Staged::Source), destination.address, 0);
  return stream.enqueue(Upload{region, std::move(packed)});
}

// Between devices, a piece at a time (MDEV-03). Both sides have done their work before, and the host waits.
Error copyBetweenDevices(Stream& stream, const Copy& copy, const End& destination, const End& source) {
  TRY(stream.finish());
  ContextRef to, from;
  for (const auto& [end, owner] : {std::pair{&destination, &to}, std::pair{&source, &from}}) {
    if (!end->allocation) continue;
    *owner = end->allocation->context.lock();
    if (!*owner) return Error::InvalidValue;
    TRY((*owner)->synchronize());
  }
  std::vector<char> piece(std::min(copy.width, pieceBytes));
  for (size_t z = 0; z < copy.depth; ++z)
    for (size_t y = 0; y < copy.height; ++y)
      for (size_t x = 0; x < copy.width; x += pieceBytes) {
        const size_t bytes = std::min(pieceBytes, copy.width - x);
        const uint64_t target = destination.address + z * copy.destinationSlice + y * copy.destinationPitch + x;
        const uint64_t origin = source.address + z * copy.sourceSlice + y * copy.sourcePitch + x;
        char* const here = reinterpret_cast<char*>(target);         // NOLINT: addresses are numbers here
        const char* const there = reinterpret_cast<char*>(origin);  // NOLINT
        Error error = Error::Success;
        if (from) error = from->readMemory(origin, piece.data(), bytes);
        else std::memcpy(piece.data(), there, bytes);
        if (error == Error::Success && to) error = to->writeMemory(target, piece.data(), bytes);
        else if (error == Error::Success) std::memcpy(here, piece.data(), bytes);
        if (error != Error::Success) return error;
      }
  return Error::Success;
}

bool isOfAnotherDevice(const End& end, const Context& context) {
  return end.allocation && end.allocation->device != context.device().ordinal();
}

char* throughWindow(const Stream& stream, const End& end) {
  if (!end.allocation) return nullptr;
  char* base = static_cast<char*>(stream.context().vulkan().allocator().window(end.allocation->memory));
  return base ? base + end.offset() : nullptr;
}

size_t mostThroughWindow(const Copy& copy, const End& source, bool async, bool isFree) {
  const bool isPageable = source.isHost && !source.allocation;
  if (isPageable)
    return isLinear(copy) ? mostWrittenPageable : mostWritten;  // each piece of a line is a write of its own
  if (source.isHost) return async ? mostWrittenAsync : mostWritten;
  if (!isLinear(copy) || !util::readsUncachedLines()) return mostReadSlowly;
  return isFree ? mostRead : mostReadBehindWork;
}

// False: not done, and another way has to be taken.
bool copyThroughWindow(Stream& stream, const Copy& copy, const End& destination, const End& source, bool async,
                       Error& error) {
  const size_t bytes = copy.width * copy.height * copy.depth;
  if (destination.isHost == source.isHost || bytes > mostThroughWindow(copy, source, async, true)) return false;
  char* const to = source.isHost ? throughWindow(stream, destination) : directly(destination);
  char* const from = source.isHost ? directly(source) : throughWindow(stream, source);
  if (!to || !from) return false;
  // The first reads take another way.
  if (!source.isHost && !stream.context().vulkan().hostSeesAll()) return false;
  bool isFree = false;
  error = stream.isFree(isFree);
  if (error != Error::Success) return true;
  if (bytes > mostThroughWindow(copy, source, async, isFree)) return false;
  // After all the rest, a copy to the host that is waited for takes less time than as one more kernel. To pageable
  // memory it is waited for in either case.
  if (!isFree && (source.isHost || (async && destination.allocation))) return false;
  error = isFree ? stream.context().services().afterWait() : stream.finish();
  if (error != Error::Success) return true;
  if (source.isHost || !isLinear(copy)) copyOnHost(copy, to, from);
  else util::readUncached(to, from, bytes);
  // The writes are on the bus before anything that lets the device run on.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

Error copyPageable(Stream& stream, const Copy& copy, const End& destination, const End& source, bool async) {
  const size_t bytes = copy.width * copy.height * copy.depth;
  char* const to = directly(destination);
  char* const from = directly(source);
  const bool toDevice = destination.allocation != nullptr;
  // CUDA's copies to the device also return before it is done. Where the program has not asked for that, larger ones
  // do not: a stream that does not wait for others may go on to use what they write. Nor does a copy to host memory.
  const bool mayLeave = async ? !destination.isHost : bytes <= smallBytes && !destination.isAwaited();
  const bool leaves = toDevice && mayLeave;
  if (leaves && bytes <= mostPacked) return copySmallToDevice(stream, copy, destination, from);
  if (to && from) {
    bool isFree = false;
    if (leaves) TRY(stream.isFree(isFree));
    if (isFree || !leaves) {
      TRY(stream.finish());
      copyOnHost(copy, to, from);
      return Error::Success;
    }
  }
  const HostBox host{toDevice ? from : to,
                     copy.width,
                     copy.height,
                     copy.depth,
                     toDevice ? copy.sourcePitch : copy.destinationPitch,
                     toDevice ? copy.sourceSlice : copy.destinationSlice};
  const StagedEnd end = leaves ? StagedEnd::HostIsDone : StagedEnd::AllIsDone;
  return copyStaged(stream, host, toDevice, end, [&](const StagedPiece& piece, const StagingMemory& staging) {
    const size_t pitch = toDevice ? copy.destinationPitch : copy.sourcePitch;
    const size_t slice = toDevice ? copy.destinationSlice : copy.sourceSlice;
    const uint64_t device = (toDevice ? destination : source).address + piece.z * slice + piece.y * pitch + piece.x;
    vk::CopyRegion region{device, staging.memory.address, piece.width, piece.rows, 1, pitch, piece.width, 0, 0};
    if (!toDevice) {
      std::swap(region.destination, region.source);
      std::swap(region.destinationPitch, region.sourcePitch);
    }
    return DeviceCopy{region, /*hostReads=*/!toDevice, staging.owner};
  });
}

// Rows that follow one another without a gap become one row. InvalidValue for what is no copy of such memory.
Error check(const Context& context, Copy& copy, End& destination, End& source) {
  size_t destinationBytes = 0, sourceBytes = 0;
  if (!extentOf(copy, copy.destinationPitch, copy.destinationSlice, destinationBytes) ||
      !extentOf(copy, copy.sourcePitch, copy.sourceSlice, sourceBytes))
    return Error::InvalidValue;
  if (copy.height > 1 && copy.depth == 1 && copy.destinationPitch == copy.width && copy.sourcePitch == copy.width) {
    copy.width *= copy.height;
    copy.height = 1;
  }
  const bool toDevice = copy.kind == CopyKind::HostToDevice || copy.kind == CopyKind::DeviceToDevice;
  const bool fromDevice = copy.kind == CopyKind::DeviceToHost || copy.kind == CopyKind::DeviceToDevice;
  if (copy.destination == 0 || copy.source == 0) return Error::InvalidValue;
  TRY(resolve(context, copy.destination, destinationBytes, copy.kind, toDevice, destination));
  return resolve(context, copy.source, sourceBytes, copy.kind, fromDevice, source);
}

Error check(const Context& context, const Fill& fill, End& destination) {
  if (fill.valueBytes != 1 && fill.valueBytes != 2 && fill.valueBytes != 4) return Error::InvalidValue;
  size_t row = 0, bytes = 0;
  if (__builtin_mul_overflow(fill.width, size_t(fill.valueBytes), &row)) return Error::InvalidValue;
  if (fill.height > 1 && (fill.pitch < row || fill.pitch % fill.valueBytes != 0)) return Error::InvalidValue;
  if (fill.destination % fill.valueBytes != 0) return Error::InvalidValue;
  if (!extent(row, fill.height, fill.depth, fill.pitch, fill.slice, bytes)) return Error::InvalidValue;
  TRY(resolve(context, fill.destination, bytes, CopyKind::HostToDevice, true, destination));
  return destination.allocation && !isOfAnotherDevice(destination, context) ? Error::Success : Error::InvalidValue;
}

vk::FillRegion regionOf(const Fill& fill, const End& destination) {
  return {destination.address, fill.value, fill.valueBytes, fill.width,
          fill.height,         fill.depth, fill.pitch,      fill.slice};
}

template <class Shape>
bool isEmpty(const Shape& shape) {
  return shape.width == 0 || shape.height == 0 || shape.depth == 0;
}

}  // namespace

Error copy(Stream& stream, const Copy& given, bool async) {
  TRY(stream.context().error());
  Copy copy = given;
  if (isEmpty(copy)) return Error::Success;
  const CaptureRef capture = async ? stream.capture() : nullptr;
  if (copy.hasArray() && !capture) return copyArrays(stream, copy, async);
  End destination, source;
  TRY(copy.hasArray() ? checkArrays(stream.context(), copy) : check(stream.context(), copy, destination, source));
  if (capture) return capture->add(stream, CopyNode{stream.context().shared_from_this(), given});
  if (isOfAnotherDevice(destination, stream.context()) || isOfAnotherDevice(source, stream.context()))
    return copyBetweenDevices(stream, copy, destination, source);
  Error direct = Error::Success;
  if (copyThroughWindow(stream, copy, destination, source, async, direct)) return direct;
  if (!destination.allocation || !source.allocation) return copyPageable(stream, copy, destination, source, async);
  TRY(stream.enqueue(onDevice(copy, destination, source, queueBeside(stream, copy, destination, source))));
  const bool hostWaits = destination.isAwaited() || source.isAwaited();
  return hostWaits && !async ? stream.finish() : Error::Success;
}

Error fill(Stream& stream, const Fill& fill, bool async) {
  TRY(stream.context().error());
  if (isEmpty(fill)) return Error::Success;
  End destination;
  TRY(check(stream.context(), fill, destination));
  if (const CaptureRef capture = async ? stream.capture() : nullptr)
    return capture->add(stream, FillNode{stream.context().shared_from_this(), fill});
  TRY(stream.enqueue(regionOf(fill, destination)));
  return destination.isAwaited() && !async ? stream.finish() : Error::Success;
}

Error check(const Context& context, const Copy& given) {
  Copy copy = given;
  End destination, source;
  if (isEmpty(copy)) return Error::InvalidValue;
  return copy.hasArray() ? checkArrays(context, copy) : check(context, copy, destination, source);
}

Error check(const Context& context, const Fill& fill) {
  End destination;
  return isEmpty(fill) ? Error::InvalidValue : check(context, fill, destination);
}

Error prepare(Context& context, const Copy& given, PreparedCopy& out) {
  Copy copy = given;
  if (isEmpty(copy)) return Error::Success;
  if (copy.hasArray()) return prepareArrays(context, copy, out);
  End destination, source;
  TRY(check(context, copy, destination, source));
  if (isOfAnotherDevice(destination, context) || isOfAnotherDevice(source, context)) return Error::NotSupported;
  if (destination.allocation && source.allocation) {
    out.work = onDevice(copy, destination, source);
    return Error::Success;
  }
  if (!destination.allocation && !source.allocation) {
    out.before = [=, to = directly(destination), from = directly(source)] { copyOnHost(copy, to, from); };
    return Error::Success;
  }
  vk::Memory memory;
  TRY(takeStaging(context, copy, out, memory));
  char* const staging = static_cast<char*>(memory.host);
  const Copy fromStaging = withStaging(copy, Staged::Source), toStaging = withStaging(copy, Staged::Destination);
  if (destination.allocation) {
    out.before = [=, from = directly(source)] { copyOnHost(toStaging, staging, from); };
    out.work = DeviceCopy{regionOf(fromStaging, destination.address, memory.address)};
  } else {
    out.work = DeviceCopy{regionOf(toStaging, memory.address, source.address), /*hostReads=*/true};
    out.after = [=, to = directly(destination)] { copyOnHost(fromStaging, to, staging); };
  }
  return Error::Success;
}

Error prepare(Context& context, const Fill& fill, PreparedCopy& out) {
  if (isEmpty(fill)) return Error::Success;
  End destination;
  TRY(check(context, fill, destination));
  out.work = regionOf(fill, destination);
  return Error::Success;
}

}  // namespace mulciber::core
