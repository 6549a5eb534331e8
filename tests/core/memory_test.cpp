#include <random>
#include <thread>

#include "core_test.h"

namespace mulciber::core {
namespace {

class MemoryTest : public CoreTest {};

TEST_F(MemoryTest, FreeTakesOnlyWhatWasAllocated) {  // MEM-01
  const uint64_t address = allocate(1000);
  EXPECT_EQ(address % 256, 0u);
  EXPECT_EQ(context->free(address + 4), Error::InvalidValue);
  EXPECT_OK(context->free(address));
  EXPECT_EQ(context->free(address), Error::InvalidValue);
  EXPECT_EQ(context->free(12345), Error::InvalidValue);
  uint64_t none = 0;
  EXPECT_EQ(context->allocate(0, none), Error::InvalidValue);
}

// As natively: allocators of programs take it for granted.
TEST_F(MemoryTest, LargeAllocationsBeginOnAMultipleOfTwoMebibytes) {
  constexpr size_t mebibyte = size_t(1) << 20;
  std::vector<uint64_t> addresses;
  for (size_t bytes : {mebibyte, mebibyte + 1, 3 * mebibyte, 70 * mebibyte, 130 * mebibyte}) {
    addresses.push_back(allocate(512));  // so that the next piece of a chunk begins elsewhere
    EXPECT_EQ(addresses.back() % 512, 0u);
    addresses.push_back(allocate(bytes));
    EXPECT_EQ(addresses.back() % (2 * mebibyte), 0u) << bytes;
  }
  for (uint64_t address : addresses) EXPECT_OK(context->free(address));
}

TEST_F(MemoryTest, OutOfMemoryIsAnErrorAndNothingMore) {
  uint64_t address = 0;
  EXPECT_EQ(context->allocate(size_t(1) << 46, address), Error::OutOfMemory);
  EXPECT_OK(context->free(allocate(4096)));
}

TEST_F(MemoryTest, PitchIsAligned) {  // MEM-04
  uint64_t address = 0;
  size_t pitch = 0;
  ASSERT_OK(context->allocatePitched(700, 33, 1, address, pitch));
  EXPECT_GE(pitch, 700u);
  EXPECT_EQ(pitch % 512, 0u);
  EXPECT_OK(context->free(address));
}

TEST_F(MemoryTest, PinnedMemoryIsFoundFromBothSides) {  // PIN-05
  auto* words = allocateHost<uint32_t>(1000);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(words + 10, address));
  ASSERT_OK(fill32(*stream, address, 7, 5));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(words[9], 0u);
  EXPECT_EQ(words[10], 7u);
  EXPECT_EQ(words[14], 7u);
  EXPECT_EQ(words[15], 0u);
  EXPECT_EQ(context->free(number(words)), Error::InvalidValue);
  EXPECT_OK(context->freeHost(words));
  EXPECT_EQ(context->freeHost(words), Error::InvalidValue);
}

TEST_F(MemoryTest, ManagedMemoryIsOneNumber) {  // UM-01
  uint64_t address = 0;
  const Error error = context->allocateManaged(4096, 1, address);
  if (error == Error::NotSupported) GTEST_SKIP() << "skipped: the device has no placed mapping";
  ASSERT_OK(error);
  auto* words = reinterpret_cast<uint32_t*>(address);
  words[3] = 5;
  ASSERT_OK(fill32(*stream, address, 9, 2));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(words[1], 9u);
  EXPECT_EQ(words[3], 5u);
  EXPECT_OK(context->free(address));
}

TEST_F(MemoryTest, RegisteredMemoryIsReachedByTheDevice) {  // PIN-02
  std::vector<uint32_t> words(20000, 1);
  const Error error = context->registerHost(words.data(), words.size() * 4, 0);
  if (error == Error::NotSupported) GTEST_SKIP() << "skipped: the device cannot import host memory";
  ASSERT_OK(error);
  EXPECT_EQ(context->registerHost(words.data() + 10, 4, 0), Error::HostMemoryAlreadyRegistered);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(words.data(), address));
  ASSERT_OK(fill32(*stream, address, 3, words.size()));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(words.front(), 3u);
  EXPECT_EQ(words.back(), 3u);
  EXPECT_OK(context->unregisterHost(words.data()));
  EXPECT_EQ(context->unregisterHost(words.data()), Error::HostMemoryNotRegistered);
}

