#include "terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace mulciber::tool {

bool isColourful(int descriptor) { return isatty(descriptor) && !std::getenv("NO_COLOR"); }

std::string coloured(std::string_view text, Colour colour, int descriptor) {
  if (!isColourful(descriptor)) return std::string(text);
  const char* code = "1";
  switch (colour) {
    case Colour::Red: code = "31"; break;
    case Colour::Green: code = "32"; break;
    case Colour::Yellow: code = "33"; break;
    case Colour::Bold: break;
  }
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

void complain(std::string_view message) {
  fmt::print(stderr, "{} {}\n", coloured("mulciber:", Colour::Red, STDERR_FILENO), message);
}

std::string libraryFolder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  // In a build and in a bundle it is the first, when installed the second.
  for (const char* folder : {"../lib", MULCIBER_INSTALLED_LIBRARIES}) {
    const auto path = (program.parent_path() / folder).lexically_normal();
    if (std::filesystem::exists(path / auditLibrary, error)) return path.string();
  }
  const auto folder = program.parent_path().parent_path() / "lib";
  return std::filesystem::is_directory(folder, error) ? folder.string() : std::string();
}

std::string problemWithFolder(const std::string& folder) {
  const size_t separator = folder.find_first_of(" :;\t\n");
  if (separator == std::string::npos) return {};
  return fmt::format("{} cannot be named in LD_PRELOAD and LD_AUDIT, because there {} separates names", folder,
                     folder[separator] == ' ' ? "a space" : json(folder.substr(separator, 1)));
}

}  // namespace mulciber::tool
