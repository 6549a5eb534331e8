#include "runtime/core/copy_end.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

// Whether the process has memory there: a pointer that was once the device's would end the program.
bool isReadable(uint64_t address) {
  char byte = 0;
  const iovec to{&byte, 1};
  const iovec from{reinterpret_cast<void*>(address), 1};  // NOLINT: addresses are numbers here
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

}  // namespace

bool extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t& out) {
  size_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_mul_overflow(depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, width, &out);
}

bool placeIn(uint64_t address, size_t x, size_t y, size_t z, size_t pitch, size_t slice, uint64_t& out) {
  size_t offset = 0;
  return extent(x, y + 1, z + 1, pitch, slice, offset) && !__builtin_add_overflow(address, offset, &out);
}

bool extentOf(const Copy& copy, size_t pitch, size_t slice, size_t& out) {
  size_t rows = 0;
  return extent(copy.width, copy.height, 1, pitch, 0, rows) && (copy.height == 1 || copy.width <= pitch) &&
         (copy.depth == 1 || rows <= slice) && extent(copy.width, copy.height, copy.depth, pitch, slice, out);
}

Error resolve(const Context& context, uint64_t address, size_t bytes, CopyKind kind, bool wantsDevice, End& out) {
  const AllocationRef allocation = context.device().memory().find(address);
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
  out.isHost = allocation->isHost();
  if (allocation->device != context.device().ordinal() && allocation->isHostVisible()) {
    // Pinned for another device: this one does not reach it.
    out.address = allocation->hostAddress + inside;
    out.isHost = true;
    return Error::Success;
  }
  out.allocation = allocation;
  return Error::Success;
}

void copyOnHost(const Copy& copy, char* destination, const char* source) {
  for (size_t z = 0; z < copy.depth; ++z)
    for (size_t y = 0; y < copy.height; ++y)
      std::memmove(destination + z * copy.destinationSlice + y * copy.destinationPitch,
                   source + z * copy.sourceSlice + y * copy.sourcePitch, copy.width);
}

char* directly(const End& end) {
  if (!end.allocation) return reinterpret_cast<char*>(end.address);  // NOLINT: addresses are numbers here
  char* base = static_cast<char*>(end.allocation->memory.host);
  return base ? base + end.offset() : nullptr;
}

Copy withStaging(const Copy& copy, Staged end) {
  Copy staged = copy;
  (end == Staged::Source ? staged.sourcePitch : staged.destinationPitch) = copy.width;
  (end == Staged::Source ? staged.sourceSlice : staged.destinationSlice) = copy.width * copy.height;
  return staged;
}

namespace {

uint64_t memoryAt(const Context& context, uint64_t address) {
  const AllocationRef allocation = context.device().memory().find(address);
  return allocation ? allocation->id : 0;
}

}  // namespace

CopyMemory memoryOf(const Context& context, const Copy& copy) {
  return {memoryAt(context, copy.destination), memoryAt(context, copy.source)};
}

CopyMemory memoryOf(const Context& context, const Fill& fill) { return {memoryAt(context, fill.destination), 0}; }

Error takeStaging(Context& context, const Copy& copy, PreparedCopy& out, vk::Memory& memory) {
  vk::Allocator& allocator = context.vulkan().allocator();
  TRY(errorFrom(allocator.allocate(vk::MemoryUse::Staging, copy.width * copy.height * copy.depth, memory)));
  out.staging = allocator.owner(memory);
  return Error::Success;
}

}  // namespace mulciber::core
