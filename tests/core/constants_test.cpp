// What kernels read as constants, as it is changed by the host, by copies and by kernels.
#include <numeric>

#include "core_test.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"
#include "runtime/vk/device.h"

namespace mulciber::core {
namespace {

// 64 KiB of constants. `at` and `loop` read the same words for all threads, `own` a word for each.
constexpr std::string_view text = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 16 .b8 first[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
.const .align 16 .b32 table[16380];
.visible .entry at(.param .u64 out)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<8>;
  .reg .b16 %h<3>;
  ld.param.u64 %rd1, [out];
  ld.const.u8 %h1, [first+3];
  ld.const.u16 %h2, [first+6];
  ld.const.u32 %r1, [first+8];
  ld.const.v4.u32 {%r2, %r3, %r4, %r5}, [table+65504];
  ld.const.u64 %rd2, [first+8];
  cvt.u32.u16 %r6, %h1;
  st.global.u32 [%rd1], %r6;
  cvt.u32.u16 %r6, %h2;
  st.global.u32 [%rd1+4], %r6;
  st.global.u32 [%rd1+8], %r1;
  st.global.v4.u32 [%rd1+16], {%r2, %r3, %r4, %r5};
  st.global.u64 [%rd1+32], %rd2;
  ret;
}
.visible .entry loop(.param .u64 out, .param .u32 begin, .param .u32 count)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<8>;
  .reg .pred %p;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [begin];
  ld.param.u32 %r2, [count];
  mov.u64 %rd2, table;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  mov.u32 %r3, 0;
again:
  ld.const.u32 %r4, [%rd2];
  add.u32 %r3, %r3, %r4;
  add.s64 %rd2, %rd2, 4;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p, %r2, 0;
  @%p bra again;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry own(.param .u64 out)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  mov.u64 %rd3, table;
  add.s64 %rd3, %rd3, %rd2;
  ld.const.u32 %r2, [%rd3];
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry write(.param .u64 to, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class ConstantsTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (!context) return;
    JitLog log;
    ASSERT_OK(context->loadModule({{text, "ptx"}}, &log, module)) << log.errors;
    size_t bytes = 0;
    ASSERT_OK(module->global("table", table, bytes));
    ASSERT_EQ(bytes, 65520u);
    words.resize(16380);
    std::iota(words.begin(), words.end(), 1000);
    ASSERT_OK(copyNow(table, number(words.data()), bytes, CopyKind::HostToDevice));
    out = allocate(1 << 16);
  }

  template <typename... Args>
  Error run(std::string_view name, Stream& on, uint32_t threads, Args... values) {
    Function* function = nullptr;
    if (const Error error = module->function(name, function); error != Error::Success) return error;
    void* pointers[] = {&values..., nullptr};
    Arguments arguments;
    arguments.pointers = pointers;
    return launch(*function, {{1, 1, 1}, {threads, 1, 1}, 0, false}, arguments, on);
  }
  std::vector<uint32_t> results(size_t count) {
    std::vector<uint32_t> values(count);
    EXPECT_OK(context->synchronize());
    EXPECT_OK(copyNow(number(values.data()), out, count * 4, CopyKind::DeviceToHost));
    return values;
  }
  // So long a chain of kernels that what follows is recorded before they have run.
  void keepBusy(Stream& on) {
    for (uint32_t i = 0; i < 20; ++i) ASSERT_OK(run("loop", on, 1, out + 60000, 0u, 16380u));
  }

