#include "runtime/core/array_copy.h"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/core/array.h"
#include "runtime/core/context.h"
#include "runtime/core/copy_end.h"
#include "runtime/core/device.h"
#include "runtime/core/staged_copy.h"
#include "runtime/core/stream.h"

namespace mulciber::core {

namespace {

// The box of a copy in one of its arrays. InvalidValue when it is not inside the array. Its bytes need not be those of
// whole elements, but of whole blocks.
Error boxIn(const ArrayPlace& place, const Copy& copy, vk::ImageBox& out) {
  const Array& array = *place.array;
  const ArrayDescription& whole = array.description();
  const auto fits = [](size_t first, size_t count, size_t size) { return first <= size && count <= size - first; };
  if (!fits(place.x, copy.width, whole.rowBytes()) || !fits(place.y, copy.height, whole.rows()) ||
      !fits(place.z, copy.depth, whole.slices()))
    return Error::InvalidValue;
  const auto number = [](size_t value) { return static_cast<uint32_t>(value); };
  const size_t element = array.format().bytes;
  if (array.format().isCompressed() && (place.x % element != 0 || copy.width % element != 0))
    return Error::InvalidValue;
  const size_t first = place.x / element, end = (place.x + copy.width + element - 1) / element;
  out.image = array.image();
  out.level = array.level();
  out.x = number(first);
  out.y = number(place.y);
  out.z = number(place.z);
  out.width = number(end - first);
  out.height = number(copy.height);
  out.depth = number(copy.depth);
  out.skippedBytes = place.x % element;
  out.rowBytes = copy.width;
  return Error::Success;
}

// The memory of a copy between an array and memory.
struct MemorySide {
  bool isSource;
  uint64_t address;
  size_t pitch, slice;

