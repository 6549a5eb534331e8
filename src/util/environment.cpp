#include "util/environment.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "util/log.h"
#include "util/suggestion.h"

namespace mulciber::util {

namespace {

bool parse(std::string_view text, std::string& out) {
  out = text;
  return true;
}

bool parse(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view text, bool& out) {
  if (text == "1" || text == "true" || text == "yes" || text == "on") return out = true;
  if (text == "0" || text == "false" || text == "no" || text == "off" || text.empty()) return !(out = false);
  return false;
}

bool isTestVariable(std::string_view name) {
#define MULCIBER_TEST_VARIABLE(known) \
  if (name == known) return true;
#include "util/environment.def"
  return false;
}

}  // namespace

Environment Environment::read(const char* (*lookup)(const char* name), std::vector<std::string>& problems) {
  Environment result;
#define MULCIBER_VARIABLE(field, Type, value, name, description)                                             \
  if (const char* text = lookup(name)) {                                                                     \
    Type parsed{};                                                                                           \
    if (parse(text, parsed)) result.field = parsed;                                                          \
    else problems.push_back(std::string(name " is \"") + text + "\", which is no " #Type ": it is ignored"); \
  }
#include "util/environment.def"
  return result;
}

void Environment::checkNames(const char* const* variables, std::vector<std::string>& problems) {
  constexpr std::string_view prefix = "MULCIBER_";
  for (; variables && *variables; ++variables) {
    const std::string_view variable = *variables;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (!name.starts_with(prefix) || isTestVariable(name)) continue;
    Suggestion suggestion(name.substr(prefix.size()));
    bool isKnown = false;
    for (const EnvironmentVariable& known : environmentVariables()) {
      isKnown |= known.name == name;
      if (known.name.starts_with(prefix)) suggestion.offer(known.name.substr(prefix.size()));
    }
    if (!isKnown) problems.push_back(std::string(name) + " is no variable of Mulciber's" + suggestion.phrase(prefix));
  }
}

const Environment& environment() {
  // Never destroyed: exit handlers of the program may still call in.
  static const Environment& values = *[] {
    std::vector<std::string> problems;
    auto* read =
        new Environment(Environment::read([](const char* name) -> const char* { return std::getenv(name); }, problems));
    Environment::checkNames(environ, problems);
    startLog(read->logLevel, read->logFile);
    for (const std::string& problem : problems) log().warn("{}", problem);
    return read;
  }();
  return values;
}

const std::vector<EnvironmentVariable>& environmentVariables() {
  static const std::vector<EnvironmentVariable> variables = {
#define MULCIBER_VARIABLE(field, Type, value, name, description) {name, #Type, #value, description},
#include "util/environment.def"
  };
  return variables;
}

std::vector<std::string> splitList(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

}  // namespace mulciber::util
