// How a kernel treats denormals, which legalize_floats decides by its operations.
#include "translator/passes/legalize_floats.h"

#include "passes/flushing_device.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

using ir::Denormals, test::flushingDevice, test::kernelOfFloats;

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

}  // namespace
}  // namespace mulciber
