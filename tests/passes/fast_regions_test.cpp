// Regions whose multiply-adds are taken as the device computes them at first, at the end of legalize_floats.
#include "passes/flushing_device.h"
#include "support/run_pass.h"
#include "translator/passes/legalize_floats.h"

namespace mulciber {
namespace {

using test::count, test::flushingDevice, test::kernelOfFloats;

std::string repaired(const std::string& text, passes::Repair repair = passes::Repair::Regions) {
  TargetProfile profile = flushingDevice();
  profile.accurateExp2 = profile.denormsByDefault32 = true;
  const TranslateOptions options;
  ir::Program program;
  passes::PassContext context{profile, options, program};
  return test::runPass(text, [&](ir::Function& function) { passes::LegalizeFloats(repair).run(function, context); });
}

TEST(FastRegions, OneBranchForManyAndTheirCopies) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = fma f32 %0, %1, %2
  %4 = fma f32 %3, %1, %2
  %5 = fmul f32 %4, %0
  %6 = fma f32 %5, %0, %4
  write v3, %6
)"));
  EXPECT_EQ(count(text, "fma f32"), 6u) << text;
  EXPECT_EQ(count(text, "br %"), 3u) << text;       // behind all, and in the copy: is any small, and is that wrong
  EXPECT_EQ(count(text, "min.u i32"), 5u) << text;  // of v0, v1, v2, of %3 and of %5
}

// Of the sums only what is a factor is looked at: the first is none.
TEST(FastRegions, LooksAtFactorsAndFirstAddends) {
  const std::string chain = repaired(kernelOfFloats(R"(  %3 = fma f32 %0, %1, %2
  %4 = fma f32 %1, %1, %3
  %5 = fneg f32 %4
  %6 = fma f32 %0, %0, %5
  write v3, %6
)"));
  EXPECT_EQ(count(chain, "min.u i32"), 3u) << chain;
  const std::string product = repaired(kernelOfFloats(R"(  %3 = fmul f32 %0, %0
  %4 = fma f32 %1, %1, %3
  %5 = fneg f32 %0
  %6 = fma f32 %5, %1, %4
  write v3, %6
)"));
  EXPECT_EQ(count(product, "min.u i32"), 2u) << product;  // of the two factors: nothing else is looked at
  const std::string known = repaired(kernelOfFloats(R"(  %3 = const f32 0x3e800000
  %4 = const f32 0x0
  %5 = fma f32 %3, %3, %4
  write v3, %5
)"));
  EXPECT_EQ(count(known, "br "), 0u) << known;
}

// A large constant makes large products of denormals, but the device takes these for zeros.
TEST(FastRegions, LooksAtFactorsOfLargeConstants) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = const f32 0xf553a27e
  %4 = const f32 0x80800000
  %5 = fma f32 %0, %3, %4
  write v3, %5
)"));
  EXPECT_EQ(count(text, "fma f32"), 2u) << text;
  EXPECT_GE(count(text, "br %"), 1u) << text;
}

// Exponentials are not looked at, but bounded, and the sum is: with what was added, and with 2^24 products less than
// that.
TEST(FastRegions, LooksAtSumsOfExponentials) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = fexp2 f32 %0
  %4 = fma f32 %3, %1, %2
  write v3, %4
)"));
  EXPECT_EQ(count(text, "fma f32"), 4u) << text;    // the sum, two for the look, and the copy's
  EXPECT_EQ(count(text, "min.u i32"), 3u) << text;  // of v1, v2 and the sum
  EXPECT_EQ(count(text, "fmax f32"), 1u) << text;
  // A constant that is added is never changed by a denormal exponential.
  const std::string sigmoid = repaired(kernelOfFloats(R"(  %3 = fexp2 f32 %0
  %4 = const f32 0x3f800000
  %5 = fma f32 %3, %4, %4
  write v3, %5
)"));
  EXPECT_EQ(count(sigmoid, "min.u i32"), 0u) << sigmoid;
}

// Three factors of which each two are multiplied cannot be in two groups; two others beside them can.
TEST(FastRegions, DividesFactorsThatCanBeInTwoGroups) {
  const std::string three = R"(  %3 = fma f32 %0, %1, %1
  %4 = fma f32 %1, %2, %3
  %5 = fma f32 %0, %2, %4
  write v3, %5
)";
  const std::string two = R"(  %6 = const i64 64
  %7 = load f32 %6 [global align 4]
  %8 = const i64 68
  %9 = load f32 %8 [global align 4]
  %10 = fma f32 %7, %9, %7
  write v2, %10
)";
  const auto divided = [](const std::string& body) { return count(repaired(kernelOfFloats(body)), "shr.u i32"); };
  // One shift is the second copy's; the others are for the exponents of both groups' least.
  EXPECT_EQ(divided(three), 1u);
  EXPECT_EQ(divided(two), 3u);
  EXPECT_EQ(divided(three + two), 3u);
}

