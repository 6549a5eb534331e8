#include "translator/ptx/coverage.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace mulciber::ptx {
namespace {

TEST(Coverage, CheckedInTableIsCurrent) {
  std::ifstream file(MULCIBER_TEST_DATA "/../../docs/ptx-coverage.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == coverageTable()) << "run: build/bin/ptx-coverage docs/ptx-coverage.md";
}

TEST(Coverage, TakesAColumnOfTheTranslator) {
  std::string text =
      coverageTable([](const Form& form) { return form.opcode == Opcode::Add ? "yes" : "no: a reason"; });
  EXPECT_NE(text.find("| Translated |"), std::string::npos);
  EXPECT_NE(text.find("| yes |"), std::string::npos);
  EXPECT_NE(text.find("| no: a reason |"), std::string::npos);
}

}  // namespace
}  // namespace mulciber::ptx
