// The operations of the IR by their families.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::test {

inline std::vector<ir::Op> operationsOf(std::initializer_list<ir::Family> families) {
  std::vector<ir::Op> list;
  for (size_t i = 0; i < std::size(ir::operationTraits); ++i) {
    const auto op = static_cast<ir::Op>(i);
    if (std::ranges::find(families, family(op)) != families.end()) list.push_back(op);
  }
  return list;
}

}  // namespace mulciber::test