// The square of a number from 2^-56 on is normal, so a polynomial of it asks for nothing more.
TEST(FastRegions, DividesFactorsWhoseSquaresStandInPolynomials) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = fmul f32 %0, %0
  %4 = const f32 0x3f000000
  %5 = fma f32 %3, %2, %4
  %6 = fma f32 %3, %5, %4
  %7 = fma f32 %0, %1, %6
  write v3, %7
)"));
  EXPECT_EQ(count(text, "shr.u i32"), 3u) << text;
}

// Of two complex numbers, whose imaginary parts are only in a product that stands alone.
TEST(FastRegions, DividesFactorsOfComplexProducts) {
  const std::string text = repaired(kernelOfFloats(R"(  %6 = const i64 64
  %7 = load f32 %6 [global align 4]
  %8 = fmul f32 %1, %7
  %9 = fneg f32 %8
  %10 = fma f32 %0, %2, %9
  %11 = fmul f32 %1, %2
  %12 = fma f32 %0, %7, %11
  write v2, %10
  write v3, %12
)"));
  EXPECT_EQ(count(text, "shr.u i32"), 3u) << text;
}

// A sample can be repeated. One whose image is chosen by a sum waits until it is known that the sum is right; one whose
// coordinates are made of sums does not.
TEST(FastRegions, ReachAcrossSamples) {
  const auto ofSamples = [](const std::string& image, const std::string& x) {
    return repaired(kernelOfFloats(R"(  %3 = const i32 5
  %4 = fma f32 %0, %1, %2
  %5 = bitcast i32 %4
  %6 = image.sample <4 x f32> line, )" +
                                   image + ", %3, %0, " + x + R"(
  %7 = extract f32 %6, 0
  %8 = fma f32 %7, %1, %4
  write v3, %8
)"));
  };
  const std::string plain = ofSamples("%3", "%0"), moved = ofSamples("%3", "%4"), chosen = ofSamples("%5", "%0");
  EXPECT_EQ(count(plain, "image.sample"), 2u) << plain;  // in the region, and in its copy
  EXPECT_EQ(count(moved, "image.sample"), 2u) << moved;
  EXPECT_EQ(count(chosen, "image.sample"), 2u) << chosen;
  EXPECT_EQ(count(chosen, "br %"), count(moved, "br %") + 1) << chosen;
}

TEST(FastRegions, NothingIsDoneTwiceThatMustNotBe) {
  const std::string text = repaired(kernelOfFloats(R"(  %3 = const i64 64
  %4 = fma f32 %0, %1, %2
  store %3, %4 [global]
  %5 = fma f32 %0, %0, %2
  store %3, %5 [global]
)"));
  EXPECT_EQ(count(text, "br %"), 6u) << text;
  EXPECT_EQ(count(text, "store "), 2u) << text;
}

// A loop over an array, whose sum is v1.
std::string loop(const std::string& body) {
  return R"(kernel @k {
  var v0 i64
  var v1 f32
  var v2 i32
  var v3 f32
b0:
  %0 = const i64 4096
  write v0, %0
  %1 = const i32 0
  write v2, %1
  br b1
b1:
  %2 = read i64 v0
  %3 = load f32 %2 [global align 4]
  %4 = read f32 v1
  %5 = read f32 v3
  %6 = fma f32 %3, %5, %4
  write v1, %6
  %7 = const i64 4
  %8 = add i64 %2, %7
  write v0, %8
  %9 = read i32 v2
  %10 = const i32 1
  %11 = add i32 %9, %10
  write v2, %11
)" + body +
         R"(b2:
  %20 = const i64 64
  %21 = read f32 v1
  store %20, %21 [global]
  ret
}
)";
}

