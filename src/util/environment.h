// The environment variables Mulciber reads, as typed values: environment.def is the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mulciber::util {

struct Environment {
  using String = std::string;
  using Integer = int64_t;
  using Boolean = bool;
  using List = std::string;  // comma-separated

#define MULCIBER_VARIABLE(field, Type, value, name, description) Type field = value;
#include "util/environment.def"

  // `lookup` gives a variable's text or null. What cannot be understood keeps its default and is named in `problems`.
  static Environment read(const char* (*lookup)(const char* name), std::vector<std::string>& problems);

  // What is wrong with the names among `variables`, each "NAME=value" and the last null: those that begin as ours do
  // and are none.
  static void checkNames(const char* const* variables, std::vector<std::string>& problems);
};

// The process's own, read once; problems with it are in the log.
const Environment& environment();

struct EnvironmentVariable {
  std::string_view name, type, defaultValue, description;
};
const std::vector<EnvironmentVariable>& environmentVariables();

// The items of a comma-separated list, trimmed, empty ones left out.
std::vector<std::string> splitList(std::string_view list);

}  // namespace mulciber::util
