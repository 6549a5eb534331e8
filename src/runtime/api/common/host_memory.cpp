#include "runtime/api/common/host_memory.h"

#include <cuda.h>

#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

Error hostFlags(const void* pointer, unsigned* flags) {
  if (!flags || !pointer) return Error::InvalidValue;
  const core::AllocationRef found = core::currentMemory().find(reinterpret_cast<uintptr_t>(pointer));
  if (!found) return Error::InvalidValue;
  if (found->isManaged()) return give(flags, CU_MEMHOSTALLOC_DEVICEMAP);
  const bool isHost = found->kind == core::MemoryKind::Pinned || found->kind == core::MemoryKind::Registered;
  return isHost ? give(flags, found->flags) : Error::InvalidValue;
}

}  // namespace mulciber::api
