// How the device's probes run their shaders.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/vk/pipeline.h"

namespace mulciber::vk {

// Runs one shader over `bytes` of data, whose address stands at `addressOffset` of its push constants; what it leaves
// replaces them.
Status runProbe(Device& device, const PipelineDescription& description, uint32_t groups, uint32_t addressOffset,
                void* data, size_t bytes);

}  // namespace mulciber::vk