// The blocks with the first attempt's multiply-adds, and those that they lead to by branches, up to the copy.
TEST(FastRegions, LoopsAreDecidedBehindThem) {
  const std::string text = repaired(loop(R"(  %12 = const i32 100
  %13 = lt.u bool %11, %12
  br %13, b1, b2
)"));
  // In the loop one look at what was loaded; before it one at the factor and one at the sum.
  EXPECT_EQ(count(text, "min.u i32"), 3u) << text;
  // Of the loop and its copy, behind the loop, and two in the copy.
  EXPECT_EQ(count(text, "br %"), 5u) << text;
  EXPECT_EQ(count(text, "nounroll"), 1u) << text;  // the copy
  EXPECT_EQ(count(text, "store "), 1u) << text;
}

// A loop of many multiply-adds, each of a number that `makeNumber` makes of another one.
std::string longLoop(const std::string& makeNumber, unsigned sums) {
  std::string body, sum = "%6";
  for (unsigned n = 0; n < sums; ++n) {
    const std::string to = "%" + std::to_string(100 + 4 * n), number = "%" + std::to_string(101 + 4 * n),
                      next = "%" + std::to_string(102 + 4 * n);
    body += "  " + to + " = fadd f32 %5, %3\n  " + number + " = " + makeNumber + " " + to + "\n  " + next +
            " = fma f32 " + number + ", %5, " + sum + "\n";
    sum = next;
  }
  return loop(body + "  write v1, " + sum + R"(
  %12 = const i32 100
  %13 = lt.u bool %11, %12
  br %13, b1, b2
)");
}

// Somewhere in a loop exponentials are often too small, so long rounds are regions of their own. The copy of a loop is
// not unrolled, and the copy of a round is no loop.
TEST(FastRegions, LongRoundsOfExponentialsAreRepeatedAlone) {
  const auto copiesOfLoops = [](const std::string& text) { return count(repaired(text), "nounroll"); };
  EXPECT_EQ(copiesOfLoops(longLoop("fneg f32", 40)), 1u);
  EXPECT_EQ(copiesOfLoops(longLoop("fexp2 f32", 40)), 0u);
  EXPECT_EQ(copiesOfLoops(longLoop("fexp2 f32", 4)), 1u);  // short rounds
  // Numbers of shared memory may be exponentials where such are stored.
  std::string text = longLoop("fmul f32 %3,", 40);
  const auto replace = [&](const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("  %3 = load f32 %2 [global align 4]", "  %90 = trunc i32 %2\n  %3 = load f32 %90 [shared align 4]");
  EXPECT_EQ(copiesOfLoops(text), 1u);
  replace("  store %20, %21 [global]", "  %22 = fexp2 f32 %21\n  %23 = const i32 64\n  store %23, %22 [shared]");
  EXPECT_EQ(copiesOfLoops(text), 0u);
}

// A loop that a sum ends might never end, or load what is not there, if the sum were wrong.
TEST(FastRegions, LoopsThatSumsEndAreDecidedInThem) {
  const std::string text = repaired(loop(R"(  %12 = const f32 0x42c80000
  %13 = flt bool %6, %12
  br %13, b1, b2
)"));
  EXPECT_EQ(count(text, "br %"), 5u) << text;
  EXPECT_EQ(count(text, "lt.u bool"), 2u * 2 + 3) << text;  // of two sizes in the loop and behind it; in the copy
}

TEST(FastRegions, AddressesOfSumsAreDecidedBefore) {
  const std::string body = R"(  %3 = fma f32 %0, %1, %2
  %4 = ftou i64 %3
  %5 = load f32 %4 [global align 4]
  write v3, %5
)";
  EXPECT_EQ(count(repaired(kernelOfFloats(body)), "br %"), 4u) << repaired(kernelOfFloats(body));
}

TEST(FastRegions, AreMadeWhereTheyAreCheaper) {
  // A sum that a loop carries: what was loaded is looked at, by one operation more than a run's, but without a branch.
  const std::string counted = loop(R"(  %12 = const i32 100
  %13 = lt.u bool %11, %12
  br %13, b1, b2
)");
  EXPECT_EQ(repaired(counted, passes::Repair::Cheaper), repaired(counted));
  // A sum that may end the loop is asked for together with what was looked at.
  const std::string ending = loop(R"(  %12 = const f32 0x42c80000
  %13 = flt bool %6, %12
  br %13, b1, b2
)");
  EXPECT_EQ(repaired(ending, passes::Repair::Cheaper), repaired(ending));
  // Each round waits for what was looked at, since a sum decides what is loaded.
  const std::string waiting = loop(R"(  %12 = const f32 0x42c80000
  %13 = flt bool %6, %12
  br %13, b3, b4
b3:
  %14 = load f32 %8 [global align 4]
  write v1, %14
  br b4
b4:
  %15 = const i32 100
  %16 = lt.u bool %11, %15
  br %16, b1, b2
)");
  EXPECT_EQ(repaired(waiting, passes::Repair::Cheaper), repaired(waiting, passes::Repair::Runs));
  EXPECT_NE(repaired(waiting), repaired(waiting, passes::Repair::Runs));
}

}  // namespace
}  // namespace mulciber
