// Decoded instructions: what a thread runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/syntax/syntax_tree.h"

namespace mulciber::interpreter {

struct Thread;
struct Warp;
struct Op;
using Handler = void (*)(Thread&, const Op&);
using Together = void (*)(Warp&, uint32_t members);

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };
enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Combine : uint8_t { None, And, Or, Xor };

// Places in a thread's registers that every function has.
inline constexpr uint32_t kSink = 0;  // what is written to _; two places, as a 128-bit register
inline constexpr uint32_t kTrue = 2;  // the guard of what has none
inline constexpr uint32_t kFirstRegister = 3;

// Registers hold values of up to 64 bits with zeros above them; those of 128 bits take two places.
struct Op {
  Handler execute = nullptr;
  uint32_t d = kSink, d2 = kSink;       // destinations, d2 of p|q
  uint32_t a = 0, b = 0, c = 0, e = 0;  // sources: registers or constants, which lie among them
  uint32_t guard = kTrue;
  bool isGuardNegated = false;
  uint8_t negated = 0;  // bit i: source i is the opposite of a predicate
  Type type = Type::B32, sourceType = Type::B32;
  Space space = Space::Generic;
  bool isNarrowAddress = false;  // a 32-bit register holds it
  bool isIndexed = false;        // of an element: a register's index times the element's size is added
  uint32_t index = 0, elementBytes = 0;
  Type indexType = Type::B32;
  uint8_t count = 1;  // elements of a vector
  Rounding rounding = Rounding::Nearest;
  Compare compare = Compare::Eq;
  Combine combine = Combine::None;
  bool ftz = false, sat = false, relu = false, nan = false, xorsign = false, keepsNans = false;
  uint8_t mode = 0;  // what else the family tells apart
  bool writesCarry = false;
  uint64_t mask = 0;            // of the bits of the destination's register
  uint64_t immediate = 0;       // of an address what is added to it
  uint32_t target = 0;          // of a branch; the list or call site of others
  Together together = nullptr;  // of what lanes do together, once all are there
  const Instruction* source = nullptr;
};

// Where an argument or a parameter of a function lies.
struct Slot {
  bool isRegister = false;
  uint64_t place = 0;  // a register, or bytes from the frame's begin
  uint64_t bytes = 0;
};

struct CallSite {
  uint32_t pointer = 0;  // the register with the function's address, when it has no number
  int function = -1;
  std::vector<Slot> arguments, results;
};

// A register that is set when a function begins, and then only read: a special register, or the address of a variable
// that lies `offset` bytes from the frame's begin.
struct Preset {
  uint32_t place;
  std::string special;  // empty for an address
  uint64_t offset = 0;
};

// A decoded function.
struct Code {
  const Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<uint64_t> frame;  // registers at the begin: constants, and zeros
  uint64_t localBytes = 0;
  std::vector<Preset> presets;
  std::vector<std::vector<uint32_t>> lists;  // registers of vectors, targets of brx.idx
  std::vector<CallSite> calls;
  std::vector<Slot> parameters, results;
};

}  // namespace mulciber::interpreter
