#include "translator/ptx/assembler_options.h"

#include <algorithm>
#include <vector>

namespace mulciber::ptx {
namespace {

constexpr std::string_view kRoundedEachPragma = "mulciber.fmad_false";

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Options and their values, which ptxas takes after a space or an equals sign.
std::vector<std::string_view> wordsOf(std::string_view options) {
  std::vector<std::string_view> words;
  while (!options.empty()) {
    const size_t end = std::min(options.find_first_of(" \t\n="), options.size());
    if (end != 0) words.push_back(options.substr(0, end));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return words;
}

}  // namespace

bool roundsEach(std::string_view assemblerOptions) {
  bool fuses = true, optimises = true;  // the last of several counts
  const std::vector<std::string_view> words = wordsOf(assemblerOptions);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i], value = i + 1 < words.size() ? words[i + 1] : std::string_view{};
    if (word == "-fmad" || word == "--fmad") fuses = value != "false";
    else if (word == "-O" || word == "--opt-level") optimises = value != "0";
    else if (word.size() == 3 && word.starts_with("-O")) optimises = word != "-O0";
  }
  const bool debugs = contains(words, "-g") || contains(words, "--device-debug");
  return !fuses || !optimises || debugs;
}

void markRoundedEach(ModuleHolder& holder) {
  for (Function* function : holder.module.functions) {
    std::vector<std::string_view> pragmas(function->pragmas.begin(), function->pragmas.end());
    pragmas.push_back(kRoundedEachPragma);
    function->pragmas = holder.arena->copy(pragmas);
  }
}

bool isRoundedEach(const Module& module, const Function& function) {
  return contains(module.targetOptions, "debug") || contains(function.pragmas, kRoundedEachPragma);
}

}  // namespace mulciber::ptx
