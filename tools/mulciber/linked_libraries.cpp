#include "linked_libraries.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace mulciber::tool {

namespace {

// The dynamic linker of the ABI. The program's own could be anything, and is not started.
constexpr const char* dynamicLinker = "/lib64/ld-linux-x86-64.so.2";

// What the dynamic linker writes when it lists libraries; nothing when it cannot load the program. With its option
// --list it would give up at the first library that is not there.
std::optional<std::string> listed(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::string trace = "LD_TRACE_LOADED_OBJECTS=1";
  std::vector<char*> variables;
  for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
  variables.push_back(trace.data());
  variables.push_back(nullptr);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; spawned == 0 && (got = read(ends[0], part, sizeof(part))) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  if (spawned != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::vector<LinkedLibrary>> linkedLibraries(const std::string& program, const std::string& firstFolder) {
  const char* old = std::getenv("LD_LIBRARY_PATH");
  const std::string folders = old && *old ? firstFolder + ":" + old : firstFolder;
  // Without a slash the dynamic linker would look for a library of that name.
  const std::string path = program.find('/') == std::string::npos ? "./" + program : program;
  const auto text = listed({dynamicLinker, "--library-path", folders, path});
  if (!text) return std::nullopt;
  std::vector<LinkedLibrary> libraries;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    // "NAME => PATH (0x...)", "NAME => not found", or only "PATH (0x...)"
    const size_t begin = line.find_first_not_of('\t'), arrow = line.find(" => ");
    if (begin == line.npos || arrow == line.npos) continue;
    const size_t end = line.rfind(" (0x");
    const size_t pathBegin = arrow + 4;
    libraries.push_back({line.substr(begin, arrow - begin),
                         end == line.npos || end < pathBegin ? "" : line.substr(pathBegin, end - pathBegin)});
  }
  return libraries;
}

}  // namespace mulciber::tool
