// PTX text in, syntax tree out. The parser resolves names, folds constants and lays out initialisers; it does not
// check types or instruction forms: that is verifier.h.
//
// Limits, each reported as an error: texts of less than 2 GiB; 256 nested { } scopes; 64 dimensions of an array;
// 1024 pending operators in one constant expression; 2^20 elements in one vector operand or list.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"
#include "translator/ptx/arena.h"
#include "translator/ptx/ast.h"
#include "translator/ptx/source_text.h"

namespace mulciber::ptx {

// A module and all that it refers to. Immutable once made, so it may be shared between threads.
struct ModuleHolder {
  ModuleHolder() = default;
  ModuleHolder(const ModuleHolder&) = delete;
  ModuleHolder& operator=(const ModuleHolder&) = delete;

  Module module;
  SourceText source;                                         // turns SourceOffsets into lines, reports messages
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();  // nodes, names and the text
  std::vector<std::shared_ptr<const Arena>> linked;          // of the modules that this one was linked from
};

// The text is copied. With errors, which are in `diagnostics`, the result is null.
std::unique_ptr<ModuleHolder> parse(std::string_view text, std::string_view fileName, Diagnostics& diagnostics);

}  // namespace mulciber::ptx
