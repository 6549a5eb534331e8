// A module as its text says it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreter/syntax/types.h"

namespace mulciber::interpreter {

struct Operand {
  enum class Kind : uint8_t { Name, Integer, Float, Vector, Address, Sink, List };
  Kind kind = Kind::Sink;
  std::string name;               // of a register, variable, function or label
  std::string selector;           // ".x", ".b0" behind a name
  uint64_t bits = 0;              // of a number; a Float is that of a double or, with floatBits 32, of a float
  unsigned floatBits = 0;         // as in Token
  bool isNegated = false;         // !p
  bool isMinus = false;           // -a
  bool isIndexed = false;         // name[index]: of the index a register is the part, a constant the bits
  std::vector<Operand> parts;     // of a vector or a list; an address is its base and what is added
  std::shared_ptr<Operand> pair;  // q of p|q
};

struct Instruction {
  unsigned line = 0;
  std::string guard;  // the register, empty without one
  bool isGuardNegated = false;
  std::string opcode;
  std::vector<std::string> modifiers;  // with their dots
  std::vector<Type> types;             // those of them that are types
  std::vector<Operand> operands;

  bool has(std::string_view modifier) const;
  std::string name() const;  // "add.sat.s32"
};

enum class Space : uint8_t { Generic, Reg, Global, Const, Shared, Local, Param };

struct Variable {
  unsigned line = 0;
  Space space = Space::Global;
  Type type = Type::B8;
  unsigned alignment = 0;  // 0 when not said
  unsigned vector = 1;     // elements of .v2, .v4
  std::string name;
  unsigned copies = 0;  // of the registers name0, name1, ... ; 0 for one named so
  uint64_t elements = 1;
  bool isArray = false, isExtern = false;
  std::vector<Operand> values;  // of the initialiser, in order of the elements; a Name may stand for an address

  uint64_t bytes() const { return elements * vector * bytesOf(type); }
  uint64_t aligned() const { return alignment ? alignment : uint64_t(vector) * bytesOf(type); }
};

struct Prototype {
  std::vector<Variable> results, parameters;
};

struct Statement {
  enum class Kind : uint8_t { Instruction, Label, Variable, BlockBegin, BlockEnd, Targets, Prototype };
  Kind kind = Kind::Instruction;
  Instruction instruction = {};
  std::string label = {};  // also the name of a list of targets or of a prototype
  Variable variable = {};
  std::vector<std::string> targets = {};
  Prototype prototype = {};
};

struct Function : Prototype {
  unsigned line = 0;
  bool isEntry = false, isDefined = false;
  std::string name;
  std::vector<Statement> statements;
};

struct SyntaxTree {
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

// Throws Fault.
SyntaxTree parse(std::string_view text);

}  // namespace mulciber::interpreter
