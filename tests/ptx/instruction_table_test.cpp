#include "translator/ptx/instruction_table.h"

#include <gtest/gtest.h>

#include <set>

#include "forms/form_instances.h"
#include "ptxas.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {
namespace {

TEST(InstructionTable, HasFormsForEveryOpcode) {
  for (size_t i = 0; i < opcodeWords().size(); ++i)
    EXPECT_FALSE(formsOf(static_cast<Opcode>(i)).empty()) << opcodeWords()[i];
}

TEST(InstructionTable, FindsTheFormsOfOneOpcode) {
  for (const Form& form : formsOf(Opcode::Lop3)) EXPECT_EQ(form.opcode, Opcode::Lop3);
  EXPECT_EQ(formsOf(Opcode::Lop3).size(), 2u);
}

// A modifier without a form would parse and never be accepted.
TEST(InstructionTable, UsesEveryModifier) {
  std::set<Mod> used;
  for (const Form& form : allForms()) {
    used.insert(form.name.begin(), form.name.end());
    for (const FormGroup& group : form.groups)
      for (const FormChoice& choice : group.choices) used.insert(choice.mod);
  }
  std::string unused;
  for (size_t i = 0; i < modifierWords().size(); ++i)
    if (!used.count(static_cast<Mod>(i))) unused += " ." + std::string(modifierWords()[i]);
  EXPECT_EQ(unused, "");
}

TEST(InstructionTable, RequirementsNameKnownTargets) {
  for (std::string_view rule : targetRules()) {
    if (rule.empty()) continue;
    EXPECT_FALSE(satisfies(*parseTarget("sm_10"), rule) && satisfies(*parseTarget("sm_121a"), rule)) << rule;
    EXPECT_FALSE(describeRule(rule).empty());
  }
}

TEST(InstructionTable, AlternativesHaveTheLowerVersion) {
  size_t alternatives = 0;
  for (const Form& form : allForms())
    for (const FormChoices& choices : singleVariations(form))
      for (const Requirement& requirement : requirementsOf(form, choices)) {
        if (requirement.earlyVersion == 0) continue;
        ++alternatives;
        EXPECT_LT(requirement.earlyVersion, requirement.version) << form.text;
        EXPECT_FALSE(requirement.earlyTarget().empty()) << form.text;
      }
  EXPECT_GT(alternatives, 0u);
}

TEST(InstructionTable, CountsWhatModifiersSay) {
  EXPECT_EQ(countOf(FormCount::Vector, Mod::v4), 4u);
  EXPECT_EQ(countOf(FormCount::Vector, Mod::x4), 0u);
  EXPECT_EQ(countOf(FormCount::Matrices, Mod::x128), 128u);
  EXPECT_EQ(countOf(FormCount::WgmmaColumns, Mod::m64n256k16), 256u);
  EXPECT_EQ(countOf(FormCount::Coordinates, Mod::acube), 4u);
  EXPECT_EQ(countOf(FormCount::Im2colOffsets, Mod::_5d), 3u);
}

// What the generator writes, the parser and the verifier take, and find the same form.
TEST(InstructionTable, EveryFormIsAccepted) {
  size_t instances = 0;
  for (const Form& form : allForms())
    for (const FormChoices& choices : singleVariations(form)) {
      FormInstance instance = instantiate(form, choices);
      ++instances;
      const auto module = moduleFor(form, choices);
      ASSERT_TRUE(module) << form.text;
      EXPECT_EQ(judgeByUs(judgeModules[*module], instance.text()), "") << instance.text() << "\n  " << form.text;
    }
  std::cout << allForms().size() << " forms, " << instances << " instances\n";
}

}  // namespace
}  // namespace mulciber::ptx
