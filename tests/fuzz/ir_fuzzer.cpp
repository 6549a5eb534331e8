// Any text: read as IR, verified, and if it is sound taken through structurize and SSA, after which it must be sound
// again and print as text that reads back.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "translator/ir/parser.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"
#include "translator/passes/fold_branches.h"
#include "translator/passes/inline.h"
#include "translator/passes/simplify.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace {

using namespace mulciber;

void require(const std::string& faults, const char* stage) {
  if (faults.empty()) return;
  std::fprintf(stderr, "after %s: %s\n", stage, faults.c_str());
  std::abort();
}

bool isSound(const ir::Program& program) {
  for (const auto& function : program.functions)
    if (function->isStructured || function->isSsa || function->frame || !ir::verify(*function).empty()) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  auto program = ir::parseProgram({reinterpret_cast<const char*>(data), size}, error);
  if (!program || !isSound(*program) || !passes::inlineCalls(*program, 1000000).empty()) return 0;
  ir::Function& function = *program->functions.front();
  passes::structurize(function);
  require(ir::verify(function), "structurize");
  passes::buildSsa(function);
  require(ir::verify(function), "ssa");
  passes::simplify(function);
  passes::foldBranches(function);
  passes::removeCommonSubexpressions(function);
  passes::removeDeadInstructions(function);
  require(ir::verify(function), "simplify");
  auto again = ir::parseProgram(ir::print(*program), error);
  require(error, "printing");
  return 0;
}
