// The names that are visible while a module is parsed. Scopes nest; within one, registers, variables, functions and
// labels share their names.
//
// A register range such as %r<100> is one entry: its members come to life when they are first looked up, so a
// declaration costs the same whatever its count.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

struct Binding {
  enum class Kind : uint8_t { None, Register, Variable, Function, Label, Prototype, Targets };
  Kind kind = Kind::None;
  RegisterId reg = 0;
  SourceOffset where = 0;
  union {
    void* none = nullptr;
    ptx::Variable* variable;
    ptx::Function* function;
    ptx::Label* label;
    CallPrototype* prototype;
    TargetList* targets;
  };
};

using SymbolId = uint32_t;

class SymbolTable {
 public:
  static constexpr uint32_t kNone = ~0u;

  SymbolTable();

  SymbolId intern(std::string_view name);
  std::string_view name(SymbolId symbol) const { return symbols_[symbol].name; }

  void enterScope();
  void leaveScope();
  uint32_t depth() const { return static_cast<uint32_t>(scopes_.size()) - 1; }

  // Declares a name in the innermost scope. False when it is declared there already; `previous` is then that place.
  bool declare(std::string_view name, const Binding& binding, SourceOffset& previous);
  bool declareRange(std::string_view prefix, uint32_t count, Type type, uint8_t vector, SourceOffset where,
                    SourceOffset& previous);

  // What the name means here. A member of a register range that was not used before is added to `registers`.
  Binding find(std::string_view name, std::vector<Register>& registers, SourceOffset where);
  // The number of registers in the innermost range to which a name such as %r42 would belong; 0 without one.
  uint32_t rangeCount(std::string_view name, std::string_view& prefix) const;
  Binding findModuleScope(std::string_view name);

  // References to labels, which may be defined later: those made in a scope that knows no such label yet wait for the
  // scope's end. resolved() is called on operands in the arena.
  void refer(std::string_view label, Operand* operand);
  // Operands whose label was not defined by the function's end, with its name; forgets all references.
  std::vector<std::pair<std::string_view, Operand*>> unresolved();

  template <class Callback>
  void forEachVisible(Callback&& callback) const {
    for (const Entry& entry : entries_) callback(symbols_[entry.symbol].name, entry.binding);
  }

 private:
  struct Symbol {
    std::string_view name;
    uint32_t hash = 0;
    uint32_t entry = kNone;         // innermost declaration
    uint32_t range = kNone;         // innermost range of which this is the prefix
    uint32_t reference = kNone;     // latest waiting reference
    bool hasNumberedNames = false;  // names of this prefix and a number were declared one by one
  };
  struct Entry {
    Binding binding;
    SymbolId symbol;
    uint32_t depth, outer;
  };
  struct Range {
    SymbolId prefix;
    uint32_t count, depth, outer;
    Type type;
    uint8_t vector;
    uint32_t used;
    SourceOffset where;
    std::vector<RegisterId> members;                   // by number, kNone where not used yet
    std::unordered_map<uint32_t, RegisterId> distant;  // members far beyond the others
  };
  struct Reference {
    Operand* operand;
    SymbolId symbol;
    uint32_t previous;
  };
  struct Scope {
    size_t entries, ranges, references;
  };

  SymbolId lookUp(std::string_view name) const;  // kNone when it never occurred
  RegisterId member(Range& range, uint32_t number, std::string_view name, std::vector<Register>& registers,
                    SourceOffset where);
  void grow();

  std::vector<uint32_t> slots_;  // open addressing: symbol + 1
  std::vector<Symbol> symbols_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;
  std::vector<Reference> references_;
  std::vector<Scope> scopes_;
};

}  // namespace mulciber::ptx
