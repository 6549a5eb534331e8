// Our verdict on an instruction against that of NVIDIA's assembler, over instances of every form of the table, whole
// and damaged. A sample in every run; with MULCIBER_PTXAS_COMPLETE=1 much more, which takes minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "forms/form_instances.h"
#include "mutations.h"
#include "ptxas.h"
#include "support/wildcard.h"

namespace mulciber::ptx {
namespace {

bool isComplete() { return std::getenv("MULCIBER_PTXAS_COMPLETE") != nullptr; }

// known_disagreements.txt: "lenient" where only ptxas accepts, "strict" where only we do, "skip" for what is not even
// judged; then a pattern with * for any text, then # and the reason.
class KnownDisagreements {
 public:
  KnownDisagreements() {
    std::ifstream file(MULCIBER_TEST_DATA "/known_disagreements.txt");
    for (std::string line; std::getline(file, line);) {
      const size_t space = line.find(' ');
      size_t hash = line.find(" # ");
      if (line.empty() || line[0] == '#' || hash == std::string::npos) continue;
      while (line[hash - 1] == ' ') --hash;
      patterns_[line.substr(0, space)].push_back(line.substr(space + 1, hash - space - 1));
    }
  }

  bool covers(std::string_view instruction, bool isAcceptedByPtxas) const {
    return anyMatches(patterns_.at(isAcceptedByPtxas ? "lenient" : "strict"), instruction);
  }
  bool skips(std::string_view instruction) const { return anyMatches(patterns_.at("skip"), instruction); }

 private:
  static bool anyMatches(const std::vector<std::string>& patterns, std::string_view instruction) {
    return std::ranges::any_of(patterns,
                               [&](const std::string& pattern) { return test::matches(pattern, instruction); });
  }

  std::map<std::string, std::vector<std::string>> patterns_;
};

// Every form has its own numbers, so that a change to one leaves the sample of the others as it is.
std::mt19937 randomFor(const Form& form, unsigned salt) {
  unsigned seed = salt;
  for (char c : form.text) seed = seed * 31 + static_cast<unsigned char>(c);
  return std::mt19937(seed);
}

class PtxasAgreement : public testing::Test {
 protected:
  void SetUp() override {
    if (findPtxas().empty()) GTEST_SKIP() << "skipped: ptxas is not here (set MULCIBER_PTXAS to its path)";
  }

  // Judges every line of every module twice, and counts.
  void compare(const std::map<size_t, std::vector<std::string>>& batches, std::span<const JudgeModule> modules) {
    KnownDisagreements known;
    size_t judged = 0, accepted = 0, differ = 0, excused = 0;
    for (const auto& [index, all] : batches) {
      if (isNewerThanKnown(modules[index].version / 10, modules[index].version % 10)) continue;  // perhaps to ptxas too
      std::set<std::string> distinct;
      std::vector<std::string> lines;
      for (const std::string& line : all)
        if (!known.skips(line) && distinct.insert(line).second) lines.push_back(line);
      std::vector<std::string> verdicts = judgeByPtxas(modules[index], lines);
      for (size_t i = 0; i < lines.size(); ++i) {
        std::string ours = judgeByUs(modules[index], lines[i]);
        ++judged;
        accepted += verdicts[i].empty();
        if (ours.empty() == verdicts[i].empty()) continue;
        if (known.covers(lines[i], verdicts[i].empty())) {
          ++excused;
          continue;
        }
        if (++differ <= kMostPrinted)
          ADD_FAILURE() << modules[index].target << ", version " << int{modules[index].version} << ": " << lines[i]
                        << "\n  ptxas: " << (verdicts[i].empty() ? "accepted" : verdicts[i])
                        << "\n  ours:  " << (ours.empty() ? "accepted" : ours);
      }
    }
    std::cout << judged << " instructions judged, " << accepted << " right ones among them; " << differ
              << " disagreements; " << excused << " known ones\n";
    EXPECT_EQ(differ, 0u);
  }

