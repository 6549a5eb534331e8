// How the .param variables of device functions and of calls are kept: as one variable for each piece that ld.param
// and st.param touch, or as words where one call fills what another takes. Where accesses overlap or the address is
// taken it is in the private frame.
#pragma once

#include <unordered_map>
#include <vector>

#include "translator/ir/ir.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

struct ParameterPiece {
  uint32_t offset;
  ir::Type type;  // a scalar of at most 64 bits
  bool operator==(const ParameterPiece&) const = default;
};

struct ParameterShape {
  std::vector<ParameterPiece> pieces;  // by offset, disjoint
  bool inFrame = false;                // then the pieces are words that cover the whole variable
};

// The shape of every .param variable that the function declares: its parameters, its results, and what it passes to
// others. Kernel parameters are not among them.
std::unordered_map<const ptx::Variable*, ParameterShape> parameterShapes(const ptx::Function& function);

// The whole variable as words of at most 8 bytes, or its first `size` bytes.
std::vector<ParameterPiece> parameterWords(const ptx::Variable& variable, uint64_t size);

}  // namespace mulciber::lower
