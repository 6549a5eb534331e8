// How lengths are taken apart.
#pragma once

#include <cstdint>
#include <vector>

namespace mulciber::fft {

// Of 2, 3, 5, 7, 11 and 13 alone.
bool isSmooth(int64_t length);

// The fewest factors of at most 16 each whose product the length is, with the smallest greatest one. {1} for 1.
std::vector<int> radices(int64_t length);

// The fewest factors of at most `most` each whose product a smooth length is, as even as can be.
std::vector<int64_t> split(int64_t length, int64_t most);

// The length of the convolution by which a length is transformed that is not smooth.
int64_t convolutionLength(int64_t length);

}  // namespace mulciber::fft
