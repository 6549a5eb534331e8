#include "lower/lowered.h"

#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/ptx/verifier.h"

namespace mulciber::test {

TargetProfile fullProfile() {
  TargetProfile profile;
  profile.int8 = profile.int16 = profile.int64 = profile.float16 = profile.float64 = true;
  profile.storage8 = profile.storage16 = true;
  profile.sharedExplicitLayout = profile.sharedExplicitLayout8 = profile.sharedExplicitLayout16 = true;
  profile.atomicInt64 = profile.atomicSharedInt64 = true;
  profile.atomicFloat32Add = profile.atomicSharedFloat32Add = true;
  profile.atomicFloat64Add = profile.atomicSharedFloat64Add = true;
  profile.shaderSubgroupClock = profile.shaderDeviceClock = true;
  profile.exitedThreadsArrive = profile.warpsProgress = true;
  return profile;
}

Lowered lowerText(std::string_view text, const TargetProfile& profile) {
  Lowered result;
  Diagnostics diagnostics;
  result.module = ptx::parse(text, "test.ptx", diagnostics);
  if (result.module && ptx::verify(result.module->module, result.module->source, diagnostics)) {
    result.layout = std::make_unique<lower::ModuleLayout>(result.module->module);
    for (const ptx::Function* function : result.module->module.functions) {
      if (!function->isEntry) continue;
      result.program = lower::lowerKernel(*result.module, *function, *result.layout, profile, diagnostics);
      break;
    }
  }
  result.errors = diagnostics.toString();
  if (result.program) {
    for (const auto& function : result.program->functions) {
      std::string faults = ir::verify(*function);
      EXPECT_EQ(faults, "") << ir::print(*function);
    }
  }
  return result;
}

std::string kernelText(std::string_view body, std::string_view parameters, std::string_view declarations) {
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n";
  text += declarations;
  text += "\n.visible .entry k(" + std::string(parameters) + ")\n{\n";
  text +=
      ".reg .pred %p<30>; .reg .b16 %rs<30>; .reg .b32 %r<30>; .reg .b64 %rd<30>; .reg .f32 %f<30>; .reg .f64 "
      "%fd<30>; .reg .b128 %q<8>;\n";
  text += body;
  return text + "\nret;\n}\n";
}

}  // namespace mulciber::test
