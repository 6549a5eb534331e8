// The translator's work for a kernel grows about as the kernel does, whatever its shape. bench/growth.cpp shows the
// numbers, and those of the driver's compiler.
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

struct Cost {
  double seconds = 1e9;  // of the processor
  double kilobytes = 0;  // at most at once, beyond what a process has in any case
};

// In a process of its own. The child inherits the heap of the tests before this one: what they freed goes back to the
// system first, or the child would use it again and seem to need nothing.
rusage usageOf(const std::string& text) {
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
  return usage;
}

Cost costOf(const std::string& text) {
  Cost best;
  const auto base = static_cast<double>(usageOf("").ru_maxrss);
  for (int round = 0; round < 4; ++round) {
    const rusage usage = usageOf(text);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
    best.seconds = std::min(best.seconds, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    best.kilobytes = static_cast<double>(usage.ru_maxrss) - base;
  }
  return best;
}

class Growth : public testing::TestWithParam<test::KernelShape> {};

TEST_P(Growth, IsAboutLinear) {
  const test::KernelShape& shape = GetParam();
  const Cost small = costOf(shape.text(shape.count)), large = costOf(shape.text(4 * shape.count));
  // Four times as much, and more than as much again for caches that no longer hold it all and for a busy machine.
  // Squares would be 16 times as much.
  EXPECT_LT(large.seconds, 10 * small.seconds + 0.02);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(large.kilobytes, 5 * small.kilobytes + 4096);
#endif
  RecordProperty("seconds", std::to_string(large.seconds));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Growth, testing::ValuesIn(test::kernelShapes().begin(), test::kernelShapes().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace mulciber
