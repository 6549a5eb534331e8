// Kernels of kernels.ptx (made by nvcc from kernels.cu) through module, function and launch: translated when they are
// launched, and ahead of time.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "archive.h"
#include "core_test.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"
#include "runtime/vk/device.h"
#include "support/test_data.h"

namespace mulciber::core {
namespace {

std::string kernelsText() {
  std::ifstream file(test::dataFolder() / "kernels.ptx");
  return {std::istreambuf_iterator<char>(file), {}};
}

class LaunchTest : public CoreTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (!context) return;
    std::string text = kernelsText();  // gone after loading: a module keeps what it needs
    if (text.empty()) GTEST_SKIP() << "skipped: kernels.ptx is not here";
    if (GetParam()) text = translated(text, profileOf(*context));
    JitLog log;
    ASSERT_OK(context->loadModule({{text, "kernels.ptx"}}, &log, module)) << log.errors;
  }

  Function& function(std::string_view name) {
    Function* found = nullptr;
    EXPECT_OK(module->function(name, found));
    return *found;
  }
  template <typename... Args>
  Error run(std::string_view name, Launch shape, Stream& on, Args... values) {
    void* pointers[] = {&values..., nullptr};
    Arguments arguments;
    arguments.pointers = pointers;
    return launch(function(name), shape, arguments, on);
  }
  static Launch shape(uint32_t grid, uint32_t block, uint32_t shared = 0) {
    return {{grid, 1, 1}, {block, 1, 1}, shared, false};
  }

  Module* module = nullptr;
};

TEST_P(LaunchTest, Saxpy) {
  constexpr int n = 100'003;
  auto* x = allocateHost<float>(n);
  auto* y = allocateHost<float>(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 1.0f;
  }
  uint64_t dx = 0, dy = 0;
  ASSERT_OK(context->hostToDevicePointer(x, dx));
  ASSERT_OK(context->hostToDevicePointer(y, dy));
  ASSERT_OK(run("saxpy", shape((n + 255) / 256, 256), *stream, 2.0f, dx, dy, n));
  ASSERT_OK(stream->synchronize());
  for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], 2.0f * static_cast<float>(i) + 1.0f) << i;
}

// What grid.sync() of cooperative_groups meets at: of each cooperative launch its own, zero at first.
TEST_P(LaunchTest, CooperativeLaunchesHaveAWorkspace) {
  constexpr std::string_view text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd2, {%r2, %r1};
  setp.eq.u64 %p, %rd2, 0;
  mov.u32 %r3, 1000;
  @!%p atom.global.add.u32 %r3, [%rd2+4], 1;
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %rd1, %r2, 4, %rd1;
  st.global.u32 [%rd1], %r3;
  ret;
})";
  JitLog log;
  Module* own = nullptr;
  ASSERT_OK(context->loadModule({{text, "meet.ptx"}}, &log, own)) << log.errors;
  Function* meet = nullptr;
  ASSERT_OK(own->function("meet", meet));
  auto* out = allocateHost<uint32_t>(32);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(out, address));
  void* pointers[] = {&address, nullptr};
  Arguments arguments;
  arguments.pointers = pointers;
  Launch one = shape(1, 32);
  for (bool isCooperative : {true, true, false}) {
    one.isCooperative = isCooperative;
    ASSERT_OK(launch(*meet, one, arguments, *stream));
    ASSERT_OK(stream->synchronize());
    std::sort(out, out + 32);
    for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], isCooperative ? i : 1000);
  }
}

TEST_P(LaunchTest, PackedArgumentsAreTheSame) {
  auto* y = allocateHost<float>(32);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(y, address));
  struct {
    float a;
    uint64_t x, y;
    int n;
  } packed{3.0f, address, address, 32};
  for (int i = 0; i < 32; ++i) y[i] = 2.0f;
  Arguments arguments;
  arguments.packed = &packed;
  arguments.packedBytes = sizeof(packed);
  ASSERT_OK(launch(function("saxpy"), shape(1, 32), arguments, *stream));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(y[31], 8.0f);
  arguments.packedBytes = 8;
  EXPECT_EQ(launch(function("saxpy"), shape(1, 32), arguments, *stream), Error::InvalidValue);
}

TEST_P(LaunchTest, GlobalsHaveTheirInitialValuesAndAddresses) {
  uint64_t counter = 0;
  size_t bytes = 0;
  ASSERT_OK(module->global("counter", counter, bytes));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(module->global("nothing", counter, bytes), Error::NotFound);
  for (int i = 0; i < 10; ++i) ASSERT_OK(run("count", shape(3, 64), *stream));
  int value = 0;
  ASSERT_OK(copyNow(number(&value), counter, 4, CopyKind::DeviceToHost));
  EXPECT_EQ(value, 5 + 10 * 3 * 64);  // through a pointer variable initialised with the counter's address
}

