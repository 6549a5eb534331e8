// What the writers of statements share while a routine is written.
#pragma once

#include <string>

#include "random_ptx/generator/program.h"
#include "random_ptx/generator/random.h"
#include "random_ptx/generator/registers.h"

namespace mulciber::random_ptx {

// Every thread has this many bytes of its own in each of global, shared and local memory: its windows. No other thread
// touches them but between two barriers.
inline constexpr unsigned kWindowBytes = 32;
// Words that all threads change by operations whose order does not matter: of each block, and of the grid.
inline constexpr unsigned kCells = 4;

// Where a statement stands.
struct Place {
  bool isUniform = false;  // all threads of the block come here together
  std::string mask;        // register with the lanes of the warp that come here together; empty when none is known
  std::string counter;     // register with the turns that are left of the loop around it; empty outside of loops
  unsigned depth = 0;      // of control flow around it
  unsigned routine = 0;    // functions call those of lower numbers only
};

class Arithmetic;

class Scope {
 public:
  Scope(Random& choices, Program& written) : random(choices), program(written) {}

  // A register of the pool.
  std::string reg(char pool) { return cat('%', pool, random.below(poolOf(pool).count)); }
  std::string uniform() { return cat("%u", random.below(kUniforms)); }
  std::string uniformPredicate() { return cat("%e", random.below(kUniformPredicates)); }
  std::string pointer() { return cat("%s", random.below(kPointers)); }
  // Names that nothing else has.
  std::string fresh(char prefix) { return cat('%', prefix, 10 + next_++); }
  std::string label() { return cat('L', next_++); }
  // A predicate to branch on; one that is equal in all threads where `isUniform`.
  std::string condition(bool isUniform) {
    return (random.chance(30) ? "!" : "") + (isUniform ? uniformPredicate() : reg('p'));
  }

  static constexpr unsigned kUniforms = 4, kUniformPredicates = 2, kPointers = 4;

  Random& random;
  Program& program;
  bool isInFunction = false;
  Arithmetic* arithmetic = nullptr;  // writes the instructions of programs of multiply-adds

 private:
  unsigned next_ = 0;
};

// One statement of any kind that may stand there, and some of them.
Node statement(Scope& scope, const Place& place);
Node statements(Scope& scope, const Place& place, unsigned count);

// An instruction of the table that computes registers from registers. `uniform` ones compute %u and %e.
Node valueInstruction(Scope& scope);
Node uniformInstruction(Scope& scope);
// A load, store or atomic of the table, in a window.
Node accessInstruction(Scope& scope);
// From the registers of floats to those of bits, or back.
Node bridge(Scope& scope);
Node carryChain(Scope& scope);

// A generic pointer is chosen, moved, stored, loaded or compared.
Node pointerStatement(Scope& scope);
// A load or store of any width at any place of a window.
Node windowAccess(Scope& scope);
// Some instructions that compilers take together: moved bytes, signs of narrow numbers, arrays in private memory.
Node patternStatement(Scope& scope);
// A load from constant memory, from variables that nothing writes or from parameters.
Node tableLoad(Scope& scope);
// Changes one of the words that all threads share.
Node cellUpdate(Scope& scope);

// An address within the windows: code that computes it, the operand, and the state space that an instruction names.
struct Address {
  std::string code, operand, space;
};
enum class Space { Global, Shared, Local, Any, GlobalOrShared };
Address windowAddress(Scope& scope, Space space, unsigned bytes, unsigned alignment);

// A vote, match, reduction or shuffle of the lanes in the place's mask; memory that they hand each other.
Node warpStatement(Scope& scope, const Place& place);
// A matrix instruction, for places where all threads of the block are and warps are whole; copies into the thread's
// window that other instructions stand between.
Node matrixStatement(Scope& scope, const Place& place);
Node asyncCopies(Scope& scope);
// A barrier of the block, with a reduction, in two halves, or with values that threads hand each other.
Node barrierStatement(Scope& scope);

// Branches and loops, with statements inside.
Node controlStatement(Scope& scope, const Place& place);

// A call of a function of the program. Those written with `isUniform` have barriers.
Node callStatement(Scope& scope, const Place& place);
void addFunction(Random& random, Program& program, unsigned number);

}  // namespace mulciber::random_ptx
