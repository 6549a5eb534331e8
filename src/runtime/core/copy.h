// Copies and fills of every shape, as values: streams carry them out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "runtime/core/error.h"
#include "runtime/core/operation.h"

namespace mulciber::core {

class Array;
class Context;
class Stream;
using ArrayRef = std::shared_ptr<Array>;

// As the caller named the direction; Default looks the pointers up.
enum class CopyKind : uint8_t { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };

// Where a copy begins in an array: x in bytes, y in rows, z in slices or layers. Of a compressed array, rows of blocks.
struct ArrayPlace {
  ArrayRef array;  // null: that end of the copy lies in memory
  size_t x = 0, y = 0, z = 0;
  bool operator==(const ArrayPlace&) const = default;
};

// width bytes x height rows x depth slices; a linear copy has height and depth 1.
struct Copy {
  uint64_t destination = 0, source = 0;  // of the first byte, offsets already applied
  size_t width = 0, height = 1, depth = 1;
  size_t destinationPitch = 0, sourcePitch = 0;  // bytes between rows
  size_t destinationSlice = 0, sourceSlice = 0;  // bytes between slices
  ArrayPlace destinationArray, sourceArray;      // in place of the addresses
  CopyKind kind = CopyKind::Default;
  bool operator==(const Copy&) const = default;

  bool hasArray() const { return destinationArray.array || sourceArray.array; }
};

// Where a place in a box of rows and slices is: x in bytes. False when no address is so large.
bool placeIn(uint64_t address, size_t x, size_t y, size_t z, size_t pitch, size_t slice, uint64_t& out);

struct Fill {
  uint64_t destination = 0;
  uint32_t value = 0, valueBytes = 1;       // 1, 2 or 4
  size_t width = 0, height = 1, depth = 1;  // width in values
  size_t pitch = 0, slice = 0;              // bytes
  bool operator==(const Fill&) const = default;
};

// Synchronous calls return when CUDA's do (docs/behaviours.md HOST-15, HOST-16): a copy between
// device addresses and a fill of device memory return at once, a copy of pageable host memory returns when the host may
// use its memory again.
Error copy(Stream& stream, const Copy& copy, bool async);
Error fill(Stream& stream, const Fill& fill, bool async);

// For nodes of graphs. InvalidValue for nothing to copy or fill, for memory that is not there, and for memory that is
// not what it is said to be.
Error check(const Context& context, const Copy& copy);
Error check(const Context& context, const Fill& fill);

// A copy or a fill that runs later, and perhaps many times: what the host does before the device, the device's work,
// and what the host does after it. Where one end is pageable memory, the bytes pass through staging memory of the
// copy's own, and the host reads or writes the program's memory each time. Each part may be missing.
struct PreparedCopy {
  std::function<void()> before, after;
  std::optional<DeviceWork> work;
  std::shared_ptr<const void> staging;
};
// The memory at both ends, by Allocation::id; 0 for the program's own and for arrays.
using CopyMemory = std::array<uint64_t, 2>;
CopyMemory memoryOf(const Context& context, const Copy& copy);
CopyMemory memoryOf(const Context& context, const Fill& fill);
Error prepare(Context& context, const Copy& copy, PreparedCopy& out);
Error prepare(Context& context, const Fill& fill, PreparedCopy& out);

}  // namespace mulciber::core
