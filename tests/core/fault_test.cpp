// Every Vulkan call fails once, in turn: a program must get an error, or its right result, and work after a reset.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "core_test.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/module.h"
#include "runtime/core/virtual_memory.h"
#include "runtime/vk/device.h"
#include "runtime/vk/faults.h"
#include "support/becomes.h"
#include "support/test_data.h"

namespace mulciber::core {
namespace {

class FaultTest : public testing::Test {
 protected:
  void SetUp() override {
    if (vk::Instance::get().devices().empty()) GTEST_SKIP() << "skipped: " << vk::Instance::get().problem();
    if (!vk::Instance::get().devices().front()->isCpu()) GTEST_SKIP() << "skipped: a GPU is lost for good";
    ASSERT_OK(Platform::get().initialize());
    std::ifstream file(test::dataFolder() / "kernels.ptx");
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (text_.empty()) GTEST_SKIP() << "skipped: kernels.ptx is not here";
  }
  void TearDown() override { vk::failVulkanCall(0, VK_SUCCESS); }

  // What a program does, one thing after the other: the first error ends it. Wrong results are counted.
  Error program() {
    constexpr uint32_t count = 3000;
    // The first use opens a device that counts.
    ContextRef context;
    if (const Error error = Context::create(*Platform::get().device(0), 0, context); error != Error::Success)
      return error;
    const Error error = useContext(*context, count);
    context->destroy();
    return error;
  }

  Error useContext(Context& context, uint32_t count) {
    Stream* stream = nullptr;
    TRY(context.createStream(Stream::NonBlocking, 0, stream));
    Module* module = nullptr;
    TRY(context.loadModule({{text_, "kernels.ptx"}}, nullptr, module));
    Function* saxpy = nullptr;
    TRY(module->function("saxpy", saxpy));
    uint64_t x = 0, y = 0;
    void* pinned = nullptr;
    TRY(context.allocate(count * 4, x));
    TRY(context.allocateAsync(*context.device().defaultPool(MemoryKind::Device), count * 4, *stream, y));
    TRY(context.allocateHost(count * 4, 0, pinned));
    std::vector<float> ones(count, 1.0f), result(count, 0.0f);
    const auto copyOf = [&](uint64_t to, uint64_t from, CopyKind kind) {
      Copy copy;
      copy.destination = to;
      copy.source = from;
      copy.width = count * 4;
      copy.kind = kind;
      return copy;
    };
    const auto number = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
    TRY(copy(*stream, copyOf(x, number(ones.data()), CopyKind::HostToDevice), true));
    TRY(copy(*stream, copyOf(y, x, CopyKind::DeviceToDevice), true));
    Event *start = nullptr, *end = nullptr;
    TRY(context.createEvent(0, start));
    TRY(context.createEvent(0, end));
    TRY(stream->record(*start));
    float factor = 3;
    int n = static_cast<int>(count);
    void* pointers[] = {&factor, &x, &y, &n};
    Arguments arguments;
    arguments.pointers = pointers;
    TRY(launch(*saxpy, {{(count + 255) / 256, 1, 1}, {256, 1, 1}, 0, false}, arguments, *stream));
    // After a failure the host function may be called later than this function returns.
    const auto called = std::make_shared<std::atomic<bool>>(false);
    TRY(stream->hostFunction([called](Error) { *called = true; }));
    TRY(stream->record(*end));
    TRY(copy(*stream, copyOf(number(pinned), y, CopyKind::DeviceToHost), true));
    const Error waited = stream->synchronize();
    EXPECT_TRUE(test::becomes([&] { return *called || context.error() != Error::Success; }));
    TRY(waited);
    float milliseconds = 0;
    TRY(end->synchronize());
    TRY(Event::elapsed(*start, *end, milliseconds));
    TRY(copy(*stream, copyOf(number(result.data()), y, CopyKind::DeviceToHost), false));
    for (uint32_t i = 0; i < count; ++i)
      if (result[i] != 4.0f || static_cast<float*>(pinned)[i] != 4.0f) ++wrong_;
    TRY(context.freeAsync(y, *stream));
    TRY(context.free(x));
    TRY(context.synchronize());
    return Error::Success;
  }

