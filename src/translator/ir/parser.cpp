#include "translator/ir/parser.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "translator/ir/names.h"

namespace mulciber::ir {
namespace {

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '%' || c == '@' || c == '$' || c == '-' || c == '+';
}

struct Failure {
  std::string message;
};

// Words, quoted names, and single punctuation marks. `;` starts a comment.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  std::string_view peek() const { return token_; }
  bool atEnd() const { return token_.empty(); }
  bool isQuoted() const { return quoted_; }

  std::string_view take() {
    std::string_view token = token_;
    advance();
    return token;
  }
  bool accept(std::string_view token) {
    if (quoted_ || token_ != token) return false;
    advance();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "', found '" + std::string(token_) + "'");
  }
  [[noreturn]] void fail(const std::string& message) const {
    size_t line = 1 + static_cast<size_t>(std::count(text_.begin(), text_.begin() + std::ptrdiff_t(start_), '\n'));
    throw Failure{"line " + std::to_string(line) + ": " + message};
  }

 private:
  void advance() {
    while (position_ < text_.size()) {
      char c = text_[position_];
      if (c == ';') {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++position_;
      } else {
        break;
      }
    }
    start_ = position_;
    quoted_ = false;
    if (position_ == text_.size()) {
      token_ = {};
    } else if (text_[position_] == '"') {
      size_t end = text_.find('"', position_ + 1);
      if (end == std::string_view::npos) fail("unterminated name");
      token_ = text_.substr(position_ + 1, end - position_ - 1);
      quoted_ = true;
      position_ = end + 1;
    } else {
      while (position_ < text_.size() && isWordCharacter(text_[position_])) ++position_;
      if (position_ == start_) ++position_;
      token_ = text_.substr(start_, position_ - start_);
    }
  }

  std::string_view text_, token_;
  size_t position_ = 0, start_ = 0;
  bool quoted_ = false;
};

