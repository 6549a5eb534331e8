#include "installation.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "util/private_folder.h"

namespace mulciber::tool {

namespace {

namespace fs = std::filesystem;

// Besides separators of paths, what begins $ORIGIN and its kin.
bool isTakenWhole(std::string_view path) { return path.find_first_of(" :;$\t\n") == path.npos; }

// Whether nobody but root can put a folder in the place of this user's there.
bool isSafeForFolders(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0 || (status.st_uid != 0 && status.st_uid != geteuid())) return false;
  return (status.st_mode & S_ISVTX) || !(status.st_mode & (S_IWGRP | S_IWOTH));
}

// Where a link can lie, best first. A program that still runs when its user logs out, after which XDG_RUNTIME_DIR is
// emptied, needs the link for each program that it starts.
std::vector<fs::path> foldersForLinks() {
  std::vector<fs::path> folders;
  const auto add = [&](const char* base, const std::string& folder) {
    if (base && *base == '/' && isTakenWhole(base)) folders.push_back(fs::path(base) / folder);
  };
  add(std::getenv("XDG_CACHE_HOME"), "mulciber/libraries");
  add(std::getenv("HOME"), ".cache/mulciber/libraries");
  add(std::getenv("XDG_RUNTIME_DIR"), "mulciber/libraries");
  const char* ownTemporary = std::getenv("TMPDIR");
  const char* temporary = ownTemporary ? ownTemporary : "/tmp";
  if (isSafeForFolders(temporary)) add(temporary, fmt::format("mulciber-{}", geteuid()));
  return folders;
}

bool isLinkTo(const std::string& target, int folder, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t length = readlinkat(folder, name.c_str(), text, sizeof(text));
  return length >= 0 && std::string_view(text, static_cast<size_t>(length)) == target;
}

// Whoever starts a program at that moment finds the old link or the new one.
bool makeLink(const std::string& target, int folder, const std::string& name) {
  const std::string temporary = fmt::format("{}.{}", name, getpid());
  unlinkat(folder, temporary.c_str(), 0);
  return symlinkat(target.c_str(), folder, temporary.c_str()) == 0 &&
         renameat(folder, temporary.c_str(), folder, name.c_str()) == 0;
}

LinkerPath linkIn(const fs::path& folder, const std::string& target) {
  std::error_code ignored;  // opening says what is wrong
  fs::create_directories(folder.parent_path(), ignored);
  (void)mkdir(folder.c_str(), 0700);
  const char* problem = nullptr;
  const int opened = util::openPrivateFolder(folder.c_str(), problem);
  if (opened < 0) return {{}, fmt::format("{}: {}", folder.string(), problem)};
  LinkerPath link;
  const std::string name = fmt::format("{:016x}", std::hash<std::string>()(target));
  if (isLinkTo(target, opened, name) || makeLink(target, opened, name)) link.path = folder / name;
  else link.problem = fmt::format("{}: {}", folder.string(), std::strerror(errno));
  close(opened);
  return link;
}

}  // namespace

std::string libraryFolder() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  // In a build and in a bundle it is the first, when installed the second.
  for (const char* folder : {"../lib", MULCIBER_INSTALLED_LIBRARIES}) {
    const auto path = (program.parent_path() / folder).lexically_normal();
    if (fs::exists(path / auditLibrary, error)) return path.string();
  }
  const auto folder = program.parent_path().parent_path() / "lib";
  return fs::is_directory(folder, error) ? folder.string() : std::string();
}

LinkerPath linkerPath(const std::string& folder) {
  if (isTakenWhole(folder)) return {folder, {}};
  std::vector<std::string> problems;
  for (const fs::path& place : foldersForLinks()) {
    LinkerPath link = linkIn(place, folder);
    if (link.problem.empty()) return link;
    problems.push_back(link.problem);
  }
  return {{},
          fmt::format("{} cannot be named in LD_PRELOAD, which separates paths at spaces and colons, and a symbolic "
                      "link to it cannot be made ({})",
                      folder,
                      problems.empty() ? "there is no folder for it" : fmt::format("{}", fmt::join(problems, "; ")))};
}

}  // namespace mulciber::tool
