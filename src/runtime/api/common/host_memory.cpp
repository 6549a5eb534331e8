#include "runtime/api/common/host_memory.h"

#include <cuda.h>

#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

Error hostFlags(const void* pointer, unsigned* flags) {
  if (!flags || !pointer) return Error::InvalidValue;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const core::AllocationRef found = core::currentMemory().find(address);
  if (!found) return Error::InvalidValue;
  if (found->isManaged(address)) return give(flags, CU_MEMHOSTALLOC_DEVICEMAP);
  return found->isHost() ? give(flags, found->flags) : Error::InvalidValue;
}

}  // namespace mulciber::api
