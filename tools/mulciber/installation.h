// Where our libraries are, and how the dynamic linker is told.
#pragma once

#include <string>

namespace mulciber::tool {

// What the dynamic linker loads to redirect CUDA runtimes inside programs; it lies among our libraries.
inline constexpr const char* auditLibrary = "libmulciber_audit.so";

// The folder that holds our libraries: where the installation put it, or else lib beside the folder of this program;
// empty when there is neither.
std::string libraryFolder();

// That folder by a path which LD_PRELOAD, LD_AUDIT and LD_LIBRARY_PATH take whole. Where its own has a character that
// separates paths there, it is a symbolic link in a folder of this user's alone.
struct LinkerPath {
  std::string path;
  std::string problem;  // why there is none
};
LinkerPath linkerPath(const std::string& folder);

// What to do about the problem.
inline constexpr const char* linkerPathAdvice =
    "set XDG_CACHE_HOME to a folder of your own whose path has only plain characters, or install Mulciber in such a "
    "one";

}  // namespace mulciber::tool
