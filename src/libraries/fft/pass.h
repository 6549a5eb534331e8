// One kernel of a transform: many transforms of a short length, each by some threads of a block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::fft {

// A real transform of even length is a complex one of half that length, of pairs of real numbers. What the transform of
// the pairs gives, and what the real one gives or takes ("packed"), are made of each other: unpack.cpp.
enum class Load {
  Complex,
  Real,
  Half,   // what a real transform leaves out is the conjugate of what it has
  Pairs,  // of real numbers
  Packed
};
enum class Store {
  Complex,
  Real,
  Half,  // what follows from the rest is left out
  Pairs,
  Packed
};
enum class Place { Input, Output, Middle, Work, OtherWork };

constexpr int64_t noTable = -1;

// The transforms of a pass are numbered by some dimensions. Addresses are in elements. An index is a place along the
// axis that the pass is part of; a phase is what the number contributes to the twiddle factor behind the pass.
struct Dimension {
  int64_t size;
  int64_t in, out;
  int64_t inIndex = 0, outIndex = 0, phase = 0;
};

// Roots of unity of that order. Each is in a table, or the product of two: of one for the upper bits of its power, and
// one for the lower ones.
struct Roots {
  int64_t order = 0;
  int lowerBits = 0;
  int64_t upper = noTable, lower = noTable;
};

// Stockham's algorithm: `done` is the product of the radices before this one.
struct Stage {
  int radix = 1;
  int64_t done = 1;
  bool isInverse = false;
  // Of all but the first, by column: its root to the powers of 1, 2, 4 and 8 where these are below its radix.
  std::vector<int64_t> roots;
  // Of a convolution: the last stage of its first transform, which has what the first stage of the other needs. So that
  // goes through the radices the other way round.
  bool turnsRound = false;
};

struct Pass {
  int64_t length = 1;
  bool isDouble = false;
  Place from = Place::Input, to = Place::Output;
  Load load = Load::Complex;
  Store store = Store::Complex;
  Dimension element{};  // along the transform; its size is the length
  std::vector<Dimension> dimensions;
  int64_t axisLength = 1;           // of the transform that the program sees, or of its pairs
  int64_t axisIn = 0;               // from one element of that axis to the next
  int64_t pairIn = 1, pairOut = 1;  // between the numbers of a pair
  bool isAligned = true;            // pairs without gaps, as complex numbers are
  // What other passes have left where it belongs; its transforms are elements up to the middle.
  bool unpacksOnly = false;
  int64_t inLimit = INT64_MAX;   // elements of higher indices are zero
  int64_t outLimit = INT64_MAX;  // and are not stored
  // Tables of complex numbers, as offsets in elements.
  int64_t loadFactors = noTable, storeFactors = noTable;  // by index
  int64_t middleFactors = noTable;                        // of a convolution
  std::vector<Stage> stages;
  Roots packing;  // of the order of the real transform
  Roots behind;   // the pass multiplies the result k of phase p by the root to the power of k * p

  // Whether addresses of that side are counted in real numbers.
  bool hasReals(bool isLoad) const {
    return isLoad ? load == Load::Real || load == Load::Pairs : store == Store::Real || store == Store::Pairs;
  }
  bool hasAlignedPairs(bool isLoad) const;

  int64_t count() const {
    int64_t product = 1;
    for (const Dimension& dimension : dimensions) product *= dimension.size;
    return product;
  }
};

// Whether threads beside each other take elements of transforms beside each other, and not those of one transform:
// whichever lie beside each other in memory.
bool takesTransforms(const Pass& pass, bool isLoad);

bool isOfPowersOfTwo(const Pass& pass);

struct KernelShape {
  int64_t threadsPerTransform, transformsPerBlock, blocks;
  int64_t gap;             // elements from one gap in shared memory to the next; 0: none
  int64_t sharedDistance;  // from one transform to the next in shared memory, in elements
  int64_t sharedBytes;
  // Threads of those of the block that copy one transform's elements from or to global memory; 0: the stages load and
  // store themselves.
  int64_t loadLanes, storeLanes;
  int64_t threads() const { return threadsPerTransform * transformsPerBlock; }
};

// What elements take in shared memory.
constexpr int64_t withGaps(int64_t elements, int64_t gap) { return elements + (gap > 0 ? elements / gap : 0); }

// What a block of the device may have.
struct BlockLimits {
  int64_t shared, threads;
};

// With more threads than the device allows if one transform takes as many.
KernelShape shapeOf(const Pass& pass, const BlockLimits& limits);

// A kernel in PTX: parameters are the addresses of input, output and tables.
std::string textOf(const Pass& pass, const KernelShape& shape, const std::string& name);

}  // namespace mulciber::fft
