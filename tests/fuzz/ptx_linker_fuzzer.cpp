// libFuzzer: any bytes as PTX modules, a line "//---" between them. Those that verify are linked; what links must print
// and parse again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "translator/ptx/linker.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"

using namespace mulciber;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kSeparator = "//---\n";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::unique_ptr<ptx::ModuleHolder>> parts;
  Diagnostics diagnostics;
  while (parts.size() < 8) {
    const size_t end = rest.find(kSeparator);
    auto part = ptx::parse(rest.substr(0, end), "part.ptx", diagnostics);
    if (part && ptx::verify(part->module, part->source, diagnostics)) parts.push_back(std::move(part));
    if (end == rest.npos) break;
    rest.remove_prefix(end + kSeparator.size());
  }
  std::vector<const ptx::ModuleHolder*> list;
  for (const auto& part : parts) list.push_back(part.get());
  Diagnostics linkDiagnostics;
  auto linked = ptx::link(list, linkDiagnostics);
  if (!linked) {
    if (!linkDiagnostics.hasErrors()) std::abort();
    return 0;
  }
  parts.clear();  // what the result needs it has to keep alive itself
  const std::string text = ptx::print(linked->module);
  Diagnostics again;
  if (ptx::parse(text, "printed.ptx", again)) return 0;
  std::fprintf(stderr, "cannot be parsed again:\n%s%s", text.c_str(), again.toString().c_str());
  std::abort();
}
