// mulciberc++ compiles CUDA C++ with the distribution's Clang and Mulciber's own headers: no CUDA toolkit is needed.
//
// Clang compiles each source twice. The device's compilation gives PTX. This program wraps it into a fat binary, which
// the host's compilation puts into the object with the calls that register it.
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>

#include "mulciber/version.h"
#include "options.h"
#include "registered.h"
#include "runtime/fatbin/fatbin.h"
#include "util/file.h"

extern char** environ;

namespace mulciber::compiler {

namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

// What the help lists, and shells complete: the option as it is, how the help calls what it takes, what that is for
// shells (as in tools/mulciber/completions.h), and what it is for.
struct ListedOption {
  const char *word, *argument, *takes, *text;
};
constexpr ListedOption listedOptions[] = {
    {"-o", " FILE", "FILE", "where the result goes"},
    {"-c", "", "-", "make objects"},
    {"-ptx", "", "-", "make PTX"},
    {"-arch", " sm_NN", "sm_70,sm_75,sm_80,sm_86", "the architecture of the PTX, from sm_70 to sm_86 (default: sm_80)"},
    {"-x", " cu", "cu,c++", "the files that follow are CUDA C++"},
    {"-fmad=false", "", "-", "keep products and sums apart"},
    {"-use_fast_math", "", "-", "flush denormals and use fast approximations"},
    {"-Xcompiler", " OPTION", "OPTION", "for the host's compilation alone"},
    {"--clang=", "PROGRAM", "PROGRAM",
     "the Clang to use (default: clang++, clang++-19 ... clang++-14, whichever is found first)"},
    {"--dry-run", "", "-", "print what would be run"},
};

void printUsage() {
  fmt::print(
      "usage: mulciberc++ [OPTION...] FILE...\n"
      "Compiles CUDA C++ (.cu) with Clang and Mulciber's headers, and links it to Mulciber's libcudart. Other files "
      "and\n"
      "options go to Clang as they are.\n\n");
  for (const ListedOption& option : listedOptions)
    fmt::print("  {:<20}{}\n", fmt::format("{}{}", option.word, option.argument), option.text);
  fmt::print("nvcc's other options that change no result are accepted.\n");
}

// In the form that tools/mulciber/completions.h describes.
void printCompletions() {
  for (const ListedOption& option : listedOptions) fmt::print("{}\t{}\t{}\n", option.word, option.takes, option.text);
  fmt::print("*\tFILE\ta source, an object or a library\n");
}

// The folders that belong to this program, in the build tree or where it is installed.
struct Installation {
  std::string headers, libraries;
};

Installation installation() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  Installation found;
  found.headers = (program / "../include/mulciber").lexically_normal();
  for (const char* folder : {"../lib", MULCIBER_INSTALLED_LIBRARIES}) {
    const fs::path path = (program / folder).lexically_normal();
    if (found.libraries.empty() && fs::exists(path / "libcudart.so")) found.libraries = path;
  }
  if (!fs::exists(found.headers + "/device/compiler.h") || found.libraries.empty())
    throw std::runtime_error(
        fmt::format("Mulciber's headers and libraries are not beside {}: install libmulciber-dev", program.string()));
  return found;
}

bool isInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

std::string findClang(const std::string& wanted) {
  if (!wanted.empty()) {
    if (!isInPath(wanted)) throw std::runtime_error(fmt::format("there is no program {}", wanted));
    return wanted;
  }
  if (isInPath("clang++")) return "clang++";
  for (int version = 19; version >= 14; --version)
    if (const auto name = fmt::format("clang++-{}", version); isInPath(name)) return name;
  throw std::runtime_error("no clang++ is found: install the package clang, or name one with --clang=PROGRAM");
}

