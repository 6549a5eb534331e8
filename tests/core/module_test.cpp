// Variables of modules: their values on the device, and what the host needs for them.
#include <fstream>
#include <string>

#include "core_test.h"
#include "runtime/core/module.h"

namespace mulciber::core {
namespace {

class ModuleTest : public CoreTest {
 protected:
  ModuleRef load(const std::string& variables) {
    const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + variables;
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

}  // namespace
}  // namespace mulciber::core
