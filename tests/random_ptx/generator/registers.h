// The registers of random programs. The values of some kinds are determined bit by bit; those of floats up to the bits
// of NaNs, which PTX leaves open, so only instructions that take a NaN for a NaN read them.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "conformance/suite/case.h"

namespace mulciber::random_ptx {

struct Pool {
  char prefix;
  const char* type;
  unsigned count;
  conformance::Values values;
  bool isFloat;
};

inline constexpr std::array<Pool, 11> kPools = {{{'p', "pred", 5, conformance::Values::Bit, false},
                                                 {'h', "b16", 5, conformance::Values::Int16, false},
                                                 {'r', "b32", 8, conformance::Values::Int32, false},
                                                 {'v', "b64", 6, conformance::Values::Int64, false},
                                                 {'q', "b128", 2, conformance::Values::Int64, false},
                                                 {'f', "f32", 6, conformance::Values::F32, true},
                                                 {'g', "f64", 4, conformance::Values::F64, true},
                                                 {'k', "b16", 3, conformance::Values::F16, true},
                                                 {'b', "b16", 3, conformance::Values::Bf16, true},
                                                 {'x', "b32", 3, conformance::Values::F16x2, true},
                                                 {'y', "b32", 3, conformance::Values::Bf16x2, true}}};

const Pool& poolOf(char prefix);
// The pool for a register of a conformance case; none where random programs have no such registers.
std::optional<char> poolFor(ptx::Type type, conformance::Values values);

// The type to declare a register with; empty when the text that uses it declares it itself, or PTX.
//   u, e: b32 and predicates that are equal in all threads of a block    s: generic pointers
//   m: masks of lanes    c: counters    z: predicates of loops and the like    w: what multiply-adds give
std::string declaredType(const std::string& name);

// Code that gives register `to` the value of `from`, with one NaN for all. It declares what else it needs, so it stands
// in a scope of its own; `to` has the untyped type of that width.
std::string canonical(char pool, const std::string& to, const std::string& from);

}  // namespace mulciber::random_ptx
