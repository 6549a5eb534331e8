#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace mulciber::compiler {

namespace {

// What the Clang of every supported distribution knows.
constexpr unsigned lowestArchitecture = 70, highestArchitecture = 86;

// Options that take the next argument, by who is interested in it.
const std::set<std::string> forBoth = {"-I",      "-D",         "-U",      "-include", "-isystem",
                                       "-iquote", "-idirafter", "-Xclang", "-imacros", "-isysroot"};
const std::set<std::string> forHost = {"-MF", "-MT", "-MQ"};
const std::set<std::string> forLinker = {"-L", "-l", "-Xlinker", "-T", "-u"};

// What nvcc offers and needs nothing here: the runtime is always shared, lambdas may always be __device__, there are no
// machine code and no other host compiler, and line tables are not kept.
const std::set<std::string> ignored = {"--extended-lambda",
                                       "-extended-lambda",
                                       "--expt-extended-lambda",
                                       "-expt-extended-lambda",
                                       "--expt-relaxed-constexpr",
                                       "-expt-relaxed-constexpr",
                                       "-lineinfo",
                                       "--generate-line-info",
                                       "-lcudart_static",
                                       "-lcudadevrt",
                                       "-prec-div=true",
                                       "-prec-sqrt=true",
                                       "-ftz=false",
                                       "-rdc=false",
                                       "--relocatable-device-code=false",
                                       "-restrict",
                                       "--restrict"};
const std::set<std::string> ignoredWithValue = {
    "-cudart",       "--cudart",       "-ccbin",         "--compiler-bindir", "-Xptxas",  "--ptxas-options", "-Xnvlink",
    "-maxrregcount", "--maxrregcount", "-diag-suppress", "--diag-suppress",   "-Xcudafe", "--threads",       "-t"};
const std::set<std::string> separateDeviceCode = {
    "-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c", "-dlink", "--device-link", "-dw"};

std::vector<std::string> splitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// The highest architecture that is named and known: 86 of arch=compute_86,code=[sm_86,compute_90].
void noteArchitectures(const std::string& text, std::optional<unsigned>& highest) {
  bool isAny = false;
  for (const char* prefix : {"sm_", "compute_"}) {
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      const long number = std::strtol(text.c_str() + at + std::string(prefix).size(), nullptr, 10);
      if (number < lowestArchitecture) continue;
      isAny = true;
      const auto known = std::min<unsigned>(static_cast<unsigned>(number), highestArchitecture);
      highest = std::max(highest.value_or(0), known);
    }
  }
  if (!isAny && text != "native" && text != "all" && text != "all-major")
    throw WrongUsage(fmt::format("'{}' names no architecture from sm_{} on", text, lowestArchitecture));
}

