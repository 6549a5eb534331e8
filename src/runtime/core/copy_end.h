// The ends of copies that lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/copy.h"
#include "runtime/core/memory_map.h"

namespace mulciber::core {

// One end of a copy: memory the device knows, or the program's own.
struct End {
  AllocationRef allocation;  // null: pageable
  uint64_t address = 0;      // the device's, or the host's when pageable
  bool isHost = false;       // host memory, of either kind

  uint64_t offset() const { return address - allocation->deviceAddress; }
  // Whether a synchronous copy returns only when it is done, because of this end.
  bool isAwaited() const { return isHost || (allocation && allocation->isAwaited(address)); }
};

// `wantsDevice`: the caller's word for this end. InvalidValue when it is not what the caller says.
Error resolve(const Context& context, uint64_t address, size_t bytes, CopyKind kind, bool wantsDevice, End& out);
// Bytes from the first to the last of a box; false when that overflows.
bool extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t& out);
// The same of what is copied: false too when rows or slices overlap. So no count of its bytes overflows.
bool extentOf(const Copy& copy, size_t pitch, size_t slice, size_t& out);
// Where the host can reach the memory, as it can a CPU device's; null where it cannot.
char* directly(const End& end);
void copyOnHost(const Copy& copy, char* destination, const char* source);
// The same copy with one end in staging memory, which has no gaps.
enum class Staged : uint8_t { Destination, Source };
Copy withStaging(const Copy& copy, Staged end);
// Staging memory for the whole copy, which `out` keeps.
Error takeStaging(Context& context, const Copy& copy, PreparedCopy& out, vk::Memory& memory);

// Pageable copies up to this size are taken into the batch at once, so that the call can return (HOST-15).
inline constexpr size_t smallBytes = 64u << 10;

}  // namespace mulciber::core