  explicit MemorySide(const Copy& copy)
      : isSource(!copy.sourceArray.array),
        address(isSource ? copy.source : copy.destination),
        pitch(isSource ? copy.sourcePitch : copy.destinationPitch),
        slice(isSource ? copy.sourceSlice : copy.destinationSlice) {}
};

Error resolveMemory(const Context& context, const Copy& copy, const MemorySide& side, End& out) {
  size_t bytes = 0;
  if (side.address == 0 || !extentOf(copy, side.pitch, side.slice, bytes)) return Error::InvalidValue;
  const bool isDevice = copy.kind == CopyKind::DeviceToDevice ||
                        copy.kind == (side.isSource ? CopyKind::DeviceToHost : CopyKind::HostToDevice);
  return resolve(context, side.address, bytes, copy.kind, isDevice, out);
}

// What a copy's arrays and its memory turn out to be.
struct Ends {
  vk::ImageBox destination, source;
  End memory;
};

Error resolve(const Context& context, const Copy& copy, Ends& out) {
  const Array *to = copy.destinationArray.array.get(), *from = copy.sourceArray.array.get();
  if (to && from && to->format().bytes != from->format().bytes) return Error::InvalidValue;
  if (to) TRY(boxIn(copy.destinationArray, copy, out.destination));
  if (from) TRY(boxIn(copy.sourceArray, copy, out.source));
  return to && from ? Error::Success : resolveMemory(context, copy, MemorySide(copy), out.memory);
}

bool usesAnotherDevice(const Context& context, const Copy& copy, const Ends& ends) {
  const int device = context.device().ordinal();
  for (const ArrayRef& array : {copy.destinationArray.array, copy.sourceArray.array})
    if (array && array->device() != device) return true;
  return ends.memory.allocation && ends.memory.allocation->device != device;
}

bool hasPageable(const Copy& copy, const Ends& ends) {
  return !(copy.destinationArray.array && copy.sourceArray.array) && !ends.memory.allocation;
}

// Of ends that the device knows.
DeviceWork workFor(const Copy& copy, const Ends& ends) {
  if (copy.destinationArray.array && copy.sourceArray.array) return ArrayToArrayCopy{ends.destination, ends.source};
  const MemorySide side(copy);
  const vk::MemoryBox memory{ends.memory.allocation->memory, ends.memory.address, side.pitch, side.slice};
  return ArrayCopy{side.isSource ? ends.destination : ends.source, memory, side.isSource, ends.memory.allocation};
}

DeviceWork workFor(const vk::ImageBox& array, const vk::Memory& staging, bool toArray) {
  const uint64_t row = array.rowBytes;
  return ArrayCopy{array, vk::MemoryBox{staging, staging.address, row, row * array.height}, toArray, nullptr};
}

Error copyPageable(Stream& stream, const Copy& copy, const Ends& ends) {
  const MemorySide side(copy);
  const vk::ImageBox& array = side.isSource ? ends.destination : ends.source;
  char* const host = reinterpret_cast<char*>(side.address);  // NOLINT: addresses are numbers here
  if (const size_t bytes = copy.width * copy.height * copy.depth; side.isSource && bytes <= smallBytes) {
    auto packed = std::make_shared<std::vector<char>>(bytes);
    copyOnHost(withStaging(copy, Staged::Destination), packed->data(), host);
    return stream.enqueue(ArrayUpload{array, std::move(packed)});
  }
  const HostBox box{host, copy.width, copy.height, copy.depth, side.pitch, side.slice};
  const auto work = [&](const StagedPiece& piece, const StagingMemory& staging) {
    vk::ImageBox part = array;
    part.y += static_cast<uint32_t>(piece.y);  // no row of an array is longer than a piece
    part.z += static_cast<uint32_t>(piece.z);
    part.height = static_cast<uint32_t>(piece.rows);
    part.depth = 1;
    return workFor(part, staging.memory, side.isSource);
  };
  return copyStaged(stream, box, side.isSource, StagedEnd::AllIsDone, work);
}

// Through the host, which waits (MDEV-03). Each half is a copy of its own device.
Error copyBetweenDevices(Stream& stream, const Copy& copy, const ContextRef& to, const ContextRef& from) {
  if (!to || !from) return Error::InvalidValue;
  TRY(stream.finish());
  std::vector<char> bytes(copy.width * copy.height * copy.depth);
  Copy out = copy, in = copy;
  out.destinationArray = in.sourceArray = {};
  out.destination = in.source = reinterpret_cast<uintptr_t>(bytes.data());
  out.destinationPitch = in.sourcePitch = copy.width;
  out.destinationSlice = in.sourceSlice = copy.width * copy.height;
  out.kind = in.kind = CopyKind::Default;
  TRY(core::copy(*from->legacyStream(), out, false));
  TRY(core::copy(*to->legacyStream(), in, false));
  return to->legacyStream()->synchronize();
}

// The context of one end: of pageable memory, any.
ContextRef ownerOf(const ArrayPlace& place, const Ends& ends, Stream& stream) {
  if (place.array) return place.array->context();
  return ends.memory.allocation ? ends.memory.allocation->context.lock() : stream.context().shared_from_this();
}

}  // namespace

Error copyArrays(Stream& stream, const Copy& copy, bool async) {
  const Context& context = stream.context();
  Ends ends;
  TRY(resolve(context, copy, ends));
  if (usesAnotherDevice(context, copy, ends))
    return copyBetweenDevices(stream, copy, ownerOf(copy.destinationArray, ends, stream),
                              ownerOf(copy.sourceArray, ends, stream));
  if (hasPageable(copy, ends)) return copyPageable(stream, copy, ends);
  TRY(stream.enqueue(workFor(copy, ends)));
  return ends.memory.isAwaited() && !async ? stream.finish() : Error::Success;
}

Error checkArrays(const Context& context, const Copy& copy) {
  Ends ends;
  return resolve(context, copy, ends);
}

Error prepareArrays(Context& context, const Copy& copy, PreparedCopy& out) {
  Ends ends;
  TRY(resolve(context, copy, ends));
  if (usesAnotherDevice(context, copy, ends)) return Error::NotSupported;
  if (!hasPageable(copy, ends)) {
    out.work = workFor(copy, ends);
    return Error::Success;
  }
  const MemorySide side(copy);
  vk::Memory memory;
  TRY(takeStaging(context, copy, out, memory));
  char* const staging = static_cast<char*>(memory.host);
  char* const host = reinterpret_cast<char*>(side.address);  // NOLINT: addresses are numbers here
  out.work = workFor(side.isSource ? ends.destination : ends.source, memory, side.isSource);
  if (side.isSource)
    out.before = [staging, host, given = withStaging(copy, Staged::Destination)] { copyOnHost(given, staging, host); };
  else out.after = [staging, host, given = withStaging(copy, Staged::Source)] { copyOnHost(given, host, staging); };
  return Error::Success;
}

}  // namespace mulciber::core
