// Splits PTX text into words, numbers and signs.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/interpreter.h"

namespace mulciber::interpreter {

// Ends the reading of a module or the run of a kernel.
struct Fault : std::runtime_error {
  Fault(Status why, const std::string& message, unsigned atLine = 0)
      : std::runtime_error(message), status(why), line(atLine) {}
  Status status;
  unsigned line;
};

struct Token {
  enum class Kind : uint8_t { Name, DotWord, Integer, Float, Text, Sign, End };
  Kind kind = Kind::End;
  std::string_view text;   // of a dotted word with its dot: ".shared::cta"; of a string without its quotes
  uint64_t bits = 0;       // of a number; a Float is that of a double
  unsigned floatBits = 0;  // 32 when the text is 0f, 64 when it is 0d, 0 when it is decimal
  unsigned line = 0;
};

// The text must live as long as the tokens. Ends with a token of kind End.
std::vector<Token> tokenize(std::string_view text);

}  // namespace mulciber::interpreter
