// A context on the first device for the tests of core; they are skipped where there is no device.
#pragma once

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/platform.h"
#include "runtime/vk/instance.h"

namespace mulciber::core {

inline void PrintTo(Error error, std::ostream* out) {
  const char* name = errorName(error);
  *out << (name ? name : "?");
}

#define ASSERT_OK(expression) ASSERT_EQ(expression, ::mulciber::core::Error::Success)
#define EXPECT_OK(expression) EXPECT_EQ(expression, ::mulciber::core::Error::Success)

class CoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (vk::Instance::get().devices().empty()) GTEST_SKIP() << "skipped: " << vk::Instance::get().problem();
    ASSERT_OK(Platform::get().initialize());
    device = Platform::get().device(0);
    ASSERT_OK(device->createContext(0, context));
    stream = context->legacyStream();
  }
  void TearDown() override {
    if (context) context->destroy();
  }

  uint64_t allocate(size_t bytes) {
    uint64_t address = 0;
    EXPECT_OK(context->allocate(bytes, address));
    return address;
  }
  template <typename T>
  T* allocateHost(size_t count) {
    void* pointer = nullptr;
    EXPECT_OK(context->allocateHost(count * sizeof(T), 0, pointer));
    std::memset(pointer, 0, count * sizeof(T));
    return static_cast<T*>(pointer);
  }
  Error fill32(Stream& on, uint64_t address, uint32_t value, size_t count) {
    Fill given;
    given.destination = address;
    given.value = value;
    given.valueBytes = 4;
    given.width = count;
    return fill(on, given, true);
  }
  static uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
  Error copyNow(uint64_t destination, uint64_t source, size_t bytes, CopyKind kind = CopyKind::Default) {
    return copyOn(*stream, destination, source, bytes, kind, false);
  }
  Error copyOn(Stream& on, uint64_t destination, uint64_t source, size_t bytes, CopyKind kind, bool async) {
    Copy given;
    given.destination = destination;
    given.source = source;
    given.width = bytes;
    given.kind = kind;
    return copy(on, given, async);
  }
  Stream& newStream(uint32_t flags = 0) {
    Stream* made = nullptr;
    EXPECT_OK(context->createStream(flags, 0, made));
    return *made;
  }

  Device* device = nullptr;
  ContextRef context;
  StreamRef stream;
};

}  // namespace mulciber::core