// Clang writes an alignment of 0, which PTX does not have, where an array of run-time size needs the usual one.
void alignStacks(const std::string& file) {
  auto text = util::readFile(file);
  if (!text || text->find("alloca.u64") == std::string::npos) return;
  static const std::regex unaligned(R"((alloca\.u64[^;\n]*), 0;)");
  util::writeFile(file, std::regex_replace(*text, unaligned, "$1, 16;"));
}

// Clang has no managed variables in its CUDA mode. In a module that has one all variables lie where the host reaches
// them, so nothing is lost by marking all.
void markManaged(const std::string& file) {
  auto text = util::readFile(file);
  if (!text) return;
  static const std::regex variable(R"(((?:^|\n)(?:\.(?:visible|weak) )?\.global) )");
  util::writeFile(file, std::regex_replace(*text, variable, "$1 .attribute(.managed) "));
}

// Whether a source has that word, or a file of the program's that it includes, which Clang lists in lines.
bool namesManaged(const std::string& source, const std::string& includedFiles) {
  const auto hasWord = [](const std::string& file) {
    const auto text = util::readFile(file);
    return text && text->find("__managed__") != std::string::npos;
  };
  if (hasWord(source)) return true;
  std::istringstream lines(util::readFile(includedFiles).value_or(""));
  for (std::string file; std::getline(lines, file);)
    if (hasWord(file)) return true;
  return false;
}

// A folder for what passes between the two compilations, removed in the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "mulciberc++.XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void endWithZeros(std::string& text) { text.resize((text.size() / 8 + 1) * 8); }  // to a multiple of eight bytes

// A container of one entry, PTX as it is, with the options of ptxas that belong to it.
std::string fatBinary(std::string ptx, unsigned architecture, std::string assemblerOptions) {
  endWithZeros(ptx);
  constexpr uint16_t headerBytes = 16, fixedBytes = 64, recordBytes = 8;
  uint32_t entryBytes = fixedBytes;
  const auto optionBytes = static_cast<uint32_t>(assemblerOptions.size());
  if (optionBytes != 0) {
    endWithZeros(assemblerOptions);
    entryBytes += recordBytes + static_cast<uint32_t>(assemblerOptions.size());
  }
  std::string bytes(headerBytes + entryBytes, '\0');
  const auto put = [&](size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof(value)); };
  put(0, fatbin::containerMagic);
  put(4, uint16_t{1});
  put(6, headerBytes);
  put(8, uint64_t{entryBytes} + ptx.size());
  put(headerBytes + 0, static_cast<uint16_t>(fatbin::Kind::Ptx));
  put(headerBytes + 2, uint16_t{0x0101});
  put(headerBytes + 4, entryBytes);
  put(headerBytes + 8, uint64_t{ptx.size()});
  put(headerBytes + 24, uint16_t{3});  // the PTX version, 7.3
  put(headerBytes + 26, uint16_t{7});
  put(headerBytes + 28, uint32_t{architecture});
  put(headerBytes + 40, uint64_t{0x11});  // 64-bit, Linux
  if (optionBytes != 0) {
    const uint32_t record = fixedBytes, text = record + recordBytes;
    put(headerBytes + 20, record);
    put(headerBytes + record, text);
    put(headerBytes + record + 4, optionBytes);
    bytes.replace(headerBytes + text, assemblerOptions.size(), assemblerOptions);
  }
  return bytes + ptx;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\"'$&;()<>*?|\\") == std::string::npos) return word;
  return fmt::format("'{}'", word);
}

class Driver {
 public:
  explicit Driver(const Options& options)
      : options_(options), installation_(installation()), clang_(findClang(options.clang)) {}

