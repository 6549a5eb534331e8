// Multiply-adds that flush, repaired at the end of legalize_floats.
#include "passes/flushing_device.h"
#include "support/run_pass.h"
#include "translator/passes/legalize_floats.h"

namespace mulciber {
namespace {

using test::count, test::flushingDevice, test::kernelOfFloats;

std::string repaired(const std::string& text, bool isAsked = true, const TargetProfile& profile = flushingDevice()) {
  TranslateOptions options;
  options.exactDenormals = isAsked;
  ir::Program program;
  passes::PassContext context{profile, options, program};
  return test::runPass(
      text, [&](ir::Function& function) { passes::LegalizeFloats(passes::Repair::Runs).run(function, context); });
}

TEST(FmaRepair, OneBranchForMany) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = fma f32 %0, %1, %2
  %4 = fma f32 %3, %1, %2
  %5 = fmul f32 %4, %0
  %6 = fma f32 %5, %0, %4
  write v3, %6
)"));
  EXPECT_EQ(count(text, "fma f32"), 3u) << text;
  EXPECT_EQ(count(text, "br %"), 2u) << text;  // whether something is small, and whether that is wrong
  EXPECT_EQ(count(text, "write v3"), 2u) << text;
  EXPECT_EQ(count(text, "fmul f32 "), 2u) << text;  // of the wrong sum and of the right one
}

// Of the sums only what is a factor is measured: the first is none.
TEST(FmaRepair, MeasuresFactorsAndFirstAddends) {
  const std::string chain = repaired(kernelOfFloats(R"(  %3 = fma f32 %0, %1, %2
  %4 = fma f32 %1, %1, %3
  %5 = fneg f32 %4
  %6 = fma f32 %0, %0, %5
  write v3, %6
)"));
  EXPECT_EQ(count(chain, "fmin f32"), 1u) << chain;
  EXPECT_EQ(count(chain, "flt bool"), 2u + 3 * 2) << chain;  // of which two are of each sum in f64
  const std::string product = repaired(kernelOfFloats(R"(  %3 = fmul f32 %0, %0
  %4 = fma f32 %1, %1, %3
  %5 = fneg f32 %0
  %6 = fma f32 %5, %1, %4
  write v3, %6
)"));
  EXPECT_EQ(count(product, "fmin f32"), 1u) << product;  // of the two factors: nothing else is measured
  const std::string known = repaired(kernelOfFloats(R"(  %3 = const f32 0x3e800000
  %4 = const f32 0x0
  %5 = fma f32 %3, %3, %4
  write v3, %5
)"));
  EXPECT_EQ(count(known, "br "), 0u) << known;
}

// Where there are many, zeros are told from small numbers first, and larger numbers are multiplied before f64 is.
TEST(FmaRepair, ManyAreRepeatedWithLargerNumbers) {
  const auto chain = [](unsigned sums) {
    std::string body, last = "%0";
    for (unsigned n = 0; n < sums; ++n) {
      const std::string next = "%" + std::to_string(n + 3);
      body += "  " + next + " = fma f32 " + last + ", %1, %2\n";
      last = next;
    }
    return repaired(kernelOfFloats(body + "  write v3, " + last + "\n"));
  };
  const std::string few = chain(11), many = chain(12);
  EXPECT_EQ(count(few, "br %"), 2u) << few;
  EXPECT_EQ(count(few, "fma f32"), 11u) << few;
  EXPECT_EQ(count(many, "br %"), 3u) << many;
  EXPECT_EQ(count(many, "fma f32"), 3u * 12) << many;  // the device's, and two of larger numbers
  EXPECT_EQ(count(many, "min.u i32"), 12u) << many;    // of 13 factors
  EXPECT_EQ(count(chain(600), "fma f32"), 600u);       // larger functions take too long to compile
}

TEST(FmaRepair, EndsARunBeforeWhatIsNotDoneTwice) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = const i64 64
  %4 = fma f32 %0, %1, %2
  store %3, %4 [global]
  %5 = fma f32 %0, %0, %2
  store %3, %5 [global]
)"));
  EXPECT_EQ(count(text, "br %"), 4u) << text;
  EXPECT_EQ(count(text, "store "), 2u) << text;
}

TEST(FmaRepair, LeavesOthersAlone) {
  const std::string flushes = kernelOfFloats("  %3 = fma f32 %0, %1, %2 {ftz}\n  write v3, %3\n");
  const std::string keeps = kernelOfFloats("  %3 = fma f32 %0, %1, %2\n  write v3, %3\n");
  EXPECT_EQ(count(repaired(flushes), "br %"), 0u);
  EXPECT_EQ(count(repaired(keeps, false), "br %"), 0u);
  TargetProfile exact = flushingDevice();
  exact.exactFma32 = true;
  EXPECT_EQ(count(repaired(keeps, true, exact), "br %"), 0u);
}

}  // namespace
}  // namespace mulciber
