// Constants of a kernel that each launch carries.
#include <string>

#include "core_test.h"
#include "mulciber/kernel_abi.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"

namespace mulciber::core {
namespace {

class CarriedWordsTest : public CoreTest {
 protected:
  // What a launch of a kernel with this many bytes of parameters, all of them 7, and some words has behind its header.
  std::vector<uint8_t> carried(uint32_t bytes, const std::vector<uint32_t>& words) {
    const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .align 1 .b8 p[" +
                             std::to_string(bytes) + "])\n{\nret;\n}\n";
    Module* module = nullptr;
    Function* kernel = nullptr;
    EXPECT_OK(context->loadModule({{text, "k.ptx"}}, nullptr, module));
    EXPECT_OK(module->function("k", kernel));
    const Launch shape{{1, 1, 1}, {32, 1, 1}, 0, false};
    const LaunchCode* code = nullptr;
    EXPECT_OK(kernel->code({{32, 1, 1}, 0, 0, {}}, code));
    if (!code) return {};
    const_cast<KernelInfo*>(code->kernel)->carriedWords = words;  // which a driver would have to be there for
    const std::vector<uint8_t> parameters(bytes, 7);
    KernelLaunch prepared;
    EXPECT_OK(prepare(*kernel, shape, {nullptr, parameters.data(), parameters.size()}, *context, prepared));
    return {prepared.push + abi::parameterOffset, prepared.push + prepared.pushBytes};
  }
};

TEST_F(CarriedWordsTest, StandBehindTheParameters) {
  const std::vector<uint8_t> bytes = carried(6, {0x01020304, 5});
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(bytes[5], 7);
  uint32_t words[2];
  std::memcpy(words, bytes.data() + 8, sizeof(words));
  EXPECT_EQ(words[0], 0x01020304u);
  EXPECT_EQ(words[1], 5u);
}

TEST_F(CarriedWordsTest, StandBehindTheAddressOfMany) {
  const std::vector<uint8_t> bytes = carried(1000, {0x01020304});
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(bytes[8], 4);
  EXPECT_EQ(bytes[11], 1);
}

}  // namespace
}  // namespace mulciber::core