  int run() {
    Command link = {clang_};
    append(link, options_.both);
    for (const std::string& source : options_.sources) {
      const std::string stem = fs::path(source).stem();
      Unit unit;
      unit.source = source;
      unit.includedFiles = temporary(".files");
      unit.ptx = options_.product == Product::Ptx ? outputOr(stem + ".ptx") : temporary(".ptx");
      if (const int status = compileForDevice(unit)) return status;
      if (options_.product == Product::Ptx) continue;
      unit.binary = temporary(".fatbin");
      unit.object = options_.product == Product::Program ? temporary(".o") : outputOr(stem + ".o");
      if (const int status = compileForHost(unit)) return status;
      if (const int status = keepVariables(unit)) return status;
      link.push_back(unit.object);
    }
    if (options_.product == Product::Ptx) return 0;
    if (options_.product == Product::Object) return otherObjects();
    append(link, {"-isystem", installation_.headers + "/cuda"});
    append(link, options_.link);
    if (installation_.libraries.find(':') != std::string::npos)
      fmt::print(
          stderr,
          "mulciberc++: the program will not find {} by itself, because a colon ends a path where programs look for "
          "libraries: start it with mulciber run\n",
          installation_.libraries);
    append(link, {"-Qunused-arguments", "-L" + installation_.libraries, "-lcudart",
                  "-Wl,-rpath," + installation_.libraries, "-o", outputOr("a.out")});
    return execute(link);
  }

 private:
  // A source and what becomes of it.
  struct Unit {
    std::string source, includedFiles, ptx, binary, object;
    bool hasManaged = false;
  };

  static void append(Command& to, const std::vector<std::string>& words) {
    to.insert(to.end(), words.begin(), words.end());
  }
  std::string outputOr(const std::string& name) const { return options_.output.empty() ? name : options_.output; }
  std::string temporary(const char* ending) { return folder_.file(std::to_string(temporaries_++) + ending); }

  // Clang's CUDA mode, with our headers in place of a toolkit's. The version is of the interface between a kernel's
  // host function and the runtime.
  Command cudaCommand() const {
    Command command = {clang_,
                       "-x",
                       "cuda",
                       "--cuda-path=/nonexistent",
                       "-nocudainc",
                       "-nocudalib",
                       fmt::format("--cuda-gpu-arch=sm_{}", options_.architecture),
                       "-Xclang",
                       "-target-sdk-version=11.0"};
    append(command, commonOptions());
    return command;
  }
  // The one of Clang's modes with managed variables on the host; include/device/detail/managed.h makes it CUDA. Clang
  // 19 defines a symbol of the identifier, which no other object of a program may have.
  Command hipCommand(const std::string& object) const {
    Command command = {clang_,    "-x",          "hip",     "-nogpuinc",           "-nogpulib",
                       "-Xclang", "-aux-triple", "-Xclang", "nvptx64-nvidia-cuda", "-D__CUDA__"};
    append(command, commonOptions());
    const auto identifier =
        std::hash<std::string>()(fmt::format("{} {}", fs::absolute(object).string(), fmt::join(command, " ")));
    append(command, {"-Xclang", fmt::format("-cuid={:x}", identifier)});
    return command;
  }
  Command commonOptions() const {
    Command options = {
        "-D__CUDACC__",      "-D__CUDACC_EXTENDED_LAMBDA__",  "-isystem", installation_.headers + "/device",
        "-isystem",          installation_.headers + "/cuda", "-include", "compiler.h",
        "-Qunused-arguments"};
    append(options, options_.both);
    return options;
  }

  Command deviceCommand(const Unit& unit) const {
    Command command = cudaCommand();
    // A toolkit's compiler optimises device code also where none is asked for.
    if (std::ranges::none_of(options_.both, [](const auto& word) { return word.starts_with("-O"); }))
      append(command, {"-O2"});
    append(command, options_.device);
    // As with nvcc, what Clang does not fuse itself is left to who compiles the PTX.
    if (!options_.isFused) append(command, {"-ffp-contract=off"});
    else if (std::ranges::none_of(options_.both, [](const auto& word) { return word.starts_with("-ffp-contract"); }))
      append(command, {"-ffp-contract=off", "-mllvm", "-nvptx-fma-level=1"});
    // PTX 7.3 has arrays of run-time size, which Clang 19 takes.
    append(command, {"--cuda-device-only", "-Xclang", "-target-feature", "-Xclang", "+ptx73", "-Xclang",
                     "-header-include-file", "-Xclang", unit.includedFiles, "-S", unit.source, "-o", unit.ptx});
    return command;
  }

