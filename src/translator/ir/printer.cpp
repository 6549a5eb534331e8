#include "translator/ir/printer.h"

#include <cstdio>

#include "translator/ir/names.h"

namespace mulciber::ir {
namespace {

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function) {
    blockNumbers_.resize(function.blockIdBound());
    valueNumbers_.resize(function.instructionIdBound());
    uint32_t blocks = 0, values = 0;
    for (const Block* block : function.blocks) {
      blockNumbers_[block->id] = blocks++;
      for (const Instruction* instruction : block->instructions)
        if (!instruction->type.isVoid()) valueNumbers_[instruction->id] = values++;
    }
  }

  std::string run() {
    text_ += function_.isKernel ? "kernel @" : "function @";
    text_ += function_.name;
    if (function_.localBytes != 0) text_ += " local=" + std::to_string(function_.localBytes);
    if (function_.stackCount != 0) text_ += " stacks=" + std::to_string(function_.stackCount);
    if (function_.isStructured) text_ += " structured";
    if (function_.isSsa) text_ += " ssa";
    text_ += " {\n";
    for (VariableId i = 0; i < function_.variables.size() && !function_.isSsa; ++i) {
      text_ += "  var v" + std::to_string(i) + " " + toString(function_.variables[i].type);
      quoted(function_.variables[i].name);
      text_ += "\n";
    }
    variables("  parameters", function_.parameters);
    variables("  returns", function_.returns);
    if (function_.frame) variables("  frame", {function_.frame->begin, function_.frame->overflows});
    for (const Block* block : function_.blocks) printBlock(*block);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  void quoted(const std::string& name) {
    if (!name.empty()) text_ += " \"" + name + "\"";
  }

  void variables(std::string_view what, const std::vector<VariableId>& list) {
    if (list.empty() || function_.isSsa) return;
    text_ += what;
    for (size_t i = 0; i < list.size(); ++i) text_ += (i ? ", v" : " v") + std::to_string(list[i]);
    text_ += "\n";
  }

  void blockName(const Block* block) { text_ += "b" + std::to_string(blockNumbers_[block->id]); }
  void value(const Instruction* instruction) { text_ += "%" + std::to_string(valueNumbers_[instruction->id]); }

  void printBlock(const Block& block) {
    blockName(&block);
    quoted(block.name);
    text_ += ":\n";
    for (const Instruction* instruction : block.instructions) printInstruction(*instruction, block);
    printMerge(block.merge);
    printTerminator(block.terminator);
  }

  void printMerge(const Merge& merge) {
    if (merge.kind == Merge::Kind::None) {
      if (merge.dontUnroll) text_ += "  nounroll\n";
      return;
    }
    text_ += merge.kind == Merge::Kind::Loop ? "  loop " : "  merge ";
    blockName(merge.merge);
    if (merge.kind == Merge::Kind::Loop) {
      text_ += " continue ";
      blockName(merge.continueTarget);
    }
    if (merge.dontUnroll) text_ += " nounroll";
    text_ += "\n";
  }

  void printTerminator(const Terminator& terminator) {
    switch (terminator.kind) {
      case Terminator::Kind::None: text_ += "  ; no terminator\n"; return;
      case Terminator::Kind::Return: text_ += "  ret\n"; return;
      case Terminator::Kind::Unreachable: text_ += "  unreachable\n"; return;
      case Terminator::Kind::Branch:
        text_ += "  br ";
        blockName(terminator.targets[0]);
        break;
      case Terminator::Kind::Conditional:
        text_ += "  br ";
        value(terminator.value);
        text_ += ", ";
        blockName(terminator.targets[0]);
        text_ += ", ";
        blockName(terminator.targets[1]);
        break;
      case Terminator::Kind::Switch:
        text_ += "  switch ";
        value(terminator.value);
        text_ += ", ";
        blockName(terminator.targets[0]);
        text_ += " [";
        for (size_t i = 0; i < terminator.cases.size(); ++i) {
          text_ += (i ? ", " : "") + std::to_string(terminator.cases[i]) + ": ";
          blockName(terminator.targets[i + 1]);
        }
        text_ += "]";
        break;
    }
    text_ += "\n";
  }

  void printConstant(const Instruction& instruction) {
    char digits[24];
    bool plain = instruction.type.isInt() && instruction.payload < 65536;
    std::snprintf(digits, sizeof digits, plain ? "%llu" : "0x%llx",
                  static_cast<unsigned long long>(instruction.payload));
    text_ += " ";
    if (instruction.type.isBool()) {
      text_ += instruction.payload ? "true" : "false";
    } else {
      text_ += digits;
    }
  }

  void printInstruction(const Instruction& instruction, const Block& block) {
    text_ += "  ";
    if (!instruction.type.isVoid()) {
      value(&instruction);
      text_ += " = ";
    }
    text_ += mnemonic(instruction.op);
    if (!instruction.type.isVoid()) text_ += " " + toString(instruction.type);
    switch (instruction.op) {
      case Op::Constant: printConstant(instruction); break;
      case Op::ReadVar: text_ += " v" + std::to_string(instruction.payload); break;
      case Op::WriteVar: text_ += " v" + std::to_string(instruction.payload) + ","; break;
      case Op::Input: text_ += " " + std::string(inputNames[instruction.payload]); break;
      case Op::MatrixProduct: text_ += " " + std::string(matrixNames[instruction.payload]) + ","; break;
      case Op::LoadRows: text_ += instruction.payload ? " transposed" : ""; break;
      case Op::Call: text_ += " @" + (instruction.callee ? instruction.callee->name : "?"); break;
      default:
        if (isImage(instruction.op)) text_ += " " + std::string(shapeNames[instruction.payload]) + ",";
        break;
    }
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      text_ += i ? ", " : " ";
      if (instruction.op == Op::Phi) text_ += "[";
      value(instruction.operands[i]);
      if (instruction.op != Op::Phi) continue;
      text_ += ", ";
      if (i < block.predecessors.size()) blockName(block.predecessors[i]);
      text_ += "]";
    }
    if (instruction.op == Op::VecExtract || instruction.op == Op::VecInsert)
      text_ += ", " + std::to_string(instruction.payload);
    if (instruction.op == Op::Barrier && instruction.payload) text_ += " apart";
    if (instruction.op == Op::WarpBarrier && instruction.payload) text_ += " part";
    for (size_t i = 0; i < instruction.results.size(); ++i)
      text_ += (i ? ", v" : " returns v") + std::to_string(instruction.results[i]);
    printAttributes(instruction);
    text_ += "\n";
  }

