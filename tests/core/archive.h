// PTX as kernels translated ahead of time.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/core/kernel_archive.h"

namespace mulciber::core {

inline std::string translated(const std::string& text, const std::vector<TargetProfile>& profiles) {
  Diagnostics diagnostics;
  const ModulePtr module = parseModule(text, "test.ptx", diagnostics);
  if (!module) {
    ADD_FAILURE() << diagnostics.toString();
    return {};
  }
  const std::vector<uint8_t> bytes = KernelArchive::write(*module, profiles, {}, diagnostics);
  EXPECT_FALSE(bytes.empty()) << diagnostics.toString();
  return {bytes.begin(), bytes.end()};
}
inline std::string translated(const std::string& text, const TargetProfile& profile) {
  return translated(text, std::vector{profile});
}

}  // namespace mulciber::core
