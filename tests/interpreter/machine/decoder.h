// Makes the instructions of a function into what a thread runs: names become registers, addresses and constants.
#pragma once

#include <map>
#include <memory>

#include "interpreter/machine/program.h"

namespace mulciber::interpreter {

// The rounding among the modifiers: to nearest when there is none.
Rounding roundingIn(const Instruction& instruction);
// The state space among the modifiers.
Space spaceIn(const Instruction& instruction);
// The bits of a floating-point constant of any spelling in a type.
uint64_t floatConstant(const Operand& operand, Type type);

class Decoder {
 public:
  Decoder(Program& program, const Function& function);
  std::unique_ptr<Code> run();

  // The instruction's operands: d, or d|d2, then a, b, c and e; constants are of the type.
  void operands(const Instruction& instruction, Op& op, Type type);
  // The same without a destination.
  void sources(const Instruction& instruction, Op& op, Type type, size_t first = 0);

  uint32_t source(const Operand& operand, Type type);
  uint32_t destination(const Operand& operand);
  uint64_t maskOf(const Operand& destination) const;  // of the register's bits
  bool isPredicate(const Operand& operand) const;
  void address(const Operand& operand, Op& op);
  // Registers of a vector, or of one operand; the index of the list.
  uint32_t list(const Operand& operand, Type type, bool isDestination);
  uint32_t callSite(const Instruction& instruction);
  uint32_t target(const Operand& operand) const { return target(operand.name); }
  uint32_t targets(const Operand& operand);
  uint32_t constant(uint64_t bits);
  [[noreturn]] static void unknown(const Instruction& instruction);

 private:
  struct Symbol {
    Space space = Space::Reg;
    Type type = Type::B32;
    uint64_t place = 0;      // a register, or an address in its space
    bool isInFrame = false;  // the address counts from the frame
    uint64_t bytes = 0;
  };

  // Labels belong to a block of the text, which has a number; they may be used before they stand.
  using Label = std::pair<unsigned, std::string>;

  void findLabels();
  const Statement& labelled(const std::string& name, Label& label) const;
  uint32_t target(const std::string& name) const;
  void declare(const Variable& variable);
  Slot parameter(const Variable& variable);
  const Symbol* find(const std::string& name) const;
  const Symbol& registerNamed(const std::string& name) const;
  uint32_t newRegister(Type type);
  uint32_t preset(const std::string& special, uint64_t offset);
  uint32_t addressOf(const Symbol& symbol, uint64_t offset);
  void indexed(const Operand& operand, Op& op);
  Op decode(const Instruction& instruction);
  std::vector<Slot> slots(const Operand& operand, const std::vector<Variable>& formal);

  Program& program_;
  const Function& function_;
  std::unique_ptr<Code> code_ = std::make_unique<Code>();
  std::vector<std::map<std::string, Symbol>> scopes_;
  std::vector<unsigned> blocks_;  // those around the instruction
  std::map<Label, uint32_t> labels_;
  std::map<Label, const Statement*> labelled_;
  std::map<uint64_t, uint32_t> constants_;
  std::map<std::pair<std::string, uint64_t>, uint32_t> presets_;
};

}  // namespace mulciber::interpreter