  void printAttributes(const Instruction& instruction) {
    const FloatControl& fp = instruction.fp;
    if (fp != FloatControl{}) {
      std::string words;
      if (fp.rounding != Rounding::NearestEven) words += " " + std::string(roundingNames[size_t(fp.rounding)]);
      if (fp.flush) words += " ftz";
      if (fp.approximate) words += " approx";
      if (fp.contracts) words += " contract";
      if (fp.isDot) words += " dot";
      text_ += " {" + words.substr(1) + "}";
    }
    if (!accessesMemory(instruction.op)) return;
    const MemoryAccess& memory = instruction.memory;
    std::string words;
    if (hasAddress(instruction.op)) words += " " + std::string(spaceNames[size_t(memory.space)]);
    if (memory.isVolatile) words += " volatile";
    if (memory.isReadOnly) words += memory.isConstant ? " const" : " readonly";
    if (memory.mayComeEarly) words += " early";
    if (memory.order != Order::Weak) words += " " + std::string(orderNames[size_t(memory.order)]);
    if (memory.scope != Scope::Thread) words += " " + std::string(scopeNames[size_t(memory.scope)]);
    if (memory.alignment != 1) words += " align " + std::to_string(memory.alignment);
    if (!words.empty()) text_ += " [" + words.substr(1) + "]";
  }

  const Function& function_;
  std::vector<uint32_t> blockNumbers_, valueNumbers_;
  std::string text_;
};

}  // namespace

std::string print(const Function& function) { return Printer(function).run(); }

std::string print(const Program& program) {
  std::string text;
  for (const auto& function : program.functions) text += print(*function);
  return text;
}

}  // namespace mulciber::ir
