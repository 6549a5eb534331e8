// Formats what a kernel's printf recorded, as CUDA does: C's formats, the arguments as vprintf received them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mulciber::core {

// `strings` holds the text of each %s, one after another.
std::string formatDevicePrintf(std::string_view format, std::span<const uint8_t> arguments,
                               std::span<const uint8_t> strings);

}  // namespace mulciber::core
