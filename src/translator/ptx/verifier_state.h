// What the parts of the verifier share: verifier.cpp checks instructions, verify_calls.cpp calls,
// verify_declarations.cpp everything that is declared.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "translator/ptx/form_matcher.h"
#include "translator/ptx/operand_rules.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {

struct VerifierState {
  const Module& module;
  const SourceText& source;
  Diagnostics& diagnostics;
  ModuleTarget target;
  unsigned errors = 0;

  void error(SourceOffset where, std::string text) {
    if (errors++ < kMaxErrors) source.error(diagnostics, where, std::move(text));
  }
  bool isFull() const { return errors >= kMaxErrors; }

  // Reports that `what` ("'.noreturn'") asks for a version or target that the module does not declare.
  void require(SourceOffset where, std::string_view what, uint8_t version, std::string_view rule = {});
};

// .version, .target, .address_size; false when nothing else can be judged.
bool verifyHeader(VerifierState& state);
void verifyVariable(VerifierState& state, const Variable& variable);
void verifySignature(VerifierState& state, const Function& function);
void verifyRegisters(VerifierState& state, const RegisterDeclaration& registers, SourceOffset where);

// A function whose address is taken.
void verifyTaken(VerifierState& state, const Function& function, SourceOffset where);

// A call against its callee, prototype or list of targets.
void verifyCall(VerifierState& state, const Function& caller, const Instruction& call);

}  // namespace mulciber::ptx
