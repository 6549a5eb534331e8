#include "findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "terminal.h"

namespace mulciber::tool {

namespace {

const char* wordFor(Verdict verdict) {
  return verdict == Verdict::Good ? "ok" : verdict == Verdict::Note ? "note" : "bad";
}

Colour colourFor(Verdict verdict) {
  return verdict == Verdict::Good ? Colour::Green : verdict == Verdict::Note ? Colour::Yellow : Colour::Red;
}

}  // namespace

bool hasBad(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) { return finding.verdict == Verdict::Bad; });
}

void print(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const std::string word = fmt::format("{:4}", wordFor(finding.verdict));
    fmt::print("{} {:14} {}\n", coloured(word, colourFor(finding.verdict)), finding.subject, finding.text);
    if (!finding.remedy.empty()) fmt::print("     {:14} -> {}\n", "", finding.remedy);
  }
}

std::string toJson(const std::vector<Finding>& findings) {
  std::string list;
  for (const Finding& finding : findings) {
    list += fmt::format("{}\n    {{\"verdict\": \"{}\", \"subject\": {}, \"text\": {}, \"remedy\": {}}}",
                        list.empty() ? "" : ",", wordFor(finding.verdict), json(finding.subject), json(finding.text),
                        json(finding.remedy));
  }
  return "[" + list + "\n  ]";
}

}  // namespace mulciber::tool
