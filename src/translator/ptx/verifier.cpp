#include "translator/ptx/verifier.h"

#include <bit>

#include "translator/ptx/lexer.h"
#include "translator/ptx/verifier_state.h"

namespace mulciber::ptx {
namespace {

class InstructionVerifier {
 public:
  explicit InstructionVerifier(VerifierState& state)
      : state_(state),
        matcher_(state.target),
        hasGenericAddresses_(state.target.version >= 20 && satisfies(state.target.target, "sm_20")) {}

  void verify(const Function& function, Instruction& instruction) {
    if (instruction.guard) verifyGuard(function, *instruction.guard);
    const FormMatch& match = matcher_.match(instruction.opcode, instruction.modifiers);
    if (match.candidates.empty()) return state_.error(placeOf(instruction, match.culprit), match.problem);
    if (instruction.opcode == Opcode::Call) {
      instruction.form = match.candidates.front().form;
      return verifyCall(state_, function, instruction);
    }
    for (const Operand& operand : instruction.operands)
      if (operand.kind == Operand::Kind::Function) verifyTaken(state_, *operand.function, operand.where);
    OperandContext context{&function, state_.module.addressSize, instruction.opcode, instruction.modifiers};
    for (const MatchedForm& candidate : match.candidates)
      if (operandsFit(instruction, candidate, context)) {
        instruction.form = candidate.form;
        return verifyDetails(instruction, candidate);
      }
    explain(instruction, match, context);
  }

 private:
  // Modifiers have no place of their own in the tree: the text is read again.
  SourceOffset placeOf(const Instruction& instruction, std::optional<size_t> modifier) const {
    if (!modifier) return instruction.where;
    Lexer lexer(state_.source.textAt(instruction.where));
    Token token = lexer.next();
    for (size_t i = 0; i <= *modifier; ++i) token = lexer.next();
    return token.is(Token::Kind::Dotted) ? instruction.where + token.where : instruction.where;
  }

  // Pairs the operands with what the form expects; optional ones that do not fit are passed over. Returns how many
  // operands fitted, and in `expected` what stands for the next.
  struct Pairing {
    size_t fitted = 0;
    const ExpectedOperand* next = nullptr;  // the expected operand that did not fit, or was missing
    bool complete = false;
  };
  static Pairing pair(const Instruction& instruction, const MatchedForm& form, const OperandContext& context) {
    Pairing result;
    for (const ExpectedOperand& expected : form.operands) {
      bool fits = result.fitted < instruction.operands.size() &&
                  operandFits(instruction.operands[result.fitted], expected, context);
      if (fits) {
        ++result.fitted;
      } else if (!expected.form->optional) {
        result.next = &expected;
        return result;
      } else {
        result.next = &expected;
      }
    }
    result.complete = result.fitted == instruction.operands.size();
    return result;
  }

  static bool operandsFit(const Instruction& instruction, const MatchedForm& form, const OperandContext& context) {
    return pair(instruction, form, context).complete;
  }

  void explain(const Instruction& instruction, const FormMatch& match, const OperandContext& context) {
    Pairing best;
    const MatchedForm* form = nullptr;
    for (const MatchedForm& candidate : match.candidates) {
      Pairing here = pair(instruction, candidate, context);
      if (form && here.fitted <= best.fitted) continue;
      best = here;
      form = &candidate;
    }
    std::string name = '\'' + fullName(instruction.opcode, instruction.modifiers) + '\'';
    size_t given = instruction.operands.size();
    if (best.fitted < given && best.next)
      return state_.error(instruction.operands[best.fitted].where,
                          "operand " + std::to_string(best.fitted + 1) + " of " + name + ' ' +
                              explainOperand(instruction.operands[best.fitted], *best.next, context));
    state_.error(instruction.where, name + " takes " + countText(*form) + ", not " + std::to_string(given));
  }

  static std::string countText(const MatchedForm& form) {
    size_t most = form.operands.size(), least = most;
    for (const ExpectedOperand& operand : form.operands)
      if (operand.form->optional) --least;
    if (most == 0) return "no operands";
    std::string text = least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
    return text + (most == 1 ? " operand" : " operands");
  }

  void verifyGuard(const Function& function, const Operand& guard) {
    if (guard.kind != Operand::Kind::Register || function.registers[guard.reg].type != Type::Pred ||
        guard.select != Operand::Select::Whole)
      state_.error(guard.where, "a guard must be a .pred register");
  }