  Module* module = nullptr;
  uint64_t table = 0, out = 0;
  std::vector<uint32_t> words;
};

TEST_F(ConstantsTest, EveryWidthIsReadUpToTheLastByte) {
  ASSERT_OK(run("at", *stream, 1, out));
  const std::vector<uint32_t> expected = {4, 0x0807, 0x0c0b0a09, 0, 17376, 17377, 17378, 17379, 0x0c0b0a09, 0x100f0e0d};
  std::vector<uint32_t> found = results(10);
  found[3] = 0;
  EXPECT_EQ(found, expected);
}

TEST_F(ConstantsTest, LoopsAndThreadsReadWhereTheyPoint) {
  ASSERT_OK(run("loop", *stream, 1, out, 16000u, 380u));
  EXPECT_EQ(results(1)[0], 380u * 1000 + (16000u + 16379u) * 380u / 2);
  ASSERT_OK(run("own", *stream, 256, out));
  const std::vector<uint32_t> found = results(256);
  for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(found[i], 1000 + i);
}

// MEM: a change is seen by every kernel that comes after it in its stream, and by none before.
TEST_F(ConstantsTest, CopiesBetweenKernelsAreSeen) {
  const uint64_t source = allocate(4 * 512);
  ASSERT_OK(copyNow(source, number(words.data()), 4 * 512, CopyKind::HostToDevice));
  keepBusy(*stream);
  for (uint32_t i = 0; i < 512; ++i) {
    ASSERT_OK(copyOn(*stream, table, source + uint64_t{4} * i, 4, CopyKind::DeviceToDevice, true));
    ASSERT_OK(run("loop", *stream, 1, out + uint64_t{4} * i, 0u, 1u));
  }
  const std::vector<uint32_t> found = results(512);
  for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(found[i], 1000 + i);
}

TEST_F(ConstantsTest, CopiesFromTheHostAreSeen) {
  for (uint32_t i = 0; i < 200; ++i) {
    if (i % 50 == 0) keepBusy(*stream);
    const uint32_t value = 7 * i;
    ASSERT_OK(copyOn(*stream, table, number(&value), 4, CopyKind::HostToDevice, true));
    ASSERT_OK(run("loop", *stream, 1, out + uint64_t{4} * i, 0u, 1u));
  }
  const std::vector<uint32_t> found = results(200);
  for (uint32_t i = 0; i < 200; ++i) ASSERT_EQ(found[i], 7 * i);
}

TEST_F(ConstantsTest, KernelsThatWriteThereAreSeen) {
  keepBusy(*stream);
  for (uint32_t i = 0; i < 512; ++i) {
    ASSERT_OK(run("write", *stream, 1, table + 4, 3 * i));
    ASSERT_OK(run("loop", *stream, 1, out + uint64_t{4} * i, 1u, 1u));
  }
  const std::vector<uint32_t> found = results(512);
  for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(found[i], 3 * i);
}

// Barriers that the other stream asks for do not stand for the one that this change needs.
TEST_F(ConstantsTest, AnotherStreamsKernelsDoNotHideAChange) {
  Stream &changing = newStream(Stream::NonBlocking), &other = newStream(Stream::NonBlocking);
  keepBusy(changing);
  for (uint32_t i = 0; i < 300; ++i) {
    ASSERT_OK(run("write", changing, 1, table, 5 * i));
    for (int k = 0; k < 2; ++k) ASSERT_OK(run("write", other, 1, out + 61000, i));
    ASSERT_OK(run("loop", changing, 1, out + uint64_t{4} * i, 0u, 1u));
  }
  const std::vector<uint32_t> found = results(300);
  for (uint32_t i = 0; i < 300; ++i) ASSERT_EQ(found[i], 5 * i);
}

TEST_F(ConstantsTest, ModulesHaveTheirOwn) {
  std::vector<Module*> others(3);
  const char* const small = R"(.version 8.0
.target sm_80
.address_size 64
.const .b32 value;
.visible .entry get(.param .u64 out)
{
  .reg .b64 %rd1;
  .reg .b32 %r1;
  ld.param.u64 %rd1, [out];
  ld.const.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
  for (int round = 0; round < 4; ++round) {  // memory of those before is taken again
    for (uint32_t i = 0; i < others.size(); ++i) {
      JitLog log;
      ASSERT_OK(context->loadModule({{small, "ptx"}}, &log, others[i])) << log.errors;
      uint64_t address = 0;
      size_t bytes = 0;
      ASSERT_OK(others[i]->global("value", address, bytes));
      ASSERT_OK(fill32(*stream, address, 100 * static_cast<uint32_t>(round) + i, 1));
    }
    for (uint32_t k = 0; k < 30; ++k) {
      Function* get = nullptr;
      ASSERT_OK(others[k % 3]->function("get", get));
      uint64_t place = out + uint64_t{4} * k;
      void* pointers[] = {&place, nullptr};
      Arguments arguments;
      arguments.pointers = pointers;
      ASSERT_OK(launch(*get, {{1, 1, 1}, {1, 1, 1}, 0, false}, arguments, *stream));
      ASSERT_OK(run("loop", *stream, 1, out + 400 + uint64_t{4} * k, k, 1u));
    }
    const std::vector<uint32_t> found = results(130);
    for (uint32_t k = 0; k < 30; ++k) {
      ASSERT_EQ(found[k], 100 * static_cast<uint32_t>(round) + k % 3);
      ASSERT_EQ(found[100 + k], 1000 + k);
    }
    for (Module* other : others) ASSERT_OK(context->unloadModule(other));
  }
}

}  // namespace
}  // namespace mulciber::core
