// What programs write at their end.
#pragma once

#include "random_ptx/generator/arithmetic.h"
#include "random_ptx/generator/program.h"

namespace mulciber::random_ptx {

// The values of each kind of registers, and of each window, go into one sum in the thread's row of the results. Those
// that `main` does not name are left out.
void addResults(Program& program, const Node& main, Node& body);

// The same for a program of multiply-adds, whose windows hold numbers: NaNs of any bits among them.
void addNumberResults(Program& program, const Node& main, Arithmetic& arithmetic, Node& body);

}  // namespace mulciber::random_ptx
