// What is said about each thing that can be wrong: the text, and where it points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {
namespace {

// The first error, after the number of its line: "3: unknown directive '.foo'".
std::string firstError(const std::string& text) {
  Diagnostics diagnostics;
  auto module = parse(text, "t.ptx", diagnostics);
  if (module) verify(module->module, module->source, diagnostics);
  for (const auto& message : diagnostics.messages())
    if (message.severity == Diagnostics::Severity::Error) return std::to_string(message.line) + ": " + message.text;
  return "none";
}

struct Row {
  const char *text, *message;
};

TEST(Messages, OfWholeTexts) {
  const Row kRows[] = {
      {".version 9.0\n.entry k() { ret; }\n", "2: expected .target after .version"},
      {".version 9.0\n.target debug\n", "2: expected a target such as sm_90 among the words of .target"},
      {".version 9\n.target sm_90\n", "1: expected a version such as 9.0, found '9'"},
      {".version 9.0\n.target sm_90\n.address_size 48\n", "3: the address size must be 32 or 64"},
      {".version 9.0\n.target sm_122\n", "2: 'sm_122' is not one of the targets sm_10 to sm_121"},
      {".version 9.0\n.target sm_90\n.section .debug {\n.b8 1\n", "3: this section is not closed"},
      {".version 1.3\n.target sm_13\n.entry k() { .reg .b32 a; .reg .b64 b; ld.b32 a, [b]; }\n",
       "3: generic addressing needs PTX ISA version 2.0 or later"},
      {".version 1.3\n.target sm_13\n.entry k .maxnreg 8 { exit; }\n.entry l .minnctapersm 1 { exit; }\n",
       "4: '.minnctapersm' needs PTX ISA version 2.0 or later"},
      {".version 1.2\n.target sm_12\n.entry k .maxnreg 8 { exit; }\n",
       "3: '.maxnreg' and '.maxntid' needs PTX ISA version 1.3 or later"},
      {".version 2.0\n.target sm_20\n.entry k .reqntid 8 { exit; }\n",
       "3: '.reqntid' needs PTX ISA version 2.1 or later"},
      {".version 4.3\n.target sm_20\n.common .global .b32 v;\n", "3: '.common' needs PTX ISA version 5.0 or later"},
      {".version 4.0\n.target sm_20\n.global .attribute(.managed) .b32 v;\n",
       "3: '.managed' needs .target sm_30 or later"},
      {".version 6.0\n.target sm_60\n.func f() .noreturn { ret; }\n",
       "3: '.noreturn' needs PTX ISA version 6.4 or later"},
      {".version 8.0\n.target sm_90\n.global .b128 v;\n", "3: the type .b128 needs PTX ISA version 8.3 or later"},
      {".version 1.4\n.target sm_13\n.func f(.param .b32 p) { ret; }\n",
       "3: a .func parameter in the .param space needs PTX ISA version 2.0 or later"},
      {".version 1.5\n.target sm_13\n.tex .u32 t;\n", "3: the .tex space is gone since PTX ISA version 1.5"},
      {".version 3.0\n.target sm_20\n.address_size 64\n.entry k() { .reg .b64 t; .reg .f32 x; .reg .b32 r<9>;\n"
       "tex.1d.v4.s32.f32 {r1, r2, r3, r4}, [t, {x}]; ret; }\n",
       "5: a texture or surface in a register needs PTX ISA version 3.1 or later"},
      {".version 2.3\n.target sm_20\n.address_size 64\n.reg .u32 r;\n.func f() { ret; }\n.entry k() { ret; }\n",
       "5: registers and .local variables at module scope, which functions share with the kernels that call them, are "
       "supported where only kernels have bodies"},
      {".version 2.3\n.target sm_20\n.address_size 64\n.reg .u32 ;\n.entry k() { ret; }\n",
       "4: expected a register's name"},
      {".version 2.3\n.target sm_20\n.address_size 64\n.reg .u32 r\n", "4: the declaration does not end"},
  };
  for (const Row& row : kRows) EXPECT_THAT(firstError(row.text), testing::StartsWith(row.message)) << row.text;
}

TEST(Messages, OfDeclarations) {
  const Row kRows[] = {
      {".visible .extern .global .b32 v;", "a declaration takes only one of .extern, .visible, .weak and .common"},
      {".reg .b32 r;", "'.reg' declarations belong into a function"},
      {".global .attribute(.shiny) .b32 v;", "expected .managed or .unified, found '.shiny'"},
      {".global .b32 v[2][0];", "an array dimension cannot be 0"},
      {".global .b32 v[2][];", "only the first dimension can be left open"},
      {".extern .global .b32 v;\n.visible .global .b64 v;", "'v' was declared with another type or space"},
      {".global .b32 v;\n.global .u64 w = v + 1.5;", "an offset must be an integer"},
      {".global .b32 v;\n.global .u16 w = v;", "only a variable of type .u32 or .u64 can hold an address"},
      {".global .b32 v;\n.global .u64 w = 0xFF(v);", "only a variable of type .u8 can hold a byte of an address"},
      {".global .b32 v;\n.global .u8 w = 0xF0(v);", "a mask must choose one byte: 0xFF, 0xFF00, 0xFF0000 ..."},
      {".shared .b32 v = 1;", "'v' cannot have an initial value: its state space has none"},
      {".extern .global .b32 v = 1;", "'v' is .extern and cannot have an initial value"},
      {".global .u64 v = 99999999999999999999;", "this number is out of range"},
      {".entry k .maxnreg 4294967296 { ret; }", "a number can be at most 4294967295"},
      {".const[11] .b32 v;", "a constant bank can be at most 10"},
      {".global .e4m3 v;", "the type .e4m3 is for instructions only"},
      {".global .v4 .b64 v;", "a vector cannot be larger than 128 bits"},
      {".global .pred v;", "'v': .pred exists in registers only"},
      {".shared .texref v;", "'v': textures and surfaces are declared in the .global space"},
      {".local .b32 v;", "'.local' declarations belong into a function"},
      {".param .b32 v;", "'.param' declarations belong into a function"},
      {".common .shared .b32 v;", "'v': .common is for the .global space"},
      {".shared .attribute(.managed) .b32 v;", "'v': .managed is for the .global space"},
      {".common .func f() { ret; }", "a function cannot be .common"},
      {".func .attribute(.managed) f() { ret; }", "a function cannot be managed"},
      {".extern .func f() { ret; }", "an extern function has no body"},
      {".func f(.global .b32 p) { ret; }", "expected .param or .reg"},
      {".func f(.param .b8 p[], .param .b32 q) { ret; }", "only the last parameter can be an array without a size"},
      {".func f(.param .u64 .ptr p) { ret; }", "only parameters of an entry can be .ptr"},
      {".entry f(.param .b8 p[]) { ret; }", "an entry's parameter needs a size"},
      {".entry k .maxntid 1, 1, 1, 1 { ret; }", "there are only three dimensions"},
      {".entry k .maxntid 0 { ret; }", "'.maxntid' must be positive"},
      {".entry k .reqntid 0 { ret; }", "'.reqntid' must be positive"},
      {".entry k .reqnctapercluster 0 { ret; }", "'.reqnctapercluster' must be positive"},
      {".entry k .maxntid 8 .reqntid 8 { ret; }", "'.maxntid' and '.reqntid' cannot both be given"},
      {".entry k .reqnctapercluster 2 .maxclusterrank 2 { ret; }",
       "'.reqnctapercluster' and '.maxclusterrank' cannot both be given"},
      {".entry k .blocksareclusters { ret; }", "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'"},
      {".entry k() .noreturn { ret; }", "a kernel cannot be .noreturn"},
      {".func (.reg .b32 r) f() .noreturn { ret; }", "a .noreturn function cannot have results"},
      {".func (.param .b32 r, .param .b32 s) f() { ret; }", "several results must be .reg, not .param"},
      {".entry k(.reg .b32 p) { ret; }", "the kernel parameter 'p' must be in the .param space"},
      {".entry k(.param .pred p) { ret; }", "'p': .pred exists in registers only"},
      {".entry k(.param .v2 .b32 p) { ret; }", "'p' cannot be in the .param space: vectors go as arrays of bytes"},
      {".func f(.reg .texref p) { ret; }", "only kernels can have texture and surface parameters"},
      {".func f() { ret; }\n.func g() { ret; }\n.alias f, g;", "'f' is defined already, so it cannot be an alias"},
      {".func f();\n.func g();\n.alias f, g;", "an alias needs a function that is defined here"},
      {".func f();\n.entry g() { ret; }\n.alias f, g;", "an entry cannot be an alias or have one"},
      {".func f(.param .b32 p);\n.func g() { ret; }\n.alias f, g;",
       "'f' and 'g', which it is an alias of, have different parameters"},
      {".entry k() {\n{ ret;\n", "the body of 'k' is not closed"},
      {".global .b32 v = 0b;", "0b must be followed by binary digits"},
      {"@@DWERF", "@@ must be followed by DWARF"},
      {".global .b32 v = . ;", "a name must follow this '.'"},
  };
  for (const Row& row : kRows)
    EXPECT_THAT(firstError(".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(row.text) + "\n"),
                testing::HasSubstr(row.message))
        << row.text;
}

TEST(Messages, OfBodies) {
  const Row kRows[] = {
      {".reg .b32 %x<0>;", "a register range cannot be empty"},
      {".reg .v2 .pred %x;", "there are no vectors of .pred"},
      {".reg .texref %x;", "textures and surfaces are module variables or kernel parameters, not registers"},
      {"= 5;", "expected an instruction, a label or a directive, found '='"},
      {".branchtargets L;", "'.branchtargets' needs a label before it"},
      {".loc 1 2 3, elsewhere L;", "expected function_name or inlined_at, found 'elsewhere'"},
      {"call 5;", "expected a function or a register that holds its address, found '5'"},
      {"call variable;", "'variable' cannot be called"},
      {"add.s32 %r1, !variable, %r2;", "'!' must stand before a register or a number"},
      {"mov.b32 %r1, variable[%r1 + 1.5];", "an offset must be an integer"},
      {"mov.b32 %r1, variable[%f1];", "an index must be an integer"},
      {"mov.b32 %r1, variable[1.5];", "an index must be an integer"},
      {"red.global.add.u32 variable[2], %r1;", "only ld, ldu, st, mov and cvta take an indexed variable"},
      {"mov.b32 %r1, variable[variable];", "an index must be a register or a number"},
      {"mov.b32 %r1, scalar[2];", "'scalar' is no array"},
      {"ld.global.b32 %r1, [[%rd1]];", "brackets cannot be nested"},
      {"ld.global.b32 %r1, [!%rd1];", "an address cannot be negated"},
      {"ld.global.b32 %r1, [variable[1]];", "an indexed variable stands without brackets around it"},
      {"ld.global.b32 %r1, [1.5];", "expected an address inside the brackets"},
      {"@%r1 mov.b32 %r1, 1;", "a guard must be a .pred register"},
      {"ld.param.b32 %r1, [result];", "the function's result 'result' can only be written"},
      {"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.5;",
       "the fraction of a policy must be greater than 0 and at most 1"},
      {"cp.async.ca.shared.global [%rd1], [%rd2], 5;", "cp.async copies 4, 8 or 16 bytes"},
      {"cp.async.ca.shared.global [%rd1], [%rd2], 4, 8;", "cp.async cannot read more than the 4 bytes it copies"},
      {"call other;", "'other' is a kernel and cannot be called"},
      {"P: .callprototype _ ();\ncall callee, (%r1), P;", "a direct call takes no prototype"},
      {"call %rd1, ();", "an indirect call needs a .callprototype or .calltargets name"},
      {"P: .callprototype _ ();\ncall %f1, (), P;", "register cannot hold an address"},
      {"call callee, (%r1, %r2);", "the callee has 1 parameter"},
      {"call callee, (%rd1);", "does not match"},
  };
  for (const Row& row : kRows)
    EXPECT_THAT(firstError(".version 9.0\n.target sm_90\n.address_size 64\n.global .b32 variable[4];\n"
                           ".global .b32 scalar;\n.entry other() { ret; }\n.func callee(.reg .b32 p) { ret; }\n"
                           ".func (.param .b32 result) f() {\n"
                           ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" +
                           std::string(row.text) + "\nret;\n}\n"),
                testing::HasSubstr(row.message))
        << row.text;
}

}  // namespace
}  // namespace mulciber::ptx
