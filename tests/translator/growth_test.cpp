// The memory that the translator needs for a kernel grows about as the kernel does, whatever its shape.
// tests/counts/counts.py holds its instructions to the same, and bench/growth.cpp shows the times.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "mulciber/translator.h"
#include "support/kernel_shapes.h"

namespace mulciber {
namespace {

// Kilobytes that a process needs at most at once for the translation, beyond what it has in any case. The child
// inherits the heap of the tests before this one: what they freed goes back to the system first, or the child would use
// it again and seem to need nothing.
double mostMemory(const std::string& text) {
  malloc_trim(0);
  const pid_t child = fork();
  if (child == 0) {
    Diagnostics diagnostics;
    const ModulePtr module = text.empty() ? nullptr : parseModule(text, "k.ptx", diagnostics);
    _exit(text.empty() || (module && translate(*module, "k", *builtinProfile("lavapipe"), {}, diagnostics)) ? 0 : 1);
  }
  int status = -1;
  rusage usage{};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  return static_cast<double>(usage.ru_maxrss);
}

class GrowthOfMemory : public testing::TestWithParam<test::KernelShape> {};

TEST_P(GrowthOfMemory, IsAboutLinear) {
  const test::KernelShape& shape = GetParam();
  const double base = mostMemory("");
  const double small = mostMemory(shape.text(shape.count)) - base;
  const double large = mostMemory(shape.text(4 * shape.count)) - base;
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "skipped: the address sanitizer keeps memory that was freed (" << small << ", " << large << " KiB)";
#else
  EXPECT_LT(large, 5 * small + 4096);
#endif
}

INSTANTIATE_TEST_SUITE_P(Shapes, GrowthOfMemory,
                         testing::ValuesIn(test::kernelShapes().begin(), test::kernelShapes().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace mulciber
