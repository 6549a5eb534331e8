// Random copies between arrays and memory of every kind, against a model in host memory.
#include <algorithm>
#include <random>

#include "core_test.h"
#include "runtime/core/array.h"

namespace mulciber::core {
namespace {

// Something that copies read and write, and the bytes that it must have.
struct Place {
  ArrayRef array;        // null: memory
  uint64_t address = 0;  // of memory
  size_t rowBytes = 0, rows = 0, slices = 0, element = 1;
  std::vector<uint8_t> model;

  uint8_t* at(size_t x, size_t y, size_t z) { return model.data() + (z * rows + y) * rowBytes + x; }
};

class ArrayCopyTest : public CoreTest {
 protected:
  void fillRandomly(Place& place) {
    place.model.resize(place.rowBytes * place.rows * place.slices);
    for (uint8_t& byte : place.model) byte = static_cast<uint8_t>(random());
    ASSERT_OK(transfer(place, place.model.data(), true));
  }

  Place arrayPlace(const ArrayDescription& description) {
    Array* handle = nullptr;
    EXPECT_OK(createArray(*context, description, handle));
    return placeOf(handle);
  }
  Place placeOf(Array* handle) {
    Place place;
    EXPECT_OK(findArray(handle, place.array));
    const ArrayDescription& description = place.array->description();
    place.rowBytes = description.rowBytes();
    place.rows = description.rows();
    place.slices = description.slices();
    place.element = description.format->bytes;
    fillRandomly(place);
    return place;
  }
  // Memory that holds boxes of the given bytes, rows and slices.
  Place memoryPlace(uint64_t address, size_t rowBytes, size_t rows, size_t slices) {
    Place place;
    place.address = address;
    place.rowBytes = rowBytes;
    place.rows = rows;
    place.slices = slices;
    fillRandomly(place);
    return place;
  }

  // The whole place from or to host memory.
  Error transfer(Place& place, uint8_t* host, bool toPlace) {
    Copy whole;
    whole.width = place.rowBytes;
    whole.height = place.rows;
    whole.depth = place.slices;
    describe(whole, place, 0, 0, 0, toPlace);
    (toPlace ? whole.source : whole.destination) = number(host);
    (toPlace ? whole.sourcePitch : whole.destinationPitch) = place.rowBytes;
    (toPlace ? whole.sourceSlice : whole.destinationSlice) = place.rowBytes * place.rows;
    return copy(*stream, whole, false);
  }

  static void describe(Copy& copy, const Place& place, size_t x, size_t y, size_t z, bool isDestination) {
    ArrayPlace& array = isDestination ? copy.destinationArray : copy.sourceArray;
    if (place.array) {
      array = {place.array, x, y, z};
      return;
    }
    const size_t slice = place.rowBytes * place.rows;
    (isDestination ? copy.destination : copy.source) = place.address + z * slice + y * place.rowBytes + x;
    (isDestination ? copy.destinationPitch : copy.sourcePitch) = place.rowBytes;
    (isDestination ? copy.destinationSlice : copy.sourceSlice) = slice;
  }

  static bool isCompressed(const Place& place) { return place.array && place.array->format().isCompressed(); }
  size_t below(size_t end) { return end == 0 ? 0 : random() % end; }

  // A random box, the same in both, somewhere in each.
  void copyRandomly(Place& to, Place& from) {
    // Mostly of whole elements.
    const size_t unit =
        random() % 4 == 0 && !isCompressed(to) && !isCompressed(from) ? 1 : std::max(to.element, from.element);
    const size_t width = (1 + below(std::min(to.rowBytes, from.rowBytes) / unit)) * unit;
    const size_t height = 1 + below(std::min(to.rows, from.rows));
    const size_t depth = 1 + below(std::min(to.slices, from.slices));
    const auto corner = [&](const Place& place) {
      const size_t step = unit == 1 ? 1 : place.element;
      return std::array{below((place.rowBytes - width) / step + 1) * step, below(place.rows - height + 1),
                        below(place.slices - depth + 1)};
    };
    const auto [toX, toY, toZ] = corner(to);
    const auto [fromX, fromY, fromZ] = corner(from);
    Copy given;
    given.width = width;
    given.height = height;
    given.depth = depth;
    describe(given, to, toX, toY, toZ, true);
    describe(given, from, fromX, fromY, fromZ, false);
    ASSERT_OK(copy(*stream, given, random() % 2 == 0));
    const std::vector<uint8_t> before = from.model;  // both may be one array
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        std::memcpy(to.at(toX, toY + y, toZ + z),
                    before.data() + ((fromZ + z) * from.rows + fromY + y) * from.rowBytes + fromX, width);
  }

