// A translated kernel as bytes, for the cache and for kernels translated ahead of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber::core {

std::vector<uint8_t> writeKernel(const Kernel& kernel);           // all but the name
bool readKernel(std::span<const uint8_t> bytes, Kernel& kernel);  // false when they are no kernel
std::vector<uint8_t> writeInfo(const KernelInfo& info);           // without its code
bool readInfo(std::span<const uint8_t> bytes, KernelInfo& info);

}  // namespace mulciber::core
