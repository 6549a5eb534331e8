#include "known_runtimes.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime_names.h"
#include "util/private_folder.h"

namespace mulciber::redirect {

namespace {

using fatbin::Bytes;
using fatbin::Elf;

constexpr size_t smallestFile = 16 << 20;  // smaller ones are searched in a few milliseconds

bool isOn(const char* variable) {
  const char* value = std::getenv(variable);
  return value && (!std::strcmp(value, "1") || !std::strcmp(value, "true"));
}

// Where the cache of kernels is, of which this is a neighbour; empty when there is to be none.
std::string folder() {
  const char* kept = std::getenv("MULCIBER_CACHE");
  if ((kept && (!std::strcmp(kept, "0") || !std::strcmp(kept, "false"))) || isOn("CUDA_CACHE_DISABLE")) return {};
  if (const char* own = std::getenv("MULCIBER_CACHE_DIR"); own && *own) return std::string(own) + "/mulciber-runtimes";
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base) return std::string(base) + "/mulciber/runtimes";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/mulciber/runtimes";
  return {};
}

bool makeFolder(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    (void)mkdir(path.substr(0, at).c_str(), 0700);
    if (at == path.npos) return access(path.c_str(), W_OK) == 0;
  }
}

std::string identityOf(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return {};
  char text[160];
  snprintf(text, sizeof(text), "%jx %jx %jd %jd.%ld %jd.%ld", static_cast<uintmax_t>(status.st_dev),
           static_cast<uintmax_t>(status.st_ino), static_cast<intmax_t>(status.st_size),
           static_cast<intmax_t>(status.st_mtim.tv_sec), status.st_mtim.tv_nsec,
           static_cast<intmax_t>(status.st_ctim.tv_sec), status.st_ctim.tv_nsec);
  return text;
}

// Of the file, and of this library, which may find more tomorrow.
std::string headOf(const char* path) {
  Dl_info self;
  const std::string file = identityOf(path);
  if (file.empty() || !dladdr(reinterpret_cast<void*>(&headOf), &self)) return {};
  return "mulciber runtime 1\n" + file + "\n" + identityOf(self.dli_fname) + "\n";
}

std::string recordOf(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return {};
  char name[64];
  snprintf(name, sizeof(name), "%jx-%jx", static_cast<uintmax_t>(status.st_dev), static_cast<uintmax_t>(status.st_ino));
  return name;
}

// The folder's descriptor; -1 where there is none, or another user could have put something into it.
int openFolder(const std::string& path) {
  const char* problem;
  return path.empty() ? -1 : util::openPrivateFolder(path.c_str(), problem);
}

std::FILE* openRecord(int in, const char* name) {
  const int file = openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status;
  std::FILE* record = fstat(file, &status) == 0 && util::isOwnFile(status) ? fdopen(file, "r") : nullptr;
  if (!record) close(file);
  return record;
}

// FNV-1a over the code of all functions; 0 when one lies outside the file's code.
uint64_t hashOf(const Elf& elf, const std::vector<RuntimeFunction>& functions) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const RuntimeFunction& function : functions) {
    std::optional<Bytes> code;
    for (uint32_t i = 1; i < elf.sectionCount() && !code; ++i) {
      const auto section = elf.section(i);
      if (section && (section->flags & SHF_EXECINSTR) && section->address <= function.address)
        code = fatbin::slice(section->data, function.address - section->address, function.size);
    }
    if (!code) return 0;
    for (const std::byte byte : *code) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

bool isKept(Bytes file) { return file.size() >= smallestFile; }

}  // namespace

std::optional<RuntimeInside> knownRuntime(const char* path, const Elf& elf, Bytes file) {
  if (!isKept(file)) return std::nullopt;
  const int in = openFolder(folder());
  if (in < 0) return std::nullopt;
  std::FILE* record = openRecord(in, recordOf(path).c_str());
  close(in);
  if (!record) return std::nullopt;
  std::string text;
  char part[16384];
  while (const size_t count = std::fread(part, 1, sizeof(part), record)) text.append(part, count);
  (void)std::fclose(record);
  const std::string head = headOf(path);
  if (head.empty() || !text.starts_with(head) || !text.ends_with("end\n")) return std::nullopt;

  RuntimeInside inside;
  uint64_t hash = 0;
  for (size_t at = head.size(); at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    RuntimeFunction function;
    char name[128];
    if (line.starts_with("problem ")) {
      inside.problem = line.substr(std::strlen("problem "));
    } else if (std::sscanf(line.c_str(), "hash %" SCNx64, &hash) == 1 || line == "end") {
      continue;
    } else if (std::sscanf(line.c_str(), "%" SCNx64 " %" SCNx64 " %127s", &function.address, &function.size, name) ==
               3) {
      const RuntimeName* known = findRuntimeName(name);
      if (!known) return std::nullopt;
      function.name = known->name;
      inside.functions.push_back(function);
    } else {
      return std::nullopt;
    }
  }
  if (hashOf(elf, inside.functions) != hash) return std::nullopt;
  return inside;
}

void rememberRuntime(const char* path, const Elf& elf, Bytes file, const RuntimeInside& inside) {
  if (!isKept(file) || inside.problem.find('\n') != std::string::npos) return;
  const std::string head = headOf(path), name = recordOf(path), where = folder();
  const uint64_t hash = hashOf(elf, inside.functions);
  if (head.empty() || name.empty() || hash == 0 || where.empty() || !makeFolder(where)) return;
  const int in = openFolder(where);
  if (in < 0) return;
  const std::string unfinished = name + "." + std::to_string(getpid());
  const int written = openat(in, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  std::FILE* record = written < 0 ? nullptr : fdopen(written, "w");
  if (!record) {
    if (written >= 0) close(written);
    close(in);
    return;
  }
  (void)std::fputs(head.c_str(), record);
  if (!inside.problem.empty()) (void)std::fprintf(record, "problem %s\n", inside.problem.c_str());
  for (const RuntimeFunction& function : inside.functions)
    (void)std::fprintf(record, "%" PRIx64 " %" PRIx64 " %.*s\n", function.address, function.size,
                       static_cast<int>(function.name.size()), function.name.data());
  (void)std::fprintf(record, "hash %" PRIx64 "\nend\n", hash);
  const bool isWritten = std::ferror(record) == 0;
  if (std::fclose(record) != 0 || !isWritten || renameat(in, unfinished.c_str(), in, name.c_str()) != 0)
    (void)unlinkat(in, unfinished.c_str(), 0);
  close(in);
}

}  // namespace mulciber::redirect
