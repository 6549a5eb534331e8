// Room on the stacks of a CPU driver's threads: it keeps a kernel's values for all lanes of a warp there, some 11 MB
// for an unoptimised kernel of a few thousand instructions. Threads have 8 MiB by default, and code that the driver
// makes does not look where its stack ends: it writes past the guard page into whatever lies there.
#pragma once

#include <cstddef>

namespace mulciber::vk {

// While it lives, threads that are started without a size of their own get large stacks. It is address space: memory is
// taken where a kernel writes.
class LargeDriverStacks {
 public:
  static constexpr size_t bytes = size_t{512} << 20;

  LargeDriverStacks();
  ~LargeDriverStacks();
  LargeDriverStacks(const LargeDriverStacks&) = delete;
  LargeDriverStacks& operator=(const LargeDriverStacks&) = delete;
};

}  // namespace mulciber::vk
