// A case: one PTX instruction with everything chosen but the values of its operands, and the code that shows all its
// effects in result registers. Cases are made from the instruction table; the same table always gives the same cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "translator/ptx/instruction_table.h"

namespace mulciber::conformance {

// What values an operand is given.
enum class Values : uint8_t { Bit, Int8, Int16, Int32, Int64, Count, F16, Bf16, F16x2, Bf16x2, F32, F64, DenseF32 };

struct Input {
  ptx::Type type;  // of its register
  Values values;
};

struct Case {
  const ptx::Form* form = nullptr;
  std::string name;                // the instruction: "add.sat.s32 %d0, %a0, %a1"
  std::string code;                // writes %d0, %d1 ..., reads %a0, %a1 ...
  std::vector<ptx::Type> results;  // types of the registers %d
  std::vector<Values> formats;     // of what the results hold
  std::vector<Input> inputs;       // of the registers %a
  std::string declarations;        // at module scope
  bool usesWarp = false;           // threads of a warp see each other's inputs
  int guard = -1, old = -1;        // inputs: the predicate it runs under, and what %d0 holds where that is false
  bool isGuardNegated = false;
  bool hasConstant = false;  // an operand that assemblers may compute with

  std::string instruction() const;  // without its operands: "add.sat.s32"
  std::string listedAs() const;     // what differences are listed by: "@add.sat.s32 constant"
  bool isSkipped(uint64_t guardValue) const { return guard >= 0 && (guardValue != 0) == isGuardNegated; }
  uint64_t key() const;           // of all of the above: what a recording knows the case by
  std::string signature() const;  // cases with the same one share their input values
};

// Every instruction that computes registers from registers.
void addValueCases(std::vector<Case>& cases);
// Loads, stores, atomics, one address for each thread.
void addMemoryCases(std::vector<Case>& cases);
// Votes, shuffles, matches and reductions of whole warps.
void addWarpCases(std::vector<Case>& cases);
// Products of matrices by whole warps, and what brings their operands.
void addMatrixCases(std::vector<Case>& cases);

// All of them, each once.
std::vector<Case> allCases();

// Whether a module for compute capability 9.0 may have the instruction: what the reference GPU can be asked.
bool isOffered(const ptx::Form& form, const std::vector<const ptx::FormChoice*>& choices);
// Combinations of modifiers, each once: all when there are at most `limit`, else those that differ from the simplest in
// one modifier and others picked at random.
std::vector<std::vector<const ptx::FormChoice*>> combinations(const ptx::Form& form, size_t limit);

inline constexpr const char* moduleHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

}  // namespace mulciber::conformance
