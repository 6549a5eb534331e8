// The command line of the examples: `--name value` pairs, and switches, which are a name alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace example {

class Options {
 public:
  // Ends the program with `usage` when there is anything but the names in `defaults`. A switch's default is "off".
  Options(int argc, char** argv, const char* usage, std::map<std::string, std::string> defaults)
      : values_(std::move(defaults)) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const auto value = values_.find(argument.rfind("--", 0) == 0 ? argument.substr(2) : "");
      const bool isSwitch = value != values_.end() && (value->second == "off" || value->second == "on");
      if (value == values_.end() || (!isSwitch && i + 1 == argc)) {
        std::fprintf(stderr, "usage: %s\n", usage);
        std::exit(2);
      }
      value->second = isSwitch ? "on" : argv[++i];
    }
  }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  uint32_t number(const std::string& name) const {
    return static_cast<uint32_t>(std::strtoul(text(name).c_str(), nullptr, 10));
  }
  bool isOn(const std::string& name) const { return text(name) == "on"; }
  uint32_t width() const { return number("width"); }
  uint32_t height() const { return number("height"); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace example
