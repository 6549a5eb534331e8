// What a device really does, found by running small shaders on it: feature bits alone have been seen to be wrong.
#pragma once

#include <cstdint>

#include "runtime/vk/status.h"

namespace mulciber::vk {

class Device;

// Plain bytes, so that it can be cached. 1 is yes.
struct ProbeResults {
  uint8_t lanesLikeCuda = 0;        // subgroups of 32 real lanes, numbered as CUDA's
  uint8_t exitedThreadsArrive = 0;  // a barrier does not wait for threads that have ended
  uint8_t denormsByDefault32 = 0, denormPreserve32 = 0, denormFlush32 = 0;
  uint8_t exactFma32 = 0, fusedFma32 = 0, exactDivSqrt32 = 0, exactMinMax = 0, minMaxUnitesNans = 0;
  uint8_t approximationsFlush32 = 0;
  uint8_t refinesInOneStep32 = 0, dividesByRoots32 = 0;
  uint8_t accurateExp2 = 0, accurateTanh = 0, denormalLog2 = 0, foldsZeros = 0;
  uint8_t foldsHalfRoundTrips = 0, saturatesToInteger = 0;
  uint8_t exactFma64 = 0, exactDivSqrt64 = 0;
  uint8_t matricesF16F32 = 0, matricesF16F16 = 0, matricesBF16 = 0, matricesS8 = 0,
          matricesU8 = 0;  // cooperative matrices lie as emit_matrix needs
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
