// The C header and source of a library of kernels.
#include <cxxabi.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "library.h"

namespace mulciber::tool {

namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : name;
}

// "ns::step" of "void ns::step<float>(float*, int)".
std::string functionName(const std::string& signature) {
  std::string name = signature.substr(0, signature.find_first_of("(<"));
  return name.substr(name.find_last_of(' ') + 1);
}

// C's and C++'s own words among what kernels may be called.
bool isReserved(const std::string& name) {
  static const std::set<std::string> words{
      "alignas", "auto",     "bool",   "break",    "case",   "char",   "class",  "const",  "continue",
      "default", "delete",   "do",     "else",     "double", "enum",   "extern", "float",  "for",
      "goto",    "if",       "inline", "int",      "long",   "new",    "module", "return", "register",
      "short",   "signed",   "sizeof", "static",   "struct", "switch", "this",   "try",    "typedef",
      "union",   "unsigned", "void",   "volatile", "while",  "and",    "or",     "not"};
  return words.contains(name);
}

// Of one parameter, in a structure that lays its members out as C does.
std::string declaration(const Parameter& parameter, ParameterKind kind, size_t index) {
  const std::string name = fmt::format("p{}", index);
  if (kind == ParameterKind::Float) return fmt::format("{} {}", parameter.size == 4 ? "float" : "double", name);
  if (kind == ParameterKind::Integer) return fmt::format("uint{}_t {}", parameter.size * 8, name);
  return fmt::format("unsigned char {}[{}]", name, parameter.size);
}

std::string structureOf(const Library& library, const LibraryKernel& kernel) {
  const std::string type = fmt::format("{}_{}_arguments", library.identifier, kernel.identifier);
  std::string members, checks;
  for (size_t i = 0; i < kernel.info.parameters.size(); ++i) {
    const Parameter& parameter = kernel.info.parameters[i];
    members +=
        fmt::format("  MULCIBER_ALIGNED({}) {};\n", parameter.alignment, declaration(parameter, kernel.kinds[i], i));
    checks += fmt::format("MULCIBER_LIES_AT({}, p{}, {});\n", type, i, parameter.offset);
  }
  return fmt::format("typedef struct {0} {{\n{1}}} {0};\n{2}", type, members, checks);
}

// Into a stream, or into a recording.
std::string functionOf(const Library& library, const LibraryKernel& kernel, bool records) {
  const std::string prefix = fmt::format("{}_{}", library.identifier, kernel.identifier);
  const bool hasArguments = !kernel.info.parameters.empty();
  return fmt::format(
      "static inline MulciberResult {0}_{1}_{2}(const {0}_kernels* kernels, {3} {4}, const MulciberShape* shape{5}) "
      "{{\n"
      "  const MulciberLaunch launch = mulciberShaped(shape, {6});\n"
      "  return {7}({4}, kernels->{2}, &launch);\n"
      "}}\n",
      library.identifier, records ? "record" : "launch", kernel.identifier,
      records ? "MulciberRecording" : "MulciberStream", records ? "recording" : "stream",
      hasArguments ? fmt::format(", const {}_arguments* arguments", prefix) : "",
      hasArguments ? "arguments, sizeof(*arguments)" : "\"\", 0", records ? "mulciberRecordLaunch" : "mulciberLaunch");
}

std::string loaderOf(const Library& library) {
  std::string steps;
  for (const LibraryKernel& kernel : library.kernels)
    steps += fmt::format(
        "  if (result == MULCIBER_SUCCESS)\n    result = mulciberGetKernel(out->module, \"{}\", &out->{});\n",
        kernel.name, kernel.identifier);
  return fmt::format(
      "/* Finds the kernels. They are of use until mulciberUnloadModule(out->module). */\n"
      "static inline MulciberResult {0}_load(MulciberContext context, {0}_kernels* out) {{\n"
      "  MulciberResult result = mulciberLoadModule(context, {0}_code, {0}_code_bytes, &out->module);\n{1}"
      "  return result;\n}}\n",
      library.identifier, steps);
}

}  // namespace

std::string identifierFrom(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool isWord = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (isWord) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) || isReserved(out)) out.insert(0, "k_");
  return out;
}

void nameKernels(Library& library) {
  std::map<std::string, int> uses;
  for (LibraryKernel& kernel : library.kernels) {
    kernel.signature = demangled(kernel.name);
    kernel.identifier = identifierFrom(functionName(kernel.signature));
    ++uses[kernel.identifier];
  }
  for (LibraryKernel& kernel : library.kernels)
    if (uses[kernel.identifier] > 1) kernel.identifier = identifierFrom(kernel.name);
}

std::string headerOf(const Library& library) {
  std::string out = fmt::format(
      "/* The kernels of {0}, translated ahead of time. Made by `mulciber translate --library`: do not edit. */\n"
      "#ifndef MULCIBER_LIBRARY_{1}\n#define MULCIBER_LIBRARY_{1}\n\n#include <mulciber/kernels.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "extern const unsigned char {1}_code[];\nextern const size_t {1}_code_bytes;\n\n"
      "typedef struct {1}_kernels {{\n  MulciberModule module;\n",
      library.source, library.identifier);
  for (const LibraryKernel& kernel : library.kernels) out += fmt::format("  MulciberKernel {};\n", kernel.identifier);
  out += fmt::format("}} {}_kernels;\n\n{}", library.identifier, loaderOf(library));
  for (const LibraryKernel& kernel : library.kernels) {
    // No comment ends in a name.
    out += fmt::format("\n// {}\n", kernel.signature);
    if (!kernel.info.parameters.empty()) out += structureOf(library, kernel);
    for (const bool records : {false, true}) {
      // What needs the host cannot be recorded.
      if (records && (kernel.info.usesPrintf || kernel.info.usesHeap)) continue;
      out += functionOf(library, kernel, records);
    }
  }
  return out + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string embed(const Library& library, const std::vector<uint8_t>& bytes) {
  std::string out = fmt::format(
      "/* The kernels of {0}, translated ahead of time. Made by `mulciber translate --library`: do not edit. */\n"
      "#include <stddef.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
      "extern const unsigned char {1}_code[];\nextern const size_t {1}_code_bytes;\n"
      "const size_t {1}_code_bytes = {2};\nconst unsigned char {1}_code[] = {{",
      library.source, library.identifier, bytes.size());
  constexpr size_t perLine = 40;
  for (size_t i = 0; i < bytes.size(); ++i)
    out += fmt::format("{}{},", i % perLine == 0 ? "\n" : "", static_cast<unsigned>(bytes[i]));
  return out + "};\n#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace mulciber::tool
