// Every form of the instruction table either becomes valid SPIR-V, or is refused for a reason that refused_forms.txt
// names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <span>
#include <spirv/unified1/spirv.hpp11>

#include "forms/form_instances.h"
#include "mulciber/translator.h"
#include "support/wildcard.h"

namespace mulciber::ptx {
namespace {

// Where most instructions exist: the newest of each architecture, old ones for what has gone.
struct ModuleHead {
  uint8_t version;
  const char* target;
};
constexpr ModuleHead heads[] = {{90, "sm_90a"}, {90, "sm_100a"}, {90, "sm_120a"}, {90, "sm_60"}, {64, "sm_70"}};

const ModuleHead* headFor(const Form& form, const FormChoices& choices) {
  for (const ModuleHead& head : heads) {
    ModuleTarget target{head.version, *parseTarget(head.target)};
    bool has = target.missing(form.requires_, form.removed).empty();
    for (const Requirement& requirement : requirementsOf(form, choices)) has &= target.missing(requirement).empty();
    if (has) return &head;
  }
  return nullptr;
}

// Registers by the prefix of their names: how they are declared, and how their value comes from memory and goes there.
struct RegisterKind {
  const char *prefix, *type, *access;
};
constexpr RegisterKind registerKinds[] = {{"%p", "pred", ""},    {"%c", "b8", "b8"},    {"%h", "b16", "b16"},
                                          {"%r", "b32", "b32"},  {"%rd", "b64", "b64"}, {"%f", "f32", "f32"},
                                          {"%fd", "f64", "f64"}, {"%q", "b128", "b128"}};

// A kernel that loads every register of the instruction before it and stores it after, so that nothing is left out as
// unused or folded.
std::string kernelAround(const std::string& instruction, const std::string& name) {
  static const std::regex pattern("(%[a-z]+)[0-9]+");
  std::map<std::string, std::string> registers;  // name to prefix
  for (std::sregex_iterator found(instruction.begin(), instruction.end(), pattern), end; found != end; ++found)
    registers.emplace((*found)[0], (*found)[1]);
  std::string declared, loads, stores;
  unsigned at = 0;
  for (const auto& [reg, prefix] : registers) {
    const RegisterKind& kind =
        *std::ranges::find_if(registerKinds, [&p = prefix](const RegisterKind& each) { return p == each.prefix; });
    declared += std::string(".reg .") + kind.type + ' ' + reg + ";\n";
    std::string place = "[%base+" + std::to_string(16 * at++) + "]";
    if (prefix == "%p") {
      loads += "ld.global.u32 %word, " + place + "; setp.ne.u32 " + reg + ", %word, 0;\n";
      stores += "selp.u32 %word, 1, 0, " + reg + "; st.global.u32 " + place + ", %word;\n";
    } else {
      loads += std::string("ld.global.") + kind.access + ' ' + reg + ", " + place + ";\n";
      stores += std::string("st.global.") + kind.access + ' ' + place + ", " + reg + ";\n";
    }
  }
  return ".entry " + name + "(.param .u64 data)\n{\n.reg .b64 %base;\n.reg .b32 %word;\n" + declared +
         "TARGETS: .branchtargets DONE;\nld.param.u64 %base, [data];\n" + loads + instruction + "\n" + stores +
         "DONE: ret;\n}\n";
}

std::string moduleText(const ModuleHead& head) {
  return ".version " + std::to_string(head.version / 10) + '.' + std::to_string(head.version % 10) + "\n.target " +
         head.target + "\n.address_size 64\n.func callee { ret; }\n";
}

// refused_forms.txt: a pattern with * for any text, then # and a part of the reason; lines of # alone are comments.
class Refusals {
 public:
  Refusals() {
    std::ifstream file(MULCIBER_TEST_DATA "/refused_forms.txt");
    for (std::string line; std::getline(file, line);) {
      size_t hash = line.find(" # ");
      if (line.empty() || line[0] == '#' || hash == std::string::npos) continue;
      size_t end = line.find_last_not_of(' ', hash);
      entries_.push_back({line.substr(0, end + 1), line.substr(hash + 3)});
    }
  }

  bool expects(std::string_view instruction, std::string_view message) {
    for (Entry& entry : entries_)
      if (test::matches(entry.pattern, instruction) && message.find(entry.reason) != std::string_view::npos)
        return entry.isUsed = true;
    return false;
  }

  std::string unused() const {
    std::string text;
    for (const Entry& entry : entries_)
      if (!entry.isUsed) text += entry.pattern + '\n';
    return text;
  }

 private:
  struct Entry {
    std::string pattern, reason;
    bool isUsed = false;
  };

  std::vector<Entry> entries_;
};

std::vector<std::pair<FormChoices, OperandShape>> instancesOf(const Form& form) {
  std::vector<std::pair<FormChoices, OperandShape>> all;
  for (const FormChoices& choices : singleVariations(form)) all.push_back({choices, OperandShape::Registers});
  for (OperandShape shape : {OperandShape::Immediates, OperandShape::SameRegister, OperandShape::Optional})
    all.push_back({simplestChoices(form), shape});
  return all;
}

bool hasCapability(std::span<const uint32_t> module, spv::Capability capability) {
  constexpr size_t header = 5;
  for (size_t at = header; at < module.size() && (module[at] & 0xFFFF) == uint32_t(spv::Op::OpCapability); at += 2)
    if (module[at + 1] == uint32_t(capability)) return true;
  return false;
}

TEST(Forms, TranslateOrAreRefusedByName) {
  const TargetProfile& profile = *builtinProfile("lavapipe");
  TranslateOptions options;
  options.validate = true;
  Refusals refusals;
  size_t translated = 0, refused = 0;
  for (const Form& form : allForms()) {
    for (const auto& [choices, shape] : instancesOf(form)) {
      const ModuleHead* head = headFor(form, choices);
      if (!head) continue;
      std::string line = instantiate(form, choices, shape).text();
      Diagnostics diagnostics;
      ModulePtr module = parseModule(moduleText(*head) + kernelAround(line, "k"), "form.ptx", diagnostics);
      if (module && translate(*module, "k", profile, options, diagnostics)) {
        ++translated;
        continue;
      }
      ++refused;
      EXPECT_TRUE(refusals.expects(line, diagnostics.messages().front().text)) << line << "\n"
                                                                               << diagnostics.toString();
    }
  }
  RecordProperty("translated", std::to_string(translated));
  RecordProperty("refused", std::to_string(refused));
  EXPECT_EQ(refusals.unused(), "");
}

// A kernel that only flushes denormals leaves that to the device. One that also keeps some flushes by its own
// operations, which are many: no form may bring such ones with it.
TEST(Forms, LeaveFlushingToTheDevice) {
  const TargetProfile& profile = *builtinProfile("nvidia");
  size_t translated = 0;
  for (const Form& form : allForms()) {
    for (const auto& [choices, shape] : instancesOf(form)) {
      const ModuleHead* head = headFor(form, choices);
      const std::string line = instantiate(form, choices, shape).text();
      if (!head || line.find(".ftz") == std::string::npos) continue;
      Diagnostics diagnostics;
      ModulePtr module = parseModule(moduleText(*head) + kernelAround(line, "k"), "form.ptx", diagnostics);
      if (!module) continue;
      const auto kernel = translate(*module, "k", profile, {}, diagnostics);
      if (!kernel) continue;
      ++translated;
      EXPECT_FALSE(hasCapability(kernel->spirv, spv::Capability::DenormPreserve)) << line;
    }
  }
  EXPECT_GT(translated, 60u);
}

}  // namespace
}  // namespace mulciber::ptx
