// NVIDIA's assembler as the judge of PTX text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forms/form_instances.h"

namespace mulciber::ptx {

// The path of ptxas: of the environment's MULCIBER_PTXAS, else where the build found it; empty when it is not there.
std::string findPtxas();

// A module around instructions of a kernel's body: registers, a label, a list of targets and a function to call.
struct JudgeModule {
  uint8_t version;     // 10 * major + minor
  std::string target;  // "sm_90a"

  std::string head() const;  // all before the first instruction; ends with a new line
  static std::string tail();
};

// Where most instructions exist: the newest of each architecture, old ones for what has gone, and one for what is known
// of later versions.
extern const std::array<JudgeModule, 8> judgeModules;

// Whether the module's version and target have the form with these choices.
bool has(const JudgeModule& module, const Form& form, const FormChoices& choices);

// Which of judgeModules has it first.
std::optional<size_t> moduleFor(const Form& form, const FormChoices& choices);

// For each line whether ptxas takes it there: empty, or its message.
std::vector<std::string> judgeByPtxas(const JudgeModule& module, const std::vector<std::string>& lines);

// Whether ptxas takes a whole module, compiled for linking.
bool acceptedByPtxas(const std::string& text, const std::string& machine);

// The verdict on a line through parse() and verify().
std::string judgeByUs(const JudgeModule& module, const std::string& line);

}  // namespace mulciber::ptx
