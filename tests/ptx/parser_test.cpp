// What the parser makes of each form of declaration, statement and operand.
#include "translator/ptx/parser.h"

#include <gtest/gtest.h>

#include "translator/ptx/printer.h"

namespace mulciber::ptx {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::unique_ptr<ModuleHolder> parseGood(const std::string& text) {
  Diagnostics diagnostics;
  auto holder = parse(text, "test.ptx", diagnostics);
  EXPECT_TRUE(holder) << diagnostics.toString() << text;
  return holder;
}

std::string body(const std::string& text, const std::string& before = "") {
  return kHead + before +
         "\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<100>; .reg .b64 %rd<10>; .reg .pred %p<9>; "
         ".reg .f32 %f<9>;\n" +
         text + "\nret;\n}\n";
}

// The instructions of the first function, as printed.
std::vector<std::string> instructions(const Module& module) {
  std::vector<std::string> lines;
  const Function& function = *module.functions.back();
  for (const Statement& statement : function.body)
    if (statement.kind == Statement::Kind::Instruction) lines.push_back(print(*statement.instruction, function));
  return lines;
}

std::string onlyInstruction(const std::string& text, const std::string& before = "") {
  auto holder = parseGood(body(text, before));
  return holder ? instructions(holder->module).front() : "";
}

TEST(Parser, ReadsTheModuleHeader) {
  auto holder = parseGood(".version 7.8\n.target sm_80, debug\n.address_size 64\n.file 1 \"a b.cu\", 12, 34\n");
  const Module& module = holder->module;
  EXPECT_EQ(module.versionMajor, 7u);
  EXPECT_EQ(module.versionMinor, 8u);
  EXPECT_EQ(module.target, "sm_80");
  ASSERT_EQ(module.targetOptions.size(), 1u);
  EXPECT_EQ(module.targetOptions[0], "debug");
  ASSERT_EQ(module.files.size(), 1u);
  EXPECT_EQ(module.files[0].name, "a b.cu");
  EXPECT_EQ(module.files[0].size, 34u);
}

TEST(Parser, PassesOverAByteOrderMarkAtTheBegin) {
  auto holder = parseGood("\xEF\xBB\xBF" + kHead);
  EXPECT_EQ(holder->module.target, "sm_90");
  Diagnostics diagnostics;
  EXPECT_FALSE(parse(kHead + "\xEF\xBB\xBF", "test.ptx", diagnostics));
}

TEST(Parser, ResolvesRegistersAndOnlyListsTheUsedOnes) {
  auto holder = parseGood(body("add.s32 %r42, %r7, %r42;"));
  const Function& function = *holder->module.functions[0];
  ASSERT_EQ(function.registers.size(), 2u);
  const Instruction& add = *function.body[4].instruction;
  EXPECT_EQ(function.registers[add.operands[0].reg].name, "%r42");
  EXPECT_EQ(add.operands[0].reg, add.operands[2].reg);
  EXPECT_EQ(function.registers[add.operands[1].reg].type, Type::B32);
  EXPECT_EQ(add.type(), Type::S32);
}

TEST(Parser, ScopesHaveTheirOwnRegistersAndLabels) {
  auto holder =
      parseGood(body("L: mov.u32 %r1, 1; { .reg .b64 %r<3>; mov.u64 %r1, 2; bra L; L: mov.u32 %r5, 3; } bra L;"));
  const Function& function = *holder->module.functions[0];
  std::vector<const Instruction*> list;
  for (const Statement& s : function.body)
    if (s.kind == Statement::Kind::Instruction) list.push_back(s.instruction);
  EXPECT_EQ(function.registers[list[0]->operands[0].reg].type, Type::B32);
  EXPECT_EQ(function.registers[list[1]->operands[0].reg].type, Type::B64);
  EXPECT_NE(list[2]->operands[0].label, list[4]->operands[0].label);
  EXPECT_GT(list[2]->operands[0].label->statement, list[4]->operands[0].label->statement);
  EXPECT_EQ(function.registers[list[3]->operands[0].reg].type, Type::B32) << "beyond the inner range";
}

TEST(Parser, FoldsConstantExpressions) {
  const std::pair<const char*, const char*> cases[] = {
      {"1+2*3", "7"},
      {"(1+2)*3", "9"},
      {"-5", "-5"},
      {"~0", "-1"},
      {"!3", "0"},
      {"1<<4|3&7", "19"},
      {"7/2-7 % 4", "0"},
      {"1 < 2 && 3 >= 4 || 5 != 5", "0"},
      {"1 ? 2 : 3 ? 4 : 5", "2"},
      {"0 ? 2 : 0 ? 4 : 5", "5"},
      {"(.u64)-1 > 0", "1"},
      {"(.s64)0xFFFFFFFFFFFFFFFF < 0", "1"},
      {"WARP_SZ*2", "64"},
      {"0x2aU", "42U"},
      {"017", "15"},
      {"0b101", "5"},
      {"-8/2", "-4"},
      {"-1>>4", "-1"},
      {"- - 4", "4"},
  };
  for (const auto& [expression, value] : cases)
    EXPECT_EQ(onlyInstruction(std::string("mov.u32 %r1, ") + expression + ";"),
              std::string("mov.u32 %r1, ") + value + ";")
        << expression;
  EXPECT_EQ(onlyInstruction("mov.f32 %f1, 1.5;"), "mov.f32 %f1, 0d3FF8000000000000;");
  EXPECT_EQ(onlyInstruction("mov.f32 %f1, -.5e1 + 1.;"), "mov.f32 %f1, 0dC010000000000000;");
  EXPECT_EQ(onlyInstruction("mov.f32 %f1, 0F3f800000;"), "mov.f32 %f1, 0f3F800000;");
}

TEST(Parser, ReadsEveryOperandForm) {
  const char* kept[] = {
      "ld.global.u32 %r1, [%rd1+8];",
      "ld.global.u32 %r1, [%rd1+-8];",
      "ld.global.u32 %r1, [%rd1].unified;",
      "ld.global.u32 %r1, [g+12];",
      "ld.global.u32 %r1, g[%rd1+1];",
      "ld.global.v4.u32 {%r1, %r2, _, %r3}, [%rd1];",
      "mov.u64 %rd1, g+4;",
      "mov.u64 %rd1, f;",
      "mov.u32 %r1, %tid.x;",
      "mov.u32 %r1, %lanemask_lt;",
      "setp.eq.and.u32 %p1|%p2, %r1, %r2, !%p3;",
      "setp.eq.u32 _|%p2, %r1, 4;",
      "@!%p1 bra.uni $L;",
      "vmad.s32.s32.u32.sat %r1, %r2.b0, %r3.h1, -%r4;",
      "vadd4.u32.s32.s32 %r1.b3210, %r2.b7654, %r3.b0123, %r4;",
      "vadd2.s32.u32.u32.sat %r1.h10, %r2.h32, %r3.h10, %r4;",
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [g, {%f5, %f6}];",
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2, {%r1, %r2}], [%rd3];",
      "call.uni (%r1), h, (%r2, 4);",
      "call f;",
      "call %rd1, pr;",
      "call (%r1), %rd1, (%r2), t;",
      "brx.idx.uni %r1, ts;",
      "ret;",
  };
  const std::string before =
      ".global .align 4 .u32 g[9]; .func f() { ret; } .func (.reg .u32 r) h(.reg .u32 a, .reg .u32 b) { ret; }\n";
  const std::string prefix = "pr: .callprototype _ (); t: .calltargets h; ts: .branchtargets $L;\n";
  for (const char* text : kept) EXPECT_EQ(onlyInstruction(prefix + text + "\n$L:", before), text);
  EXPECT_EQ(onlyInstruction("ld.global.u32 %r1, g[2];", before), "ld.global.u32 %r1, [g+8];");
  EXPECT_EQ(onlyInstruction("mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;"),
            "mov.v4.u32 {%r1, %r2, %r3, %r4}, {%tid.x, %tid.y, %tid.z, 0};");
}

}  // namespace
}  // namespace mulciber::ptx
