// The runtime API's description of a texel's channels.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/core/array.h"

namespace mulciber::api {

cudaChannelFormatDesc channelsOf(const core::ArrayFormat& format);
// Null for what no array consists of.
const core::ArrayFormat* formatOf(const cudaChannelFormatDesc& given);

}  // namespace mulciber::api
