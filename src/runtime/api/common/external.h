// What the two APIs' calls that signal and wait for external semaphores have in common.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "runtime/core/external.h"
#include "runtime/core/stream.h"

namespace mulciber::api {

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
