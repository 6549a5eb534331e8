// Output for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "util/json.h"

namespace mulciber::tool {

enum class Colour { Red, Green, Yellow, Bold };

// `text` in a colour when standard output (or standard error) is a terminal and NO_COLOR is not set, else as it is.
std::string coloured(std::string_view text, Colour colour, int descriptor = 1);
bool isColourful(int descriptor);

// One line on standard error: "mulciber: ...".
void complain(std::string_view message);

using util::json;

}  // namespace mulciber::tool
