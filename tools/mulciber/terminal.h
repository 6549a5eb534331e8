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

// What the dynamic linker loads to redirect CUDA runtimes inside programs; it lies among our libraries.
inline constexpr const char* auditLibrary = "libmulciber_audit.so";

// The folder that holds our libraries: where the installation put it, or else lib beside the folder of this program;
// empty when there is neither.
std::string libraryFolder();

// Why the dynamic linker cannot take libraries from that folder; empty when it can.
std::string problemWithFolder(const std::string& folder);

}  // namespace mulciber::tool
