// Where addresses come from: which spaces they may lie in, what they are relative to, and the pointer they began as.
// For functions in SSA form. The classes are snapshots: later changes of the function do not reach them.
#pragma once

#include <cstdint>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// A set of spaces, one bit for each. Numbers that are no address at all count as global: they carry no window.
using Spaces = uint8_t;
constexpr Spaces spaceBit(ir::Space space) { return static_cast<Spaces>(1u << static_cast<unsigned>(space)); }
constexpr Spaces onlyGlobal = spaceBit(ir::Space::Global);

// Which spaces each 64-bit value may be a generic address of, among those of which the program makes any.
class AddressOrigins {
 public:
  AddressOrigins(const ir::Function& function, Spaces existing);

  Spaces of(const ir::Instruction* value) const { return known_[value->id].spaces; }

 private:
  // A number that is no address may be a piece of one: bytes or words that were shifted apart to be put together again.
  // A piece that has been shifted into the top byte makes an address of any space.
  struct Origin {
    Spaces spaces = 0;
    uint8_t pieceEnd = 0;  // the bit above the highest one that a piece can have reached; at most 64
    bool operator==(const Origin&) const = default;
  };

  static Origin piece(unsigned bits) { return {onlyGlobal, static_cast<uint8_t>(bits)}; }
  static Origin remainder(const Origin& value, unsigned bits);
  Spaces sum(Spaces a, Spaces b) const;
  Origin shifted(const Origin& value, unsigned amount) const;
  Origin find(const ir::Instruction& instruction) const;

  Spaces existing_;
  std::vector<Origin> known_;  // by instruction id
};

// Which values are the address of the module's data plus a number. What is not such a sum counts as a number.
class ModuleAddresses {
 public:
  explicit ModuleAddresses(const ir::Function& function);

  bool contains(const ir::Instruction& value) const { return kinds_[value.id] == Address; }

 private:
  enum Kind : uint8_t { Number, Address, Unseen };  // only ever falls, from what loops may still turn out to be

  Kind find(const ir::Instruction& instruction) const;

  std::vector<Kind> kinds_;  // by instruction id
};

// Where an address of device memory begins: without what is added to it, and before a loop moves it on.
const ir::Instruction* pointerOf(const ir::Instruction* address);

}  // namespace mulciber::analyses