  // `step`: 1 for every call.
  void sweep(VkResult failure, uint64_t step) {
    vk::failVulkanCall(0, VK_SUCCESS);
    // A new device, with the counting in front.
    ContextRef old;
    ASSERT_OK(Context::create(*Platform::get().device(0), 0, old));
    old->vulkan().setLost();
    old->destroy();
    old.reset();
    ASSERT_OK(program());
    vk::failVulkanCall(0, VK_SUCCESS);
    ASSERT_OK(program());
    const uint64_t calls = vk::countedVulkanCalls();
    ASSERT_GT(calls, 10u);
    int failed = 0;
    for (uint64_t number = 1; number <= calls; number += step) {
      SCOPED_TRACE(testing::Message() << "call " << number << " of " << calls << " fails");
      wrong_ = 0;
      vk::failVulkanCall(number, failure);
      failed += program() != Error::Success;
      EXPECT_EQ(wrong_, 0);
      vk::failVulkanCall(0, VK_SUCCESS);
      ASSERT_OK(program()) << "after the failure";
    }
    std::printf("%llu calls, %d of them end the program with an error\n", static_cast<unsigned long long>(calls),
                failed);
    EXPECT_GT(failed, 0);
  }

  std::string text_;
  int wrong_ = 0;
};

TEST_F(FaultTest, TheDeviceIsLostAtEveryCall) {
  // The layer does not believe in the loss and objects to giving up what it takes to be running.
  if (const char* layers = std::getenv("VK_INSTANCE_LAYERS"); layers && *layers)
    GTEST_SKIP() << "skipped: under a layer";
  sweep(VK_ERROR_DEVICE_LOST, 3);  // each opens two devices
}
TEST_F(FaultTest, MemoryRunsOutAtEveryCall) { sweep(VK_ERROR_OUT_OF_DEVICE_MEMORY, 1); }

// As NVIDIA's driver refuses a kernel whose arrays and spilled registers are more than it has room for.
TEST_F(FaultTest, AKernelWithArraysTooLargeForTheDriverHasThemInDeviceMemory) {
  // out[i] = array[i & 3] for array = {7, 8, 9, 10}
  const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry arrays(.param .u64 out) {
  .local .align 4 .b8 array[16];
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  mov.u64 %rd1, array;
  mov.u32 %r1, 7;
  st.local.u32 [%rd1], %r1;
  mov.u32 %r1, 8;
  st.local.u32 [%rd1+4], %r1;
  mov.u32 %r1, 9;
  st.local.u32 [%rd1+8], %r1;
  mov.u32 %r1, 10;
  st.local.u32 [%rd1+12], %r1;
  mov.u32 %r2, %tid.x;
  and.b32 %r3, %r2, 3;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.local.u32 %r4, [%rd2];
  ld.param.u64 %rd3, [out];
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd3, %rd3, %rd4;
  st.global.u32 [%rd3], %r4;
  ret;
})";
  vk::failVulkanCall(0, VK_SUCCESS);
  int moved = 0;
  // Of the calls from the launch on one is the driver's compiler.
  for (uint64_t number = 1; number <= 20; ++number) {
    SCOPED_TRACE(testing::Message() << "call " << number << " fails");
    ContextRef context;
    ASSERT_OK(Context::create(*Platform::get().device(0), 0, context));
    Module* module = nullptr;
    ASSERT_OK(context->loadModule({{text, "arrays"}}, nullptr, module));
    Function* function = nullptr;
    ASSERT_OK(module->function("arrays", function));
    uint64_t out = 0;
    ASSERT_OK(context->allocate(32 * 4, out));
    void* pointers[] = {&out};
    Arguments arguments;
    arguments.pointers = pointers;
    Stream& stream = *context->legacyStream();
    vk::failVulkanCall(number, VK_ERROR_UNKNOWN);
    const Error launched = launch(*function, {{1, 1, 1}, {32, 1, 1}, 0, false}, arguments, stream);
    vk::failVulkanCall(0, VK_SUCCESS);
    if (launched == Error::Success && context->error() == Error::Success && stream.synchronize() == Error::Success) {
      uint32_t result[32] = {};
      ASSERT_OK(context->readMemory(out, result, sizeof(result)));
      for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], 7 + i % 4);
      const uint32_t block[] = {32, 1, 1};
      const LaunchCode* const code = function->lastCode(block, 0);
      moved += code && code->kernel->localInScratch;
    }
    context->vulkan().setLost();
    context->destroy();
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace mulciber::core
