#include "translator/passes/address_spaces.h"

#include <gmock/gmock.h>

#include "support/run_pass.h"

namespace mulciber {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string resolve(std::string_view text, bool hasShared = true, bool hasLocal = false) {
  ir::Program program;
  program.hasGenericShared = hasShared;
  program.hasGenericLocal = hasLocal;
  return test::runPass(text, [&](ir::Function& function) { passes::resolveAddressSpaces(function, program); });
}

TEST(AddressSpaces, AWindowTellsTheSpace) {
  EXPECT_EQ(resolve(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = zext i64 %0
  %2 = const i64 72057594037927936
  %3 = or i64 %1, %2
  %4 = const i64 16
  %5 = add i64 %3, %4
  %6 = load i32 %5 [generic align 4]
  store %5, %6 [generic align 4]
  ret
})"),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = zext i64 %0
  %2 = const i64 0x100000000000000
  %3 = or i64 %1, %2
  %4 = const i64 16
  %5 = add i64 %3, %4
  %6 = trunc i32 %5
  %7 = load i32 %6 [shared align 4]
  %8 = trunc i32 %5
  store %8, %7 [shared align 4]
  ret
}
)");
}

constexpr std::string_view loadedPointer = R"(kernel @k structured ssa {
b0:
  %0 = input i64 ModuleData
  %1 = load i64 %0 [global align 8]
  %2 = load i32 %1 [generic align 4]
  %3 = load i32 %1 [generic align 4]
  %4 = add i32 %2, %3
  store %0, %4 [global align 4]
  ret
})";

TEST(AddressSpaces, WithoutGenericSharedAddressesALoadedPointerIsGlobal) {
  std::string text = resolve(loadedPointer, false);
  EXPECT_THAT(text, HasSubstr("load i32 %1 [global align 4]"));
  EXPECT_THAT(text, Not(HasSubstr("generic")));
  EXPECT_THAT(text, Not(HasSubstr("b1:")));
}

TEST(AddressSpaces, AnUnknownPointerIsTested) {
  EXPECT_EQ(resolve(loadedPointer), R"(kernel @k structured ssa {
b0:
  %0 = input i64 ModuleData
  %1 = load i64 %0 [global align 8]
  %2 = const i32 56
  %3 = shr.u i64 %1, %2
  %4 = trunc i32 %3
  %5 = const i32 1
  %6 = eq bool %4, %5
  merge b3
  br %6, b1, b2
b1:
  %7 = trunc i32 %1
  %8 = load i32 %7 [shared align 4]
  br b3
b2:
  %9 = load i32 %1 [global align 4]
  br b3
b3:
  %10 = phi i32 [%8, b1], [%9, b2]
  %11 = const i32 56
  %12 = shr.u i64 %1, %11
  %13 = trunc i32 %12
  %14 = const i32 1
  %15 = eq bool %13, %14
  merge b6
  br %15, b4, b5
b4:
  %16 = trunc i32 %1
  %17 = load i32 %16 [shared align 4]
  br b6
b5:
  %18 = load i32 %1 [global align 4]
  br b6
b6:
  %19 = phi i32 [%17, b4], [%18, b5]
  %20 = add i32 %10, %19
  store %0, %20 [global align 4]
  ret
}
)");
}

TEST(AddressSpaces, ThreeSpacesTakeASwitch) {
  std::string text = resolve(loadedPointer, true, true);
  EXPECT_THAT(text, HasSubstr("switch %4"));
  EXPECT_THAT(text, HasSubstr("[local align 4]"));
}

TEST(AddressSpaces, AKernelParameterIsGlobal) {
  std::string text = resolve(R"(kernel @k structured ssa {
b0:
  %0 = const i32 0
  %1 = load i64 %0 [param align 8]
  %2 = const i64 4
  %3 = add i64 %1, %2
  %4 = load i32 %3 [generic align 4]
  store %1, %4 [generic align 4]
  ret
})");
  EXPECT_THAT(text, Not(HasSubstr("generic")));
  EXPECT_THAT(text, Not(HasSubstr("shared")));
}

TEST(AddressSpaces, TheDistanceOfSharedAddressesIsNoSharedAddress) {
  std::string text = resolve(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = zext i64 %0
  %2 = const i64 72057594037927936
  %3 = or i64 %1, %2
  %4 = sub i64 %3, %2
  %5 = input i64 ModuleData
  %6 = add i64 %5, %4
  %7 = load i32 %6 [generic align 4]
  store %5, %7 [global align 4]
  ret
})");
  EXPECT_THAT(text, HasSubstr("load i32 %6 [global align 4]"));
}

// Shared memory from its end: the window and a negative distance have become one constant.
TEST(AddressSpaces, AConstantJustBelowAWindowIsOfThatWindow) {
  std::string text = resolve(R"(kernel @k structured ssa {
b0:
  %0 = input i32 DynamicSharedSize
  %1 = zext i64 %0
  %2 = const i64 0xFFFFFFFFFFFFF8
  %3 = add i64 %1, %2
  %4 = load i32 %3 [generic align 4]
  %5 = input i64 ModuleData
  store %5, %4 [global align 4]
  ret
})");
  EXPECT_THAT(text, HasSubstr("load i32 %4 [shared align 4]"));
}

TEST(AddressSpaces, AConstantFarFromAWindowLeavesEverySpace) {
  std::string text = resolve(R"(kernel @k structured ssa {
b0:
  %0 = input i64 ModuleData
  %1 = const i64 0x5500000000000000
  %2 = add i64 %0, %1
  %3 = load i32 %2 [generic align 4]
  store %0, %3 [global align 4]
  ret
})");
  EXPECT_THAT(text, HasSubstr("[shared align 4]"));
  EXPECT_THAT(text, HasSubstr("load i32 %2 [global align 4]"));
}

TEST(AddressSpaces, WordsShiftedTogetherMayBeAnAddressOfAnySpace) {
  auto shiftedBy = [](const std::string& amount) {
    return resolve(R"(kernel @k structured ssa {
b0:
  %0 = input i64 ModuleData
  %1 = load i32 %0 [global align 4]
  %2 = zext i64 %1
  %3 = const i32 )" +
                   amount + R"(
  %4 = shl i64 %2, %3
  %5 = add i64 %0, %4
  %6 = load i32 %5 [generic align 4]
  store %0, %6 [global align 4]
  ret
})");
  };
  EXPECT_THAT(shiftedBy("32"), HasSubstr("[shared align 4]"));
  EXPECT_THAT(shiftedBy("3"), Not(HasSubstr("shared")));  // an index
}

TEST(AddressSpaces, ALoopOverSharedMemoryNeedsNoTest) {
  std::string text = resolve(R"(kernel @k structured ssa {
b0:
  %0 = const i64 72057594037927936
  %1 = const i64 4
  %2 = const i32 8
  br b1
b1:
  %3 = phi i64 [%0, b0], [%5, b3]
  loop b4 continue b3
  br b2
b2:
  %4 = load i32 %3 [generic align 4]
  %5 = add i64 %3, %1
  %6 = eq bool %4, %2
  merge b5
  br %6, b4, b5
b5:
  br b3
b3:
  br b1
b4:
  ret
})");
  EXPECT_THAT(text, HasSubstr("[shared align 4]"));
  EXPECT_THAT(text, Not(HasSubstr("[global")));
}

}  // namespace
}  // namespace mulciber
