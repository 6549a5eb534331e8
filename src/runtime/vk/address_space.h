// Ranges of the process's addresses: no device address may equal a host pointer, since programs compare both.
#pragma once

#include <cstdint>

namespace mulciber::vk {

// Keeps a range free of everything else until munmap(). Null when something has it already.
void* reserveAddresses(uint64_t address, uint64_t bytes);

}  // namespace mulciber::vk
