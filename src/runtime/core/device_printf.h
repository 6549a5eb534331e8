// Formats what a kernel's printf recorded, as CUDA does: C's formats, the arguments as vprintf received them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mulciber::core {

// `string` fetches the text at a device address, for %s.
std::string formatDevicePrintf(std::string_view format, std::span<const uint8_t> arguments,
                               const std::function<std::string(uint64_t address)>& string);

}  // namespace mulciber::core
