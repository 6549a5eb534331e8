#include "translator/passes/lone_stores.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether what these stores put into private memory is hidden.
bool hides(const std::string& stores) {
  const std::string text =
      "kernel @k local=16 structured ssa {\nb0:\n  %0 = input i32 GridDimX\n  %1 = const i32 8\n  %2 = const i32 12\n"
      "  %3 = bitcast f32 %0\n  %4 = add i32 %0, %1\n" +
      stores + "  ret\n}\n";
  return test::runPass(text, passes::hideLoneStores).find("xor") != std::string::npos;
}

TEST(LoneStores, OneValueIsHidden) {
  EXPECT_TRUE(hides("  store %1, %0 [local align 4]\n"));
  EXPECT_TRUE(hides("  store %1, %3 [local align 4]\n"));
  EXPECT_TRUE(hides("  store %1, %4 [local align 4]\n"));
}

TEST(LoneStores, SoIsOneThatIsStoredTwice) {
  EXPECT_TRUE(hides("  store %1, %0 [local align 4]\n  store %2, %0 [local align 4]\n"));
  EXPECT_TRUE(hides("  store %1, %0 [local align 4]\n  store %2, %3 [local align 4]\n"));
}

TEST(LoneStores, SoAreThePartsOfOne) {
  EXPECT_TRUE(
      hides("  %5 = trunc i16 %0\n  %6 = const i32 16\n  %7 = shr.u i32 %0, %6\n  %8 = trunc i16 %7\n"
            "  store %1, %5 [local align 2]\n  store %2, %8 [local align 2]\n"));
}

TEST(LoneStores, OthersStay) {
  EXPECT_FALSE(hides("  store %1, %0 [local align 4]\n  store %2, %4 [local align 4]\n"));
  EXPECT_FALSE(hides("  store %1, %2 [local align 4]\n"));
  EXPECT_FALSE(hides("  store %1, %0 [shared align 4]\n"));
  EXPECT_FALSE(hides("  %5 = vec <4 x i32> %0, %4, %0, %4\n  store %1, %5 [local align 4]\n"));
  EXPECT_FALSE(hides(""));
}

}  // namespace
}  // namespace mulciber
