// Small damage to an instruction, most of which makes it wrong.
#pragma once

#include <random>
#include <string>

#include "forms/form_instances.h"

namespace mulciber::ptx {

// `instance` with one change, chosen by `random`: a modifier moved, dropped, added or replaced, an operand of another
// type or kind, one too many or too few.
FormInstance mutate(FormInstance instance, std::mt19937& random);

}  // namespace mulciber::ptx
