#pragma once

#include <cstdint>

namespace mulciber::ptx {

// The nearest f16, ties to even.
uint16_t halfBits(double value);

}  // namespace mulciber::ptx
