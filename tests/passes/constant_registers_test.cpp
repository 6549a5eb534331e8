#include "translator/passes/constant_registers.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

TEST(ConstantRegisters, CopiesOfAConstantAreTheConstant) {
  EXPECT_EQ(test::runPass(R"(kernel @k {
  var v0 i32
  var v1 i32
  var v2 i32
b0:
  %0 = const i32 7
  write v0, %0
  %1 = read i32 v0
  write v1, %1
  %2 = read i32 v1
  write v2, %2
  br b1
b1:
  %3 = read i32 v2
  %4 = add i32 %3, %3
  write v2, %4
  br b1
})",
                          passes::useConstantRegisters),
            R"(kernel @k {
  var v0 i32
  var v1 i32
  var v2 i32
b0:
  %0 = const i32 7
  write v0, %0
  %1 = const i32 7
  write v1, %1
  %2 = const i32 7
  write v2, %2
  br b1
b1:
  %3 = read i32 v2
  %4 = add i32 %3, %3
  write v2, %4
  br b1
}
)");
}

}  // namespace
}  // namespace mulciber
