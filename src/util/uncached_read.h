// Reads of memory that the processor does not cache, as a device's is when it is mapped.
#pragma once

#include <cstddef>

namespace mulciber::util {

// Whether the processor can ask for several lines of such memory at once: 4 KiB of an H200 then take 5 us instead
// of 66.
bool readsUncachedLines();

// memcpy() from such memory. Reads whole lines of 64 bytes, so also what lies beside the bytes in the first and the
// last.
void readUncached(void* to, const void* from, size_t bytes);

}  // namespace mulciber::util
