// Several modules into one, as nvlink does for relocatable device code.
//
// .extern names find their definition in another module; of several .weak definitions the first is kept, and none
// beside a .visible one; .common variables are merged, the largest counts. Names without linkage belong to their
// module: when two modules have the same one, the later is renamed. The result has the highest version and target of
// its parts; where these or alignments differ it carries a .pragma that says so. Debug sections are dropped, .loc lines
// are kept.
#pragma once

#include <memory>
#include <span>

#include "translator/ptx/parser.h"

namespace mulciber::ptx {

// True of a module linked from parts of different versions or targets, or that declare a function's parameters with
// different alignments, as nvlink allows. Each part was to be verified by its own: those of the whole say nothing of
// what its instructions need.
bool isMixedModule(const Module& module);

// Whether a module that is linked with no other has what it needs, as ptxas sees it: an error for each function that it
// uses and nobody defines. An extern variable becomes the module's own.
bool checkWholeProgram(const ModuleHolder& program, Diagnostics& diagnostics);

// Null with errors. The modules may go away afterwards: what is shared is kept alive.
std::unique_ptr<ModuleHolder> link(std::span<const ModuleHolder* const> modules, Diagnostics& diagnostics);

// Takes away the functions that no kernel and no initial value leads to, with what they would need: of a library most.
void dropUnreachable(ModuleHolder& program);

}  // namespace mulciber::ptx
