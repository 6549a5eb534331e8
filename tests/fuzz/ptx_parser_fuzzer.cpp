// libFuzzer: any bytes as PTX text. What parses must print, and parse again to what prints the same; the verifier must
// think the same of both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "translator/ptx/parser.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"

using namespace mulciber;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Diagnostics diagnostics;
  auto module = ptx::parse({reinterpret_cast<const char*>(data), size}, "fuzz.ptx", diagnostics);
  if (!module) {
    if (!diagnostics.hasErrors()) std::abort();
    (void)diagnostics.toString();
    return 0;
  }
  const std::string text = ptx::print(module->module);
  Diagnostics verdict, verdictAgain;
  if (ptx::verify(module->module, module->source, verdict) == verdict.hasErrors()) std::abort();
  (void)verdict.toString();
  auto again = ptx::parse(text, "printed.ptx", diagnostics);
  const bool isSame = again && ptx::print(again->module) == text;
  if (!isSame) {
    std::fprintf(stderr, "not the same after printing:\n%s%s", text.c_str(), diagnostics.toString().c_str());
    if (again) std::fprintf(stderr, "but\n%s", ptx::print(again->module).c_str());
    std::abort();
  }
  if (ptx::verify(again->module, again->source, verdictAgain) == verdict.hasErrors()) {
    std::fprintf(stderr, "verified differently after printing:\n%s%s%s", text.c_str(), verdict.toString().c_str(),
                 verdictAgain.toString().c_str());
    std::abort();
  }
  return 0;
}
