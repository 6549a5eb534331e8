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
  // Ends the program when there is anything but the names in `defaults`, or a word where the default is a number.
  // `usage` begins with the program's name. A switch's default is "off".
  Options(int argc, char** argv, const char* usage, std::map<std::string, std::string> defaults)
      : usage_(usage), values_(std::move(defaults)) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--help" || argument == "-h") {
        std::printf("usage: %s\n", usage);
        std::exit(0);
      }
      const auto value = values_.find(argument.rfind("--", 0) == 0 ? argument.substr(2) : "");
      if (value == values_.end()) refuse("there is no option '" + argument + "'");
      if (value->second == "off" || value->second == "on") {
        value->second = "on";
        continue;
      }
      if (i + 1 == argc) refuse(argument + " needs a value");
      const std::string given = argv[++i];
      if (isNumber(value->second) && (!isNumber(given) || given.size() > 9 || std::atoi(given.c_str()) == 0))
        refuse(argument + " takes a number from 1 to 999999999, not '" + given + "'");
      value->second = given;
    }
    const auto output = values_.find("output");
    if (output != values_.end() && !isWritable(output->second)) {
      std::fprintf(stderr, "%s: cannot write %s\n", program().c_str(), output->second.c_str());
      std::exit(1);
    }
  }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  uint32_t number(const std::string& name) const {
    return static_cast<uint32_t>(std::strtoul(text(name).c_str(), nullptr, 10));
  }
  bool isOn(const std::string& name) const { return text(name) == "on"; }
  uint32_t width() const { return number("width"); }
  uint32_t height() const { return number("height"); }

  [[noreturn]] void refuse(const std::string& why) const {
    std::fprintf(stderr, "%s: %s\nusage: %s\n", program().c_str(), why.c_str(), usage_.c_str());
    std::exit(2);
  }

 private:
  std::string program() const { return usage_.substr(0, usage_.find(' ')); }
  // Asked first, since what is written there is computed for long.
  static bool isWritable(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "ab");
    return file != nullptr && std::fclose(file) == 0;
  }
  static bool isNumber(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }

  std::string usage_;
  std::map<std::string, std::string> values_;
};

}  // namespace example
