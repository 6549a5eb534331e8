// A kernel that calls itself twice.
#pragma once

#include <string_view>

namespace mulciber::test {

// Each lane stores the Fibonacci number of its index modulo 8.
inline constexpr std::string_view fibonacci = R"(kernel @k {
  var v0 i32
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 7
  %2 = and i32 %0, %1
  call @fib %2 returns v0
  %3 = read i32 v0
  %4 = const i64 8
  store %4, %3 [global]
  ret
}
function @fib {
  var v0 i32 "n"
  var v1 i32 "result"
  var v2 i32 "first"
  var v3 i32 "begin"
  var v4 bool "overflows"
  parameters v0
  returns v1
  frame v3, v4
b0:
  %0 = read i32 v0
  write v1, %0
  %1 = const i32 2
  %2 = lt.u bool %0, %1
  br %2, b2, b1
b1:
  %3 = const i32 1
  %4 = sub i32 %0, %3
  call @fib %4 returns v2
  %5 = sub i32 %0, %1
  call @fib %5 returns v1
  %6 = read i32 v2
  %7 = read i32 v1
  %8 = add i32 %6, %7
  write v1, %8
  br b2
b2:
  ret
})";

}  // namespace mulciber::test
