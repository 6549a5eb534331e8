// How a kernel treats denormals, which legalize_floats decides by its operations.
#include "translator/passes/legalize_floats.h"

#include "passes/flushing_device.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

using ir::Denormals, test::count, test::flushingDevice, test::kernelOfFloats;

Denormals modeOf(const std::string& body) {
  const TargetProfile profile = flushingDevice();
  const TranslateOptions options;
  auto program = test::parseIr(kernelOfFloats(body));
  passes::PassContext context{profile, options, *program};
  passes::LegalizeFloats().run(*program->functions[0], context);
  return program->denormals32;
}

TEST(DenormalsOfAKernel, AreKeptWhereAnyOperationKeepsThem) {
  EXPECT_EQ(modeOf("  write v3, %0\n"), Denormals::Default);
  EXPECT_EQ(modeOf("  %3 = fmul f32 %0, %1 {ftz}\n  write v3, %3\n"), Denormals::Flush);
  EXPECT_EQ(modeOf("  %3 = fmul f32 %0, %1 {ftz}\n  %4 = fadd f32 %3, %1\n  write v3, %4\n"), Denormals::Preserve);
}

// What takes denormals for zeros does not see what a change of the sign made of them.
TEST(DenormalsOfAKernel, AreNotKeptForSignsOfWhatIsFlushed) {
  EXPECT_EQ(modeOf("  %3 = fneg f32 %0\n  %4 = fma f32 %3, %1, %2 {ftz}\n  write v3, %4\n"), Denormals::Flush);
  EXPECT_EQ(modeOf("  %3 = fabs f32 %0\n  %4 = fneg f32 %3\n  %5 = fma f32 %1, %4, %2 {ftz}\n  write v3, %5\n"),
            Denormals::Flush);
  EXPECT_EQ(modeOf("  %3 = fabs f32 %0\n  %4 = fmul f32 %0, %1 {ftz}\n  write v3, %4\n"), Denormals::Flush);
  EXPECT_EQ(modeOf("  %3 = fneg f32 %0\n  %4 = fmul f32 %3, %1 {ftz}\n  write v3, %4\n  write v2, %3\n"),
            Denormals::Preserve);
  EXPECT_EQ(
      modeOf("  %3 = fabs f32 %0\n  %4 = fneg f32 %3\n  %5 = fmul f32 %3, %1 {ftz}\n  write v3, %4\n  write v2, %5\n"),
      Denormals::Preserve);
}

// A comparison with a large number gives the same of a denormal as of zero, and one with a denormal does not.
TEST(DenormalsOfAKernel, AreNotKeptForComparisonsWithLargeNumbers) {
  const auto compared = [](const std::string& bits) {
    return modeOf(
        "  %3 = fabs f32 %0\n  %4 = const f32 " + bits +
        "\n  %5 = flt bool %4, %3\n  %6 = select f32 %5, %1, %2\n  %7 = fmul f32 %6, %1 {ftz}\n  write v3, %7\n");
  };
  EXPECT_EQ(compared("0x7e800000"), Denormals::Flush);
  EXPECT_EQ(compared("0x00000001"), Denormals::Preserve);
}

// A multiply-add flushes by itself there, with a one and a zero that drivers cannot know.
TEST(FlushingInAKernelThatKeepsDenormals, IsDoneByMultiplyAdds) {
  const TargetProfile profile = flushingDevice();
  const TranslateOptions options;
  ir::Program program;
  passes::PassContext context{profile, options, program};
  const auto legal = [&](const std::string& body) {
    return test::runPass(kernelOfFloats("  %3 = fadd f32 %0, %1\n  write v3, %3\n" + body),
                         [&](ir::Function& function) { passes::LegalizeFloats().run(function, context); });
  };
  for (const char* operation : {"fadd", "fsub", "fmul"}) {
    const std::string text = legal(std::string("  %4 = ") + operation + " f32 %0, %2 {ftz}\n  write v2, %4\n");
    EXPECT_EQ(count(text, "fma f32"), 1u) << text;
    EXPECT_EQ(count(text, "select"), 0u) << text;
    EXPECT_EQ(count(text, "input i32 GridDim"), 2u) << text;
  }
  const std::string compared = legal("  %4 = flt bool %0, %2 {ftz}\n  %5 = select f32 %4, %0, %1\n  write v2, %5\n");
  EXPECT_EQ(count(compared, "fma f32"), 2u) << compared;
  EXPECT_EQ(count(compared, "select"), 1u) << compared;
  // Other roundings have longer ways.
  const std::string down = legal("  %4 = fadd f32 %0, %2 {rm ftz}\n  write v2, %4\n");
  EXPECT_GT(count(down, "select"), 0u) << down;
}

}  // namespace
}  // namespace mulciber
