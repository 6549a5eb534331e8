// Copies to, from and between arrays.
#pragma once

#include "runtime/core/copy.h"

namespace mulciber::core {

// For copies with at least one array: copy(), check() and prepare() call them.
Error copyArrays(Stream& stream, const Copy& copy, bool async);
Error checkArrays(const Context& context, const Copy& copy);
Error prepareArrays(Context& context, const Copy& copy, PreparedCopy& out);

}  // namespace mulciber::core