TEST_P(LaunchTest, ConstantsCanBeChanged) {
  uint64_t table = 0;
  size_t bytes = 0;
  ASSERT_OK(module->global("table", table, bytes));
  ASSERT_EQ(bytes, 16u);
  auto* out = allocateHost<float>(4);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(out, address));
  ASSERT_OK(run("lookup", shape(1, 4), *stream, address));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(out[2], 3.0f);
  const float changed[] = {10, 20, 30, 40};
  ASSERT_OK(copyNow(table, number(changed), 16, CopyKind::HostToDevice));
  ASSERT_OK(run("lookup", shape(1, 4), *stream, address));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(out[2], 30.0f);
}

TEST_P(LaunchTest, LargeParametersAreSnapshots) {
  struct Big {
    int v[200];
  } big;
  auto* out = allocateHost<int>(2 * 200);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(out, address));
  for (int round = 0; round < 2; ++round) {
    std::iota(std::begin(big.v), std::end(big.v), round * 1000);
    ASSERT_OK(run("big", shape(1, 200), *stream, big, address + static_cast<uint64_t>(round) * 800));
  }
  ASSERT_OK(stream->synchronize());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(out[i], i);
    ASSERT_EQ(out[200 + i], 1000 + i);
  }
}

TEST_P(LaunchTest, GridsBeyondTheDevicesLimitsAreSplit) {
  auto* out = allocateHost<uint32_t>(1024);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(out, address));
  ASSERT_OK(run("where", {{70'001, 2, 3}, {32, 1, 1}, 0, false}, *stream, address));
  ASSERT_OK(stream->synchronize());
  const uint32_t blocks = 70'001 * 2 * 3;
  for (uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(out[i], blocks / 1024 + (i < blocks % 1024 ? 1 : 0)) << i;
}

TEST_P(LaunchTest, DynamicSharedMemoryAndBlockShapes) {
  for (const uint32_t threads : {32u, 96u, 100u, 1024u}) {
    auto* data = allocateHost<int>(threads);
    std::iota(data, data + threads, 0);
    uint64_t address = 0;
    ASSERT_OK(context->hostToDevicePointer(data, address));
    ASSERT_OK(run("reverse", shape(1, threads, threads * 4), *stream, address));
    ASSERT_OK(stream->synchronize());
    for (uint32_t i = 0; i < threads; ++i) ASSERT_EQ(data[i], static_cast<int>(threads - 1 - i)) << threads;
  }
}

// A CPU device's processors are counted by reading files of the system: once, and not with every launch.
TEST_P(LaunchTest, LaunchesReadNoFiles) {
  const auto systemReads = [] {
    std::ifstream file("/proc/self/io");
    std::string name;
    for (uint64_t value = 0; file >> name >> value;)
      if (name == "syscr:") return value;
    return uint64_t{0};
  };
  if (systemReads() == 0) GTEST_SKIP() << "skipped: this system does not count reads";
  (void)device->shape();
  const uint64_t before = systemReads();
  for (int i = 0; i < 1000; ++i) (void)device->shape();
  EXPECT_LT(systemReads() - before, 100u);
}

TEST_P(LaunchTest, WrongShapesAreRefused) {
  const uint64_t none = 0;
  EXPECT_EQ(run("limited", shape(0, 32), *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", shape(1, 0), *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", shape(1, 1025), *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", {{1, 70'000, 1}, {32, 1, 1}, 0, false}, *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", shape(1, 128), *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", shape(1, 32, 1 << 20), *stream, none), Error::InvalidValue);
  EXPECT_EQ(run("limited", {{100'000, 1, 1}, {64, 1, 1}, 0, true}, *stream, none), Error::CooperativeLaunchTooLarge);
  Function* missing = nullptr;
  EXPECT_EQ(module->function("missing", missing), Error::NotFound);
}

// A launch like the one before is not checked as a whole again: what may have changed since still counts.
TEST_P(LaunchTest, ALaunchLikeTheLastIsStillChecked) {
  Function& reverse = function("reverse");
  uint64_t data = 0;
  ASSERT_OK(context->allocate(4096, data));
  const auto launchIt = [&](uint32_t blocks, uint32_t threads) {
    return run("reverse", shape(blocks, threads, 1024), *stream, data);
  };
  ASSERT_OK(launchIt(1, 32));
  ASSERT_OK(launchIt(2, 32));
  EXPECT_EQ(launchIt(0, 32), Error::InvalidValue);
  EXPECT_EQ(launchIt(UINT32_MAX, 32), Error::InvalidValue);
  ASSERT_OK(launchIt(1, 64));
  EXPECT_EQ(launchIt(1, 2048), Error::InvalidValue);
  ASSERT_OK(launchIt(1, 64));
  Launch cooperative = shape(100'000, 64, 1024);
  cooperative.isCooperative = true;
  EXPECT_EQ(run("reverse", cooperative, *stream, data), Error::CooperativeLaunchTooLarge);
  EXPECT_OK(check(reverse, shape(1, 64, 1024)));
  EXPECT_EQ(check(reverse, shape(0, 64, 1024)), Error::InvalidValue);
  ASSERT_OK(reverse.setAttribute(8, 1000));
  EXPECT_EQ(check(reverse, shape(1, 64, 1024)), Error::InvalidValue);
  EXPECT_EQ(launchIt(1, 64), Error::InvalidValue) << "the limit was lowered";
  ASSERT_OK(reverse.setAttribute(8, 1024));
  EXPECT_OK(launchIt(1, 64));
  ASSERT_OK(stream->synchronize());
}

TEST_P(LaunchTest, AttributesAreAnswered) {  // HOST-20
  Function& limited = function("limited");
  int value = 0;
  EXPECT_OK(limited.attribute(0, value));
  EXPECT_EQ(value, 64);
  EXPECT_EQ(limited.attribute(99, value), Error::InvalidValue);
  EXPECT_EQ(limited.setAttribute(8, 1 << 24), Error::InvalidValue);
  // Large clusters may be allowed, as cuBLAS does; that launches nothing.
  int allowed = 7;
  EXPECT_OK(limited.setAttribute(14, 1));
  EXPECT_OK(limited.attribute(14, allowed));
  EXPECT_EQ(allowed, 1);
  EXPECT_OK(limited.setAttribute(14, 2));
  EXPECT_OK(limited.attribute(14, allowed));
  EXPECT_EQ(allowed, 1);
  EXPECT_OK(limited.setAttribute(8, 1024));
  EXPECT_OK(limited.attribute(8, value));
  EXPECT_EQ(value, 1024);
  int blocks = 0;
  EXPECT_OK(limited.maxActiveBlocks(64, 0, blocks));
  EXPECT_GT(blocks, 0);
}

// A driver takes seconds to compile a large kernel: it is not asked how many registers one uses.
TEST_P(LaunchTest, LargeKernelsUseAllRegisters) {
  const auto registersOf = [&](int additions, const char* limit) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) " +
                       std::string(limit) + "\n{\n.reg .b32 %r<3>; .reg .b64 %rd1; ld.param.u64 %rd1, [out];\n" +
                       "mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\n";
    for (int i = 0; i < additions; ++i)
      text += "mad.lo.u32 %r2, %r2, %r1, " + std::to_string(i * 7) + "; st.global.u32 [%rd1], %r2;\n";
    Module* loaded = nullptr;
    Function* kernel = nullptr;
    int value = 0;
    EXPECT_OK(context->loadModule({{text + "ret;\n}\n", "large.ptx"}}, nullptr, loaded));
    EXPECT_OK(loaded->function("k", kernel));
    EXPECT_OK(kernel->attribute(4, value));
    EXPECT_OK(context->unloadModule(loaded));
    return value;
  };
  if (context->vulkan().physical().executableProperties.pipelineExecutableInfo != VK_TRUE)
    GTEST_SKIP() << "skipped: the driver tells nothing of pipelines, so no kernel is measured";
  EXPECT_LT(registersOf(10, ""), 64);
  EXPECT_EQ(registersOf(10'000, ""), 255);
  EXPECT_EQ(registersOf(10'000, ".maxntid 512, 1, 1"), 128);
}

// Counting threads at a barrier takes shared memory that CUDA does not need (bar.red, and warps where there are none).
TEST_P(LaunchTest, AllSharedMemoryIsForTheKernel) {
  constexpr std::string_view text = R"(.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 cells[400];
.extern .shared .align 16 .b8 more[];
.visible .entry counts(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; st.shared.u32 [cells], %r1; setp.lt.u32 %p, %r1, 9;
  bar.red.popc.u32 %r2, 0, %p; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; st.shared.u32 [more], %r3;
  ld.shared.u32 %r4, [more]; st.global.u32 [%rd1], %r4;
  ret;
})";
  Module* small = nullptr;
  Function* counts = nullptr;
  ASSERT_OK(context->loadModule({{std::string(text), "counts.ptx"}}, nullptr, small));
  ASSERT_OK(small->function("counts", counts));
  int value = 0, most = 0;
  EXPECT_OK(counts->attribute(1, value));
  EXPECT_EQ(value, 400);
  ASSERT_OK(device->attribute(97, most));
  EXPECT_EQ(counts->setAttribute(8, most - 399), Error::InvalidValue);
  ASSERT_OK(counts->setAttribute(8, most - 400));
  auto* out = allocateHost<uint32_t>(1);
  uint64_t address = number(out);
  void* pointers[] = {&address};
  Arguments arguments;
  arguments.pointers = pointers;
  ASSERT_OK(launch(*counts, shape(1, 64, static_cast<uint32_t>(most - 400)), arguments, *stream));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(*out, 9u);
}

TEST_P(LaunchTest, PrintfComesOutAtSynchronize) {  // KRT-01, KRT-02
  const Error launched = run("hello", shape(1, 3), *stream, 42);
  ASSERT_OK(launched);
  testing::internal::CaptureStdout();
  const Error waited = stream->synchronize();
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_OK(waited);
  for (int thread = 0; thread < 3; ++thread)
    EXPECT_NE(text.find("hello 42 from " + std::to_string(thread) + ": text  1.50\n"), std::string::npos) << text;
}

// Kernels that print must not keep later ones from the device, and records beyond the buffer are dropped.
TEST_P(LaunchTest, TooMuchPrintingLosesLinesAndNothingElse) {  // KRT-02
  ASSERT_OK(context->setLimit(Limit::PrintfFifoSize, 4096));   // which is 512 KiB: CUDA gives no less
  ASSERT_OK(run("hello", shape(1000, 32), *stream, 1));
  testing::internal::CaptureStdout();
  const Error waited = stream->synchronize();
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_OK(waited);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_GT(lines, 20);
  EXPECT_LT(lines, 32000);
}

// Lines of a kernel that has just been submitted stay in the buffer while another thread prints what is there.
TEST_P(LaunchTest, NoLineIsLostWhileOthersWait) {  // KRT-02
  constexpr int launches = 300;
  ASSERT_OK(run("hello", shape(1, 1), *stream, 1));
  ASSERT_OK(stream->synchronize());
  Stream& other = newStream(Stream::NonBlocking);
  testing::internal::CaptureStdout();
  std::atomic<bool> isOver{false};
  std::thread waits([&] {
    while (!isOver) EXPECT_OK(other.synchronize());
  });
  for (int i = 0; i < launches; ++i) EXPECT_OK(run("hello", shape(1, 32), *stream, i));
  isOver = true;
  waits.join();
  EXPECT_OK(stream->synchronize());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), launches * 32);
}

// Kernels that have been launched write to the buffer there is.
TEST_P(LaunchTest, TheSizeForPrintingIsSetBeforeKernelsPrint) {  // KRT-02
  ASSERT_OK(context->setLimit(Limit::PrintfFifoSize, 1u << 20));
  ASSERT_OK(context->setLimit(Limit::PrintfFifoSize, 2u << 20));
  std::atomic<bool> released{false};
  ASSERT_OK(stream->hostFunction([&](Error) {
    while (!released) std::this_thread::yield();
  }));
  EXPECT_OK(run("hello", shape(1, 1), *stream, 7));
  EXPECT_EQ(context->setLimit(Limit::PrintfFifoSize, 4u << 20), Error::InvalidValue);
  size_t bytes = 0;
  EXPECT_OK(context->limit(Limit::PrintfFifoSize, bytes));
  EXPECT_EQ(bytes, 2u << 20);
  testing::internal::CaptureStdout();
  released = true;
  const Error waited = stream->synchronize();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello 7 from 0: text  1.50\n");
  EXPECT_OK(waited);
}

TEST_P(LaunchTest, TheDeviceHeapGivesMemory) {  // KRT-09
  if (context->vulkan().profile().subgroupSize != 32) GTEST_SKIP() << "skipped: the device's subgroups are not 32 wide";
  constexpr uint32_t threads = 96;
  auto* out = allocateHost<uint64_t>(threads);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(out, address));
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(run("heap", shape(1, threads), *stream, address));
    ASSERT_OK(stream->synchronize());
    for (uint32_t i = 0; i < threads; ++i) ASSERT_EQ(out[i], i * 3u) << round;
  }
}

TEST_P(LaunchTest, AFailedAssertBreaksTheContext) {  // HOST-12, KRT-04
  const uint64_t one = 1;
  testing::internal::CaptureStderr();
  const Error launched = run("broken", shape(2, 32), *stream, one);
  const Error waited = stream->synchronize();
  const std::string text = testing::internal::GetCapturedStderr();
  ASSERT_OK(launched);
  EXPECT_EQ(waited, Error::Assert);
  EXPECT_NE(text.find("Assertion `p == nullptr` failed."), std::string::npos) << text;
  EXPECT_NE(text.find("broken(int *)"), std::string::npos) << text;
  uint64_t address = 0;
  EXPECT_EQ(context->allocate(4, address), Error::Assert);
  EXPECT_EQ(run("count", shape(1, 1), *stream), Error::Assert);
  EXPECT_EQ(context->synchronize(), Error::Assert);
  // Another context works.
  ContextRef other;
  ASSERT_OK(device->createContext(0, other));
  EXPECT_OK(other->allocate(4, address));
  other->destroy();
}

TEST_P(LaunchTest, ATrapBreaksTheContext) {  // KRT-05
  ASSERT_OK(run("traps", shape(1, 1), *stream));
  EXPECT_EQ(context->synchronize(), Error::LaunchFailed);
}

TEST_P(LaunchTest, KernelsWaitBehindHostFunctions) {
  auto* data = allocateHost<int>(64);
  uint64_t address = 0;
  ASSERT_OK(context->hostToDevicePointer(data, address));
  ASSERT_OK(stream->hostFunction([data](Error) { std::iota(data, data + 64, 0); }));
  ASSERT_OK(run("reverse", shape(1, 64, 256), *stream, address));
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(data[0], 63);
}

// The first launch of a kernel that needs the heap makes it, while other launches bring memory of their own.
TEST_P(LaunchTest, TheHeapIsMadeBesideCooperativeLaunches) {
  constexpr int rounds = 3;
  const std::string text = GetParam() ? translated(kernelsText(), profileOf(*context)) : kernelsText();
  Launch together = shape(1, 32);
  together.isCooperative = true;
  for (int round = 0; round < rounds; ++round) {
    ContextRef fresh;
    ASSERT_OK(device->createContext(0, fresh));
    Module* own = nullptr;
    ASSERT_OK(fresh->loadModule({{text, "kernels.ptx"}}, nullptr, own));
    Function *count = nullptr, *heap = nullptr;
    ASSERT_OK(own->function("count", count));
    ASSERT_OK(own->function("heap", heap));
    ASSERT_OK(launch(*count, together, {}, *fresh->legacyStream()));
    Stream* other = nullptr;
    ASSERT_OK(fresh->createStream(Stream::NonBlocking, 0, other));
    std::atomic<bool> isMade{false};
    std::thread launches([&] {
      while (!isMade) EXPECT_OK(launch(*count, together, {}, *fresh->legacyStream()));
    });
    uint64_t out = 0;
    EXPECT_OK(fresh->allocate(32 * sizeof(uint64_t), out));
    void* pointers[] = {&out};
    Arguments arguments;
    arguments.pointers = pointers;
    EXPECT_OK(launch(*heap, shape(1, 32), arguments, *other));
    isMade = true;
    launches.join();
    EXPECT_OK(fresh->synchronize());
    fresh->destroy();
  }
}

TEST_P(LaunchTest, ManyThreadsLaunchAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      Stream& mine = newStream(t % 2 == 0 ? Stream::Default : Stream::NonBlocking);
      for (int i = 0; i < 100; ++i) EXPECT_OK(run("count", shape(1, 32), t == 3 ? *stream : mine));
      EXPECT_OK(mine.synchronize());
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(context->synchronize());
  uint64_t counter = 0;
  size_t bytes = 0;
  ASSERT_OK(module->global("counter", counter, bytes));
  int value = 0;
  ASSERT_OK(copyNow(number(&value), counter, 4));
  EXPECT_EQ(value, 5 + 4 * 100 * 32);
}

TEST_P(LaunchTest, BadTextGivesALog) {
  JitLog log;
  Module* none = nullptr;
  EXPECT_EQ(
      context->loadModule({{".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { nonsense.u32 %r1; }", "bad"}},
                          &log, none),
      Error::InvalidPtx);
  EXPECT_FALSE(log.errors.empty());
  EXPECT_OK(context->unloadModule(module));
  EXPECT_EQ(context->unloadModule(module), Error::InvalidHandle);
}

INSTANTIATE_TEST_SUITE_P(Modules, LaunchTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Translated" : "Ptx"; });

}  // namespace
}  // namespace mulciber::core
