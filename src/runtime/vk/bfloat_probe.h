// Whether the device's conversion of f32 to bf16 is PTX's cvt.rn: Vulkan leaves open how it rounds, and what it makes
// of denormals and NaNs.
#pragma once

#include "runtime/vk/probes.h"

namespace mulciber::vk {

// Needs lanesLikeCuda and the modes of f32. Without `byDevice`, asks whether integer arithmetic gives what the probe
// expects: so its test can run on any device.
bool packsBfloats(Device& device, const ProbeResults& known, bool byDevice = true);

}  // namespace mulciber::vk
