// Operations on words of memory, as the driver API's structures describe them.
#pragma once

#include <cuda.h>

#include <vector>

#include "runtime/core/memory_operations.h"
#include "runtime/core/stream.h"

namespace mulciber::api {

// All or none: what is wrong with one keeps the others from being carried out.
core::Error readOperations(const CUstreamBatchMemOpParams* given, unsigned count, unsigned flags,
                           std::vector<core::WordOperation>& out);
// A captured stream gets one node for all of them.
core::Error giveOperations(core::Stream& stream, const CUstreamBatchMemOpParams* given, unsigned count, unsigned flags);

}  // namespace mulciber::api
