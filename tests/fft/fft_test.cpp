// libcufft against the sums that define its results.
#include <cuda.h>
#include <gtest/gtest.h>

#include <random>

#include "api/api_test.h"
#include "fft/case.h"

namespace mulciber::test {
namespace {

class Fft : public WithDevice {
 protected:
  static void expectRight(const FftCase& given) { EXPECT_EQ(problemOf(given), "") << given.text(); }
};

TEST_F(Fft, OfSmallLengths) {
  for (int length = 1; length <= 16; ++length) expectRight({.lengths = {length}, .batch = 3});
  for (const int length : {17, 26, 60, 77}) expectRight({.type = CUFFT_Z2Z, .lengths = {length}, .batch = 70});
}

// A block has many of them, and copies their elements through shared memory. Not all blocks are full.
TEST_F(Fft, OfManySmallLengths) {
  const cufftType types[] = {CUFFT_C2C, CUFFT_Z2Z, CUFFT_R2C, CUFFT_C2R};
  for (int length = 2; length <= 16; ++length) {
    const cufftType type = types[length % 4];
    expectRight({.type = type,
                 .lengths = {length},
                 .batch = 131 + 12 * length,
                 .isInverse = type == CUFFT_C2R,
                 .isInPlace = length % 3 == 0});
  }
  // By two, three, seven and six threads.
  expectRight({.lengths = {22}, .batch = 101});
  expectRight({.lengths = {39}, .batch = 101});
  expectRight({.type = CUFFT_R2C, .lengths = {84}, .batch = 101});
  expectRight({.type = CUFFT_C2R, .lengths = {84}, .batch = 101, .isInverse = true});
  expectRight({.type = CUFFT_R2C, .lengths = {48}, .batch = 13});
  // Two axes; elements that are not neighbours on one side or on both; transforms that are neighbours on one.
  expectRight({.lengths = {13, 6, 11}, .batch = 3});
  const FftLayout rows{{0}, 1, 12}, apart{{0}, 3, 50}, columns{{0}, 90, 1};
  for (const auto& [in, out] :
       {std::pair(rows, apart), std::pair(apart, apart), std::pair(rows, columns), std::pair(columns, rows)})
    expectRight({.lengths = {12}, .batch = 90, .input = in, .output = out});
  // Fewer transforms than a block's threads copy at once, in rows on one side and in columns on the other.
  for (const int batch : {1, 2, 3, 4, 5, 7})
    for (const int length : {2, 3, 4}) {
      const FftLayout row{{0}, 1, length}, column{{0}, batch, 1};
      expectRight({.lengths = {length}, .batch = batch, .input = column, .output = row});
      expectRight({.lengths = {length}, .batch = batch, .input = row, .output = column});
      const int half = length / 2 + 1;
      const FftLayout halfRow{{0}, 1, half};
      expectRight({.type = CUFFT_R2C, .lengths = {length}, .batch = batch, .input = column, .output = halfRow});
      expectRight({.type = CUFFT_C2R,
                   .lengths = {length},
                   .batch = batch,
                   .isInverse = true,
                   .input = halfRow,
                   .output = column});
    }
}

TEST_F(Fft, OfPowersOfTwo) {
  for (const int length : {32, 256, 1024, 4096, 1 << 13, 1 << 20})
    expectRight({.lengths = {length}, .isInverse = length == 256});
  for (const int length : {2048, 1 << 17})
    expectRight({.type = CUFFT_Z2Z, .lengths = {length}, .isInverse = length == 2048});
}

TEST_F(Fft, OfLengthsOfSeveralPasses) {
  expectRight({.lengths = {1 << 21}});
  expectRight({.type = CUFFT_R2C, .lengths = {13 * 13 * 13 * 13}, .batch = 2});
  expectRight({.type = CUFFT_Z2D, .lengths = {3 * 4096}, .batch = 2, .isInverse = true});
}

// Their transforms lie between each other, and so do not fit in a block whole.
TEST_F(Fft, OfLongColumns) {
  expectRight({.lengths = {4096, 6}, .batch = 2});
  expectRight({.type = CUFFT_Z2Z, .lengths = {2, 1536, 3}, .isInverse = true, .isInPlace = true});
  expectRight({.type = CUFFT_R2C, .lengths = {1100, 9}, .batch = 2, .isInPlace = true});
  expectRight({.type = CUFFT_C2R, .lengths = {1100, 8}, .batch = 3, .isInverse = true});
  expectRight({.lengths = {1031, 5}});
  const FftLayout rows{{0}, 1, 2500}, columns{{0}, 7, 1}, gaps{{0}, 9, 1};
  for (const auto& [in, out] : {std::pair(columns, gaps), std::pair(rows, columns), std::pair(columns, rows)})
    expectRight({.lengths = {2500}, .batch = 7, .input = in, .output = out});
  expectRight({.type = CUFFT_R2C, .lengths = {2500}, .batch = 7, .input = columns, .output = gaps});
}

// Real transforms of even lengths are complex ones of their pairs.
TEST_F(Fft, OfPairs) {
  const auto expectBoth = [](FftCase given, const FftLayout* real = nullptr, const FftLayout* complex = nullptr) {
    const bool isDouble = given.type == CUFFT_D2Z;
    if (real) given.input = *real, given.output = *complex;
    expectRight(given);
    given.type = isDouble ? CUFFT_Z2D : CUFFT_C2R;
    given.isInverse = true;
    std::swap(given.input, given.output);
    expectRight(given);
  };
  for (const int length : {4, 26, 1000})
    expectBoth({.type = CUFFT_R2C, .lengths = {length}, .batch = 37, .isInPlace = length % 3 == 1});
  // One pass of 4,096; two; those of a convolution.
  for (const int length : {8192, 3 * 8192, 2 * 509})
    expectBoth({.type = CUFFT_R2C, .lengths = {length}, .batch = 2, .isInPlace = length == 3 * 8192});
  expectBoth({.type = CUFFT_D2Z, .lengths = {4098}, .batch = 2});
  expectBoth({.type = CUFFT_D2Z, .lengths = {6, 5, 22}, .batch = 2, .isInPlace = true});
  expectBoth({.type = CUFFT_R2C, .lengths = {3, 300}, .batch = 2, .shift = 1});
  const FftLayout odd{{0}, 1, 97}, apart{{0}, 3, 300}, columns{{0}, 5, 1}, half{{0}, 1, 50};
  expectBoth({.type = CUFFT_R2C, .lengths = {96}, .batch = 5}, &odd, &half);
  expectBoth({.type = CUFFT_R2C, .lengths = {96}, .batch = 5}, &apart, &half);
  expectBoth({.type = CUFFT_R2C, .lengths = {96}, .batch = 5}, &columns, &columns);
  expectBoth({.type = CUFFT_R2C, .lengths = {96}, .batch = 5}, &odd, &columns);
}

TEST_F(Fft, OfPrimes) {
  // Convolutions of 36, 48, 72, 80, 96, 144, 192, 288, 320, each in one kernel.
  for (const int length : {17, 23, 34, 37, 47, 71, 89, 131, 151})
    expectRight({.type = length % 4 == 3 ? CUFFT_D2Z : CUFFT_C2C, .lengths = {length}, .batch = 21});
  expectRight({.type = CUFFT_C2R, .lengths = {2, 67}, .batch = 3, .isInverse = true});
  expectRight({.lengths = {67, 3}, .isInPlace = true});
  expectRight({.type = CUFFT_Z2Z, .lengths = {1009}, .batch = 2});
  expectRight({.type = CUFFT_R2C, .lengths = {10007}});
  expectRight({.type = CUFFT_C2R, .lengths = {100003}, .isInverse = true, .isInPlace = true});
}

TEST_F(Fft, InPlaceOfRealRows) {
  for (const int length : {1, 2, 17, 48})
    for (const bool toReal : {false, true})
      expectRight({.type = toReal ? CUFFT_C2R : CUFFT_R2C,
                   .lengths = {3, length},
                   .batch = 2,
                   .isInverse = toReal,
                   .isInPlace = true});
}

// The array of the results has other strides than that of the input, and they share their memory.
TEST_F(Fft, InPlaceWithTwoLayouts) {
  for (const int length : {12, 17, 3000, 10000}) {
    const FftLayout rows{{0}, 1, length}, columns{{0}, 3, 1};
    expectRight(
        {.type = CUFFT_Z2Z, .lengths = {length}, .batch = 3, .isInPlace = true, .input = rows, .output = columns});
  }
}

TEST_F(Fft, AtRandom) {
  for (uint32_t seed = 1; seed <= 15; ++seed) expectRight(randomCase(seed));
  std::random_device fresh;
  for (int i = 0; i < 15; ++i) expectRight(randomCase(fresh()));
}

}  // namespace
}  // namespace mulciber::test
