#include "translator/ptx/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ptxas.h"
#include "translator/ptx/instruction_table.h"
#include "translator/ptx/parser.h"

namespace mulciber::ptx {
namespace {

using testing::HasSubstr;

std::string errorsOf(const std::string& text) {
  Diagnostics diagnostics;
  auto module = parse(text, "t.ptx", diagnostics);
  if (module) verify(module->module, module->source, diagnostics);
  std::string errors;
  for (const auto& message : diagnostics.messages())
    if (message.severity == Diagnostics::Severity::Error) errors += message.text + '\n';
  return errors;
}

std::string kernelErrors(const std::string& body, const std::string& target = "sm_90", const char* version = "9.0") {
  return errorsOf(
      std::string(".version ") + version + "\n.target " + target +
      "\n.address_size 64\n.global .b32 variable[4];\n.const .b32 constant;\n.entry kernel(.param .u64 p) {\n"
      "  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n  " +
      body + "\n  ret;\n}\n");
}

TEST(Verifier, SetsTheForm) {
  Diagnostics diagnostics;
  auto module =
      parse(".version 9.0\n.target sm_90\n.address_size 64\n.entry k { .reg .b32 a; add.sat.s32 a, a, 1; ret; }",
            "t.ptx", diagnostics);
  ASSERT_TRUE(module && verify(module->module, module->source, diagnostics)) << diagnostics.toString();
  for (const Statement& statement : module->module.functions[0]->body)
    if (statement.kind == Statement::Kind::Instruction) {
      ASSERT_NE(statement.instruction->form, nullptr);
      EXPECT_EQ(statement.instruction->form->opcode, statement.instruction->opcode);
    }
}

// The host holds initial values: a few of them must not ask for more memory than there is.
TEST(Verifier, LimitsHowFarInitialValuesReach) {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  EXPECT_THAT(errorsOf(head + ".global .f32 a[3][4294967296] = {{1.0}, {2.0}, {3.0}};"),
              HasSubstr("initial values reach 34359738372 bytes far; 2147483648 are allowed"));
  EXPECT_EQ(errorsOf(head + ".global .f32 a[3][4294967296] = {{1.0}};"), "");
}

TEST(Verifier, SaysWhatIsWrongWithAnOperand) {
  EXPECT_THAT(kernelErrors("add.s32 %r1, %f1, 1;"),
              HasSubstr("operand 2 of 'add.s32' is .f32 where .s32 (or .b32) is wanted"));
  EXPECT_THAT(kernelErrors("add.s32 %r1, %tid.x, 1;"), HasSubstr("cannot be a special register"));
  EXPECT_THAT(kernelErrors("add.s32 %r1, %r2;"), HasSubstr("'add.s32' takes 3 operands, not 2"));
  EXPECT_THAT(kernelErrors("add.f32 %f1, %f2, 1;"), HasSubstr("is an integer constant where .f32"));
  EXPECT_THAT(kernelErrors("ld.global.v2.b32 {%r1, %r2, %r3, %r4}, [%rd1];"), HasSubstr("4 elements where 2"));
  EXPECT_THAT(kernelErrors("ld.global.b32 %r1, [constant];"), HasSubstr("which is in .const, not in .global"));
  EXPECT_THAT(kernelErrors("ld.global.b32 %r1, %rd1;"), HasSubstr("must be an address in [ ]"));
  EXPECT_THAT(kernelErrors("bar.sync 16;"), HasSubstr("must be from 0 to 15"));
  EXPECT_THAT(kernelErrors("bar.sync 1, 33;"), HasSubstr("must be a multiple of 32"));
  EXPECT_THAT(kernelErrors("st.param.b64 [p], %rd1;"), HasSubstr("can only be read"));
}

TEST(Verifier, SaysWhatIsWrongWithModifiers) {
  EXPECT_THAT(kernelErrors("add.sat.u32 %r1, %r2, %r3;"), HasSubstr("'add.sat.u32' does not exist"));
  EXPECT_THAT(kernelErrors("fma.f32 %f1, %f2, %f3, %f4;"), HasSubstr("'fma.f32' lacks one of .rn .rz .rm .rp"));
  EXPECT_THAT(kernelErrors("ld.relaxed.global.b32 %r1, [%rd1];"), HasSubstr("lacks one of .cta .cluster .gpu .sys"));
  EXPECT_THAT(kernelErrors("mul.wide.u64 %rd1, %rd2, %rd3;"), HasSubstr("'.u64' does not fit here; types that do:"));
}

TEST(Verifier, SuggestsWhatWouldFit) {
  EXPECT_THAT(kernelErrors("mul.s32 %r1, %r2, %r3;"), testing::StrEq("'mul.s32' lacks one of .lo .hi .wide\n"));
  EXPECT_THAT(kernelErrors("fma.rni.f32 %f1, %f2, %f3, %f4;"), HasSubstr("did you mean '.rn'?"));
  EXPECT_THAT(kernelErrors("div.f32 %f1, %f2, %f3;"),
              HasSubstr("is gone since PTX ISA version 1.4; now it lacks one of "));
  EXPECT_THAT(kernelErrors("shfl.down.b32 %r1, %r2, 1, 31;"), HasSubstr("; now it lacks one of .sync"));
  EXPECT_THAT(kernelErrors("ld.shared.b32 %r1, [variable];"),
              HasSubstr("names 'variable', which is in .global, not in .shared"));
}

TEST(Verifier, PointsAtTheModifier) {
  Diagnostics diagnostics;
  auto module = parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k {\n.reg .f32 %f<4>;\n"
      "fma.rni.f32 %f1, %f2, %f3, %f1;\nret;\n}\n",
      "t.ptx", diagnostics);
  ASSERT_TRUE(module);
  EXPECT_FALSE(verify(module->module, module->source, diagnostics));
  EXPECT_EQ(diagnostics.messages().at(0).line, 6u);
  EXPECT_EQ(diagnostics.messages().at(0).column, 4u);
}

TEST(Verifier, SaysWhatVersionOrTargetIsMissing) {
  EXPECT_THAT(kernelErrors("redux.sync.add.u32 %r1, %r2, -1;", "sm_75"), HasSubstr("needs .target sm_80 or later"));
  EXPECT_THAT(kernelErrors("redux.sync.add.u32 %r1, %r2, -1;", "sm_80", "7.0"), testing::StrEq(""));
  EXPECT_THAT(kernelErrors("activemask.b32 %r1;", "sm_70", "6.1"), HasSubstr("needs PTX ISA version 6.2 or later"));
  EXPECT_THAT(kernelErrors("vote.all.pred %p1, %p2;", "sm_70", "6.4"), HasSubstr("is gone since PTX ISA version 6.4"));
  EXPECT_EQ(kernelErrors("vote.all.pred %p1, %p2;", "sm_60", "6.4"), "");
  EXPECT_THAT(kernelErrors("setmaxnreg.inc.sync.aligned.u32 64;", "sm_120a"), testing::StrEq(""));
}

// Some targets have an instruction from a lower version on than others.
TEST(Verifier, KnowsVersionsThatDependOnTheTarget) {
  const struct {
    const char *line, *target, *version, *error;  // null: right
  } kLines[] = {
      {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 32;", "sm_100a", "8.6", nullptr},
      {"tcgen05.wait::ld.sync.aligned;", "sm_100a", "8.7", nullptr},
      {"tcgen05.wait::ld.sync.aligned;", "sm_103f", "8.8", nullptr},
      {"tcgen05.wait::ld.sync.aligned;", "sm_100", "8.6", "needs .target sm_100a or sm_110a"},
      {"tcgen05.wait::ld.sync.aligned;", "sm_100", "8.8", "needs .target sm_100f or sm_110f"},
      {"tcgen05.wait::ld.sync.aligned;", "sm_90", "8.5", "needs PTX ISA version 8.6 or later"},
      {"tcgen05.wait::ld.sync.aligned;", "sm_120a", "9.0", "needs .target sm_100f or sm_110f"},
      {"redux.sync.min.f32 %f1, %f2, -1;", "sm_100a", "8.6", nullptr},
      {"redux.sync.min.f32 %f1, %f2, -1;", "sm_120a", "8.7", "needs .target sm_100a"},
      {"cvt.rn.bf16x2.ue8m0x2 %r1, %h2;", "sm_120a", "8.7", nullptr},
      {"cvt.rn.bf16x2.ue8m0x2 %r1, %h2;", "sm_120", "8.7", "needs .target sm_100a or sm_110a or sm_120a"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3;", "sm_90", "7.8", nullptr},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3;", "sm_89", "8.1", nullptr},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3;", "sm_89", "8.0", "needs PTX ISA version 8.1 or later"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3;", "sm_80", "9.0", "needs .target sm_89 or later"},
      {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "sm_35", "3.1", nullptr},
      {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "sm_30", "3.1", "needs .target sm_35 or later"},
      {"st.volatile.local.u32 [%rd1], %r1;", "sm_90", "9.0", "needs PTX ISA version 9.1 or later"},
      {"red.global.min.s64 [%rd1], %rd2;", "sm_35", "3.1", nullptr},
      {"red.global.min.s64 [%rd1], %rd2;", "sm_30", "4.0", "with .s64 needs .target sm_32 or later"},
      {"tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X [%r1], %rd2, %rd3, %r4, [%r5], [%r6], %p7;",
       "sm_100a", "8.6", nullptr},
      {"tcgen05.mma.cta_group::2.kind::mxf4.block_scale [%r1], %rd2, %rd3, %r4, [%r5], [%r6], %p7;", "sm_100a", "8.6",
       "without one of .scale_vec::2X .block32 needs PTX ISA version 8.8 or later"},
  };
  for (const auto& line : kLines) {
    const std::string errors = kernelErrors(line.line, line.target, line.version);
    if (line.error) EXPECT_THAT(errors, HasSubstr(line.error)) << line.line;
    else EXPECT_EQ(errors, "") << line.line << ' ' << line.target;
  }
}

TEST(Verifier, TakesWhatCompilersWrite) {
  for (const char* line :
       {"sub.cc.u32 %r1, %r2, %r3;", "addc.cc.u32 %r1, %r2, %r3;", "subc.u32 %r1, %r2, %r3;",
        "vote.ballot.sync.b32 %r1, %p1, -1;", "mov.b64 %rd1, {%r1, %r2};", "ld.global.b32 {%r1}, [%rd1+4];",
        "mov.u32 %r1, %tid.x;", "mov.u64 %rd1, variable;", "suld.b.2d.b32.trap {%r1}, [%rd1, {%r2, %r3}];",
        "setp.lt.s32 %p1|%p2, %r1, 5;", "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%rd1];"})
    EXPECT_EQ(kernelErrors(line), "") << line;
}

// Where ptxas is more lenient than its manual.
TEST(Verifier, TakesWhatPtxasTakes) {
  for (const char* line :
       {"lop3.b32 %r1, %r2, %r3, %r4, 511;", "add.s32 %r1, variable+4, %r2;", "mov.b64 {%r1, %r2}, variable;",
        "barrier.cta.aligned.sync %r1;", "bar.sync 4294967296;", "mbarrier.arrive.b64 %rd1, [%rd2], 4294967296;",
        "mbarrier.arrive.noComplete.b64 _, [%rd1], 1;", "mbarrier.pending_count.b64 %r1, 32;",
        "setp.eq.f16x2 %p1, %r1, %r2;", "mapa.shared::cluster.s64 %rd1, %rd2, %r1;",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, 0.5;",
        "cp.async.cg.shared.global.L2::cache_hint [%rd1], [%rd2], 16, 8;",
        "atom.global.add.v2.f32 _, [%rd1], {%f1, %f2};"})
    EXPECT_EQ(kernelErrors(line), "") << line;
}

TEST(Verifier, RefusesWhatPtxasRefuses) {
  const std::pair<const char*, const char*> kLines[] = {
      {"add.s32 %r1, variable, %r2;", "operand 2 of 'add.s32' must be a register or a constant"},
      {"cvt.rni.s8.bf16 %r1, %h2;", "is .b32 where .s8"},
      {"cvt.u32.s8 %tid.x, %r1;", "cannot be a special register"},
      {"cvt.pack.sat.u16.s32 %r1, %tid.x, %r2;", "cannot be a special register"},
      {"ld.global.b32 _, [%rd1];", "cannot be _ here"},
      {"ld.global.v2.b32 _, [%rd1];", "cannot be _ here"},
      {"mbarrier.arrive.b64 %rd1, [%rd2], 0;", "must be at least 1"},
      {"mbarrier.init.b64 [variable], 1;", "which is in .global, not in .shared"},
      {"set.eq.and.bf16.bf16 %h1, %h2, %h3, 1;", "is an integer constant where .pred"},
      {"txq.width.b32 %r1, [%rd1+8];", "needs an address register"},
      {"createpolicy.range.L2::evict_last.b64 %rd1, [%h1], 64, 128;", "needs an address register"}};
  for (auto [line, reason] : kLines) EXPECT_THAT(kernelErrors(line), HasSubstr(reason)) << line;
  EXPECT_THAT(kernelErrors("setmaxnreg.sync.inc.aligned.u32 24;", "sm_90a"), HasSubstr("setmaxnreg"));
  EXPECT_THAT(kernelErrors("barrier.aligned.arrive %r1, %r2;"), HasSubstr("lacks one of .sync"));
  EXPECT_THAT(
      kernelErrors("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.and {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};"),
      HasSubstr("does not exist"));
}

TEST(Verifier, RefusesUnknownVersionsAndTargets) {
  EXPECT_THAT(errorsOf(".version 0.9\n.target sm_10\n"), HasSubstr("0.9 is not one of 1.0 to 9.0"));
  EXPECT_THAT(errorsOf(".version 8.9\n.target sm_90\n"), HasSubstr("8.9 is not one of 1.0 to 9.0"));
  EXPECT_THAT(errorsOf(".version 9.0\n.target sm_99\n"), HasSubstr("'sm_99' is not one of the targets"));
  EXPECT_THAT(errorsOf(".version 7.0\n.target sm_90\n"), HasSubstr("does not know .target sm_90; that came with 7.8"));
}

// Few of the forms that came later.
TEST(Verifier, KnowsPrivateVolatileMemoryOfNewerVersions) {
  for (const char* version : {"9.1", "9.12", "10.0", "99.99"}) {
    Diagnostics diagnostics;
    auto module = parse(std::string(".version ") + version +
                            "\n.target sm_90\n.entry k() { .reg .b32 %r; .local .b32 own;\n"
                            "st.volatile.local.u32 [own], 1; ld.volatile.local.u32 %r, [own]; ret; }",
                        "t.ptx", diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.toString();
    EXPECT_TRUE(verify(module->module, module->source, diagnostics)) << diagnostics.toString();
  }
}

TEST(Verifier, TakesNewerVersionsThatUseNothingNewer) {
  for (const char* version : {"9.1", "9.12", "10.0", "99.99"}) {
    const std::string head = std::string("// made by a newer compiler\n.version ") + version + "\n.target sm_90\n";
    Diagnostics diagnostics;
    auto module =
        parse(head + ".entry k() { .reg .b32 %r; redux.sync.add.s32 %r, %r, -1; ret; }", "t.ptx", diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.toString();
    EXPECT_TRUE(verify(module->module, module->source, diagnostics)) << diagnostics.toString();
    EXPECT_TRUE(diagnostics.hasNewerPtx());
    ASSERT_EQ(diagnostics.messages().size(), 1u);
    EXPECT_EQ(diagnostics.messages()[0].severity, Diagnostics::Severity::Note);
    EXPECT_EQ(diagnostics.messages()[0].line, 2u);
    EXPECT_THAT(diagnostics.messages()[0].text,
                HasSubstr(std::string("PTX ISA version ") + version + " is newer than 9.0, the newest one known"));

    Diagnostics refused;
    EXPECT_EQ(parse(head + ".new { }", "t.ptx", refused), nullptr);
    EXPECT_TRUE(refused.hasErrors() && refused.hasNewerPtx());
    Diagnostics unknownTarget;
    module = parse(std::string(".version ") + version + "\n.target sm_130\n", "t.ptx", unknownTarget);
    ASSERT_NE(module, nullptr);
    EXPECT_FALSE(verify(module->module, module->source, unknownTarget));
  }
  Diagnostics other;
  EXPECT_EQ(parse(".version 9.0\n.frobnicate\n", "t.ptx", other), nullptr);
  EXPECT_FALSE(other.hasNewerPtx());
}

TEST(Verifier, ReportsSeveralErrorsButNotEndlessly) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "add.s32 %r1, %f1, 1;\n";
  std::string errors = kernelErrors(body);
  long count = std::count(errors.begin(), errors.end(), '\n');
  EXPECT_GT(count, 10);
  EXPECT_LE(count, static_cast<long>(kMaxErrors));
}

// declarations.txt: whole modules with the verdict of ptxas, asked again where it is installed.
struct Declaration {
  bool isGood;
  std::string text;
};

std::vector<Declaration> declarations() {
  std::vector<Declaration> all;
  std::ifstream file(MULCIBER_TEST_DATA "/declarations.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      all.push_back(
          {line.starts_with("good"), ".version 9.0\n.target sm_90\n.address_size 64\n" + line.substr(5) + '\n'});
  return all;
}

TEST(Verifier, JudgesDeclarationsAsPtxasDoes) {
  ASSERT_GT(declarations().size(), 100u);
  for (const Declaration& declaration : declarations()) {
    std::string errors = errorsOf(declaration.text);
    EXPECT_EQ(errors.empty(), declaration.isGood) << declaration.text << errors;
  }
}

TEST(Verifier, DeclarationVerdictsAreThoseOfPtxas) {
  if (findPtxas().empty()) GTEST_SKIP() << "skipped: ptxas is not here (set MULCIBER_PTXAS to its path)";
  for (const Declaration& declaration : declarations())
    EXPECT_EQ(acceptedByPtxas(declaration.text, "sm_90"), declaration.isGood) << declaration.text;
}

}  // namespace
}  // namespace mulciber::ptx
