// The process's addresses, of which a device's must not equal any: programs tell pointers apart by their numbers.
#pragma once

#include <cstdint>

namespace mulciber::vk {

// Keeps a range free of everything else until munmap(). Null when something has it already.
void* reserveAddresses(uint64_t address, uint64_t bytes);

}  // namespace mulciber::vk
