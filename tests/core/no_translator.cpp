// Stands in for the translator until it is there.
#include "mulciber/translator.h"

namespace mulciber {

void ParsedModuleDeleter::operator()(const ParsedModule*) const {}
ModulePtr parseModule(std::string_view, std::string_view, Diagnostics&) { return nullptr; }
ModulePtr linkModules(std::vector<const ParsedModule*>, Diagnostics&) { return nullptr; }
std::vector<std::string> kernelNames(const ParsedModule&) { return {}; }
const ModuleData& moduleData(const ParsedModule&) {
  static const ModuleData none;
  return none;
}
std::optional<Kernel> translate(const ParsedModule&, std::string_view, const TargetProfile&, const TranslateOptions&,
                                Diagnostics&) {
  return std::nullopt;
}
uint32_t translatorVersion() { return 0; }

}  // namespace mulciber
