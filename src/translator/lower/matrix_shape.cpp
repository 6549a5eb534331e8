#include "translator/lower/matrix_shape.h"

#include <charconv>

namespace mulciber::lower {

// From a modifier such as m16n8k16.
MatrixShape matrixShape(const ptx::Instruction& instruction) {
  for (ptx::Mod modifier : instruction.modifiers) {
    std::string_view text = ptx::spelling(modifier);
    MatrixShape shape;
    auto take = [&](char letter, unsigned& size) {
      if (text.empty() || text.front() != letter) return false;
      auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), size);
      if (error != std::errc()) return false;
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      return true;
    };
    if (take('m', shape.m) && take('n', shape.n) && take('k', shape.k) && text.empty()) return shape;
  }
  return {};
}

unsigned packedValues(ptx::Type type) {
  const unsigned bits = ptx::bitWidth(type);
  return bits >= 32 ? 1 : 32 / bits;
}

}  // namespace mulciber::lower
