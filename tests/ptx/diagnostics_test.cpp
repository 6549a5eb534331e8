// What is said about text that is wrong: the words, the place, the suggestion; and that parsing continues behind it.
#include <gtest/gtest.h>

#include <ctime>

#include "ptx/variable_of.h"
#include "translator/ptx/linker.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"

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

TEST(Messages, SuggestWhatTheInstructionTakes) {
  EXPECT_EQ(firstInBody("mov.u32 %r1, %laneeid;"), "the register '%laneeid' is not declared; did you mean '%laneid'?");
  EXPECT_EQ(firstInBody("mov.u32 %r1, %tidx;"), "the register '%tidx' is not declared; did you mean '%tid'?");
  EXPECT_EQ(firstInBody("mov.u32 %r1, %tid.q;"), "'%tid' has the components .x, .y, .z and .w");
  EXPECT_EQ(firstInBody("bar.synch 0;"), "unknown modifier '.synch'; did you mean '.sync'?");
  EXPECT_EQ(first(".global .f33 x;"), "unknown type '.f33'; did you mean '.f32'?");
}

TEST(Messages, AMissingSemicolonIsAtTheEndOfItsLine) {
  EXPECT_EQ(messagesOf(kHead + ".entry k() {\n.reg .b32 %r<3>;\nmov.b32 %r1, %r2\nret;\n}\n"),
            "k.ptx:6:17: error: expected ',' or ';' at the end of the line\n"
            "mov.b32 %r1, %r2\n"
            "                ^\n");
}

TEST(Messages, AWrongDirectiveBeforeABodyLeavesTheBody) {
  Diagnostics diagnostics;
  parse(kHead + ".entry k() .maxntidd 1, 1, 1 { ret; }\n.func f() .maxntid 1 { ret; }\n", "k.ptx", diagnostics);
  ASSERT_EQ(diagnostics.messages().size(), 2u) << diagnostics.toString();
  EXPECT_EQ(diagnostics.messages()[0].text, "unknown directive '.maxntidd'; did you mean '.maxntid'?");
  EXPECT_EQ(diagnostics.messages()[1].text, "'.maxntid' is for kernels, and 'f' is a function");
}

TEST(Messages, NameTheScopeThatIsNotClosed) {
  Diagnostics diagnostics;
  parse(kHead + ".entry k() {\n  {\n  ret;\n", "k.ptx", diagnostics);
  ASSERT_EQ(diagnostics.messages().size(), 2u) << diagnostics.toString();
  EXPECT_EQ(diagnostics.messages()[0].text, "the body of 'k' is not closed");
  EXPECT_EQ(diagnostics.messages()[1].line, 5u);
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

// Many of everything take time in proportion: at these sizes anything quadratic takes minutes.
TEST(Messages, NothingIsQuadratic) {
  constexpr int kMany = 100000;
  auto repeated = [](auto&& line) {
    std::string text;
    for (int i = 0; i < kMany; ++i) text += line(std::to_string(i));
    return text;
  };
  auto body = [](const std::string& statements) {
    return ".entry k() {\n.reg .b32 %r<4>; .reg .pred %p;\n" + statements + "ret;\n}\n";
  };
  const std::string texts[] = {
      body(repeated([](const std::string& i) { return "L" + i + ": @%p bra L" + i + ";\n"; })),
      body(repeated([](const std::string& i) { return "@%p bra L" + i + ";\n"; }) +
           repeated([](const std::string& i) { return "L" + i + ":\n"; })),
      body(repeated([](const std::string& i) { return ".reg .b32 a" + i + "; mov.b32 a" + i + ", 1;\n"; })),
      body(".reg .b32 %x<4000000000>;\n" +
           repeated([](const std::string& i) { return "mov.b32 %x" + i + "000, %x" + i + ";\n"; })),
      body(repeated([](const std::string& i) { return "{ .reg .b32 a; bra L; L: mov.b32 a, " + i + "; }\n"; })),
      body("L: .branchtargets " + repeated([](const std::string&) { return std::string("M, "); }) + "M;\nM:\n"),
      repeated([](const std::string& i) { return ".extern .global .u32 g" + i + ";\n"; }) +
          repeated([](const std::string& i) { return ".visible .global .u32 g" + i + " = " + i + ";\n"; }),
      repeated([](const std::string& i) { return ".global .u64 h" + i + (i == "0" ? "" : " = h0") + ";\n"; }),
      repeated([](const std::string& i) { return ".func f" + i + "() { ret; }\n.func f" + i + "();\n"; }),
      repeated([](const std::string& i) { return ".file " + i + " \"f" + i + "\"\n"; }),
      ".global .u32 table[] = {" + repeated([](const std::string& i) { return i + ", "; }) + "1};\n",
      ".func f(" + repeated([](const std::string& i) { return ".param .b32 p" + i + ", "; }) +
          ".param .b32 last) {\n.reg .b32 %r<9>;\n" +
          repeated([](const std::string& i) { return "ld.param.b32 %r1, [p" + i + "];\n"; }) + "ret;\n}\n",
  };
  for (const std::string& text : texts) {
    const std::clock_t start = std::clock();  // of the processor: the machine may be busy
    Diagnostics diagnostics;
    auto holder = parse(kHead + text, "k.ptx", diagnostics);
    ASSERT_TRUE(holder && verify(holder->module, holder->source, diagnostics))
        << text.substr(0, 100) << diagnostics.toString();
    const std::string printed = print(holder->module);
    const ModuleHolder* parts[] = {holder.get()};
    EXPECT_TRUE(link(parts, diagnostics)) << diagnostics.toString();
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC) << text.substr(0, 100);
  }
}

// The deepest that the limits allow, through every stage.
TEST(Messages, NestingCostsNoStack) {
  const std::string scopes(250, '{'), ends(250, '}');
  std::string braces = ".global .u32 a", close;
  for (int i = 0; i < 64; ++i) braces += "[1]";
  const std::string text = kHead + braces + " = " + std::string(64, '{') + "1" + std::string(64, '}') +
                           ";\n.global .u32 b = " + std::string(1000, '(') + "1" + std::string(1000, ')') +
                           ";\n.global .u32 c = 1" +
                           [] {
                             std::string sum;
                             for (int i = 0; i < 100000; ++i) sum += "+1";
                             return sum;
                           }() +
                           ";\n.entry k() {\n" + scopes + "ret;" + ends + "}\n";
  Diagnostics diagnostics;
  auto holder = parse(text, "k.ptx", diagnostics);
  ASSERT_TRUE(holder && verify(holder->module, holder->source, diagnostics)) << diagnostics.toString();
  EXPECT_EQ(variableOf(holder->module, "c")->initializer->elements[0].bits, 100001u);
  EXPECT_TRUE(parse(print(holder->module), "again.ptx", diagnostics)) << diagnostics.toString();
}

}  // namespace
}  // namespace mulciber::ptx
