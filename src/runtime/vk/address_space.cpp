#include "runtime/vk/address_space.h"

#include <sys/mman.h>

namespace mulciber::vk {

void* reserveAddresses(uint64_t address, uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT: addresses are numbers here
  void* const got =
      mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  if (got == wanted) return got;
  munmap(got, bytes);  // kernels before 4.17 do not know the flag
  return nullptr;
}

}  // namespace mulciber::vk
