// How the device's probes run their shaders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/vk/pipeline.h"

namespace mulciber::vk {

// Runs one shader over `bytes` of data, whose address stands at `addressOffset` of its push constants; what it leaves
// replaces them. `cache` is for the data of the pipeline's cache, if it is asked for.
Status runProbe(Device& device, const PipelineDescription& description, uint32_t groups, uint32_t addressOffset,
                void* data, size_t bytes, std::vector<uint8_t>* cache = nullptr);

// Runs one warp of the kernel `probe` of PTX, through the translator, as kernels get it. Its parameter is the address
// of the data. The device says which small types the profile has.
bool runWarp(Device& device, const std::string& text, TargetProfile profile, void* data, size_t bytes);

}  // namespace mulciber::vk
