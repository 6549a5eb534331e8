// A loaded module: its functions, and its variables at their addresses.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "interpreter/interpreter.h"
#include "interpreter/machine/op.h"

namespace mulciber::interpreter {

// Generic addresses of what is not a buffer.
inline constexpr uint64_t kWindow = uint64_t(1) << 40;
inline constexpr uint64_t kGlobalVariables = Memory::kEnd;
inline constexpr uint64_t kSharedWindow = Memory::kEnd + kWindow;
inline constexpr uint64_t kLocalWindow = Memory::kEnd + 2 * kWindow;
inline constexpr uint64_t kConstWindow = Memory::kEnd + 3 * kWindow;
inline constexpr uint64_t kParamWindow = Memory::kEnd + 4 * kWindow;
inline constexpr uint64_t kFunctions = Memory::kEnd + 5 * kWindow;
inline constexpr uint64_t kFunctionStep = 16;
// Addresses of local memory begin here: below are a kernel's parameters, which ld.param may reach as well.
inline constexpr uint64_t kStack = 1 << 20;

uint64_t windowOf(Space space);
inline uint64_t alignedTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

struct Program {
  struct Place {
    Space space;
    uint64_t address;  // within its space
    uint64_t bytes;
    Type type;
  };

  explicit Program(std::string_view text);

  const Function* findFunction(const std::string& name) const;
  std::optional<uint64_t> addressOfFunction(const std::string& name) const;
  const Code& codeOf(const Function& function);
  const Function& functionAt(uint64_t address) const;

  SyntaxTree tree;
  std::map<std::string, Place> variables;        // of module scope
  std::map<const Variable*, uint64_t> sharedOf;  // addresses of shared variables, those of functions too
  std::vector<uint8_t> globals, constants;
  uint64_t sharedBytes = 0;  // of variables of known size; dynamic shared memory follows

 private:
  void placeVariables();
  void placeShared(const Variable& variable);
  void initialise(const Variable& variable, const Place& place);

  std::map<const Function*, std::unique_ptr<Code>> codes_;
};

}  // namespace mulciber::interpreter
