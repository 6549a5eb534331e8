#include "translator/ptx/suggestion.h"
#include "translator/ptx/verifier_state.h"

namespace mulciber::ptx {
namespace {

using Formals = std::span<Variable* const>;

// "parameter 'a'", or by number where a prototype leaves it nameless.
std::string formalName(const char* role, const Variable& formal, size_t index) {
  if (formal.name.empty() || formal.name == "_") return std::string(role) + ' ' + std::to_string(index + 1);
  return std::string(role) + ' ' + quoted(formal.name);
}

class CallVerifier {
 public:
  CallVerifier(VerifierState& state, const Function& caller, const Instruction& call)
      : state_(state), caller_(caller), call_(call) {}

  void verify() {
    const Operand& callee = call_.operands[CallCallee];
    const Operand& signature = call_.operands[CallSignature];
    switch (callee.kind) {
      case Operand::Kind::Function:
        if (callee.function->isEntry)
          return state_.error(callee.where, quoted(callee.function->name) + " is a kernel and cannot be called");
        if (signature.kind != Operand::Kind::None)
          return state_.error(signature.where, "a direct call takes no prototype");
        return verifyAgainst(callee.function->results, callee.function->parameters);
      case Operand::Kind::Register: return verifyIndirect(callee, signature);
      default: return state_.error(callee.where, "a call needs a function or a register that holds its address");
    }
  }

 private:
  void verifyIndirect(const Operand& callee, const Operand& signature) {
    Type declared = caller_.registers[callee.reg].type;
    if (!isWholeRegister(callee)) return state_.error(callee.where, "an address cannot be a part of a register");
    if (!registerFits(declared, Type::None, true, false, false))
      return state_.error(callee.where, "a ." + std::string(spelling(declared)) + " register cannot hold an address");
    state_.require(call_.where, "an indirect call", 21, "sm_20");
    switch (signature.kind) {
      case Operand::Kind::CallTarget:
        return verifyAgainst(signature.prototype->results, signature.prototype->parameters);
      case Operand::Kind::BranchTarget:
        for (const Operand& target : signature.targets->targets)
          if (target.kind == Operand::Kind::Function)
            verifyAgainst(target.function->results, target.function->parameters);
        return;
      default: return state_.error(callee.where, "an indirect call needs a .callprototype or .calltargets name");
    }
  }

  void verifyAgainst(Formals results, Formals parameters) {
    compare("result", call_.operands[CallResults], results);
    compare("parameter", call_.operands[CallArguments], parameters);
  }

  void compare(const char* role, const Operand& given, Formals formals) {
    std::span<const Operand> actuals = given.elements;
    // Nothing need be passed for an array without a size, unless it is alone.
    if (actuals.size() > 0 && actuals.size() + 1 == formals.size() && formals.back()->isArray &&
        formals.back()->size == 0)
      formals = formals.first(actuals.size());
    if (actuals.size() != formals.size())
      return state_.error(given.kind == Operand::Kind::None ? call_.where : given.where,
                          "the callee has " + std::to_string(formals.size()) + ' ' + role +
                              (formals.size() == 1 ? "" : "s") + ", the call gives " + std::to_string(actuals.size()));
    for (size_t i = 0; i < actuals.size(); ++i)
      if (const char* problem = mismatch(actuals[i], *formals[i], *role == 'r'))
        state_.error(actuals[i].where,
                     std::string("the call's ") + problem + " does not match " + formalName(role, *formals[i], i));
  }

  // What of the actual argument differs, or null.
  const char* mismatch(const Operand& actual, const Variable& formal, bool isResult) const {
    switch (actual.kind) {
      case Operand::Kind::Register:
        if (!isWholeRegister(actual)) return "part of a register";
        if (caller_.registers[actual.reg].vector != formal.vector) return "type";
        return formal.isArray || !agree(caller_.registers[actual.reg].type, formal.type) ? "type" : nullptr;
      case Operand::Kind::Integer: return !isResult && !formal.isArray && !isFloat(formal.type) ? nullptr : "type";
      case Operand::Kind::Float:
        return !isResult && !formal.isArray && (isFloat(formal.type) || isUntyped(formal.type)) ? nullptr : "type";
      case Operand::Kind::Sink: return isResult ? nullptr : "type";
      case Operand::Kind::Symbol:
        if (!actual.variable || actual.variable->space != StateSpace::Param) return "state space";
        if (actual.variable->role != Variable::Role::Plain) return "use of a parameter of the caller";
        if (actual.offset != 0 || actual.isIndexed) return "part of a variable";
        if (actual.variable->isArray != formal.isArray) return "type";
        if (formal.isArray) {
          if (formal.size != 0 && actual.variable->size != formal.size) return "size";
          return actual.variable->alignment == formal.alignment || state_.target.hasEverything ? nullptr : "alignment";
        }
        if (actual.variable->vector != formal.vector) return "type";
        return agree(actual.variable->type, formal.type) ? nullptr : "type";
      default: return "kind";
    }
  }

  static bool isWholeRegister(const Operand& operand) {
    return operand.select == Operand::Select::Whole && !operand.negated && operand.offset == 0;
  }

  static bool agree(Type actual, Type formal) {
    if (actual == formal) return true;
    return isUntyped(actual) ? registerFits(formal, actual, false, false, false)
                             : registerFits(actual, formal, false, false, false);
  }

  VerifierState& state_;
  const Function& caller_;
  const Instruction& call_;
};

}  // namespace

void verifyCall(VerifierState& state, const Function& caller, const Instruction& call) {
  CallVerifier(state, caller, call).verify();
}

}  // namespace mulciber::ptx
