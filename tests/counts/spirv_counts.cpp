// Translates every kernel of the PTX files named and prints how many SPIR-V instructions of each kind it became, a line
// each. Under callgrind this is also the measure of the translator's own work.
#include <cstdio>
#include <map>
#include <string>

#include <spirv/unified1/spirv.hpp11>

#include "mulciber/translator.h"
#include "util/file.h"

using namespace mulciber;

namespace {

// The opcodes of a kind follow one another in the SPIR-V specification.
const char* kindOf(spv::Op op) {
  static const struct {
    spv::Op first, last;
    const char* kind;
  } kinds[] = {
      {spv::Op::OpExtInst, spv::Op::OpExtInst, "extended"},
      {spv::Op::OpLoad, spv::Op::OpCopyMemorySized, "memory"},
      {spv::Op::OpAccessChain, spv::Op::OpInBoundsPtrAccessChain, "address"},
      {spv::Op::OpVectorExtractDynamic, spv::Op::OpTranspose, "composite"},
      {spv::Op::OpConvertFToU, spv::Op::OpBitcast, "conversion"},
      {spv::Op::OpSNegate, spv::Op::OpSMulExtended, "arithmetic"},
      {spv::Op::OpAny, spv::Op::OpFUnordGreaterThanEqual, "comparison"},
      {spv::Op::OpShiftRightLogical, spv::Op::OpBitCount, "bits"},
      {spv::Op::OpControlBarrier, spv::Op::OpMemoryBarrier, "barrier"},
      {spv::Op::OpAtomicLoad, spv::Op::OpAtomicXor, "atomic"},
      {spv::Op::OpAtomicFMinEXT, spv::Op::OpAtomicFMaxEXT, "atomic"},
      {spv::Op::OpAtomicFAddEXT, spv::Op::OpAtomicFAddEXT, "atomic"},
      {spv::Op::OpPhi, spv::Op::OpUnreachable, "flow"},
      {spv::Op::OpGroupNonUniformElect, spv::Op::OpGroupNonUniformQuadSwap, "subgroup"},
  };
  for (const auto& kind : kinds)
    if (op >= kind.first && op <= kind.last) return kind.kind;
  return "declaration";
}

void print(const Kernel& kernel) {
  constexpr size_t headerWords = 5;
  std::map<std::string, unsigned> counts;
  for (size_t at = headerWords; at < kernel.spirv.size(); at += kernel.spirv[at] >> 16)
    ++counts[kindOf(static_cast<spv::Op>(kernel.spirv[at] & 0xffff))];
  std::printf("%s", kernel.info.name.c_str());
  for (const auto& [kind, count] : counts) std::printf(" %s=%u", kind.c_str(), count);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Diagnostics diagnostics;
  TranslateOptions options;
  options.dotProducts = true;  // as the runtime has it
  for (int i = 1; i < argc; ++i) {
    const auto text = util::readFile(argv[i]);
    const ModulePtr module = parseModule(text.value_or(""), argv[i], diagnostics);
    if (!module) break;
    for (const std::string& name : kernelNames(*module)) {
      const auto kernel = translate(*module, name, *builtinProfile("nvidia"), options, diagnostics);
      if (kernel) print(*kernel);
    }
  }
  std::fprintf(stderr, "%s", diagnostics.toString().c_str());
  return diagnostics.hasErrors() ? 1 : 0;
}