  // Rules that concern one instruction alone and are not worth a column in the table.
  void verifyDetails(const Instruction& instruction, const MatchedForm& form) {
    switch (instruction.opcode) {
      case Opcode::Ld:
      case Opcode::Ldu:
      case Opcode::St:
      case Opcode::Atom:
      case Opcode::Red: return verifyAccess(instruction, form);
      case Opcode::Alloca:
        if (instruction.operands.size() > 2 && !std::has_single_bit(instruction.operands[2].bits))
          state_.error(instruction.operands[2].where, "an alignment must be a power of two");
        return;
      case Opcode::Createpolicy: return verifyFraction(instruction);
      case Opcode::Cp: return verifyCopy(instruction, form);
      case Opcode::Tex:
      case Opcode::Tld4:
      case Opcode::Txq:
      case Opcode::Suld:
      case Opcode::Sust:
      case Opcode::Sured:
      case Opcode::Suq: return verifyHandles(instruction);
      default: return;
    }
  }

  void verifyAccess(const Instruction& instruction, const MatchedForm& form) {
    for (size_t i = 0; i < instruction.operands.size() && i < form.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      if (operand.kind != Operand::Kind::Address) continue;
      if (form.operands[i].space == StateSpace::None && !hasGenericAddresses_)
        state_.require(operand.where, "generic addressing", 20, "sm_20");
      if (!operand.variable || operand.variable->space != StateSpace::Param) return;
      if (instruction.opcode == Opcode::Ld && operand.variable->role == Variable::Role::Result)
        state_.error(operand.where,
                     "the function's result '" + std::string(operand.variable->name) + "' can only be written");
      if (instruction.opcode == Opcode::St && operand.variable->role == Variable::Role::Parameter)
        state_.error(operand.where, "the parameter '" + std::string(operand.variable->name) + "' can only be read");
      return;
    }
  }

  void verifyFraction(const Instruction& instruction) {
    if (instruction.operands.size() < 2 || instruction.operands[1].kind != Operand::Kind::Float) return;
    const Operand& operand = instruction.operands[1];
    const double fraction = operand.isSingle ? std::bit_cast<float>(static_cast<uint32_t>(operand.bits))
                                             : std::bit_cast<double>(operand.bits);
    if (!(fraction > 0 && fraction <= 1))
      state_.error(operand.where, "the fraction of a policy must be greater than 0 and at most 1");
  }

  // Textures and surfaces were known by name alone at first.
  void verifyHandles(const Instruction& instruction) {
    auto isRegister = [](const Operand& operand) {
      if (operand.kind == Operand::Kind::Address) return operand.hasRegister;
      return operand.kind == Operand::Kind::Texture && operand.elements[0].kind == Operand::Kind::Register;
    };
    for (const Operand& operand : instruction.operands)
      if (isRegister(operand)) state_.require(operand.where, "a texture or surface in a register", 31, "sm_20");
  }

  void verifyCopy(const Instruction& instruction, const MatchedForm& form) {
    constexpr size_t kSize = 2, kSourceSize = 3;  // operands of the copies whose size is a constant
    if (form.operands.size() <= kSize || form.operands[kSize].form->kind != FormOperand::Kind::Immediate) return;
    const Operand& size = instruction.operands[kSize];
    if (size.bits != 4 && size.bits != 8 && size.bits != 16)
      return state_.error(size.where, "cp.async copies 4, 8 or 16 bytes");
    if (instruction.operands.size() <= kSourceSize) return;
    const Operand& sourceSize = instruction.operands[kSourceSize];
    if (sourceSize.kind == Operand::Kind::Integer && sourceSize.bits > size.bits)
      state_.error(sourceSize.where,
                   "cp.async cannot read more than the " + std::to_string(size.bits) + " bytes it copies");
  }

  VerifierState& state_;
  FormMatcher matcher_;
  bool hasGenericAddresses_;
};

void verifyBody(VerifierState& state, InstructionVerifier& instructions, const Function& function) {
  for (const Statement& statement : function.body) {
    if (state.isFull()) return;
    switch (statement.kind) {
      case Statement::Kind::Instruction: instructions.verify(function, *statement.instruction); break;
      case Statement::Kind::Registers: verifyRegisters(state, *statement.registers, statement.where); break;
      case Statement::Kind::Variable: verifyVariable(state, *statement.variable); break;
      default: break;
    }
  }
}

}  // namespace

void VerifierState::require(SourceOffset where, std::string_view what, uint8_t version, std::string_view rule) {
  uint8_t index = 0;
  for (size_t i = 0; i < targetRules().size(); ++i)
    if (targetRules()[i] == rule) index = static_cast<uint8_t>(i);
  std::string missing = target.missing({version, index});
  if (!missing.empty()) error(where, std::string(what) + ' ' + missing);
}

bool verify(const Module& module, const SourceText& source, Diagnostics& diagnostics) {
  VerifierState state{module, source, diagnostics, {}};
  if (!verifyHeader(state)) return false;
  for (const Variable* variable : module.variables) verifyVariable(state, *variable);
  InstructionVerifier instructions(state);
  for (const Function* function : module.functions) {
    if (state.isFull()) break;
    verifySignature(state, *function);
    verifyBody(state, instructions, *function);
  }
  return state.errors == 0;
}

}  // namespace mulciber::ptx