  void check(Place& place) {
    ASSERT_OK(stream->synchronize());
    std::vector<uint8_t> seen(place.model.size());
    ASSERT_OK(transfer(place, seen.data(), false));
    const auto wrong = std::ranges::mismatch(seen, place.model);
    const auto byte = static_cast<size_t>(wrong.in1 - seen.begin());
    ASSERT_EQ(byte, seen.size()) << "of rows of " << place.rowBytes << " bytes, slices of " << place.rows << " rows";
  }

  std::mt19937 random{20};
};

constexpr uint32_t shapes[][4] = {  // width, height, depth, flags; in blocks
    {37, 0, 0, 0}, {37, 0, 3, ArrayLayered}, {19, 13, 0, 0},          {19, 13, 0, ArraySurfaceLoadStore},
    {11, 7, 5, 0}, {19, 7, 4, ArrayLayered}, {9, 9, 6, ArrayCubemap}, {9, 9, 12, ArrayCubemap | ArrayLayered}};

// Every format and geometry; memory at odd addresses with odd pitches, copies both ways, and between arrays.
TEST_F(ArrayCopyTest, BytesArriveWhereTheyShould) {  // TEXH-01
  auto* pinned = allocateHost<uint8_t>(1 << 18);
  std::vector<uint8_t> pageable(1 << 18);
  const uint64_t memory = allocate(1 << 18);
  for (uint32_t code = 0; code < 0x100; ++code)
    for (uint32_t channels = 1; channels <= 4; ++channels) {
      const ArrayFormat* format = findArrayFormat(code, channels);
      if (!format) continue;
      SCOPED_TRACE(testing::Message() << "format " << code << " x " << channels);
      std::vector<Place> places;
      for (const auto& [width, height, depth, flags] : shapes) {
        const ArrayDescription shape{width * format->block, height * format->block, depth, format, flags};
        if (format->isCompressed() && (shape.dimensions() != 2 || (flags & ArraySurfaceLoadStore) != 0)) continue;
        places.push_back(arrayPlace(shape));
      }
      const size_t arrays = places.size();
      uint64_t odd = random() % 64;
      for (const uint64_t begin : {memory, number(pinned), number(pageable.data())}) {
        places.push_back(memoryPlace(begin + odd, 300 + odd, 9, 3));
        odd = (odd * 5 + 1) % 64;
        const size_t aligned = 16 * format->bytes;
        places.push_back(memoryPlace(begin + (1 << 17), aligned, 8, 4));
      }
      for (int round = 0; round < 60; ++round) {
        Place& array = places[below(arrays)];
        Place& other = places[below(places.size())];
        if (random() % 2 == 0) copyRandomly(array, other);
        else copyRandomly(other, array);
        if (HasFatalFailure()) return;
      }
      for (Place& place : places) {
        check(place);
        if (HasFatalFailure()) return;
        if (!place.array) continue;
        Array* const handle = place.array.get();
        place.array.reset();
        ASSERT_OK(destroyArray(handle));
      }
    }
}

TEST_F(ArrayCopyTest, LevelsOfAMipmapAreApart) {  // TEXH-04
  MipmappedArray* mipmapped = nullptr;
  for (const uint32_t code : {0x20u, 0x91u}) {
    const ArrayFormat* format = findArrayFormat(code, code == 0x20 ? 1 : 4);
    ASSERT_OK(createMipmappedArray(*context, {44, 20, 5, format, ArrayLayered}, 6, mipmapped));
    std::vector<Place> levels;
    for (uint32_t level = 0; level < mipmapped->levels(); ++level) {
      Array* array = nullptr;
      ASSERT_OK(mipmapped->level(level, array));
      levels.push_back(placeOf(array));
    }
    for (int round = 0; round < 100; ++round) copyRandomly(levels[below(6)], levels[below(6)]);
    for (Place& level : levels) check(level);
    levels.clear();
    ASSERT_OK(destroyMipmappedArray(mipmapped));
  }
}

// Larger than what is taken along, and than one piece of staging memory.
TEST_F(ArrayCopyTest, LargeOnesPassThroughPieces) {
  Place array = arrayPlace({1500, 1100, 0, findArrayFormat(0x20, 4), 0});
  Place volume = arrayPlace({300, 70, 30, findArrayFormat(0x02, 2), 0});
  check(array);
  check(volume);
  std::vector<uint8_t> host(40 << 20);
  Place memory = memoryPlace(number(host.data()), 9001, 700, 5);
  for (int round = 0; round < 6; ++round) {
    copyRandomly(array, memory);
    copyRandomly(memory, volume);
    copyRandomly(volume, memory);
    copyRandomly(memory, array);
  }
  for (Place* place : {&array, &volume, &memory}) check(*place);
}

TEST_F(ArrayCopyTest, WhatIsNotInsideIsRefused) {
  Place array = arrayPlace({16, 8, 0, findArrayFormat(0x20, 1), 0});
  std::vector<uint8_t> host(4096);
  const auto given = [&](size_t x, size_t y, size_t z, size_t width, size_t height, size_t depth) {
    Copy copied;
    copied.width = width;
    copied.height = height;
    copied.depth = depth;
    copied.destinationArray = {array.array, x, y, z};
    copied.source = number(host.data());
    copied.sourcePitch = 64;
    copied.sourceSlice = 512;
    return copy(*stream, copied, false);
  };
  EXPECT_OK(given(0, 0, 0, 64, 8, 1));
  EXPECT_OK(given(60, 7, 0, 4, 1, 1));
  EXPECT_OK(given(64, 8, 0, 0, 0, 0));
  EXPECT_OK(given(2, 0, 0, 5, 1, 1));
  EXPECT_EQ(given(4, 0, 0, 64, 1, 1), Error::InvalidValue);
  EXPECT_EQ(given(0, 1, 0, 64, 8, 1), Error::InvalidValue);
  EXPECT_EQ(given(0, 0, 1, 64, 1, 1), Error::InvalidValue);
  EXPECT_EQ(given(0, 0, 0, 64, 1, 2), Error::InvalidValue);
  EXPECT_EQ(given(SIZE_MAX - 3, 0, 0, 8, 1, 1), Error::InvalidValue);
  Place shorts = arrayPlace({16, 8, 0, findArrayFormat(0x02, 1), 0});
  Copy copied;
  copied.width = 4;
  copied.destinationArray = {array.array, 0, 0, 0};
  copied.sourceArray = {shorts.array, 0, 0, 0};
  EXPECT_EQ(copy(*stream, copied, false), Error::InvalidValue);
}

// In the order of its stream, behind what the stream keeps back, and after the array is gone for the program.
TEST_F(ArrayCopyTest, CopiesKeepTheOrderOfTheirStream) {  // STR-02
  Place array = arrayPlace({256, 256, 0, findArrayFormat(0x20, 1), 0});
  const uint64_t memory = allocate(256 * 1024);
  auto* seen = allocateHost<uint32_t>(256 * 256);
  Stream& own = newStream(Stream::NonBlocking);
  for (uint32_t round = 0; round < 20; ++round) {
    if (round % 3 == 0) {
      ASSERT_OK(own.hostFunction([](Error) {}));
    }
    ASSERT_OK(fill32(own, memory, round + 1, 256 * 256));
    Copy in;
    in.width = 1024;
    in.height = 256;
    in.source = memory;
    in.sourcePitch = 1024;
    in.destinationArray = {array.array, 0, 0, 0};
    ASSERT_OK(copy(own, in, true));
    ASSERT_OK(fill32(own, memory, 0, 256 * 256));
    Copy out = in;
    out.sourceArray = in.destinationArray;
    out.destinationArray = {};
    out.destination = number(seen);
    out.destinationPitch = 1024;
    ASSERT_OK(copy(own, out, true));
    ASSERT_OK(own.synchronize());
    for (size_t i = 0; i < 256 * 256; i += 97) ASSERT_EQ(seen[i], round + 1);
  }
}

}  // namespace
}  // namespace mulciber::core
