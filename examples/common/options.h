// The command line of the examples: `--name value` pairs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace example {

class Options {
 public:
  // Ends the program with `usage` when there is anything but pairs of the names in `defaults`.
  Options(int argc, char** argv, const char* usage, std::map<std::string, std::string> defaults)
      : values_(std::move(defaults)) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (i + 1 == argc || name.rfind("--", 0) != 0 || values_.count(name.substr(2)) == 0) {
        std::fprintf(stderr, "usage: %s\n", usage);
        std::exit(2);
      }
      values_[name.substr(2)] = argv[i + 1];
    }
  }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  uint32_t number(const std::string& name) const {
    return static_cast<uint32_t>(std::strtoul(text(name).c_str(), nullptr, 10));
  }
  uint32_t width() const { return number("width"); }
  uint32_t height() const { return number("height"); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace example
