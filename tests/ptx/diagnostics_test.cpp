// What is said about text that is wrong: the words, the place, the suggestion; and that parsing goes on behind it.
#include <gtest/gtest.h>

#include "translator/ptx/parser.h"

namespace mulciber::ptx {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string messagesOf(const std::string& text) {
  Diagnostics diagnostics;
  auto holder = parse(text, "k.ptx", diagnostics);
  EXPECT_EQ(holder == nullptr, diagnostics.hasErrors()) << text;
  return diagnostics.toString();
}

// The first message without its place and excerpt, for module-scope text.
std::string first(const std::string& text) {
  Diagnostics diagnostics;
  parse(kHead + text, "k.ptx", diagnostics);
  return diagnostics.messages().empty() ? "" : diagnostics.messages()[0].text;
}
std::string firstInBody(const std::string& text) {
  return first(
      ".func f(.param .b32 a) { ret; }\n.global .u32 table[4];\n.entry k() {\n.reg .b32 %r<4>; .reg .pred %p;\n" +
      text + "\n}\n");
}

TEST(Messages, PointAtTheWord) {
  EXPECT_EQ(messagesOf(kHead + ".entry k() {\n\t.reg .f32 %f<3>;\n\tadd.f33 \t%f1, %f2, %f3;\n\tret;\n}\n"),
            "k.ptx:6:5: error: unknown modifier '.f33'; did you mean '.f32'?\n"
            "\tadd.f33 \t%f1, %f2, %f3;\n"
            "\t   ^~~~\n"
            "k.ptx:6:21: error: '%f3' is not among the registers %f<3>, which end with %f2\n"
            "\tadd.f33 \t%f1, %f2, %f3;\n"
            "\t        \t          ^~~\n");
}

TEST(Messages, ColouredOnRequest) {
  Diagnostics diagnostics;
  parse("x", "k.ptx", diagnostics);
  EXPECT_EQ(diagnostics.toString(true),
            "\033[1mk.ptx:1:1: \033[1;31merror: \033[0m\033[1ma PTX module must begin with .version\033[0m\n"
            "x\n\033[1;32m^\033[0m\n");
}

TEST(Messages, SuggestTheNearestWord) {
  EXPECT_EQ(firstInBody("movv.u32 %r1, 0;"), "unknown instruction 'movv'; did you mean 'mov'?");
  EXPECT_EQ(firstInBody("ld.gloabl.u32 %r1, [table];"), "unknown modifier '.gloabl'; did you mean '.global'?");
  EXPECT_EQ(firstInBody("ld.global.u32 %r1, [tabel];"), "the name 'tabel' is not declared; did you mean 'table'?");
  EXPECT_EQ(firstInBody("$L__BB0_1: bra $L_BB0_1;"),
            "the label '$L_BB0_1' is not defined here; did you mean '$L__BB0_1'?");
  EXPECT_EQ(first(".visibel .entry k() { ret; }"), "unknown directive '.visibel'; did you mean '.visible'?");
  EXPECT_EQ(first(".global .u31 x;"), "unknown type '.u31'; did you mean '.u32'?");
  EXPECT_EQ(firstInBody("frobnicate.u32 %r1, 0;"), "unknown instruction 'frobnicate'");
}

TEST(Messages, GoOnAfterAnError) {
  Diagnostics diagnostics;
  parse(kHead +
            ".entry a() {\n.reg .b32 %r<3>;\nmov.u32 %r1 %r2;\nmov.u32 %r1, {%r2 %r1};\nbogus;\n{ mov.u32 [, 1; "
            "}\nret;\n}\n"
            ".globl .u32 x;\n.entry b() { trap }\n.entry a() { ret; }\n",
        "k.ptx", diagnostics);
  std::vector<uint32_t> lines;
  for (const auto& message : diagnostics.messages())
    if (message.severity == Diagnostics::Severity::Error) lines.push_back(message.line);
  EXPECT_EQ(lines, (std::vector<uint32_t>{6, 7, 8, 9, 12, 13, 14})) << diagnostics.toString();
}

TEST(Messages, StopAfterFifty) {
  std::string text = kHead + ".entry k() {\n";
  for (int i = 0; i < 1000; ++i) text += "bogus;\n";
  Diagnostics diagnostics;
  parse(text + "}\n", "k.ptx", diagnostics);
  EXPECT_EQ(diagnostics.messages().size(), Diagnostics::kMaxErrors + 1);
  EXPECT_EQ(diagnostics.messages().back().text, "too many errors, the rest is not shown");
}

TEST(Messages, ShowOnlyAPartOfALongLine) {
  Diagnostics diagnostics;
  parse(kHead + ".entry k() { " + std::string(5000, ' ') + "bogus;" + std::string(5000, ' ') + "}", "k.ptx",
        diagnostics);
  const auto& message = diagnostics.messages().at(0);
  EXPECT_EQ(message.column, 5014u);
  EXPECT_LT(message.sourceLine.size(), 200u);
  EXPECT_EQ(message.sourceLine.substr(message.caret, 6), "bogus;");
}

TEST(Messages, DuplicatesNameBothPlaces) {
  EXPECT_EQ(messagesOf(kHead + ".global .u32 x;\n.const .f32 x;\n"),
            "k.ptx:5:13: error: 'x' is already declared in this scope\n"
            ".const .f32 x;\n"
            "            ^\n"
            "k.ptx:4:14: note: the earlier declaration is here\n"
            ".global .u32 x;\n"
            "             ^\n");
}

TEST(Messages, OfTheLexer) {
  EXPECT_EQ(firstInBody("mov.u32 %r1, 0f3F80;"), "0f must be followed by exactly 8 hexadecimal digits");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 09;"), "a number that begins with 0 is octal and has no digits 8 and 9");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 5L;"), "this is not a number");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 0x;"), "0x must be followed by hexadecimal digits");
  EXPECT_EQ(firstInBody("mov.u32 %r1, #;"), "this character has no meaning in PTX");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 18446744073709551616;"), "this number is out of range");
  EXPECT_EQ(first(".pragma \"open;\n"), "this string is not closed on its line");
  EXPECT_EQ(first("/* open"), "this comment is not closed");
  EXPECT_EQ(first(std::string(".global .u32 x\0;", 16)), "the text holds a zero byte");
}

