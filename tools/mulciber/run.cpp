// `mulciber run`: start a program with our libraries in front.
#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "commands.h"
#include "installation.h"
#include "terminal.h"

namespace mulciber::tool {

namespace {

void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  setenv(variable, old && *old ? (value + ":" + old).c_str() : value.c_str(), 1);
}

// As the shell would find it; empty when there is none.
std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate)) return candidate;
  }
  return {};
}

enum class ProgramKind { Dynamic, Static, Foreign, Other };

// Whether the dynamic linker, and with it our libraries, will have a say in the program.
ProgramKind kindOf(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return ProgramKind::Other;
  Elf64_Ehdr header;
  ProgramKind kind = ProgramKind::Other;  // a script, for example
  if (read(file, &header, sizeof(header)) == sizeof(header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
    kind = header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64 ? ProgramKind::Static
                                                                                   : ProgramKind::Foreign;
    for (unsigned i = 0; kind == ProgramKind::Static && i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      const auto at = static_cast<off_t>(header.e_phoff + i * sizeof(segment));
      if (pread(file, &segment, sizeof(segment), at) != sizeof(segment)) break;
      if (segment.p_type == PT_INTERP) kind = ProgramKind::Dynamic;
    }
  }
  close(file);
  return kind;
}

}  // namespace

int run(const RunOptions& options) {
  const std::string folder = libraryFolder();
  if (folder.empty() || access((folder + "/" + auditLibrary).c_str(), R_OK) != 0) {
    complain(
        fmt::format("{} is not where it should be, in lib beside this program's folder or in {} from there: "
                    "install Mulciber again",
                    auditLibrary, MULCIBER_INSTALLED_LIBRARIES));
    return ExitCannotRun;
  }
  const LinkerPath libraries = linkerPath(folder);
  if (!libraries.problem.empty()) {
    complain(fmt::format("{}: {}", libraries.problem, linkerPathAdvice));
    return ExitCannotRun;
  }
  const std::string& name = options.command.front();
  const std::string program = findProgram(name);
  if (program.empty()) {
    complain(fmt::format("'{}' is not there", name));
    return ExitNotFound;
  }
  switch (kindOf(program)) {
    case ProgramKind::Static:
      complain(
          fmt::format("'{}' is linked statically, so no library can be put in front of it: link it dynamically", name));
      return ExitCannotRun;
    case ProgramKind::Foreign:
      complain(fmt::format("'{}' is not a 64-bit x86 program, the only kind supported", name));
      return ExitCannotRun;
    default: break;
  }
  if (!options.trace.empty()) {
    const std::filesystem::path file = std::filesystem::absolute(options.trace);  // the program may change its folder
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    setenv("MULCIBER_TRACE", file.c_str(), 1);
  }
  if (options.profile) setenv("MULCIBER_PROFILE", "1", 1);
  if (options.explain) setenv("MULCIBER_EXPLAIN", "1", 1);
  // Triton writes matrix instructions of warpgroups for 9.0, which no Vulkan driver has, and those of warps below.
  setenv("TRITON_OVERRIDE_ARCH", "sm89", 0);
  const std::string audit = libraries.path + "/" + auditLibrary;
  prepend("LD_LIBRARY_PATH", libraries.path);
  prepend("LD_PRELOAD", audit);
  prepend("LD_AUDIT", audit);

  std::vector<char*> arguments;
  for (const std::string& argument : options.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  complain(fmt::format("'{}' cannot be started: {}", name, std::strerror(errno)));
  return errno == ENOENT ? ExitNotFound : ExitNotExecutable;
}

}  // namespace mulciber::tool