bool endsWith(const std::string& text, std::initializer_list<const char*> ends) {
  return std::ranges::any_of(ends, [&](const char* end) { return text.ends_with(end); });
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Options parse() {
    for (at_ = 0; at_ < arguments_.size(); ++at_) take(arguments_[at_]);
    if (options_.isHelp || options_.isVersion) return options_;
    options_.architecture = architecture_.value_or(options_.architecture);
    if (options_.sources.empty() && (options_.product != Product::Program || options_.link.empty()))
      throw WrongUsage("no CUDA source is given");
    if (options_.product != Product::Program && !options_.output.empty() && options_.sources.size() > 1)
      throw WrongUsage("-o names one file, and several are made");
    return options_;
  }

 private:
  std::string next(const std::string& option) {
    if (at_ + 1 == arguments_.size()) throw WrongUsage(fmt::format("{} needs a value", option));
    return arguments_[++at_];
  }
  // The value of an option in any of nvcc's forms: NAME VALUE, NAME=VALUE.
  std::optional<std::string> valueOf(const std::string& argument, std::initializer_list<const char*> names) {
    for (const std::string name : names) {
      if (argument == name) return next(argument);
      if (argument.starts_with(name + "=")) return argument.substr(name.size() + 1);
    }
    return std::nullopt;
  }

  void take(const std::string& argument) {
    if (argument.empty()) return;
    if (argument[0] != '-' || argument == "-") return takeFile(argument);
    if (argument == "--help" || argument == "-h") options_.isHelp = true;
    else if (argument == "--version") options_.isVersion = true;
    else if (argument == "--dry-run" || argument == "--dryrun" || argument == "-###") options_.isDryRun = true;
    else if (argument == "-c" || argument == "--compile") options_.product = Product::Object;
    else if (argument == "-ptx" || argument == "--ptx") options_.product = Product::Ptx;
    else if (separateDeviceCode.contains(argument))
      throw WrongUsage(fmt::format("{}: device code is compiled with its whole program, not linked", argument));
    else if (argument == "-E" || argument == "-S" || argument == "-cubin" || argument == "-fatbin")
      throw WrongUsage(fmt::format("{}: what can be made are programs, objects (-c) and PTX (-ptx)", argument));
    else if (ignored.contains(argument)) return;
    else takeOption(argument);
  }

  void takeFile(const std::string& file) {
    if (isCuda_ || endsWith(file, {".cu"})) options_.sources.push_back(file);
    else options_.link.push_back(file);
  }

  void takeOption(const std::string& argument) {
    if (argument.starts_with("-o") && argument.size() > 2) options_.output = argument.substr(2);
    else if (argument == "-o" || argument == "--output-file") options_.output = next(argument);
    else if (const auto clang = valueOf(argument, {"--clang"})) options_.clang = *clang;
    else if (const auto language = valueOf(argument, {"-x", "--x"})) isCuda_ = *language == "cu" || *language == "cuda";
    else if (const auto architecture = valueOf(argument, {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                                          "-code", "--gpu-code", "--cuda-gpu-arch", "--offload-arch"}))
      noteArchitectures(*architecture, architecture_);
    else if (const auto host = valueOf(argument, {"-Xcompiler", "--compiler-options"})) {
      for (const std::string& part : splitAtCommas(*host)) options_.host.push_back(part), options_.link.push_back(part);
    } else if (argument == "-use_fast_math" || argument == "--use_fast_math") {
      if (std::exchange(isFast_, true)) return;  // LLVM takes an option once
      flushDenormals();
      options_.device.insert(options_.device.end(), {"-fcuda-approx-transcendentals", "-mllvm", "-nvptx-prec-divf32=0",
                                                     "-mllvm", "-nvptx-prec-sqrtf32=0"});
    } else if (const auto fused = valueOf(argument, {"-fmad", "--fmad"})) {
      options_.isFused = *fused != "false";
    } else if (argument == "-ftz=true" || argument == "--ftz=true") {
      flushDenormals();
    } else if (std::ranges::any_of(ignoredWithValue,
                                   [&](const auto& name) { return valueOf(argument, {name.c_str()}).has_value(); })) {
      return;
    } else if (forBoth.contains(argument)) {
      options_.both.insert(options_.both.end(), {argument, next(argument)});
    } else if (forHost.contains(argument)) {
      options_.host.insert(options_.host.end(), {argument, next(argument)});
    } else if (forLinker.contains(argument)) {
      options_.link.insert(options_.link.end(), {argument, next(argument)});
    } else if (argument.starts_with("-l") || argument.starts_with("-L") || argument.starts_with("-Wl,")) {
      options_.link.push_back(argument);
    } else if (argument.starts_with("-M")) {
      options_.host.push_back(argument);  // the files that it depends on, once
    } else {
      options_.both.push_back(argument);
    }
  }

  // The macro is for the functions that name an instruction.
  void flushDenormals() {
    options_.device.insert(options_.device.end(), {"-fcuda-flush-denormals-to-zero", "-DMULCIBER_FLUSHES"});
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  Options options_;
  std::optional<unsigned> architecture_;
  bool isCuda_ = false, isFast_ = false;
};

}  // namespace

Options parse(const std::vector<std::string>& arguments) { return Parser(arguments).parse(); }

}  // namespace mulciber::compiler