  Command hostCommand(const Unit& unit) const {
    Command command = unit.hasManaged ? hipCommand(unit.object) : cudaCommand();
    append(command, options_.host);
    append(command, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", unit.binary, "-c",
                     unit.source, "-o", unit.object});
    return command;
  }

  int compileForDevice(Unit& unit, const Command& more = {}) const {
    Command command = deviceCommand(unit);
    append(command, more);
    if (const int status = execute(command)) return status;
    unit.hasManaged = namesManaged(unit.source, unit.includedFiles);
    if (options_.isDryRun) return 0;
    alignStacks(unit.ptx);
    if (unit.hasManaged) markManaged(unit.ptx);
    return 0;
  }

  int compileForHost(const Unit& unit, const Command& more = {}) const {
    if (!options_.isDryRun) wrap(unit.ptx, unit.binary);
    Command command = hostCommand(unit);
    append(command, more);
    return execute(command);
  }

  // Compiles both again where the host names variables that the device's code is without. Warnings have been given.
  int keepVariables(Unit& unit) {
    if (options_.isDryRun) return 0;
    Names kept = missingVariables(unit.object, unit.ptx);
    if (kept.empty()) return 0;
    fs::remove(unit.object);
    const std::string header = temporary(".h");
    for (Names undefined = kept; !undefined.empty();) {
      util::writeFile(header, headerThatKeeps(kept));
      if (const int status = compileForDevice(unit, {"-w", "-include", header})) return status;
      undefined = undefinedVariables(kept, unit.ptx);  // the host alone may see a variable
      std::erase_if(kept, [&](const std::string& name) { return undefined.contains(name); });
    }
    return compileForHost(unit, {"-w"});
  }

  int otherObjects() {
    std::vector<std::string> files;
    for (const std::string& word : options_.link)
      if (word[0] != '-') files.push_back(word);
    if (files.empty()) return 0;
    Command command = {clang_, "-c", "-isystem", installation_.headers + "/cuda"};
    append(command, options_.both);
    append(command, files);
    return execute(command);
  }

  void wrap(const std::string& ptx, const std::string& binary) const {
    const auto text = util::readFile(ptx);
    if (!text ||
        !util::writeFile(binary, fatBinary(*text, options_.architecture, options_.isFused ? "" : "-fmad=false")))
      throw std::runtime_error(fmt::format("cannot make {}: {}", binary, std::strerror(errno)));
  }

  int execute(const Command& command) const {
    if (options_.isDryRun) {
      std::string line;
      for (const std::string& word : command) line += (line.empty() ? "" : " ") + quoted(word);
      std::puts(line.c_str());
      return 0;
    }
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_t child = 0;
    if (const int error = posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ))
      throw std::runtime_error(fmt::format("cannot start {}: {}", command[0], std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

  const Options& options_;
  Installation installation_;
  std::string clang_;
  TemporaryFolder folder_;
  int temporaries_ = 0;
};

int run(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--completions"}) return printCompletions(), 0;
  try {
    const Options options = parse(arguments);
    if (options.isHelp) return printUsage(), 0;
    if (options.isVersion) return std::puts("mulciberc++ " MULCIBER_VERSION_STRING), 0;
    return Driver(options).run();
  } catch (const WrongUsage& wrong) {
    fmt::print(stderr, "mulciberc++: {}\n", wrong.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mulciberc++: {}\n", error.what());
    return 1;
  }
}

}  // namespace

}  // namespace mulciber::compiler

int main(int argc, char** argv) { return mulciber::compiler::run({argv + 1, argv + argc}); }
