// Translates a kernel and prints its name.
#include <mulciber/translator.h>

#include <cstdio>

int main() {
  const char* text =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry store(.param .u64 out) { .reg .b64 %a; ld.param.u64 %a, [out]; st.global.u32 [%a], 1; ret; }";
  mulciber::Diagnostics diagnostics;
  const auto module = mulciber::parseModule(text, "store.ptx", diagnostics);
  if (!module) return std::fputs(diagnostics.toString().c_str(), stderr), 1;
  const auto kernel = mulciber::translate(*module, "store", mulciber::TargetProfile(), {}, diagnostics);
  if (!kernel || kernel->spirv.empty()) return std::fputs(diagnostics.toString().c_str(), stderr), 1;
  std::printf("translated %s\n", kernel->info.name.c_str());
}
