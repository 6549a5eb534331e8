// Which products of cooperative matrices take and give their components as the registers of PTX's mma: Vulkan leaves
// open where they lie.
#pragma once

#include "runtime/vk/probes.h"

namespace mulciber::vk {

// Fills in the members of that name. Needs lanesLikeCuda. Without `onUnits`, asks whether shuffles and plain arithmetic
// give what the probe expects of each kind: so its tests can run on any device.
void probeMatrices(Device& device, ProbeResults& out, bool onUnits = true);

}  // namespace mulciber::vk