// MEM-05: pageable, pinned and device memory in every pairing, small and large.
TEST_F(MemoryTest, LinearCopiesOfEveryKind) {
  std::mt19937 random(1);
  for (const size_t bytes : {1ul, 77ul, 5000ul, 70'000ul, 3'000'001ul, 20'000'000ul}) {
    std::vector<uint8_t> source(bytes), destination(bytes, 0);
    for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
    auto* pinned = allocateHost<uint8_t>(bytes);
    const uint64_t a = allocate(bytes), b = allocate(bytes);
    ASSERT_OK(copyNow(a, number(source.data()), bytes, CopyKind::HostToDevice));
    ASSERT_OK(copyNow(b, a, bytes, CopyKind::DeviceToDevice));
    ASSERT_OK(copyNow(number(pinned), b, bytes, CopyKind::DeviceToHost));
    EXPECT_EQ(std::memcmp(pinned, source.data(), bytes), 0) << bytes;
    ASSERT_OK(fill32(*stream, a, 0, bytes / 4));
    ASSERT_OK(copyNow(a, number(pinned), bytes));
    ASSERT_OK(copyNow(number(destination.data()), a, bytes));
    EXPECT_EQ(destination, source) << bytes;
    EXPECT_OK(context->free(a));
    EXPECT_OK(context->free(b));
    EXPECT_OK(context->freeHost(pinned));
  }
}

TEST_F(MemoryTest, CopiesOfBoxesKeepWhatLiesBetween) {  // MEM-06
  std::mt19937 random(2);
  for (int step = 0; step < 12; ++step) {
    const size_t width = 1 + random() % 300, height = 1 + random() % 40, depth = 1 + random() % 4;
    const size_t pitch = width + random() % 50, slice = pitch * (height + random() % 3);
    const size_t bytes = slice * depth;
    std::vector<uint8_t> host(bytes), back(bytes, 0xCC), expected(bytes, 0xCC);
    for (uint8_t& byte : host) byte = static_cast<uint8_t>(random());
    const uint64_t address = allocate(bytes);
    Copy there;
    there.destination = address;
    there.source = number(host.data());
    there.width = width;
    there.height = height;
    there.depth = depth;
    there.destinationPitch = there.sourcePitch = pitch;
    there.destinationSlice = there.sourceSlice = slice;
    ASSERT_OK(copy(*stream, there, false));
    std::swap(there.destination, there.source);
    there.destination = number(back.data());
    ASSERT_OK(copy(*stream, there, false));
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        std::memcpy(expected.data() + z * slice + y * pitch, host.data() + z * slice + y * pitch, width);
    ASSERT_EQ(back, expected) << "step " << step;
    EXPECT_OK(context->free(address));
  }
}

TEST_F(MemoryTest, CopiesOutsideAnAllocationAreRefused) {
  std::vector<uint8_t> host(4096);
  const uint64_t address = allocate(1024);
  EXPECT_EQ(copyNow(address, number(host.data()), 1025, CopyKind::HostToDevice), Error::InvalidValue);
  EXPECT_EQ(copyNow(number(host.data()), address + 1000, 25, CopyKind::DeviceToHost), Error::InvalidValue);
  EXPECT_EQ(copyNow(number(host.data()), 4096, 16, CopyKind::DeviceToHost), Error::InvalidValue);
  Fill beyond;
  beyond.destination = address + 1020;
  beyond.width = 5;
  EXPECT_EQ(fill(*stream, beyond, false), Error::InvalidValue);
  EXPECT_OK(copyNow(address, 0, 0));
  EXPECT_OK(context->free(address));
}

TEST_F(MemoryTest, FillsInTwoDimensions) {  // MEM-07
  uint64_t address = 0;
  size_t pitch = 0;
  ASSERT_OK(context->allocatePitched(100, 10, 1, address, pitch));
  Fill background{address, 0, 1, pitch * 10};
  ASSERT_OK(fill(*stream, background, true));
  Fill middle{address + 2, 0xABCD, 2, 40, 10, 1, pitch, 0};
  ASSERT_OK(fill(*stream, middle, true));
  std::vector<uint8_t> back(pitch * 10);
  ASSERT_OK(copyNow(number(back.data()), address, back.size()));
  for (size_t y = 0; y < 10; ++y) {
    EXPECT_EQ(back[y * pitch + 1], 0);
    EXPECT_EQ(back[y * pitch + 2], 0xCD);
    EXPECT_EQ(back[y * pitch + 81], 0xAB);
    EXPECT_EQ(back[y * pitch + 82], 0);
  }
  EXPECT_OK(context->free(address));
}

TEST_F(MemoryTest, FillsAndCopiesOfMoreRowsThanADispatchTakes) {  // MEM-06, MEM-07
  constexpr size_t rows = 70'003, width = 12, pitch = 16, otherPitch = 20;
  const uint64_t address = allocate(rows * pitch), other = allocate(rows * otherPitch);
  ASSERT_OK(fill(*stream, {address, 0, 1, rows * pitch}, true));
  ASSERT_OK(fill(*stream, {other, 0, 1, rows * otherPitch}, true));
  ASSERT_OK(fill(*stream, {address, 0x01020304, 4, 2, rows, 1, pitch, 0}, true));
  Copy rowsOver;
  rowsOver.destination = other;
  rowsOver.source = address;
  rowsOver.width = width;
  rowsOver.height = rows;
  rowsOver.destinationPitch = otherPitch;
  rowsOver.sourcePitch = pitch;
  rowsOver.kind = CopyKind::DeviceToDevice;
  ASSERT_OK(copy(*stream, rowsOver, true));
  std::vector<uint32_t> back(rows * otherPitch / 4);
  ASSERT_OK(copyNow(number(back.data()), other, rows * otherPitch));
  for (size_t i = 0; i < back.size(); ++i)
    ASSERT_EQ(back[i], i % 5 < 2 ? 0x01020304u : 0u) << "row " << i / 5 << " word " << i % 5;
  EXPECT_OK(context->free(address));
  EXPECT_OK(context->free(other));
}

// The host may do small copies itself: never before what the stream has to wait for, nor unseen by what follows.
TEST_F(MemoryTest, SmallCopiesKeepTheirPlaceAmongOtherWork) {
  constexpr size_t words = 4096;
  std::mt19937 random(7);
  Stream* other = nullptr;
  ASSERT_OK(context->createStream(Stream::Default, 0, other));  // ordered with the legacy stream
  const uint64_t address = allocate(words * 4), large = allocate(300u << 20);
  auto* pinned = allocateHost<uint32_t>(words);
  for (const uint64_t place : {address, large + (200u << 20)}) {
    std::vector<uint32_t> model(words, 1), back(words);
    ASSERT_OK(fill32(*stream, place, 1, words));
    for (int step = 0; step < 600; ++step) {
      Stream& on = random() % 2 == 0 ? *stream : *other;
      const size_t first = random() % words, most = random() % 4 == 0 ? words : 64;
      const size_t count = 1 + random() % std::min(most, words - first);
      const uint64_t target = place + first * 4;
      const auto value = static_cast<uint32_t>(random());
      uint32_t* const host = random() % 2 == 0 ? pinned : back.data();
      switch (random() % 4) {
        case 0:
          ASSERT_OK(fill32(on, target, value, count));
          std::fill_n(model.begin() + std::ptrdiff_t(first), count, value);
          break;
        case 1: {
          const bool async = host != pinned && random() % 2 == 0;  // pinned memory is written again below
          for (size_t i = 0; i < count; ++i) host[i] = model[first + i] = value + static_cast<uint32_t>(i);
          ASSERT_OK(copyOn(on, target, number(host), count * 4, CopyKind::HostToDevice, async));
          break;
        }
        default:
          ASSERT_OK(copyOn(on, number(host), target, count * 4, CopyKind::DeviceToHost, false));
          ASSERT_TRUE(std::equal(host, host + count, model.begin() + std::ptrdiff_t(first))) << "step " << step;
      }
    }
  }
}

TEST_F(MemoryTest, ADestroyedContextFreesItsMemoryAndRefusesCalls) {  // HOST-03
  ContextRef other;
  ASSERT_OK(device->createContext(0, other));
  uint64_t address = 0;
  ASSERT_OK(other->allocate(1 << 20, address));
  other->destroy();
  EXPECT_EQ(Platform::get().memory().find(address), nullptr);
  EXPECT_EQ(other->allocate(4, address), Error::ContextIsDestroyed);
  EXPECT_EQ(other->synchronize(), Error::ContextIsDestroyed);
  Stream* made = nullptr;
  EXPECT_EQ(other->createStream(0, 0, made), Error::ContextIsDestroyed);
}

TEST_F(MemoryTest, ManyThreadsAllocateCopyAndFree) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      Stream& mine = newStream(Stream::NonBlocking);
      for (uint32_t i = 0; i < 60; ++i) {
        const size_t bytes = 100 + i * 611;
        const uint64_t address = allocate(bytes);
        std::vector<uint8_t> out(bytes, static_cast<uint8_t>(i + t)), in(bytes);
        EXPECT_OK(copyOn(mine, address, number(out.data()), bytes, CopyKind::HostToDevice, true));
        EXPECT_OK(copyOn(mine, number(in.data()), address, bytes, CopyKind::DeviceToHost, false));
        EXPECT_EQ(in, out);
        EXPECT_OK(context->free(address));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mulciber::core