template <typename Names>
std::optional<size_t> indexOf(const Names& names, std::string_view word) {
  auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

const std::unordered_map<std::string_view, Op>& operations() {
  static const std::unordered_map<std::string_view, Op> map = {
#define OPERATION(id, mnemonic, operands, result, ...) {mnemonic, Op::id},
#include "translator/ir/operations.def"
#undef OPERATION
  };
  return map;
}

class FunctionParser {
 public:
  FunctionParser(Lexer& lexer, Function& function, std::vector<std::pair<Instruction*, std::string>>& calls)
      : lexer_(lexer), function_(function), calls_(calls) {}

  void run() {
    header();
    while (!lexer_.accept("}")) {
      if (lexer_.atEnd()) lexer_.fail("expected '}'");
      if (lexer_.accept("var")) {
        variableDeclaration();
      } else if (lexer_.accept("parameters")) {
        function_.parameters = variableList();
      } else if (lexer_.accept("returns")) {
        function_.returns = variableList();
      } else if (lexer_.accept("frame")) {
        VariableId begin = variable();
        lexer_.expect(",");
        function_.frame = RecursiveFrame{begin, variable()};
      } else {
        break;
      }
    }
    do {
      if (lexer_.atEnd()) lexer_.fail("expected '}'");
      block();
    } while (!lexer_.accept("}"));
    resolve();
  }

 private:
  void header() {
    if (lexer_.accept("kernel")) function_.isKernel = true;
    else lexer_.expect("function");
    function_.name = lexer_.take().substr(1);
    while (!lexer_.accept("{")) {
      if (lexer_.accept("local")) {
        lexer_.expect("=");
        function_.localBytes = static_cast<uint32_t>(number());
      } else if (lexer_.accept("stacks")) {
        lexer_.expect("=");
        function_.stackCount = static_cast<uint32_t>(number());
      } else if (lexer_.accept("structured")) {
        function_.isStructured = true;
      } else if (lexer_.accept("ssa")) {
        function_.isSsa = true;
      } else {
        lexer_.fail("expected '{', found '" + std::string(lexer_.peek()) + "'");
      }
    }
  }

  uint64_t number() {
    std::string_view word = lexer_.peek();
    bool negative = word.starts_with('-');
    if (negative) word.remove_prefix(1);
    int base = word.starts_with("0x") ? 16 : 10;
    if (base == 16) word.remove_prefix(2);
    uint64_t result = 0;
    auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), result, base);
    if (status != std::errc() || end != word.data() + word.size() || word.empty())
      lexer_.fail("expected a number, found '" + std::string(lexer_.peek()) + "'");
    lexer_.take();
    return negative ? 0 - result : result;
  }

  uint64_t prefixedNumber(char prefix, const char* what) {
    std::string_view word = lexer_.peek();
    uint64_t result = 0;
    auto [end, status] = std::from_chars(word.data() + 1, word.data() + std::max<size_t>(word.size(), 1), result);
    if (word.size() < 2 || word[0] != prefix || status != std::errc() || end != word.data() + word.size() ||
        result > 1'000'000)
      lexer_.fail(std::string("expected a ") + what + ", found '" + std::string(word) + "'");
    lexer_.take();
    return result;
  }

  Type type() {
    if (lexer_.accept("<")) {
      uint64_t lanes = number();
      lexer_.expect("x");
      if (lexer_.peek() == "<" || lanes < 2 || lanes > 8) lexer_.fail("a vector has 2 to 8 scalars");
      Type element = type();
      lexer_.expect(">");
      return element.withLanes(static_cast<uint8_t>(lanes));
    }
    std::string_view word = lexer_.take();
    for (Type candidate : {Bool, I8, I16, I32, I64, F16, F32, F64})
      if (toString(candidate) == word) return candidate;
    lexer_.fail("'" + std::string(word) + "' is not a type");
  }

  void variableDeclaration() {
    if (prefixedNumber('v', "variable") != function_.variables.size()) lexer_.fail("variables are numbered in order");
    Type variableType = type();
    function_.addVariable(variableType, lexer_.isQuoted() ? std::string(lexer_.take()) : std::string());
  }

  VariableId variable() {
    uint64_t id = prefixedNumber('v', "variable");
    if (id >= function_.variables.size()) lexer_.fail("v" + std::to_string(id) + " is not declared");
    return static_cast<VariableId>(id);
  }

  std::vector<VariableId> variableList() {
    std::vector<VariableId> list;
    do list.push_back(variable());
    while (lexer_.accept(","));
    return list;
  }

  // Blocks and values may be named before they are defined: they are made at first sight.
  Block* blockReference() {
    Block*& block = blocks_[prefixedNumber('b', "block")];
    if (!block) {
      block = function_.addBlock();
      function_.blocks.pop_back();  // in the list once defined
    }
    return block;
  }

  void operand(Instruction* user) {
    user->operands.push_back(nullptr);
    uses_.push_back({user, user->operands.size() - 1, prefixedNumber('%', "value")});
  }

  void block() {
    Block* current = blockReference();
    if (std::find(function_.blocks.begin(), function_.blocks.end(), current) != function_.blocks.end())
      lexer_.fail("a block is defined twice");
    if (lexer_.isQuoted()) current->name = lexer_.take();
    lexer_.expect(":");
    function_.blocks.push_back(current);
    while (!statement(*current)) {
    }
  }

  // True after the block's terminator.
  bool statement(Block& block) {
    if (lexer_.atEnd()) lexer_.fail("a block has no terminator");
    if (lexer_.accept("nounroll")) {
      block.merge.dontUnroll = true;
      return false;
    }
    bool isLoop = lexer_.accept("loop");
    if (isLoop || lexer_.accept("merge")) {
      block.merge.kind = isLoop ? Merge::Kind::Loop : Merge::Kind::Selection;
      block.merge.merge = blockReference();
      if (isLoop) {
        lexer_.expect("continue");
        block.merge.continueTarget = blockReference();
      }
      block.merge.dontUnroll = lexer_.accept("nounroll");
      return false;
    }
    if (terminator(block.terminator)) return true;
    instruction(block);
    return false;
  }

  bool terminator(Terminator& terminator) {
    if (lexer_.accept("ret")) {
      terminator.kind = Terminator::Kind::Return;
    } else if (lexer_.accept("unreachable")) {
      terminator.kind = Terminator::Kind::Unreachable;
    } else if (lexer_.accept("br")) {
      if (!lexer_.peek().starts_with('%')) {
        terminator.kind = Terminator::Kind::Branch;
        terminator.targets = {blockReference()};
        return true;
      }
      terminator.kind = Terminator::Kind::Conditional;
      terminatorValue(terminator);
      Block* ifTrue = blockReference();
      lexer_.expect(",");
      terminator.targets = {ifTrue, blockReference()};
    } else if (lexer_.accept("switch")) {
      terminator.kind = Terminator::Kind::Switch;
      terminatorValue(terminator);
      terminator.targets = {blockReference()};
      lexer_.expect("[");
      while (!lexer_.accept("]")) {
        if (!terminator.cases.empty()) lexer_.expect(",");
        terminator.cases.push_back(static_cast<uint32_t>(number()));
        lexer_.expect(":");
        terminator.targets.push_back(blockReference());
      }
    } else {
      return false;
    }
    return true;
  }

  void terminatorValue(Terminator& terminator) {
    terminatorUses_.push_back({&terminator, prefixedNumber('%', "value")});
    lexer_.expect(",");
  }

  void instruction(Block& block) {
    std::optional<uint64_t> number;
    if (lexer_.peek().starts_with('%')) {
      number = prefixedNumber('%', "value");
      lexer_.expect("=");
    }
    auto found = operations().find(lexer_.peek());
    if (found == operations().end()) lexer_.fail("'" + std::string(lexer_.peek()) + "' is not an operation");
    lexer_.take();
    Instruction* instruction = function_.create(found->second, number ? type() : Void);
    if (number && !values_.emplace(*number, instruction).second) lexer_.fail("a value is defined twice");
    block.instructions.push_back(instruction);
    operands(*instruction);
    if (lexer_.accept("{")) floatAttributes(instruction->fp);
    if (accessesMemory(instruction->op) && lexer_.accept("[")) memoryAttributes(instruction->memory);
  }

  template <typename Names>
  uint64_t kindAmong(const Names& names, const char* what) {
    auto kind = indexOf(names, lexer_.peek());
    if (!kind) lexer_.fail("'" + std::string(lexer_.peek()) + "' is no " + what);
    lexer_.take();
    lexer_.expect(",");
    return *kind;
  }

  void operands(Instruction& instruction) {
    switch (instruction.op) {
      case Op::Constant: instruction.payload = constant(instruction.type); return;
      case Op::ReadVar: instruction.payload = variable(); return;
      case Op::WriteVar:
        instruction.payload = variable();
        lexer_.expect(",");
        break;
      case Op::Input: {
        auto kind = indexOf(inputNames, lexer_.peek());
        if (!kind) lexer_.fail("'" + std::string(lexer_.peek()) + "' is not an input");
        instruction.payload = *kind;
        lexer_.take();
        return;
      }
      case Op::MatrixProduct: instruction.payload = kindAmong(matrixNames, "type of matrices"); break;
      case Op::LoadRows: instruction.payload = lexer_.accept("transposed"); break;
      case Op::Call: calls_.push_back({&instruction, std::string(lexer_.take())}); break;
      case Op::Phi: phiOperands(instruction); return;
      case Op::Barrier: instruction.payload = lexer_.accept("apart"); return;
      case Op::WarpBarrier: instruction.payload = lexer_.accept("part"); return;
      default:
        if (isImage(instruction.op)) instruction.payload = kindAmong(shapeNames, "shape of an image");
        break;
    }
    if (lexer_.peek().starts_with('%') && operandCount(instruction.op) != 0) {
      do {
        if (!lexer_.peek().starts_with('%')) {
          instruction.payload = number();
          break;
        }
        operand(&instruction);
      } while (lexer_.accept(","));
    }
    int expected = operandCount(instruction.op);
    if (expected >= 0 && instruction.operands.size() != static_cast<size_t>(expected))
      lexer_.fail(std::string(mnemonic(instruction.op)) + " takes " + std::to_string(expected) + " operands");
    if (instruction.op == Op::Call && lexer_.accept("returns")) instruction.results = variableList();
  }

  void phiOperands(Instruction& instruction) {
    do {
      lexer_.expect("[");
      operand(&instruction);
      lexer_.expect(",");
      phiSources_[&instruction].push_back(blockReference());
      lexer_.expect("]");
    } while (lexer_.accept(","));
  }

  uint64_t constant(Type type) {
    if (lexer_.accept("true")) return 1;
    if (lexer_.accept("false")) return 0;
    std::string_view word = lexer_.peek();
    if (type.isFloat() && !word.starts_with("0x")) {
      double value = std::strtod(std::string(lexer_.take()).c_str(), nullptr);
      if (type.bits == 64) return std::bit_cast<uint64_t>(value);
      if (type.bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
      lexer_.fail("write the bits of an f16 constant");
    }
    uint64_t bits = number();
    return type.bits >= 64 ? bits : bits & ((uint64_t(1) << type.bits) - 1);
  }

  void floatAttributes(FloatControl& fp) {
    while (!lexer_.accept("}")) {
      std::string_view word = lexer_.take();
      if (auto rounding = indexOf(roundingNames, word)) fp.rounding = static_cast<Rounding>(*rounding);
      else if (word == "ftz") fp.flush = true;
      else if (word == "approx") fp.approximate = true;
      else if (word == "contract") fp.contracts = true;
      else if (word == "dot") fp.isDot = true;
      else lexer_.fail("'" + std::string(word) + "' is not a float attribute");
    }
  }

  void memoryAttributes(MemoryAccess& memory) {
    while (!lexer_.accept("]")) {
      std::string_view word = lexer_.take();
      if (auto space = indexOf(spaceNames, word)) memory.space = static_cast<Space>(*space);
      else if (auto order = indexOf(orderNames, word)) memory.order = static_cast<Order>(*order);
      else if (auto scope = indexOf(scopeNames, word)) memory.scope = static_cast<Scope>(*scope);
      else if (word == "volatile") memory.isVolatile = true;
      else if (word == "readonly") memory.isReadOnly = true;
      else if (word == "const") memory.isConstant = memory.isReadOnly = true;
      else if (word == "early") memory.mayComeEarly = true;
      else if (word == "align") memory.alignment = static_cast<uint8_t>(number());
      else lexer_.fail("'" + std::string(word) + "' is not a memory attribute");
    }
  }

  Instruction* valueOf(uint64_t number) {
    auto found = values_.find(number);
    if (found == values_.end()) lexer_.fail("%" + std::to_string(number) + " is not defined");
    return found->second;
  }

  void resolve() {
    for (auto& [number, block] : blocks_)
      if (std::find(function_.blocks.begin(), function_.blocks.end(), block) == function_.blocks.end())
        lexer_.fail("b" + std::to_string(number) + " is not defined");
    for (const Use& use : uses_) use.user->operands[use.index] = valueOf(use.number);
    for (auto& [terminator, number] : terminatorUses_) terminator->value = valueOf(number);
    function_.renumber();
    function_.computePredecessors();
    for (Block* block : function_.blocks) {
      for (Instruction* instruction : block->instructions)
        if (instruction->op == Op::Phi) orderPhi(*instruction, *block);
    }
  }

  // The text pairs each operand with its block; in memory they follow Block::predecessors.
  void orderPhi(Instruction& phi, const Block& block) {
    const std::vector<Block*>& sources = phiSources_[&phi];
    std::vector<Instruction*> ordered;
    for (Block* predecessor : block.predecessors) {
      auto found = std::find(sources.begin(), sources.end(), predecessor);
      if (found != sources.end()) ordered.push_back(phi.operands[static_cast<size_t>(found - sources.begin())]);
    }
    if (ordered.size() != sources.size() || ordered.size() != block.predecessors.size())
      lexer_.fail("the phis of b" + std::to_string(block.id) + " do not match its predecessors");
    phi.operands = std::move(ordered);
  }

  struct Use {
    Instruction* user;
    size_t index;
    uint64_t number;
  };

  Lexer& lexer_;
  Function& function_;
  std::vector<std::pair<Instruction*, std::string>>& calls_;
  std::map<uint64_t, Block*> blocks_;
  std::unordered_map<uint64_t, Instruction*> values_;
  std::vector<Use> uses_;
  std::vector<std::pair<Terminator*, uint64_t>> terminatorUses_;
  std::unordered_map<Instruction*, std::vector<Block*>> phiSources_;
};

}  // namespace

std::unique_ptr<Program> parseProgram(std::string_view text, std::string& error) {
  try {
    auto program = std::make_unique<Program>();
    Lexer lexer(text);
    std::vector<std::pair<Instruction*, std::string>> calls;
    while (!lexer.atEnd()) {
      Function& function = *program->functions.emplace_back(std::make_unique<Function>());
      FunctionParser(lexer, function, calls).run();
    }
    if (program->functions.empty()) lexer.fail("there is no function");
    for (auto& [call, name] : calls) {
      for (const auto& function : program->functions)
        if ("@" + function->name == name) call->callee = function.get();
      if (!call->callee) lexer.fail("function " + name + " is not defined");
    }
    program->kernel = program->functions.front()->name;
    return program;
  } catch (const Failure& failure) {
    error = failure.message;
    return nullptr;
  }
}

}  // namespace mulciber::ir
