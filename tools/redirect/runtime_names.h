// The functions of NVIDIA's CUDA runtimes by name: made from the lists in src/runtime/api/exports.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mulciber::redirect {

struct RuntimeName {
  std::string_view name;
  uint8_t majors;           // which versions have it: bit 0 for CUDA 11, bit 1 for 12, bit 2 for 13
  uint16_t callbackIds[2];  // the numbers by which tools know its calls; 0 for none
};

inline constexpr uint32_t oldestMajor = 11, newestMajor = 13;

std::span<const RuntimeName> runtimeNames();
const RuntimeName* findRuntimeName(std::string_view name);

}  // namespace mulciber::redirect
