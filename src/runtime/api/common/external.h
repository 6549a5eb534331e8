// Memory and semaphores of other interfaces, as both APIs take them: their structures have the same members.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "runtime/api/common/give.h"
#include "runtime/core/external.h"
#include "runtime/core/stream.h"

namespace mulciber::api {

template <class Handle, class Given>
core::Error importMemory(core::Context& context, Handle* out, const Given* given) {
  if (!out || !given) return core::Error::InvalidValue;
  return giveMade<core::ExternalMemory*>(out, [&](core::ExternalMemory*& memory) {
    return core::importMemory(
        context, {static_cast<core::ExternalMemoryType>(given->type), given->handle.fd, given->size, given->flags},
        memory);
  });
}

template <class Address, class Wanted>
core::Error mapBuffer(const core::ExternalMemory& memory, Address* out, const Wanted* wanted) {
  if (!out || !wanted) return core::Error::InvalidValue;
  return giveMade<uint64_t>(
      out, [&](uint64_t& address) { return memory.mapBuffer(wanted->offset, wanted->size, wanted->flags, address); });
}

template <class Handle, class Given>
core::Error importSemaphore(core::Context& context, Handle* out, const Given* given) {
  if (!out || !given) return core::Error::InvalidValue;
  return giveMade<core::ExternalSemaphore*>(out, [&](core::ExternalSemaphore*& semaphore) {
    return core::importSemaphore(
        context, {static_cast<core::ExternalSemaphoreType>(given->type), given->handle.fd, given->flags}, semaphore);
  });
}

// `Parameters` are those of the API and its version. `use` is core::signal or core::wait.
template <class Handle, class Parameters, class Use>
core::Error useSemaphores(core::Stream& stream, const Handle* handles, const Parameters* parameters, unsigned count,
                          Use&& use) {
  if (count == 0 || !handles || !parameters) return core::Error::InvalidValue;
  std::vector<core::ExternalSemaphoreUse> uses;
  for (unsigned i = 0; i < count; ++i)
    uses.push_back({reinterpret_cast<core::ExternalSemaphore*>(handles[i]), parameters[i].params.fence.value,
                    parameters[i].flags});
  return use(stream, uses);
}

}  // namespace mulciber::api
