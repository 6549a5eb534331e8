// PTX text in, IR out: what the tests of lowering share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "translator/ir/ir.h"
#include "translator/lower/program_lowering.h"
#include "translator/ptx/parser.h"

namespace mulciber::test {

// A device that has everything.
TargetProfile fullProfile();

struct Lowered {
  std::unique_ptr<ptx::ModuleHolder> module;
  std::unique_ptr<lower::ModuleLayout> layout;
  std::optional<ir::Program> program;
  std::string errors;

  const ir::Function& kernel() const { return *program->functions[0]; }
};

// Lowers the first kernel of the text, and verifies every function.
Lowered lowerText(std::string_view ptx, const TargetProfile& profile = fullProfile());

// A module of one kernel with some registers of each type declared: %p, %rs, %r, %rd, %f, %fd, each <30>.
// `declarations` stand before the kernel.
std::string kernelText(std::string_view body, std::string_view parameters = ".param .u64 out",
                       std::string_view declarations = "");

}  // namespace mulciber::test
