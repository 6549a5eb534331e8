// Pipelines that a program launched before are there when it launches them again.
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "core_test.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/core/pipelines_ahead.h"
#include "runtime/core/shader_cache.h"
#include "runtime/vk/device.h"
#include "util/environment.h"

namespace mulciber::core {
namespace {

TEST(KernelUses, AreReadAsTheyWereWritten) {
  const std::vector<KernelUse> uses = {{"text", "k", {{32, 2, 1}, 64, 0, {}}},
                                       {"other text", "", {{1, 1, 1}, 0, 4096, {false, true, true, false}}}};
  std::vector<uint8_t> bytes = writeUses(uses);
  EXPECT_EQ(readUses(bytes), uses);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(readUses(std::span(bytes).first(length)).empty()) << length;
}

class PipelinesAheadTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (IsSkipped()) return;
    const int64_t asked = util::environment().pipelinesAhead;
    if (asked < 0 ? context->vulkan().physical().isCpu() : asked == 0)
      GTEST_SKIP() << "skipped: MULCIBER_PIPELINES_AHEAD is 0, as it is on a CPU by default";
    if (device->cache().folder().empty()) GTEST_SKIP() << "skipped: there is no cache";
  }

  // A text that no other run has.
  const std::string text_ = ".version 8.0\n.target sm_80\n.address_size 64\n// " +
                            std::to_string(std::random_device()()) +
                            "\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n"
                            "st.global.u32 [%rd1], 5; ret;\n}\n";

  Function* kernelIn(Context& where) {
    Module* module = nullptr;
    Function* kernel = nullptr;
    EXPECT_OK(where.loadModule({{text_, "k.ptx"}}, nullptr, module));
    EXPECT_OK(module->function("k", kernel));
    return kernel;
  }
  static PipelineVariant ofBlock(uint32_t threads) { return {{threads, 1, 1}, 0, 0, {}}; }
  static std::string keyOf(Function& kernel, const PipelineVariant& variant) {
    Module& module = kernel.module();
    return pipelineKey(translationRequest(module.context(), module.contentKey(), "k", variant.needs).key, variant);
  }
  static void waitFor(const PipelinesAhead& ahead) {
    for (int i = 0; i < 10'000 && !ahead.isDone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(ahead.isDone());
  }
};

TEST_F(PipelinesAheadTest, AreThereInTheNextContext) {
  const LaunchCode* code = nullptr;
  for (const uint32_t threads : {32u, 64u}) ASSERT_OK(kernelIn(*context)->code(ofBlock(threads), code));
  ContextRef next;
  ASSERT_OK(device->createContext(0, next));
  waitFor(next->pipelinesAhead());
  Function* kernel = kernelIn(*next);
  EXPECT_TRUE(next->pipelinesAhead().take(keyOf(*kernel, ofBlock(32))));
  EXPECT_FALSE(next->pipelinesAhead().take(keyOf(*kernel, ofBlock(32))));
  EXPECT_FALSE(next->pipelinesAhead().take(keyOf(*kernel, ofBlock(96)))) << "nobody launched that";
  EXPECT_OK(kernel->code(ofBlock(64), code));
  EXPECT_FALSE(next->pipelinesAhead().take(keyOf(*kernel, ofBlock(64)))) << "the launch took it";
  next->destroy();
}

TEST_F(PipelinesAheadTest, WaitWhileALaunchMakesItsOwn) {
  const LaunchCode* code = nullptr;
  Function* kernel = kernelIn(*context);
  ASSERT_OK(kernel->code(ofBlock(32), code));
  PipelinesAhead ahead(*context);
  {
    const PipelinesAhead::Turn turn(ahead);
    ahead.begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(ahead.isDone());
    EXPECT_FALSE(ahead.take(keyOf(*kernel, ofBlock(32)))) << "a launch does not wait for what is not under way";
  }
  waitFor(ahead);
  EXPECT_FALSE(ahead.take(keyOf(*kernel, ofBlock(32)))) << "what a launch has made is not made again";
}

// Launches meet the thread at any moment, and contexts end while it is at work.
TEST_F(PipelinesAheadTest, LaunchesAndEndsComeAtAnyTime) {
  const LaunchCode* code = nullptr;
  for (uint32_t threads = 1; threads <= 8; ++threads) ASSERT_OK(kernelIn(*context)->code(ofBlock(32 * threads), code));
  for (int round = 0; round < 20; ++round) {
    ContextRef next;
    ASSERT_OK(device->createContext(0, next));
    if (round % 2 == 0) {
      Function* kernel = kernelIn(*next);
      for (uint32_t threads = 8; threads != 0; --threads) {
        ASSERT_OK(kernel->code(ofBlock(32 * threads), code));
        ASSERT_TRUE(code && code->pipeline);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    next->destroy();
  }
}

TEST_F(PipelinesAheadTest, AreNotMadeWhereTheCacheLostThem) {
  Function* kernel = kernelIn(*context);
  PipelinesAhead ahead(*context);
  ahead.begin();
  waitFor(ahead);
  const PipelineVariant variant = ofBlock(128);
  ahead.remember({kernel->module().contentKey(), "k", variant});  // nobody has translated it
  PipelinesAhead next(*context);
  next.begin();
  waitFor(next);
  EXPECT_FALSE(next.take(keyOf(*kernel, variant)));
}

}  // namespace
}  // namespace mulciber::core
