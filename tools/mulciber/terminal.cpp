#include "terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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

}  // namespace mulciber::tool