  static constexpr size_t kMostPrinted = 1000;
};

TEST_F(PtxasAgreement, OnEveryForm) {
  std::map<size_t, std::vector<std::string>> batches;
  for (const Form& form : allForms()) {
    std::mt19937 random = randomFor(form, 1);
    std::vector<FormChoices> all = singleVariations(form);
    uint64_t count = combinationCount(form);
    for (int i = 0; i < (isComplete() ? 200 : 1); ++i) all.push_back(combination(form, random() % count));
    size_t first = 0;
    for (const FormChoices& choices : all) {
      if (!isComplete() && first > 2 && random() % 4 != 0) continue;
      auto module = moduleFor(form, choices);
      if (!module) continue;
      std::vector<OperandShape> shapes = {OperandShape::Registers};
      if (first++ == 0 || isComplete())
        shapes = {OperandShape::Registers, OperandShape::Immediates, OperandShape::SameRegister,
                  OperandShape::Optional};
      for (OperandShape shape : shapes) batches[*module].push_back(instantiate(form, choices, shape).text());
    }
    EXPECT_NE(first, 0u) << "no target has " << form.text;
  }
  compare(batches, judgeModules);
}

TEST_F(PtxasAgreement, OnDamagedInstructions) {
  std::map<size_t, std::vector<std::string>> batches;
  for (const Form& form : allForms()) {
    std::mt19937 random = randomFor(form, 2);
    uint64_t count = combinationCount(form);
    for (int i = 0; i < (isComplete() ? 100 : 2); ++i) {
      FormChoices choices = i == 0 ? simplestChoices(form) : combination(form, random() % count);
      auto module = moduleFor(form, choices);
      if (!module) continue;
      bool has128 = judgeModules[*module].version >= 83 && *module != 3 && *module != 4;
      std::string line = mutate(instantiate(form, choices), random).text();
      if (has128 || line.find("%q") == std::string::npos) batches[*module].push_back(line);
    }
  }
  compare(batches, judgeModules);
}

// Every form at its own version and target, one version too early, and on an older target.
TEST_F(PtxasAgreement, OnVersionsAndTargets) {
  static const char* const kTargets[] = {
      "sm_10",   "sm_12",  "sm_13",   "sm_20",   "sm_30",   "sm_35",   "sm_52",  "sm_53",   "sm_60",   "sm_61",
      "sm_70",   "sm_72",  "sm_75",   "sm_80",   "sm_86",   "sm_89",   "sm_90",  "sm_90a",  "sm_100",  "sm_100f",
      "sm_100a", "sm_103", "sm_103f", "sm_103a", "sm_110f", "sm_110a", "sm_120", "sm_120f", "sm_120a", "sm_121a"};
  static const uint8_t kVersions[] = {10, 12, 13, 14, 15, 20, 21, 23, 30, 31, 32, 40, 41, 42, 43, 50, 60, 61, 63,
                                      64, 65, 70, 71, 73, 74, 75, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};
  std::vector<JudgeModule> modules;
  for (const char* target : kTargets)
    for (uint8_t version : kVersions)
      if (version >= versionOf(*parseTarget(target))) modules.push_back({version, target});
  std::mt19937 random(3);
  std::shuffle(modules.begin(), modules.end(), random);
  if (!isComplete()) modules.resize(12);
  std::map<size_t, std::vector<std::string>> batches;
  for (size_t i = 0; i < modules.size(); ++i)
    for (const Form& form : allForms()) {
      std::mt19937 own = randomFor(form, static_cast<unsigned>(i));
      if (!isComplete() && own() % 6 != 0) continue;
      std::vector<FormChoices> all = singleVariations(form);
      std::string line = instantiate(form, all[own() % all.size()]).text();
      bool has128 = modules[i].version >= 83 && parseTarget(modules[i].target)->number >= 70;
      bool isOld = modules[i].version < 23 && line.find("[%rd") != std::string::npos;  // addresses had no size yet
      if (!isOld && (has128 || line.find("%q") == std::string::npos)) batches[i].push_back(line);
    }
  compare(batches, modules);
}

}  // namespace
}  // namespace mulciber::ptx
