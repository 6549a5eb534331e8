#include "runtime/core/copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

// Pageable copies up to this size are taken into the batch at once, so that the call can return (HOST-15).
constexpr size_t smallBytes = 64u << 10;
// Larger ones pass through pieces of this size, so many on their way at a time.
constexpr size_t pieceBytes = 4u << 20;
constexpr size_t piecesInFlight = 3;
// Up to these sizes the program's thread copies itself where it reaches the device's memory through the bus (H200:
// writes at 16 GB/s, reads 64 bytes in 1 us).
constexpr size_t mostWritten = 64u << 10, mostWrittenAsync = 16u << 10, mostRead = 256;
// From here on the copy engine is worth its barriers.
constexpr size_t engineBytes = 1u << 20;

// Bytes from the first to the last of a box; false when that overflows.
bool extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t& out) {
  size_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_mul_overflow(depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, width, &out);
}

// Whether the process has memory there: a pointer that was once the device's would end the program.
bool isReadable(uint64_t address) {
  char byte = 0;
  const iovec to{&byte, 1};
  const iovec from{reinterpret_cast<void*>(address), 1};  // NOLINT: addresses are numbers here
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

// One end of a copy: memory the device knows, or the program's own.
struct End {
  AllocationRef allocation;  // null: pageable
  uint64_t address = 0;      // the device's, or the host's when pageable
  bool isHost = false;       // host memory, of either kind

  uint64_t offset() const { return address - allocation->deviceAddress; }
};

// `wantsDevice`: the caller's word for this end. InvalidValue when it is not what the caller says.
Error resolve(const Context& context, uint64_t address, size_t bytes, CopyKind kind, bool wantsDevice, End& out) {
  MemoryMap& memory = Platform::get().memory();
  const AllocationRef allocation = memory.find(address);
  if (!allocation) {
    if (wantsDevice && kind != CopyKind::Default) return Error::InvalidValue;
    if (!isReadable(address) || !isReadable(address + bytes - 1)) return Error::InvalidValue;
    out.address = address;
    out.isHost = true;
    return Error::Success;
  }
  const uint64_t inside = allocation->offsetOf(address);
  if (bytes > allocation->size - inside) return Error::InvalidValue;
  out.address = allocation->deviceAddress + inside;
  out.isHost = allocation->kind == MemoryKind::Pinned || allocation->kind == MemoryKind::Registered;
  if (allocation->device != context.device().ordinal() && allocation->isHostVisible()) {
    // Pinned for another device: this one does not reach it.
    out.address = allocation->hostAddress + inside;
    out.isHost = true;
    return Error::Success;
  }
  out.allocation = allocation;
  return Error::Success;
}

vk::CopyRegion regionOf(const Copy& copy, uint64_t destination, uint64_t source) {
  return {destination,      source,
          copy.width,       copy.height,
          copy.depth,       copy.destinationPitch,
          copy.sourcePitch, copy.destinationSlice,
          copy.sourceSlice};
}

bool isLinear(const Copy& copy) { return copy.height == 1 && copy.depth == 1; }

void copyOnHost(const Copy& copy, char* destination, const char* source) {
  for (size_t z = 0; z < copy.depth; ++z)
    for (size_t y = 0; y < copy.height; ++y)
      std::memmove(destination + z * copy.destinationSlice + y * copy.destinationPitch,
                   source + z * copy.sourceSlice + y * copy.sourcePitch, copy.width);
}

DeviceWork onDevice(const Copy& copy, const End& destination, const End& source) {
  const vk::CopyRegion region = regionOf(copy, destination.address, source.address);
  // Mapped memory has no one buffer.
  const bool haveBuffers = destination.allocation->memory.chunk && source.allocation->memory.chunk;
  if (isLinear(copy) && copy.width >= engineBytes && destination.isHost != source.isHost && haveBuffers)
    return BufferCopy{destination.allocation, source.allocation, destination.offset(), source.offset(), copy.width};
  return DeviceCopy{region};
}

// The host memory is read before the call returns.
Error copySmallToDevice(Stream& stream, const Copy& copy, const End& destination, const char* source) {
  auto packed = std::make_shared<std::vector<char>>(copy.width * copy.height * copy.depth);
  Copy pack = copy;
  pack.destinationPitch = copy.width;
  pack.destinationSlice = copy.width * copy.height;
  copyOnHost(pack, packed->data(), source);
  vk::CopyRegion region = regionOf(copy, destination.address, 0);
  region.sourcePitch = pack.destinationPitch;
  region.sourceSlice = pack.destinationSlice;
  return stream.enqueue(Upload{region, std::move(packed)});
}

// Through pieces of host memory the device can reach. `piece` is a part of the copy that fits one.
class Staging {
 public:
  Staging(Stream& stream, const Copy& copy, const End& device, char* host, bool toDevice)
      : stream_(stream), copy_(copy), device_(device), host_(host), toDevice_(toDevice) {}
  ~Staging() {
    for (const InFlight& piece : inFlight_) (void)stream_.waitFor(*piece.marker);
    for (const vk::Memory& memory : memory_) allocator().free(memory);
  }

  Error run() {
    const size_t rowsAtOnce = std::max<size_t>(pieceBytes / copy_.width, 1);
    for (size_t z = 0; z < copy_.depth; ++z)
      for (size_t y = 0; y < copy_.height; y += rowsAtOnce)
        for (size_t x = 0; x < copy_.width; x += pieceBytes) {
          const Piece piece{x, y, z, std::min(pieceBytes, copy_.width - x), std::min(rowsAtOnce, copy_.height - y)};
          if (const Error error = start(piece); error != Error::Success) return error;
        }
    while (!inFlight_.empty())
      if (const Error error = finishOldest(); error != Error::Success) return error;
    return Error::Success;
  }

 private:
  struct Piece {
    size_t x, y, z, width, rows;
  };
  struct InFlight {
    Piece piece;
    vk::Memory memory;
    std::shared_ptr<Marker> marker;
  };

  vk::Allocator& allocator() const { return stream_.context().vulkan().allocator(); }

  char* hostRow(const Piece& piece, size_t row) const {
    const size_t pitch = toDevice_ ? copy_.sourcePitch : copy_.destinationPitch;
    const size_t slice = toDevice_ ? copy_.sourceSlice : copy_.destinationSlice;
    return host_ + piece.z * slice + (piece.y + row) * pitch + piece.x;
  }

  Error acquire(vk::Memory& out) {
    if (memory_.size() < piecesInFlight) {
      if (const auto status = allocator().allocate(vk::MemoryUse::Staging, pieceBytes, out); status != vk::Status::Ok)
        return errorFrom(status);
      memory_.push_back(out);
      return Error::Success;
    }
    out = inFlight_.front().memory;
    return finishOldest();
  }

  Error start(const Piece& piece) {
    vk::Memory memory;
    if (const Error error = acquire(memory); error != Error::Success) return error;
    const size_t pitch = toDevice_ ? copy_.destinationPitch : copy_.sourcePitch;
    const size_t slice = toDevice_ ? copy_.destinationSlice : copy_.sourceSlice;
    const uint64_t device = device_.address + piece.z * slice + piece.y * pitch + piece.x;
    vk::CopyRegion region{device, memory.address, piece.width, piece.rows, 1, pitch, piece.width, 0, 0};
    if (toDevice_) {
      for (size_t row = 0; row < piece.rows; ++row)
        std::memcpy(static_cast<char*>(memory.host) + row * piece.width, hostRow(piece, row), piece.width);
    } else {
      std::swap(region.destination, region.source);
      std::swap(region.destinationPitch, region.sourcePitch);
    }
    InFlight flight{piece, memory, nullptr};
    const Error error = stream_.enqueue(DeviceCopy{region, /*hostReads=*/!toDevice_});
    if (error != Error::Success) return error;
    if (const Error marked = stream_.mark(Precision::Exact, flight.marker); marked != Error::Success) return marked;
    inFlight_.push_back(std::move(flight));
    return Error::Success;
  }

  Error finishOldest() {
    const InFlight flight = std::move(inFlight_.front());
    inFlight_.pop_front();
    if (const Error error = stream_.waitFor(*flight.marker); error != Error::Success) return error;
    if (!toDevice_)
      for (size_t row = 0; row < flight.piece.rows; ++row)
        std::memcpy(hostRow(flight.piece, row), static_cast<const char*>(flight.memory.host) + row * flight.piece.width,
                    flight.piece.width);
    return Error::Success;
  }

  Stream& stream_;
  const Copy& copy_;
  const End& device_;
  char* const host_;
  const bool toDevice_;
  std::vector<vk::Memory> memory_;
  std::deque<InFlight> inFlight_;
};

// Between devices, a piece at a time (MDEV-03). Both sides have done their work before, and the host waits.
Error copyBetweenDevices(Stream& stream, const Copy& copy, const End& destination, const End& source) {
  if (const Error error = stream.synchronize(); error != Error::Success) return error;
  ContextRef to, from;
  for (const auto& [end, owner] : {std::pair{&destination, &to}, std::pair{&source, &from}}) {
    if (!end->allocation) continue;
    *owner = end->allocation->context.lock();
    if (!*owner) return Error::InvalidValue;
    if (const Error error = (*owner)->synchronize(); error != Error::Success) return error;
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

// Where the host can reach the device's memory (a CPU device), the program's thread copies itself.
char* directly(const End& end) {
  if (!end.allocation) return reinterpret_cast<char*>(end.address);  // NOLINT: addresses are numbers here
  char* base = static_cast<char*>(end.allocation->memory.host);
  return base ? base + end.offset() : nullptr;
}

char* throughWindow(const Stream& stream, const End& end) {
  if (!end.allocation) return nullptr;
  char* base = static_cast<char*>(stream.context().vulkan().allocator().window(end.allocation->memory));
  return base ? base + end.offset() : nullptr;
}

// False: not done, and another way has to be taken.
bool copyThroughWindow(Stream& stream, const Copy& copy, const End& destination, const End& source, bool async,
                       Error& error) {
  const size_t bytes = copy.width * copy.height * copy.depth;
  const size_t most = !source.isHost ? mostRead : async ? mostWrittenAsync : mostWritten;
  if (destination.isHost == source.isHost || bytes > most) return false;
  char* const to = source.isHost ? throughWindow(stream, destination) : directly(destination);
  char* const from = source.isHost ? directly(source) : throughWindow(stream, source);
  if (!to || !from) return false;
  // The first reads take another way.
  if (!source.isHost && !stream.context().vulkan().hostSeesAll()) return false;
  bool isFree = false;
  error = stream.isFree(isFree);
  if (error != Error::Success) return true;
  // After all the rest, a copy to the host that is waited for takes less time than as one more kernel. To pageable
  // memory it is waited for in either case.
  if (!isFree && (source.isHost || (async && destination.allocation))) return false;
  error = isFree ? stream.context().services().afterWait() : stream.synchronize();
  if (error != Error::Success) return true;
  copyOnHost(copy, to, from);
  // The writes are on the bus before anything that tells the device to go on.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

Error copyPageable(Stream& stream, const Copy& copy, const End& destination, const End& source) {
  const size_t bytes = copy.width * copy.height * copy.depth;
  char* const to = directly(destination);
  char* const from = directly(source);
  if (source.isHost && !source.allocation && destination.allocation && bytes <= smallBytes)
    return copySmallToDevice(stream, copy, destination, from);
  if (to && from) {
    if (const Error error = stream.synchronize(); error != Error::Success) return error;
    copyOnHost(copy, to, from);
    return Error::Success;
  }
  const bool toDevice = destination.allocation != nullptr;
  return Staging(stream, copy, toDevice ? destination : source, toDevice ? from : to, toDevice).run();
}

// Rows that follow one another without a gap become one row. InvalidValue for what is no copy of such memory.
Error check(const Context& context, Copy& copy, End& destination, End& source) {
  if (copy.height > 1 && (copy.destinationPitch < copy.width || copy.sourcePitch < copy.width))
    return Error::InvalidValue;
  if (copy.height > 1 && copy.depth == 1 && copy.destinationPitch == copy.width && copy.sourcePitch == copy.width) {
    copy.width *= copy.height;
    copy.height = 1;
  }
  size_t destinationBytes = 0, sourceBytes = 0;
  if (!extent(copy.width, copy.height, copy.depth, copy.destinationPitch, copy.destinationSlice, destinationBytes) ||
      !extent(copy.width, copy.height, copy.depth, copy.sourcePitch, copy.sourceSlice, sourceBytes))
    return Error::InvalidValue;
  const bool toDevice = copy.kind == CopyKind::HostToDevice || copy.kind == CopyKind::DeviceToDevice;
  const bool fromDevice = copy.kind == CopyKind::DeviceToHost || copy.kind == CopyKind::DeviceToDevice;
  if (copy.destination == 0 || copy.source == 0) return Error::InvalidValue;
  if (const Error error = resolve(context, copy.destination, destinationBytes, copy.kind, toDevice, destination);
      error != Error::Success)
    return error;
  return resolve(context, copy.source, sourceBytes, copy.kind, fromDevice, source);
}

Error check(const Context& context, const Fill& fill, End& destination) {
  if (fill.valueBytes != 1 && fill.valueBytes != 2 && fill.valueBytes != 4) return Error::InvalidValue;
  size_t row = 0, bytes = 0;
  if (__builtin_mul_overflow(fill.width, size_t(fill.valueBytes), &row)) return Error::InvalidValue;
  if (fill.height > 1 && (fill.pitch < row || fill.pitch % fill.valueBytes != 0)) return Error::InvalidValue;
  if (fill.destination % fill.valueBytes != 0) return Error::InvalidValue;
  if (!extent(row, fill.height, fill.depth, fill.pitch, fill.slice, bytes)) return Error::InvalidValue;
  if (const Error error = resolve(context, fill.destination, bytes, CopyKind::HostToDevice, true, destination);
      error != Error::Success)
    return error;
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

// The same with one end in staging memory, which has no gaps.
enum class Staged : uint8_t { Destination, Source };

Copy withStaging(const Copy& copy, Staged end) {
  Copy staged = copy;
  (end == Staged::Source ? staged.sourcePitch : staged.destinationPitch) = copy.width;
  (end == Staged::Source ? staged.sourceSlice : staged.destinationSlice) = copy.width * copy.height;
  return staged;
}

}  // namespace

Error copy(Stream& stream, const Copy& given, bool async) {
  if (const Error error = stream.context().error(); error != Error::Success) return error;
  Copy copy = given;
  if (isEmpty(copy)) return Error::Success;
  End destination, source;
  if (const Error error = check(stream.context(), copy, destination, source); error != Error::Success) return error;
  if (isOfAnotherDevice(destination, stream.context()) || isOfAnotherDevice(source, stream.context()))
    return copyBetweenDevices(stream, copy, destination, source);
  Error direct = Error::Success;
  if (copyThroughWindow(stream, copy, destination, source, async, direct)) return direct;
  if (!destination.allocation || !source.allocation) return copyPageable(stream, copy, destination, source);
  if (const Error error = stream.enqueue(onDevice(copy, destination, source)); error != Error::Success) return error;
  const bool hostWaits =
      destination.isHost || source.isHost || destination.allocation->isSynchronous || source.allocation->isSynchronous;
  return hostWaits && !async ? stream.synchronize() : Error::Success;
}

Error fill(Stream& stream, const Fill& fill, bool async) {
  if (const Error error = stream.context().error(); error != Error::Success) return error;
  if (isEmpty(fill)) return Error::Success;
  End destination;
  if (const Error error = check(stream.context(), fill, destination); error != Error::Success) return error;
  const Error error = stream.enqueue(regionOf(fill, destination));
  if (error != Error::Success) return error;
  const bool hostWaits = destination.isHost || destination.allocation->isSynchronous;
  return hostWaits && !async ? stream.synchronize() : Error::Success;
}

Error check(const Context& context, const Copy& given) {
  Copy copy = given;
  End destination, source;
  return isEmpty(copy) ? Error::Success : check(context, copy, destination, source);
}

Error check(const Context& context, const Fill& fill) {
  End destination;
  return isEmpty(fill) ? Error::Success : check(context, fill, destination);
}

Error prepare(Context& context, const Copy& given, PreparedCopy& out) {
  Copy copy = given;
  if (isEmpty(copy)) return Error::Success;
  End destination, source;
  if (const Error error = check(context, copy, destination, source); error != Error::Success) return error;
  if (isOfAnotherDevice(destination, context) || isOfAnotherDevice(source, context)) return Error::NotSupported;
  if (destination.allocation && source.allocation) {
    out.work = onDevice(copy, destination, source);
    return Error::Success;
  }
  if (!destination.allocation && !source.allocation) {
    out.before = [=, to = directly(destination), from = directly(source)] { copyOnHost(copy, to, from); };
    return Error::Success;
  }
  vk::Allocator& allocator = context.vulkan().allocator();
  vk::Memory memory;
  if (const auto status = allocator.allocate(vk::MemoryUse::Staging, copy.width * copy.height * copy.depth, memory);
      status != vk::Status::Ok)
    return errorFrom(status);
  out.staging = std::shared_ptr<const void>(memory.host, [&allocator, memory](const void*) { allocator.free(memory); });
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
  if (const Error error = check(context, fill, destination); error != Error::Success) return error;
  out.work = regionOf(fill, destination);
  return Error::Success;
}

}  // namespace mulciber::core
