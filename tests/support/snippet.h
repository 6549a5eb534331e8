// A few PTX instructions, lowered and run on given inputs: the shape of the arithmetic tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mulciber/translator.h"
#include "support/ir_arithmetic.h"
#include "translator/ir/ir.h"
#include "translator/passes/pass.h"

namespace mulciber::test {

// Registers %d0, %d1 ... are the results, %a0, %a1 ... the inputs, each of the PTX type listed for it:
//   Snippet s("add.cc.u32 %d0, %a0, %a1; addc.u32 %d1, %a2, 0;", "b32 b32", "b32 b32 b32");
class Snippet {
 public:
  Snippet(std::string text, std::string results, std::string inputs, const TargetProfile& profile = defaultProfile());

  static const TargetProfile& defaultProfile();  // has everything
  bool isValid() const { return program_ != nullptr; }
  const std::string& messages() const { return messages_; }

  // Runs a pass over the lowered function.
  void apply(passes::Pass& pass, const TargetProfile& profile, const TranslateOptions& options = {});
  // The results' bits. A failure of the test when the IR does what it must not do.
  std::vector<uint64_t> run(const std::vector<uint64_t>& inputs, const FloatModel& model = {}) const;
  const ir::Program& program() const { return *program_; }
  std::string print() const;

 private:
  std::string text_, results_, inputs_, messages_;
  std::unique_ptr<ir::Program> program_;
  std::vector<ir::VariableId> resultVariables_, inputVariables_;
};

}  // namespace mulciber::test
