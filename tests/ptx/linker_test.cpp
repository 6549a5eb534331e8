#include "translator/ptx/linker.h"

#include <gtest/gtest.h>

#include "ptx/variable_of.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {
namespace {

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Linked {
  std::unique_ptr<ModuleHolder> holder;
  std::string messages;
  const Module* operator->() const { return &holder->module; }
  explicit operator bool() const { return holder != nullptr; }
};

// Module n is called "n.ptx". The parts are gone when this returns.
Linked linkTexts(const std::vector<std::string>& texts) {
  Diagnostics diagnostics;
  std::vector<std::unique_ptr<ModuleHolder>> parts;
  std::vector<const ModuleHolder*> list;
  for (const std::string& text : texts) {
    const bool isWhole = text.starts_with(".version");
    parts.push_back(parse(isWhole ? text : kHead + text, std::to_string(parts.size()) + ".ptx", diagnostics));
    EXPECT_TRUE(parts.back()) << diagnostics.toString();
    if (!parts.back()) return {};
    list.push_back(parts.back().get());
  }
  auto holder = link(list, diagnostics);
  return {std::move(holder), diagnostics.toString()};
}

const Operand& operandOf(const Module& module, std::string_view function, size_t instruction, size_t operand) {
  for (const Statement& s : module.findFunction(function)->body)
    if (s.kind == Statement::Kind::Instruction && instruction-- == 0) return s.instruction->operands[operand];
  throw std::out_of_range("instruction");
}

TEST(Linker, ResolvesExternFunctionsAndVariables) {
  auto linked =
      linkTexts({".extern .func f(.param .b32 a); .extern .global .u32 v[];\n"
                 ".visible .entry k() { .reg .b64 %rd; call f, (1); mov.u64 %rd, v; ret; }",
                 ".visible .func f(.param .b32 a) { ret; } .visible .global .u32 v[3] = {1, 2, 3};"});
  ASSERT_TRUE(linked) << linked.messages;
  const Function* f = linked->findFunction("f");
  EXPECT_TRUE(f->isDefined);
  EXPECT_EQ(operandOf(linked.holder->module, "k", 0, CallCallee).function, f);
  EXPECT_EQ(operandOf(linked.holder->module, "k", 1, 1).variable, variableOf(linked.holder->module, "v"));
  EXPECT_EQ(variableOf(linked.holder->module, "v")->size, 12u);
  EXPECT_EQ(linked->functions.size(), 2u);
  EXPECT_EQ(linked->variables.size(), 1u);
}

TEST(Linker, AnInitialValueMayReferToAnotherModule) {
  auto linked = linkTexts({".extern .global .u32 v; .visible .func f() { ret; } .visible .global .u64 p[2] = {v, f};",
                           ".extern .global .u64 p[2]; .visible .global .u32 v; .visible .global .u64 q = p+8;"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(variableOf(linked.holder->module, "p")->initializer->elements[0].variable,
            variableOf(linked.holder->module, "v"));
  EXPECT_EQ(variableOf(linked.holder->module, "p")->initializer->elements[1].function, linked->findFunction("f"));
  EXPECT_EQ(variableOf(linked.holder->module, "q")->initializer->elements[0].variable,
            variableOf(linked.holder->module, "p"));
}

TEST(Linker, NamesWithoutLinkageStayApart) {
  const std::string part = ".global .u32 hidden = 1; .func helper() { ret; }\n";
  auto linked = linkTexts({part + ".visible .func a() { .reg .b64 %rd; mov.u64 %rd, hidden; call helper; ret; }",
                           part + ".visible .func b() { .reg .b64 %rd; mov.u64 %rd, hidden; call helper; ret; }"});
  ASSERT_TRUE(linked) << linked.messages;
  const Module& module = linked.holder->module;
  const Variable* first = operandOf(module, "a", 0, 1).variable;
  const Variable* second = operandOf(module, "b", 0, 1).variable;
  EXPECT_NE(first, second);
  EXPECT_EQ(first->name, "hidden");
  EXPECT_NE(second->name, "hidden");
  EXPECT_NE(operandOf(module, "a", 1, CallCallee).function, operandOf(module, "b", 1, CallCallee).function);
  Diagnostics diagnostics;
  EXPECT_TRUE(parse(print(module), "linked.ptx", diagnostics)) << diagnostics.toString();
}

TEST(Linker, AVisibleNameWinsOverAHiddenOne) {
  auto linked = linkTexts({".global .u32 x; .visible .func f() { .reg .b64 %rd; mov.u64 %rd, x; ret; }",
                           ".visible .global .u32 x; .visible .func g() { .reg .b64 %rd; mov.u64 %rd, x; ret; }"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(operandOf(linked.holder->module, "g", 0, 1).variable->name, "x");
  EXPECT_NE(operandOf(linked.holder->module, "f", 0, 1).variable->name, "x");
}

TEST(Linker, KeepsOneOfSeveralWeakDefinitions) {
  auto linked =
      linkTexts({".weak .func f() { ret; } .weak .global .u32 v = 1; .visible .func a() { call f; ret; }",
                 ".weak .func f() { trap; ret; } .weak .global .u32 v = 2; .visible .func b() { call f; ret; }"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(linked->functions.size(), 3u);
  EXPECT_EQ(linked->findFunction("f")->body.size(), 1u) << "the first counts";
  EXPECT_EQ(variableOf(linked.holder->module, "v")->initializer->elements[0].bits, 1u);
  EXPECT_EQ(operandOf(linked.holder->module, "b", 0, CallCallee).function, linked->findFunction("f"));
}

TEST(Linker, AVisibleDefinitionReplacesAWeakOne) {
  auto linked = linkTexts({".weak .func f() { ret; }", ".visible .func f() { trap; ret; }"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(linked->findFunction("f")->body.size(), 2u);
  EXPECT_FALSE(linked->findFunction("f")->isWeak);
}

TEST(Linker, MergesCommonVariables) {
  auto linked = linkTexts({".common .global .b8 c[4];", ".common .global .b8 c[16];", ".common .global .b8 c[8];"});
  ASSERT_TRUE(linked) << linked.messages;
  ASSERT_EQ(linked->variables.size(), 1u);
  EXPECT_EQ(linked->variables[0]->size, 16u);
}

// As nvlink has it: "Common symbol has larger size than initialization".
TEST(Linker, ACommonVariableIsNotLargerThanTheDefinition) {
  for (const char* definition :
       {".visible .global .u32 g = 1;", ".visible .global .u32 g;", ".weak .global .u32 g = 1;"}) {
    EXPECT_FALSE(linkTexts({".common .global .u64 g;", definition})) << definition;
    EXPECT_FALSE(linkTexts({definition, ".common .global .u64 g;"})) << definition;
    auto linked = linkTexts({".common .global .b8 g[2];", definition});
    ASSERT_TRUE(linked) << linked.messages;
    EXPECT_EQ(variableOf(linked.holder->module, "g")->size, 4u);
  }
}

TEST(Linker, NamesDuplicatesWithBothPlaces) {
  auto linked = linkTexts({".visible .func f() { ret; }", ".visible .func f() { ret; }"});
  EXPECT_FALSE(linked);
  EXPECT_EQ(linked.messages,
            "1.ptx:4:16: error: 'f' is defined more than once\n"
            ".visible .func f() { ret; }\n"
            "               ^\n"
            "0.ptx:4:16: note: the other definition is here\n"
            ".visible .func f() { ret; }\n"
            "               ^\n");
  EXPECT_FALSE(linkTexts({".entry k() { ret; }", ".entry k() { ret; }"}));
  linked = linkTexts({".visible .global .u32 x;", ".visible .func x() { ret; }"});
  EXPECT_FALSE(linked);
  EXPECT_NE(linked.messages.find("'x' is a variable here and a function in another module"), std::string::npos);
}

TEST(Linker, NamesWhatIsMissingAndWhereItIsUsed) {
  auto linked =
      linkTexts({".extern .func nowhere(); .extern .func unused();\n.visible .entry k() { call nowhere; ret; }",
                 ".extern .global .u32 lost;\n.global .u64 p = lost;"});
  EXPECT_FALSE(linked);
  EXPECT_NE(linked.messages.find("0.ptx:5:28: error: undefined reference to 'nowhere'"), std::string::npos)
      << linked.messages;
  EXPECT_NE(linked.messages.find("1.ptx:4:22: error: undefined reference to 'lost'"), std::string::npos)
      << linked.messages;
  EXPECT_EQ(linked.messages.find("unused"), std::string::npos);
}

TEST(Linker, ALoneModuleMissesFunctionsToo) {
  EXPECT_FALSE(linkTexts({".extern .func nowhere(); .visible .entry k() { call nowhere; ret; }"}));
  EXPECT_FALSE(linkTexts({".extern .func nowhere(); .global .u64 p = nowhere; .visible .entry k() { ret; }"}));
}

// As nvlink, which drops what no kernel leads to.
TEST(Linker, WhatNoKernelLeadsToMayMissFunctions) {
  auto linked = linkTexts({".extern .func nowhere(); .visible .func f() { call nowhere; ret; } .entry k() { ret; }"});
  EXPECT_TRUE(linked) << linked.messages;
}

// So that the text of a program with a library of which it needs little is a whole program.
TEST(Linker, WhatNoKernelLeadsToCanBeTakenAway) {
  auto linked =
      linkTexts({".extern .func near(); .extern .func named();\n"
                 ".visible .entry k() { .reg .b64 %rd; T: .calltargets named; call near;\n"
                 "mov.u64 %rd, near; call %rd, T; ret; }",
                 ".visible .func named() { ret; } .extern .func gone(); .visible .func deep() { ret; } .visible .func "
                 "kept() { ret; }\n"
                 ".visible .func near() { call deep; ret; } .visible .func far() { call gone; ret; }\n"
                 ".visible .global .u64 table[1] = {kept};"});
  ASSERT_TRUE(linked) << linked.messages;
  Diagnostics diagnostics;
  EXPECT_FALSE(checkWholeProgram(*linked.holder, diagnostics));
  dropUnreachable(*linked.holder);
  EXPECT_TRUE(checkWholeProgram(*linked.holder, diagnostics));
  EXPECT_EQ(linked->findFunction("far"), nullptr);
  for (const char* name : {"k", "near", "named", "deep", "kept"}) EXPECT_TRUE(linked->findFunction(name)) << name;
  const std::string text = print(linked.holder->module);
  EXPECT_TRUE(parse(text, "again.ptx", diagnostics)) << diagnostics.toString();
}

TEST(Linker, AWholeProgramIsJudgedAsPtxasDoes) {
  struct Case {
    const char* text;
    bool isGood;
  };
  for (const Case& each : {Case{".extern .func f(); .entry k() { call f; ret; }", false},
                           Case{".func f(); .entry k() { call f; ret; }", false},
                           Case{".extern .func f(); .func dead() { call f; ret; } .entry k() { ret; }", false},
                           Case{".extern .func f(); .global .u64 p = f; .entry k() { ret; }", false},
                           Case{".extern .func f(); .entry k() { ret; }", true},
                           Case{".func f(); .entry k() { call f; ret; } .func f() { ret; }", true},
                           Case{".extern .global .u32 g[]; .entry k() { .reg .b64 %d; mov.u64 %d, g; ret; }", false},
                           Case{".extern .global .u32 g; .entry k() { .reg .b64 %d; mov.u64 %d, g; ret; }", true},
                           Case{".extern .shared .u32 s[]; .entry k() { .reg .b64 %d; mov.u64 %d, s; ret; }", true}}) {
    Diagnostics diagnostics;
    auto program = parse(kHead + each.text, "program.ptx", diagnostics);
    ASSERT_TRUE(program) << diagnostics.toString();
    EXPECT_EQ(checkWholeProgram(*program, diagnostics), each.isGood) << each.text << "\n" << diagnostics.toString();
  }
}

TEST(Linker, ProvidedFunctionsNeedNoDefinition) {
  auto linked =
      linkTexts({".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                 ".visible .func g() { call (_), vprintf, (0, 0); ret; }"});
  EXPECT_TRUE(linked) << linked.messages;
}

TEST(Linker, RefusesDeclarationsThatDoNotFit) {
  auto linked = linkTexts({".extern .func f(.param .b64 a);", ".visible .func f(.param .b32 a) { ret; }"});
  EXPECT_FALSE(linked);
  EXPECT_NE(linked.messages.find("'f' is not declared here as in another module"), std::string::npos);
  EXPECT_FALSE(linkTexts({".extern .global .u32 v;", ".visible .const .u32 v = 1;"}));
  linked = linkTexts({".visible .func f() { ret; }", ".version 8.0\n.target sm_80\n.address_size 32\n"});
  EXPECT_FALSE(linked);
  EXPECT_NE(linked.messages.find("has 32-bit addresses and cannot be linked with '0.ptx', which has 64-bit ones"),
            std::string::npos)
      << linked.messages;
}

// nvlink does not look at them. What the link makes can be read again.
TEST(Linker, TakesDeclarationsWithOtherAlignments) {
  for (const auto& [declared, defined] : {std::pair("16", "8"), std::pair("4", "16")}) {
    const std::string of = std::string(".param .align ") + declared, p = " .b8 p[16]";
    auto linked =
        linkTexts({".extern .func f(" + of + p + "); .visible .entry k() { " + of + p + "; call f, (p); ret; }",
                   std::string(".visible .func f(.param .align ") + defined + p + ") { ret; }"});
    ASSERT_TRUE(linked) << linked.messages;
    Diagnostics diagnostics;
    const auto again = parse(print(linked.holder->module), "linked.ptx", diagnostics);
    EXPECT_TRUE(again && verify(again->module, again->source, diagnostics)) << diagnostics.toString();
  }
}

TEST(Linker, TakesTheHighestVersionAndTarget) {
  auto linked = linkTexts(
      {".version 8.7\n.target sm_75\n.address_size 64\n", ".version 8.3\n.target sm_90a\n.address_size 64\n"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(linked->versionMajor, 8u);
  EXPECT_EQ(linked->versionMinor, 7u);
  EXPECT_EQ(linked->target, "sm_90a");
}

// What sm_70 no longer has is right in a part made for sm_60, and stays right in the whole.
TEST(Linker, JudgesNoPartByTheTargetOfAnother) {
  const std::string old =
      ".version 6.4\n.target sm_60\n.address_size 64\n.visible .entry a() {\n"
      ".reg .pred %p; .reg .b32 %r; vote.any.pred %p, %p; ret; }";
  auto linked = linkTexts({old, kHead + ".visible .entry b() { ret; }"});
  ASSERT_TRUE(linked) << linked.messages;
  Diagnostics diagnostics;
  auto again = parse(print(linked.holder->module), "linked.ptx", diagnostics);
  ASSERT_TRUE(again && verify(again->module, again->source, diagnostics)) << diagnostics.toString();
  EXPECT_TRUE(isMixedModule(again->module));
  EXPECT_FALSE(isMixedModule(linkTexts({"", ".visible .entry b() { ret; }"}).holder->module));
}

TEST(Linker, KeepsLinesOfEachModule) {
  const std::string function = "() {\n.loc 1 5 1\nret; }\n";
  auto linked =
      linkTexts({".file 1 \"a.cu\"\n.visible .func f" + function, ".file 1 \"b.cu\"\n.visible .func g" + function});
  ASSERT_TRUE(linked) << linked.messages;
  ASSERT_EQ(linked->files.size(), 2u);
  const uint32_t file = linked->findFunction("g")->body[0].location->file;
  EXPECT_EQ(linked->files[1].index, file);
  EXPECT_EQ(linked->files[1].name, "b.cu");
  EXPECT_EQ(linked.holder->source.place(linked->findFunction("g")->body[1].where).file, "1.ptx");
  EXPECT_EQ(linked.holder->source.place(linked->findFunction("g")->body[1].where).line, 7u);
}

TEST(Linker, DynamicSharedMemoryIsNotASymbolToResolve) {
  const std::string part = ".extern .shared .align 16 .b8 s[];\n";
  auto linked = linkTexts({part + ".visible .func f() { .reg .b64 %rd; mov.u64 %rd, s; ret; }",
                           part + ".visible .func g() { .reg .b64 %rd; mov.u64 %rd, s; ret; }"});
  EXPECT_TRUE(linked) << linked.messages;
}

TEST(Linker, AliasesAndTargetListsFollow) {
  auto linked = linkTexts({".extern .func a(); .visible .entry k() { .reg .b64 %rd; call a; ret; }",
                           ".visible .func f() { ret; } .visible .func a(); .alias a, f;"});
  ASSERT_TRUE(linked) << linked.messages;
  EXPECT_EQ(linked->findFunction("a")->aliasee, linked->findFunction("f"));
}

}  // namespace
}  // namespace mulciber::ptx
