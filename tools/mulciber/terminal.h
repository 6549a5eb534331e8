// Output for people and for programs.
#pragma once

#include <string>
#include <string_view>

namespace mulciber::tool {

enum class Colour { Red, Green, Yellow, Bold };

// `text` in a colour when standard output (or standard error) is a terminal and NO_COLOR is not set, else as it is.
std::string coloured(std::string_view text, Colour colour, int descriptor = 1);
bool isColourful(int descriptor);

// One line on standard error: "mulciber: ...".
void complain(std::string_view message);

// `text` as a JSON string, with the quotes.
std::string json(std::string_view text);

// The folder that holds our libraries: lib beside the folder of this program; empty when it cannot be found.
std::string libraryFolder();

// Why the dynamic linker cannot take libraries from that folder; empty when it can.
std::string problemWithFolder(const std::string& folder);

}  // namespace mulciber::tool
