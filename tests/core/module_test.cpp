// Variables of modules: their values on the device, and what the host needs for them.
#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "core_test.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/core/shader_cache.h"

namespace mulciber::core {
namespace {

class ModuleTest : public CoreTest {
 protected:
  const std::string header = ".version 8.0\n.target sm_80\n.address_size 64\n";
  ModuleRef load(const std::string& variables) {
    const std::string text = header + variables;
    ModuleRef module;
    EXPECT_OK(Module::load(*context, {{text, "module.ptx"}}, nullptr, module));
    return module;
  }
  // The most memory that this process has had at a time.
  static uint64_t peakBytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
    return 0;
  }
};

// Values on both sides of what is copied at once, and zeros between and after them.
TEST_F(ModuleTest, LargeVariablesHaveTheirValues) {
  const ModuleRef module = load(
      ".visible .global .u32 large[3][4194304] = {{1}, {2}, {3}};\n.visible .global .u32 small = 7;\n"
      ".visible .global .u64 pointers[2] = {small, large+8};\n.visible .global .u32 zeros[1000];\n");
  ASSERT_TRUE(module);
  auto addressOf = [&](const char* name) {
    uint64_t address = 0;
    size_t bytes = 0;
    EXPECT_OK(module->global(name, address, bytes));
    return address;
  };
  constexpr uint64_t row = 4194304;
  std::vector<uint32_t> words(3 * row), zeros(1000);
  uint64_t pointers[2] = {};
  ASSERT_OK(copyNow(number(words.data()), addressOf("large"), words.size() * 4));
  ASSERT_OK(copyNow(number(zeros.data()), addressOf("zeros"), zeros.size() * 4));
  ASSERT_OK(copyNow(number(pointers), addressOf("pointers"), sizeof(pointers)));
  for (uint64_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], i % row == 0 ? i / row + 1 : 0u) << i;
  EXPECT_EQ(zeros, std::vector<uint32_t>(1000));
  EXPECT_EQ(pointers[0], addressOf("small"));
  EXPECT_EQ(pointers[1], addressOf("large") + 8);
}

// Where the device's memory is the host's, the variable itself is all there is.
TEST_F(ModuleTest, TheHostHoldsNoCopyOfAVariable) {
  constexpr uint64_t bytes = uint64_t{256} << 20;
  const uint64_t before = peakBytes();
  const ModuleRef module = load(".visible .global .b8 large[" + std::to_string(bytes) + "];\n");
  ASSERT_TRUE(module);
  ASSERT_OK(stream->synchronize());
  EXPECT_LT(peakBytes() - before, bytes + bytes / 4);
}

// A text that was parsed before is not parsed when it is loaded, but when a kernel of it is translated.
TEST_F(ModuleTest, ParsesATextOnceForAllProcesses) {
  ShaderCache& cache = device->cache();
  if (cache.folder().empty()) GTEST_SKIP() << "skipped: there is no cache";
  const std::string text = "// " + std::to_string(std::random_device()()) + std::string(5000, '.') +
                           "\n.visible .global .u32 word = 7;\n"
                           ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n"
                           "st.global.u32 [%rd1], 5; ret;\n}\n";
  const ModuleRef first = load(text);
  ASSERT_TRUE(first);
  const std::string key = first->indexKey();
  const auto stored = cache.load(key);
  ASSERT_TRUE(stored);

  const ModuleRef second = load(text);
  EXPECT_EQ(second->functionNames(), std::vector<std::string>{"k"});
  EXPECT_EQ(second->architecture(), 80u);
  uint64_t address = 0;
  size_t bytes = 0;
  uint32_t word = 0;
  ASSERT_OK(second->global("word", address, bytes));
  ASSERT_OK(copyNow(number(&word), address, bytes));
  EXPECT_EQ(word, 7u);
  Function* kernel = nullptr;
  const KernelInfo* info = nullptr;
  ASSERT_OK(second->function("k", kernel));
  ASSERT_OK(kernel->info(info));
  EXPECT_EQ(info->parameterBytes, 8u);

  // What the cache says is what the module has, so nothing was parsed.
  std::vector<uint8_t> changed = *stored;
  const std::string name = "word";
  const auto at = std::search(changed.begin(), changed.end(), name.begin(), name.end());
  ASSERT_NE(at, changed.end());
  *at = 'W';
  cache.store(key, changed);
  EXPECT_OK(load(text)->global("Word", address, bytes));

  // A damaged index is none.
  changed.resize(changed.size() - 1);
  cache.store(key, changed);
  EXPECT_OK(load(text)->global("word", address, bytes));
}

TEST_F(ModuleTest, SaysWhatIsWrongWithATextEachTime) {
  const std::string text = "// " + std::string(5000, '.') + "\n.visible .entry k()\n{\nadd.u32 %r1, %r2; ret;\n}\n";
  for (int i = 0; i < 2; ++i) {
    JitLog log;
    ModuleRef module;
    EXPECT_EQ(Module::load(*context, {{header + text, "module.ptx"}}, &log, module), Error::InvalidPtx);
    EXPECT_NE(log.errors, "");
  }
}

}  // namespace
}  // namespace mulciber::core
