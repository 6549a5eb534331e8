// Reading NVIDIA's machine code. The instructions are as one H200's driver (580.159.04) wrote them.
#include "runtime/vk/machine_code.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <initializer_list>
#include <random>
#include <string_view>
#include <vector>

namespace mulciber::vk {
namespace {

using Bytes = std::vector<uint8_t>;

struct Line {
  uint64_t low, high;
};

constexpr Line multiplyAdd = {0x000000040D047223, 0x000FC80000000009};       // FFMA R4, R13, R4, R9
constexpr Line ofUniform = {0x0000000808087C23, 0x000FE20008000807};         // FFMA R8, R8, UR8, -R7
constexpr Line withZero = {0x000000040D047223, 0x000FC800000000FF};          // FFMA R4, R13, R4, RZ
constexpr Line withNegativeZero = {0x000000040D047223, 0x000FC800000008FF};  // FFMA R4, R13, R4, -RZ
constexpr Line product = {0x0000001112127220, 0x004FC80000400000};           // FMUL R18, R18, R17
constexpr Line constantProduct = {0x4040000004047820, 0x000FC80000400000};   // FMUL R4, R4, 3
constexpr Line turns = {0x3E22F98304047820, 0x000FC8000040C000};             // FMUL.RZ R4, R4, 0.15915494
constexpr Line scaleDivisor = {0x4B7FFFF00E0E0820, 0x000FE20000400000};      // @P0 FMUL R14, R14, 16777200
constexpr Line scaleOrOne = {0x4B7FFFF010117808, 0x000FE40004000000};        // FSEL R17, R16, 16777200, !P0
constexpr Line reciprocal = {0x0000000E00127308, 0x000E620000001000};        // MUFU.RCP R18, R14
constexpr Line factor = {0x4B7FFFF0FF007424, 0x000FC600078E00FF};            // IMAD.MOV.U32 R0, RZ, RZ, 0x4b7ffff0
constexpr Line factorOrOne = {0x3F80000000117808, 0x000FD20000000000};       // FSEL R17, R0, 1, P0
constexpr Line comparison = {0x060000000200780C, 0x000FE40003F06070};      // ISETP.GE.U32.AND P0, PT, R2, 0x6000000, PT
constexpr Line scaledByR0 = {0x0000000012127220, 0x004FC80000400000};      // FMUL R18, R18, R0
constexpr Line scaleOrOneInR0 = {0x4B7FFFF000007808, 0x000FE40004000000};  // FSEL R0, R0, 16777200, !P0
constexpr Line sum = {0x0000000807087221, 0x000FC80000000000};             // FADD R8, R7, R8
constexpr Line twice = {0x0000000707087221, 0x000FC80000000000};           // FADD R8, R7, R7
constexpr Line end = {0x000000000000794D, 0x000FEA0003800000};             // EXIT

template <typename T>
void put(Bytes& bytes, size_t at, T value) {
  if (bytes.size() < at + sizeof(T)) bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void putText(Bytes& bytes, size_t at, std::string_view text) {
  bytes.resize(std::max(bytes.size(), at + text.size()));
  std::memcpy(bytes.data() + at, text.data(), text.size());
}

// What the driver keeps of a pipeline: one section of other things, and one of code.
Bytes contentsWith(std::initializer_list<Line> lines) {
  constexpr size_t container = 8, table = container + 32, code = 128;
  Bytes bytes;
  putText(bytes, 0, "NVDANVVMNVuc");
  put<uint16_t>(bytes, container + 8, 2);
  put<uint32_t>(bytes, table, 3);
  put<uint32_t>(bytes, table + 4, 8);
  put<uint32_t>(bytes, table + 8, 112);
  put<uint32_t>(bytes, table + 32, 1);
  put<uint32_t>(bytes, table + 36, static_cast<uint32_t>(lines.size() * sizeof(Line)));
  put<uint32_t>(bytes, table + 40, code);
  size_t at = container + code;
  for (const Line& line : lines) {
    put(bytes, at, line);
    at += sizeof(Line);
  }
  return bytes;
}

Bytes cacheWith(const Bytes& contents) {
  Bytes frame(ZSTD_compressBound(contents.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), contents.data(), contents.size(), 1));
  Bytes bytes;
  put<uint32_t>(bytes, 0, 32);
  put<uint32_t>(bytes, 32, 1);
  putText(bytes, 56, "CPKV");
  put<uint32_t>(bytes, 96, static_cast<uint32_t>(contents.size()));
  for (const size_t at : {52, 88}) put<uint32_t>(bytes, at, static_cast<uint32_t>(frame.size() + 4));
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

Products productsOf(std::initializer_list<Line> lines) { return productsIn(cacheWith(contentsWith(lines))); }

TEST(MachineCode, MultiplyAddsAreFused) {
  EXPECT_EQ(productsOf({multiplyAdd, ofUniform, withZero, sum, end}), Products::Fused);
}

TEST(MachineCode, AProductAloneWasTakenApart) {
  for (const Line& line : {product, constantProduct, withNegativeZero, twice})
    EXPECT_EQ(productsOf({multiplyAdd, line, end}), Products::TakenApart) << std::hex << line.low;
}

TEST(MachineCode, TheDriversOwnProductsDoNotCount) {
  EXPECT_EQ(productsOf({scaleDivisor, scaleOrOne, reciprocal, product, end}), Products::Fused);
  EXPECT_EQ(productsOf({turns, end}), Products::Fused);
  EXPECT_EQ(productsOf({factor, factorOrOne, scaleDivisor, reciprocal, product, end}), Products::Fused);
  // Comparisons write no register, though they have 0 where others have theirs.
  EXPECT_EQ(productsOf({scaleDivisor, scaleOrOneInR0, comparison, reciprocal, scaledByR0, end}), Products::Fused);
}

TEST(MachineCode, OthersCountBesideThose) {
  EXPECT_EQ(productsOf({scaleDivisor, scaleOrOne, reciprocal, product, product, end}), Products::TakenApart);
  EXPECT_EQ(productsOf({scaleOrOne, reciprocal, product, end}), Products::TakenApart);
  EXPECT_EQ(productsOf({scaleDivisor, reciprocal, product, end}), Products::TakenApart);
  EXPECT_EQ(productsOf({factorOrOne, scaleDivisor, reciprocal, product, end}), Products::TakenApart);
  EXPECT_EQ(productsOf({scaleDivisor, scaleDivisor, scaleOrOne, reciprocal, product, product, end}),
            Products::TakenApart);
}

TEST(MachineCode, WhatIsNotKnownIsNotTrusted) {
  const Line unknown = {multiplyAdd.low & ~uint64_t(0x1FF), multiplyAdd.high};
  EXPECT_EQ(productsOf({multiplyAdd, unknown, end}), Products::Unknown);
  EXPECT_EQ(productsIn({}), Products::Unknown);
  const Bytes header(32);
  EXPECT_EQ(productsIn(header), Products::Unknown);
  Bytes two = cacheWith(contentsWith({multiplyAdd}));
  two[32] = 2;
  EXPECT_EQ(productsIn(two), Products::Unknown);
  Bytes other = contentsWith({multiplyAdd});
  other[8] = 'x';
  EXPECT_EQ(productsIn(cacheWith(other)), Products::Unknown);
}

TEST(MachineCode, DamagedCachesDoNoHarm) {
  std::mt19937 random(1);
  const Bytes contents = contentsWith({multiplyAdd, sum, end}), whole = cacheWith(contents);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(productsIn(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))), Products::Unknown);
  for (int n = 0; n < 20'000; ++n) {
    Bytes damaged = n % 2 == 0 ? whole : contents;
    for (int changes = 0; changes < 1 + n % 3; ++changes)
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    (void)productsIn(n % 2 == 0 ? damaged : cacheWith(damaged));
  }
}

}  // namespace
}  // namespace mulciber::vk
