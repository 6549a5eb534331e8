#include "translator/ptx/target.h"

namespace mulciber::ptx {
namespace {

struct Known {
  uint16_t number;
  uint8_t plain, a, f;  // first ISA version with that suffix, 0 for none
  uint16_t family;
};

// sm_101 became sm_110 with ISA 9.0 and counts as the same architecture.
constexpr Known kKnown[] = {
    {10, 10, 0, 0, 10},     {11, 10, 0, 0, 10},     {12, 12, 0, 0, 10},     {13, 12, 0, 0, 10},
    {20, 20, 0, 0, 20},     {21, 20, 0, 0, 20},     {30, 30, 0, 0, 30},     {32, 40, 0, 0, 30},
    {35, 31, 0, 0, 30},     {37, 41, 0, 0, 30},     {50, 40, 0, 0, 50},     {52, 41, 0, 0, 50},
    {53, 42, 0, 0, 50},     {60, 50, 0, 0, 60},     {61, 50, 0, 0, 60},     {62, 50, 0, 0, 60},
    {70, 60, 0, 0, 70},     {72, 61, 0, 0, 70},     {75, 63, 0, 0, 70},     {80, 70, 0, 0, 80},
    {86, 71, 0, 0, 80},     {87, 74, 0, 0, 80},     {88, 73, 0, 0, 80},     {89, 78, 0, 0, 80},
    {90, 78, 80, 0, 90},    {100, 86, 86, 88, 100}, {101, 86, 86, 88, 110}, {103, 88, 88, 88, 100},
    {110, 90, 90, 90, 110}, {120, 87, 87, 88, 120}, {121, 88, 88, 88, 120},
};

const Known* find(uint16_t number) {
  for (const Known& known : kKnown)
    if (known.number == number) return &known;
  return nullptr;
}

uint16_t ordered(uint16_t number) { return number == 101 ? 110 : number; }

std::optional<Target> parseWord(std::string_view name) {
  if (!name.starts_with("sm_")) return std::nullopt;
  name.remove_prefix(3);
  Target target;
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) {
    target.suffix = name.back();
    name.remove_suffix(1);
  }
  if (name.empty() || name.size() > 3) return std::nullopt;
  for (char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    target.number = static_cast<uint16_t>(target.number * 10 + (c - '0'));
  }
  return target;
}

bool satisfiesOne(Target target, std::string_view rule) {
  size_t below = rule.find('<');
  if (below != std::string_view::npos) {
    if (ordered(target.number) >= ordered(parseWord(rule.substr(below + 1))->number)) return false;
    rule = rule.substr(0, below);
    if (rule.empty()) return true;
  }
  Target wanted = *parseWord(rule);
  uint16_t have = ordered(target.number), want = ordered(wanted.number);
  switch (wanted.suffix) {
    case 'a': return target.suffix == 'a' && have == want;
    case 'f': return target.suffix != 0 && have >= want && find(have)->family == find(want)->family;
    default: return have >= want;
  }
}

}  // namespace

std::optional<Target> parseTarget(std::string_view name) {
  std::optional<Target> target = parseWord(name);
  if (!target || !find(target->number) || versionOf(*target) == 0) return std::nullopt;
  return target;
}

uint8_t versionOf(Target target) {
  const Known* known = find(target.number);
  return target.suffix == 'a' ? known->a : target.suffix == 'f' ? known->f : known->plain;
}

bool satisfies(Target target, std::string_view rule) {
  if (rule.empty()) return true;
  while (true) {
    size_t plus = rule.find('+');
    if (satisfiesOne(target, rule.substr(0, plus))) return true;
    if (plus == std::string_view::npos) return false;
    rule.remove_prefix(plus + 1);
  }
}

std::string describeRule(std::string_view rule) {
  std::string text;
  while (!rule.empty()) {
    size_t plus = rule.find('+');
    std::string_view word = rule.substr(0, plus);
    if (!text.empty()) text += " or ";
    size_t below = word.find('<');
    if (below == std::string_view::npos) {
      text += word;
      if (parseWord(word)->suffix == 0) text += " or later";
    } else {
      if (below != 0) text += std::string(word.substr(0, below)) + " or later, but ";
      text += "before " + std::string(word.substr(below + 1));
    }
    rule = plus == std::string_view::npos ? std::string_view() : rule.substr(plus + 1);
  }
  return text;
}

}  // namespace mulciber::ptx
