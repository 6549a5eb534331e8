#include "translator/passes/lane_addresses.h"

#include "support/run_pass.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

// Without what is left over.
std::string cleaned(const std::string& text, bool isComputed) {
  return test::runPass(text, [&](ir::Function& function) {
    if (isComputed) passes::computeLaneAddresses(function);
    passes::removeCommonSubexpressions(function);
    passes::removeDeadInstructions(function);
  });
}

std::string kernel(const std::string& address, const std::string& lane) {
  return R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 31
  %2 = and i32 %0, %1
  %3 = const i32 2
  %4 = shr.u i32 %2, %3
  %5 = const i32 8
)" + address +
         lane + R"(  %20 = shuffle i32 %10, %19
  %21 = const i32 0xfffffff0
  %22 = and i32 %20, %21
  %23 = load i32 %22 [shared align 4]
  %24 = const i64 4096
  store %24, %23 [global align 4]
  ret
}
)";
}

const char* rows = R"(  %6 = const i32 15
  %7 = and i32 %0, %6
  %8 = const i32 80
  %10 = mul i32 %7, %8
)";

// Of lane 8 + lane / 4 the row is 8 rows further on: 640 bytes.
TEST(LaneAddresses, AreComputedWithTheirConstantsLast) {
  const std::string text = cleaned(kernel(rows, "  %19 = add i32 %4, %5\n"), true);
  EXPECT_EQ(text, R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 31
  %2 = and i32 %0, %1
  %3 = const i32 2
  %4 = shr.u i32 %2, %3
  %5 = const i32 8
  %6 = const i32 15
  %7 = and i32 %0, %6
  %8 = const i32 80
  %9 = mul i32 %7, %8
  %10 = add i32 %4, %5
  %11 = shuffle i32 %9, %10
  %12 = const i32 0xfffffff0
  %13 = const i32 0xffffffe0
  %14 = and i32 %0, %13
  %15 = add i32 %14, %4
  %16 = and i32 %15, %6
  %17 = mul i32 %16, %8
  %18 = const i32 640
  %19 = sub i32 %11, %18
  %20 = input i32 BlockDimY
  %21 = const i32 1
  %22 = eq bool %20, %21
  %23 = input i32 BlockDimZ
  %24 = eq bool %23, %21
  %25 = input i32 BlockDimX
  %26 = and i32 %25, %1
  %27 = const i32 0
  %28 = eq bool %26, %27
  %29 = and bool %22, %24
  %30 = or bool %29, %28
  %31 = select i32 %30, %17, %19
  %32 = and i32 %31, %12
  %33 = add i32 %32, %18
  %34 = load i32 %33 [shared align 4]
  %35 = const i64 4096
  store %35, %34 [global align 4]
  ret
}
)");
}

TEST(LaneAddresses, AreAskedForWhereTheyWereLoaded) {
  const std::string text = kernel("  %10 = load i32 %2 [shared align 4]\n", "  %19 = add i32 %4, %5\n");
  EXPECT_EQ(cleaned(text, true), cleaned(text, false));
}

TEST(LaneAddresses, AreAskedForWhereAFieldIsPutIntoMoreThanAWord) {
  const std::string field = R"(  %11 = zext i64 %0
  %12 = const i32 32
  %13 = bitinsert i64 %11, %11, %12, %12
  %10 = trunc i32 %13
)";
  const std::string text = kernel(field, "  %19 = add i32 %4, %5\n");
  EXPECT_EQ(cleaned(text, true), cleaned(text, false));
}

TEST(LaneAddresses, AreAskedForWhereTheLaneMayBeAny) {
  const std::string text = kernel(rows, "  %19 = load i32 %2 [shared align 4]\n");
  EXPECT_EQ(cleaned(text, true), cleaned(text, false));
  // Joining bits and adding differ.
  const std::string carries = kernel(rows, "  %18 = const i32 4\n  %19 = add i32 %4, %18\n");
  EXPECT_EQ(cleaned(carries, true), cleaned(carries, false));
}

}  // namespace
}  // namespace mulciber
