#include "translator/ptx/coverage.h"

#include <gtest/gtest.h>

namespace mulciber::ptx {
namespace {

TEST(Coverage, TakesAColumnOfTheTranslator) {
  std::string text =
      coverageTable([](const Form& form) { return form.opcode == Opcode::Add ? "yes" : "no: a reason"; });
  EXPECT_NE(text.find("| Translated |"), std::string::npos);
  EXPECT_NE(text.find("| yes |"), std::string::npos);
  EXPECT_NE(text.find("| no: a reason |"), std::string::npos);
}

}  // namespace
}  // namespace mulciber::ptx
