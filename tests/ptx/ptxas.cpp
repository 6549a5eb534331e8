#include "ptxas.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "forms/form_instances.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {
namespace {

namespace fs = std::filesystem;

uint16_t numberOf(const std::string& target) { return parseTarget(target)->number; }

// The oldest target that this ptxas makes code for.
constexpr uint16_t kOldestTarget = 75;

struct Run {
  std::string output;
  bool failed;
};

Run run(const std::string& command) {
  Run result{{}, true};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer;
  while (size_t read = fread(buffer.data(), 1, buffer.size(), pipe)) result.output.append(buffer.data(), read);
  result.failed = pclose(pipe) != 0;
  return result;
}

// "ptxas x.ptx, line 12; error   : text": the line's number, or 0.
size_t lineOf(const std::string& message) {
  size_t at = message.find(", line ");
  return at == std::string::npos ? 0 : std::strtoul(message.c_str() + at + 7, nullptr, 10);
}

// Judges lines[begin .. end) in runs of ptxas. A line with an error is left out of the next run, because a syntax
// error hides what comes after it. When ptxas fails without naming a line the range is halved.
void judgeRange(const JudgeModule& module, const std::vector<std::string>& lines, size_t begin, size_t end,
                std::vector<std::string>& verdicts) {
  std::string head = module.head();
  size_t headLines = static_cast<size_t>(std::count(head.begin(), head.end(), '\n'));
  fs::path file = fs::temp_directory_path() / ("mulciber-judge-" + std::to_string(getpid()) + ".ptx");
  std::string machine = numberOf(module.target) < kOldestTarget ? "sm_75" : module.target;
  std::string command = findPtxas() + " -arch " + machine + ' ' + file.string() + " -o /dev/null";
  while (true) {
    {
      std::ofstream out(file);
      out << head;
      for (size_t i = begin; i < end; ++i) out << (verdicts[i].empty() ? lines[i] : "") << '\n';
      out << JudgeModule::tail();
    }
    Run result = run(command);
    bool located = false;
    std::istringstream messages(result.output);
    for (std::string message; std::getline(messages, message);) {
      size_t line = lineOf(message);
      bool isError = message.find("; error") != std::string::npos || message.find("; fatal") != std::string::npos;
      if (!isError || line <= headLines || line > headLines + end - begin) continue;
      std::string& verdict = verdicts[begin + line - headLines - 1];
      if (!verdict.empty()) continue;
      verdict = message.substr(message.find(';') + 2);
      located = true;
    }
    if (!result.failed) break;
    if (located) continue;
    if (end - begin <= 1) {
      if (begin < end && verdicts[begin].empty()) verdicts[begin] = "ptxas failed: " + result.output;
      break;
    }
    size_t middle = begin + (end - begin) / 2;
    judgeRange(module, lines, begin, middle, verdicts);
    judgeRange(module, lines, middle, end, verdicts);
    break;
  }
  fs::remove(file);
}

}  // namespace

std::string findPtxas() {
  if (const char* path = std::getenv("MULCIBER_PTXAS")) return fs::exists(path) ? path : "";
  return fs::exists(MULCIBER_PTXAS) ? MULCIBER_PTXAS : "";
}

std::string JudgeModule::head() const {
  bool has128 = version >= 83 && numberOf(target) >= 70;
  std::string text =
      ".version " + std::to_string(version / 10) + '.' + std::to_string(version % 10) + "\n.target " + target + '\n';
  if (version >= 23) text += ".address_size 64\n";
  if (version >= 20 && numberOf(target) >= 20) text += ".func callee { ret; }\n";
  for (const char* space : {"global", "shared", "const"})
    text += std::string(".") + space + " .align 16 .b8 " + (*space == 'c' ? "constant" : space) + "[64];\n";
  text += ".entry kernel {\n  .local .align 16 .b8 local[64];\n";
  text += registerDeclarations(has128);
  if (version >= 60 && numberOf(target) >= 30) text += "TARGETS: .branchtargets DONE;\n";
  return text;
}

std::string JudgeModule::tail() { return "DONE:\n  ret;\n}\n"; }

std::vector<std::string> judgeByPtxas(const JudgeModule& module, const std::vector<std::string>& lines) {
  // One function holds instructions for one size of CTA group alone, so that those for two are judged after the others.
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  auto others = std::stable_partition(order.begin(), order.end(),
                                      [&](size_t i) { return lines[i].find(".cta_group::2") == std::string::npos; });
  std::vector<std::string> sorted;
  for (size_t i : order) sorted.push_back(lines[i]);

  // Not all at once: there are as many runs as there are syntax errors.
  constexpr size_t kTogether = 150;
  std::vector<std::string> verdicts(lines.size());
  auto judge = [&](size_t begin, size_t end) {
    for (; begin < end; begin += kTogether)
      judgeRange(module, sorted, begin, std::min(begin + kTogether, end), verdicts);
  };
  const auto pairs = static_cast<size_t>(others - order.begin());
  judge(0, pairs);
  judge(pairs, sorted.size());
  // A syntax error may be noticed one line too late.
  for (size_t i = 0; i < sorted.size(); ++i)
    if (verdicts[i].find("Parsing error") != std::string::npos) {
      verdicts[i].clear();
      judgeRange(module, sorted, i, i + 1, verdicts);
    }
  std::vector<std::string> result(lines.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = std::move(verdicts[i]);
  return result;
}

bool acceptedByPtxas(const std::string& text, const std::string& machine) {
  fs::path file = fs::temp_directory_path() / ("mulciber-judge-" + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << text;
  bool accepted = !run(findPtxas() + " -c -arch " + machine + ' ' + file.string() + " -o /dev/null").failed;
  fs::remove(file);
  return accepted;
}

const std::array<JudgeModule, 8> judgeModules = {{{90, "sm_90a"},
                                                  {90, "sm_100a"},
                                                  {90, "sm_120a"},
                                                  {90, "sm_60"},
                                                  {90, "sm_10"},
                                                  {13, "sm_13"},
                                                  {64, "sm_70"},
                                                  {91, "sm_90"}}};

bool has(const JudgeModule& module, const Form& form, const FormChoices& choices) {
  const ModuleTarget target{module.version, *parseTarget(module.target)};
  if (!target.missing(form.requires_, form.removed).empty()) return false;
  for (const Requirement& requirement : requirementsOf(form, choices))
    if (!target.missing(requirement).empty()) return false;
  return true;
}

std::optional<size_t> moduleFor(const Form& form, const FormChoices& choices) {
  for (size_t i = 0; i < judgeModules.size(); ++i)
    if (has(judgeModules[i], form, choices)) return i;
  return std::nullopt;
}

std::string judgeByUs(const JudgeModule& module, const std::string& line) {
  Diagnostics diagnostics;
  auto parsed = parse(module.head() + line + '\n' + JudgeModule::tail(), "judged.ptx", diagnostics);
  if (parsed) verify(parsed->module, parsed->source, diagnostics);
  for (const auto& message : diagnostics.messages())
    if (message.severity == Diagnostics::Severity::Error) return message.text;
  return {};
}

}  // namespace mulciber::ptx
