// A random program: a tree of statements that can be printed as PTX, and made smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace mulciber::random_ptx {

// The parts one after the other as text.
std::string cat(const auto&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

// The lowest bits of a value in hexadecimal digits.
std::string hex(uint64_t value, unsigned bits);

// Whatever is done to the nodes that say it may be done, the program stays free of races and undefined behaviour.
struct Node {
  std::string text;  // before the children
  std::vector<Node> children;
  std::string end = {};  // after them
  bool isRemovable = true;
  bool isUnwrappable = false;  // the children may stand alone
  std::string simpler = {};    // what may stand for `text`
  std::string defines = {};    // a register that gets its first value here: needless where nothing else names it
  unsigned id = 0;
};

// The text of a node with all its children, and the names in a text: those that begin with `%`, or all others.
std::string textOf(const Node& node);
std::set<std::string> namesIn(const std::string& text, bool areRegisters);

// A kernel or a function. Registers are declared by the names that occur in it.
struct Routine {
  std::string name, head, declarations;
  Node body;
  bool needsMask = false;   // it is called where the lanes that call it are known
  bool needsBlock = false;  // and where all threads of the block call it together
};

// A variable of the module.
struct Variable {
  std::string name, text;
};

// How a program is made smaller, by the numbers of nodes.
struct Edits {
  std::set<unsigned> removed, unwrapped, simplified;

  size_t count() const { return removed.size() + unwrapped.size() + simplified.size(); }
};

// What a program is made of: all that has one right result, or multiply-adds of single precision with shared operands.
enum class Kind : uint8_t { General, MultiplyAdds };
const char* nameOf(Kind kind);

struct Program {
  uint64_t seed = 0;
  Kind kind = Kind::General;
  unsigned blocks = 1, width = 32, height = 1;  // the grid is a row of blocks of width * height threads
  unsigned parameterBytes = 64;                 // of the last parameter
  bool hasSplitBarriers = true;                 // lanes of one warp may wait at different places
  bool passesNumbers = false;                   // to functions, where others have arrays
  std::vector<Variable> variables;
  std::vector<Routine> routines;     // functions before those that call them, the kernel last
  std::vector<std::string> results;  // what the columns of the results hold
  std::string given;                 // its text, where it was read and not made

  unsigned threads() const { return width * height; }
  unsigned rows() const { return blocks * threads(); }

  // Nodes are numbered from 0 in the order of the text.
  void number();
  unsigned nodes() const;
  void apply(const Edits& edits);

  // Only what the kernel uses is printed.
  std::string text() const;
};

// What a program runs on, as a comment; and the program of a file that begins with such a line, as reports of those
// that fail do.
std::string firstLine(const Program& program);
std::optional<Program> readProgram(const std::string& text);

}  // namespace mulciber::random_ptx
