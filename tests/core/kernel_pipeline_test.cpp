// What the cache has of a kernel: what launches need to know of it, and apart from that its code.
#include <filesystem>
#include <random>
#include <string>

#include "core_test.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/kernel_pipeline.h"
#include "runtime/core/module.h"
#include "runtime/core/shader_cache.h"

namespace mulciber::core {
namespace {

class KernelPipelineTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (!IsSkipped() && device->cache().folder().empty()) GTEST_SKIP() << "skipped: there is no cache";
  }

  // A text that no other run has.
  const std::string text_ = ".version 8.0\n.target sm_80\n.address_size 64\n// " +
                            std::to_string(std::random_device()()) +
                            "\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n"
                            "st.global.u32 [%rd1], 5; ret;\n}\n";

  Function* load() {
    Module* module = nullptr;
    Function* kernel = nullptr;
    EXPECT_OK(context->loadModule({{text_, "k.ptx"}}, nullptr, module));
    EXPECT_OK(module->function("k", kernel));
    return kernel;
  }
  std::filesystem::path codeFile(Function& kernel) {
    const std::string key = translationRequest(*context, kernel.module().contentKey(), "k", {}).key;
    return device->cache().folder() / ("mulciber-" + ShaderCache::hash("code|" + key));
  }
};

TEST_F(KernelPipelineTest, CodeThatTheCacheHasLostIsMadeAgain) {
  const KernelInfo* info = nullptr;
  Function* first = load();
  ASSERT_OK(first->info(info));
  const std::filesystem::path code = codeFile(*first);
  ASSERT_TRUE(std::filesystem::exists(code));

  Function* second = load();
  ASSERT_OK(second->info(info));
  EXPECT_EQ(info->parameters.size(), 1u);
  std::filesystem::remove(code);
  const LaunchCode* launched = nullptr;
  ASSERT_OK(second->code({{32, 1, 1}, 0, 0, {}}, launched));
  EXPECT_TRUE(launched && launched->pipeline);
  EXPECT_TRUE(std::filesystem::exists(code));
}

TEST_F(KernelPipelineTest, DamagedCodeCountsAsLost) {
  const KernelInfo* info = nullptr;
  Function* first = load();
  ASSERT_OK(first->info(info));
  std::filesystem::resize_file(codeFile(*first), 100);
  const LaunchCode* launched = nullptr;
  ASSERT_OK(load()->code({{64, 1, 1}, 0, 0, {}}, launched));
  EXPECT_TRUE(launched && launched->pipeline);
  EXPECT_GT(std::filesystem::file_size(codeFile(*first)), 100u);
}

}  // namespace
}  // namespace mulciber::core
