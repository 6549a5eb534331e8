// What holds of a program on its way through the pipeline: what steps need of it and leave it as.
#pragma once

#include <cstdint>
#include <string>

#include "translator/ir/ir.h"

namespace mulciber::passes {

enum class Form : uint16_t {
  Variables = 1,      // registers are variables, and no value is a phi
  NoRecursion = 2,    // no function calls itself, directly or through others
  NoCalls = 4,        // the kernel is the whole program
  Contracted = 8,     // which products and sums are rounded once is decided
  Nearest = 16,       // f16 and f32 operations round to nearest
  Structured = 32,    // SPIR-V's structure: each selection and loop with its merge
  Ssa = 64,           // no variables
  KnownSpaces = 128,  // no access is through a generic address
};

class Forms {
 public:
  constexpr Forms() = default;
  constexpr Forms(Form form) : bits_(static_cast<uint16_t>(form)) {}

  constexpr bool contains(Forms all) const { return (bits_ & all.bits_) == all.bits_; }
  constexpr Forms without(Forms some) const { return Forms(bits_ & ~some.bits_); }
  friend constexpr Forms operator|(Forms a, Forms b) { return Forms(a.bits_ | b.bits_); }

 private:
  constexpr explicit Forms(int bits) : bits_(static_cast<uint16_t>(bits)) {}

  uint16_t bits_ = 0;
};
constexpr Forms operator|(Form a, Form b) { return Forms(a) | Forms(b); }

// Empty where all of them hold, else what is wrong in one line.
std::string findBrokenForm(const ir::Program& program, Forms forms);

}  // namespace mulciber::passes
