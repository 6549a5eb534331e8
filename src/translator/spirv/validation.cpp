#include "translator/spirv/validation.h"

#include <spirv-tools/libspirv.hpp>

namespace mulciber::spirv {

std::string validate(const std::vector<uint32_t>& spirv) {
  std::string messages;
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
    messages += std::string(message) + "\n";
  });
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  options.SetWorkgroupScalarBlockLayout(true);
  options.SetAllowLocalSizeId(true);
  if (tools.Validate(spirv.data(), spirv.size(), options)) return {};
  return messages.empty() ? "invalid" : messages;
}

std::string disassemble(const std::vector<uint32_t>& spirv) {
  std::string text;
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  tools.Disassemble(spirv, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  return text;
}

}  // namespace mulciber::spirv
