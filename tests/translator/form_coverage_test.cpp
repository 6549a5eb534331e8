#include "forms/form_coverage.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "translator/ptx/coverage.h"

namespace mulciber {
namespace {

TEST(Coverage, CheckedInTableIsCurrent) {
  std::ifstream file(MULCIBER_TEST_DATA "/../../docs/ptx-coverage.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == ptx::coverageTable(translatedColumn)) << "run: build/bin/ptx-coverage docs/ptx-coverage.md";
}

}  // namespace
}  // namespace mulciber
