// Text in, text out: the shape of most tests of a pass.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "translator/ir/parser.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"

namespace mulciber::test {

inline std::unique_ptr<ir::Program> parseIr(std::string_view text) {
  std::string error;
  auto program = ir::parseProgram(text, error);
  EXPECT_TRUE(program) << error;
  if (program) {
    EXPECT_EQ(ir::verify(*program->functions[0]), "") << "the test's own input";
  }
  return program;
}

// The first function of `text` after `pass`, verified.
template <typename PassFunction>
std::string runPass(std::string_view text, PassFunction pass) {
  auto program = parseIr(text);
  if (!program) return {};
  pass(*program->functions[0]);
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  return ir::print(*program->functions[0]);
}

}  // namespace mulciber::test
