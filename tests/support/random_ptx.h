#pragma once

#include <cstdint>
#include <string>

namespace mulciber::test {

// A module that parses: declarations and operands of every form, in random combinations. It need not make sense.
std::string randomPtx(uint32_t seed);

}  // namespace mulciber::test
