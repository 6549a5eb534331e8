// What a device really does, found by running small shaders on it: feature bits alone have been seen to be wrong.
#pragma once

#include <cstdint>

#include "runtime/vk/status.h"

namespace mulciber::vk {

class Device;

// Plain bytes, so that it can be cached. 1 is yes. What most are for: mulciber/profile_fields.def.
struct ProbeResults {
#define PROFILE_FIELD(type, name, rule, group, value, kind, ...) PROBE_RESULT_##kind(name)
#define PROBE_RESULT_Probe(name) uint8_t name = 0;
#define PROBE_RESULT_Option(name) uint8_t name = 0;
#define PROBE_RESULT_Feature(name)
#define PROBE_RESULT_Derived(name)
#define PROBE_RESULT_Driver(name)
#define PROBE_RESULT_Workaround(name)
#define PROBE_RESULT_Caller(name)
#include "mulciber/profile_fields.def"
#undef PROBE_RESULT_Probe
#undef PROBE_RESULT_Option
#undef PROBE_RESULT_Feature
#undef PROBE_RESULT_Derived
#undef PROBE_RESULT_Driver
#undef PROBE_RESULT_Workaround
#undef PROBE_RESULT_Caller
#undef PROFILE_FIELD
  uint8_t lanesLikeCuda = 0;     // subgroups of 32 real lanes, numbered as CUDA's
  uint8_t exactMinMax = 0;       // NMin and NMax know that -0 is less than +0
  uint8_t minMaxUnitesNans = 0;  // and make NVIDIA's one NaN of any
};

Status probe(Device& device, ProbeResults& out);

// How many of all significands one step from the device's estimates leaves wrong: of reciprocals and roots, and of what
// quotients take for a reciprocal. Takes a while where shaders run on a processor, so probe() asks only devices that do
// not divide exactly.
struct WrongSteps {
  uint32_t refinements = 0, divisors = 0;
};
Status countWrongSteps(Device& device, const ProbeResults& known, WrongSteps& out);

}  // namespace mulciber::vk
