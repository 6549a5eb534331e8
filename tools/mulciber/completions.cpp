#include "completions.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace mulciber::tool {

namespace {

std::string takenBy(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "-";
  const std::string type = option.get_type_name();
  return type == "PROFILE" ? "FILE,vulkan1.3,lavapipe,nvidia" : type == "PREFIX" ? "FILE" : type;
}

}  // namespace

bool printCompletions(const CLI::App& app, const std::string& name) {
  const auto print = [](const std::string& word, const std::string& takes, const std::string& text) {
    fmt::print("{}\t{}\t{}\n", word, takes, text);
  };
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const CLI::App* command = &app;
  if (name.empty()) {
    for (const CLI::App* each : commands) print(each->get_name(), "-", each->get_description());
  } else {
    const auto found = std::ranges::find(commands, name, &CLI::App::get_name);
    if (found == commands.end()) return false;
    command = *found;
  }
  for (const CLI::Option* option : command->get_options()) {
    const std::string takes = takenBy(*option);
    if (option->get_positional()) print("*", takes, option->get_description());
    for (const std::string& letter : option->get_snames()) print("-" + letter, takes, option->get_description());
    for (const std::string& word : option->get_lnames()) print("--" + word, takes, option->get_description());
  }
  return true;
}

}  // namespace mulciber::tool
