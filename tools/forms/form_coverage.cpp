#include "forms/form_coverage.h"

#include "forms/form_instances.h"
#include "translator/lower/module_layout.h"
#include "translator/lower/program_lowering.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber {
namespace {

struct Place {
  uint8_t version;
  const char* target;
};

// Each form is in one of these: the newest of each architecture, old ones for what has gone, and one for what is known
// of later versions.
constexpr Place kPlaces[] = {{90, "sm_90a"}, {90, "sm_100a"}, {90, "sm_120a"}, {90, "sm_60"},
                             {90, "sm_10"},  {13, "sm_13"},   {64, "sm_70"},   {91, "sm_90"}};

std::string moduleText(const Place& place, const std::string& instruction) {
  const ptx::Target target = *ptx::parseTarget(place.target);
  std::string text = ".version " + std::to_string(place.version / 10) + '.' + std::to_string(place.version % 10) +
                     "\n.target " + place.target + '\n';
  if (place.version >= 23) text += ".address_size 64\n";
  if (ptx::satisfies(target, "sm_20")) text += ".func callee { ret; }\n";
  text += ".entry kernel {\n" + ptx::registerDeclarations(place.version >= 83 && ptx::satisfies(target, "sm_70"));
  if (place.version >= 60 && ptx::satisfies(target, "sm_30")) text += "TARGETS: .branchtargets DONE;\n";
  return text + instruction + "\nDONE:\n  ret;\n}\n";
}

bool isTranslated(const std::string& instruction, const TargetProfile& profile) {
  for (const Place& place : kPlaces) {
    Diagnostics diagnostics;
    auto module = ptx::parse(moduleText(place, instruction), "form.ptx", diagnostics);
    if (!module || !ptx::verify(module->module, module->source, diagnostics)) continue;
    const lower::ModuleLayout layout(module->module);
    return lower::lowerKernel(*module, *module->module.findFunction("kernel"), layout, profile, diagnostics)
        .has_value();
  }
  return false;
}

}  // namespace

std::string translatedColumn(const ptx::Form& form) {
  TargetProfile profile = *builtinProfile("nvidia");
  size_t translated = 0;
  const auto variations = ptx::singleVariations(form);
  for (const ptx::FormChoices& choices : variations)
    translated += isTranslated(ptx::instantiate(form, choices).text(), profile);
  return translated == 0 ? "no" : translated == variations.size() ? "yes" : "in part";
}

}  // namespace mulciber
