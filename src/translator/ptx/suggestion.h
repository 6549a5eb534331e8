// How messages name words: in quotes, and "did you mean" the word nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>

#include "util/suggestion.h"

namespace mulciber::ptx {

using util::suggest;
using util::Suggestion;

inline std::string quoted(std::string_view word) { return '\'' + std::string(word) + '\''; }

}  // namespace mulciber::ptx
