#pragma once

#include <string>

#include "translator/ptx/ast.h"

namespace mulciber::test {

// Where two syntax trees differ, in words; empty when they are the same. Places in the source do not count.
std::string difference(const ptx::Module& a, const ptx::Module& b);

}  // namespace mulciber::test
