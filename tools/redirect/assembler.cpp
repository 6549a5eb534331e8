// The ordinary copy's part in ptxas: programs start it to make a cubin of PTX. It runs as ever, checks the text and
// says what it has to say; where it succeeds, the PTX stands in the cubin's file in its place, as a fat binary with the
// options that belong to it. A module is loaded from either. nvcc's own work is left alone but for `nvcc -cubin`.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.h"

namespace mulciber::redirect {

namespace {

struct Assembly {
  std::string input, output, options;
  uint32_t architecture = 0;
};

std::string contentsOf(const std::string& path) {
  std::string contents;
  std::FILE* file = std::fopen(path.c_str(), "re");  // what is in /proc has no size
  if (!file) return contents;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), file)) contents.append(part, count);
  (void)std::fclose(file);
  return contents;
}

std::vector<std::string> argumentsOf(const std::string& process) {
  std::vector<std::string> arguments;
  const std::string line = contentsOf("/proc/" + process + "/cmdline");
  for (size_t at = 0; at < line.size(); at += arguments.back().size() + 1) arguments.emplace_back(line.c_str() + at);
  return arguments;
}

std::string_view fileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether nvcc started this one, directly or through a shell, and wants more than a cubin.
bool isNvccsOwn() {
  std::string process = "self";
  for (int up = 0; up < 3; ++up) {
    const std::string status = contentsOf("/proc/" + process + "/stat");
    const size_t end = status.rfind(')');
    long parent = 0;
    if (end == status.npos || std::sscanf(status.c_str() + end, ") %*c %ld", &parent) != 1 || parent <= 1) return false;
    process = std::to_string(parent);
    const std::vector<std::string> arguments = argumentsOf(process);
    if (arguments.empty() || fileName(arguments.front()) != "nvcc") continue;
    for (const std::string& argument : arguments)
      if (argument == "-cubin" || argument == "--cubin") return false;
    return true;
  }
  return false;
}

bool isPtx(const std::string& path) {
  const MappedFile file(path.c_str());
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  return text.find(".version") != text.npos && text.find('\0') == text.npos;
}

// The value of `option` when `argument` is it, joined by = or in the next argument, of which `i` is the index.
bool takesValue(const std::vector<std::string>& arguments, size_t& i, std::string_view option, std::string& value) {
  const std::string_view argument = arguments[i];
  if (!argument.starts_with(option)) return false;
  if (argument.size() > option.size()) {
    if (argument[option.size()] != '=') return false;
    value = argument.substr(option.size() + 1);
  } else if (i + 1 < arguments.size()) {
    value = arguments[++i];
  }
  return true;
}

// Empty input: nothing that a module could be loaded from.
Assembly assemblyOf(const std::vector<std::string>& arguments) {
  Assembly assembly;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string target;
    if (argument == "-c" || argument == "--compile-only") return {};  // for nvlink
    if (takesValue(arguments, i, "-o", assembly.output) || takesValue(arguments, i, "--output-file", assembly.output))
      continue;
    if (takesValue(arguments, i, "-arch", target) || takesValue(arguments, i, "--gpu-name", target)) {
      if (target.starts_with("sm_"))
        assembly.architecture = static_cast<uint32_t>(std::strtoul(target.c_str() + 3, nullptr, 10));
    } else if (!argument.starts_with("-") && isPtx(argument)) {
      if (!assembly.input.empty()) return {};
      assembly.input = argument;
    } else {
      assembly.options += (assembly.options.empty() ? "" : " ") + argument;
    }
  }
  if (assembly.output.empty()) assembly.input.clear();
  return assembly;
}

template <class Value>
void put(std::string& out, size_t at, Value value) {
  std::memcpy(out.data() + at, &value, sizeof(value));
}

// A container with one stored entry (runtime/fatbin/container.cpp reads it).
std::string containerOf(const Assembly& assembly, std::string text) {
  constexpr size_t containerHeader = 16, entryHeader = 64, record = 8;
  const auto padded = [](size_t bytes) { return (bytes + 7) / 8 * 8; };
  text.resize(padded(text.size() + 1));
  const size_t head = padded(entryHeader + record + assembly.options.size() + 1);
  std::string out(containerHeader + head, '\0');
  put(out, 0, uint32_t{0xBA55ED50});
  put(out, 4, uint16_t{1});
  put(out, 6, uint16_t{containerHeader});
  put(out, 8, uint64_t{head + text.size()});
  const size_t entry = containerHeader;
  put(out, entry, uint16_t{1});  // PTX
  put(out, entry + 2, uint16_t{0x0101});
  put(out, entry + 4, static_cast<uint32_t>(head));
  put(out, entry + 8, uint64_t{text.size()});
  put(out, entry + 20, static_cast<uint32_t>(entryHeader));
  put(out, entry + 28, assembly.architecture);
  put(out, entry + 40, uint64_t{0x11});  // 64-bit, made on Linux
  put(out, entry + entryHeader, static_cast<uint32_t>(entryHeader + record));
  put(out, entry + entryHeader + 4, static_cast<uint32_t>(assembly.options.size()));
  std::memcpy(out.data() + entry + entryHeader + record, assembly.options.data(), assembly.options.size());
  return out + text;
}

void handOutPtx(int status, void* argument) {
  const auto& assembly = *static_cast<const Assembly*>(argument);
  if (status != 0) return;
  (void)std::fflush(nullptr);  // should the cubin still be open
  std::string text = contentsOf(assembly.input);
  struct stat made;
  if (text.empty() || stat(assembly.output.c_str(), &made) != 0 || !S_ISREG(made.st_mode)) return;
  std::FILE* file = std::fopen(assembly.output.c_str(), "we");
  if (!file) return;
  const std::string container = containerOf(assembly, std::move(text));
  const bool isWritten = std::fwrite(container.data(), 1, container.size(), file) == container.size();
  if (std::fclose(file) != 0 || !isWritten) (void)unlink(assembly.output.c_str());  // rather none than half
}

// Before the program's own work, so that the handler comes after those of the program.
__attribute__((constructor)) void watchAssembler() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0 || !fileName(std::string_view(path, static_cast<size_t>(size))).starts_with("ptxas") || isNvccsOwn())
    return;
  auto* const assembly = new Assembly(assemblyOf(argumentsOf("self")));  // for the end of the process
  if (!assembly->input.empty()) (void)on_exit(handOutPtx, assembly);
}

}  // namespace

}  // namespace mulciber::redirect