TEST(Messages, OfDeclarations) {
  EXPECT_EQ(first(".global .u32 a[2] = {1, 2, 3};"), "too many values for 'a'");
  EXPECT_EQ(first(".global .u32 a[2][2] = {1, 2};"),
            "expected '{': the values of each dimension have their own braces");
  EXPECT_EQ(first(".global .u32 a = {1};"), "more nested braces than 'a' has dimensions");
  EXPECT_EQ(first(".global .u32 a = 1.5;"), "a variable of type .u32 takes no floating-point values");
  EXPECT_EQ(first(".global .f32 a = 1;"), "expected a floating-point value, as the variable's type is .f32");
  EXPECT_EQ(first(".global .align 3 .u32 a;"), "an alignment must be a power of two");
  EXPECT_EQ(first(".shared .u32 s; .global .u64 a = s;"),
            "only the address of a .global or .const variable can be an initial value");
  EXPECT_EQ(first(".extern .global .u32 x; .global .u32 x;"),
            "'x' was declared .extern, so it must be .visible, .weak or .common");
  EXPECT_EQ(first(".global .u32 a[0x1000000000][0x1000000000];"), "'a' is too large");
}

TEST(Messages, OfFunctions) {
  EXPECT_EQ(first(".func f(.param .b32 a); .func f(.param .b64 a) { ret; }"),
            "'f' was declared before with other parameters");
  EXPECT_EQ(first(".func f() { ret; } .func f() { ret; }"), "'f' is already declared in this scope");
  EXPECT_EQ(first(".visible .func f(); .visible .func f() .noreturn { exit; }"),
            "'f' was declared before, once with and once without .noreturn");
  EXPECT_EQ(first(".extern .func f(); .visible .func f() { ret; }"),
            "'f' was declared before with another of .extern, .weak and .visible, or with none");
  EXPECT_EQ(first(".entry k() {\n ret;\n"), "the body of 'k' is not closed");
  EXPECT_EQ(first("}"), "this '}' closes nothing");
  EXPECT_EQ(first(".alias a, b;"), "the function 'a' is not declared");
}

TEST(Messages, OfOperands) {
  EXPECT_EQ(firstInBody("ld.global.u32 %r1, [%r1-8];"), "a negative offset is written as +-8");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 1/0;"), "division by zero");
  EXPECT_EQ(firstInBody("mov.u32 %r1, 1 + 1.5;"), "integers and floats cannot be mixed in a constant expression");
  EXPECT_EQ(firstInBody("mov.u32 %r1, (1;"), "expected ')', found ';'");
  EXPECT_EQ(firstInBody("mov.b64 %r1, {%r1, {%r2}};"), "a vector cannot hold a vector");
  EXPECT_EQ(firstInBody("call nothere, (%r1);"), "the function 'nothere' is not declared");
  EXPECT_EQ(firstInBody("mov.u32 %r1, %r2.q;"), "a register has no part '.q'");
  EXPECT_EQ(firstInBody("@table bra L; L:"), "'table' is no predicate register");
}

// Limits are errors, and no input makes the parser's stack or time grow out of proportion.
TEST(Messages, OfLimits) {
  EXPECT_EQ(firstInBody(std::string(300, '{') + std::string(300, '}')), "scopes are nested more than 256 deep");
  EXPECT_EQ(firstInBody("mov.u32 %r1, " + std::string(100000, '(') + ";"), "this constant expression is too complex");
  EXPECT_EQ(firstInBody("mov.u32 %r1, " + std::string(100000, '-') + "1;"), "this constant expression is too complex");
  EXPECT_EQ(first(".global .u32 a" +
                  [] {
                    std::string text;
                    for (int i = 0; i < 70; ++i) text += "[1]";
                    return text;
                  }() +
                  ";"),
            "an array has at most 64 dimensions");
  EXPECT_EQ(first(".global .u32 a = " + std::string(100000, '{')), "more nested braces than 'a' has dimensions");
  EXPECT_NE(firstInBody(std::string(100000, '[')), "");
}

}  // namespace
}  // namespace mulciber::ptx
