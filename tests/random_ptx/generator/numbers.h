// Numbers of single precision that show what becomes of a multiply-add.
#pragma once

#include <cstdint>
#include <vector>

#include "random_ptx/generator/random.h"

namespace mulciber::random_ptx {

// Bits of a number as programs name them: round ones, those whose products must be rounded, and few extreme ones.
uint32_t knownNumber(Random& random);

// The bits of what one thread gets: ordinary numbers, those whose products and sums cancel, those whose products are
// too small for normal numbers, zeros, short mantissas and few large ones.
std::vector<uint32_t> factorsOfThread(Random& random, unsigned count);

}  // namespace mulciber::random_ptx
