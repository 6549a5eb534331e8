// One kernel of a transform: many transforms of a short length, each by some threads of a block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::fft {

enum class Load { Complex, Real, Half };   // Half: what a real transform leaves out is the conjugate of what it has
enum class Store { Complex, Real, Half };  // Half: what follows from the rest is left out
enum class Place { Input, Output, Middle, Work, OtherWork };

constexpr int64_t noTable = -1;

// The transforms of a pass are numbered by some dimensions. Addresses are in elements. An index is a place along the
// axis that the pass is part of; a phase is what the number contributes to the twiddle factor behind the pass.
struct Dimension {
  int64_t size;
  int64_t in, out;
  int64_t inIndex = 0, outIndex = 0, phase = 0;
};

struct Pass {
  int64_t length = 1;
  bool isInverse = false, isDouble = false;
  Place from = Place::Input, to = Place::Output;
  Load load = Load::Complex;
  Store store = Store::Complex;
  Dimension element{};  // along the transform; its size is the length
  std::vector<Dimension> dimensions;
  int64_t axisLength = 1;        // of the transform that the program sees
  int64_t axisIn = 0;            // from one element of that axis to the next
  int64_t inLimit = INT64_MAX;   // elements of higher indices are zero
  int64_t outLimit = INT64_MAX;  // and are not stored
  // Tables of complex numbers, as offsets in elements.
  int64_t twiddles = noTable;                             // roots of unity of the length
  int64_t loadFactors = noTable, storeFactors = noTable;  // by index
  // Behind the transform its element k of phase p is multiplied by the root of that order to the power of k * p, which
  // is a product of two: one of a table for the upper bits of k * p, and one for the lower ones.
  int64_t order = 0, upper = noTable, lower = noTable;
  int lowerBits = 0;

  int64_t count() const {
    int64_t product = 1;
    for (const Dimension& dimension : dimensions) product *= dimension.size;
    return product;
  }
};

struct KernelShape {
  int64_t threadsPerTransform, transformsPerBlock, blocks;
  int64_t sharedDistance;  // from one transform to the next in shared memory, in elements
  int64_t sharedBytes;
};

KernelShape shapeOf(const Pass& pass, int64_t shared);

// A kernel in PTX: parameters are the addresses of input, output and tables.
std::string textOf(const Pass& pass, const KernelShape& shape, const std::string& name);

}  // namespace mulciber::fft
