#include "translator/lower/function_lowering.h"

#include "translator/lower/clusters.h"
#include "translator/lower/program_lowering.h"
#include "translator/lower/service_functions.h"

namespace mulciber::lower {

FunctionLowering::FunctionLowering(ProgramLowering& program, const ptx::Function& function, ir::Function& result)
    : b(result),
      program_(program),
      function_(function),
      registers_(function.registers.size(), noVariable),
      carry_(noVariable),
      isService_(isServiceFunction(function)) {}

const TargetProfile& FunctionLowering::profile() const { return program_.profile(); }
const ptx::Module& FunctionLowering::module() const { return program_.module(); }

void FunctionLowering::refuse(const ptx::Instruction& instruction, std::string_view why) {
  std::string what(spelling(instruction.opcode));
  for (ptx::Mod modifier : instruction.modifiers) what += "." + std::string(spelling(modifier));
  program_.refuse(placeOf(instruction.where), what, why);
}

void FunctionLowering::refuse(uint32_t where, std::string_view why) { program_.refuse(placeOf(where), "", why); }

// Messages about a service, whose text nobody knows, point at the kernel.
uint32_t FunctionLowering::placeOf(uint32_t where) const { return isService_ ? program_.kernel().where : where; }

void FunctionLowering::lowerBody() {
  b.setBlock(b.function().addBlock());
  lowerPrologue();
  program_.beginAsyncCopies(*this);
  for (const ptx::Statement& statement : function_.body) lowerStatement(statement);
  lowerReturn();
  b.function().removeUnreachableBlocks();
}

void FunctionLowering::lowerStatement(const ptx::Statement& statement) {
  switch (statement.kind) {
    case ptx::Statement::Kind::Instruction: return lowerInstruction(*statement.instruction);
    case ptx::Statement::Kind::Label: return startBlock(blockOf(*statement.label));
    default: return;  // declarations were read where they are used
  }
}

void FunctionLowering::lowerInstruction(const ptx::Instruction& instruction) {
  b.setSource(placeOf(instruction.where));
  const Lowering* lowering = findLowering(instruction.opcode);
  if (!lowering) return refuse(instruction, whyNotLowered(instruction.opcode));
  if (needsSeveralBlocks(program_.kernel()) && dependsOnCluster(instruction))
    return refuse(instruction, "the kernel needs clusters of several blocks, which are not supported");
  if (!instruction.guard || lowering->effect == Effect::Control) return lowering->lower(*this, instruction);
  ir::Instruction* condition = predicate(*instruction.guard);
  if (lowering->effect == Effect::Pure) {
    guard_ = condition;
    lowering->lower(*this, instruction);
    guard_ = nullptr;
    return;
  }
  beginIf(condition);
  lowering->lower(*this, instruction);
  endIf();
}

ir::Block* FunctionLowering::blockOf(const ptx::Label& label) {
  ir::Block*& block = labels_[&label];
  if (!block) block = b.function().addBlock(std::string(label.name));
  return block;
}

void FunctionLowering::startBlock(ir::Block* block) {
  if (b.block()->terminator.kind == ir::Terminator::Kind::None) b.branch(block);
  b.setBlock(block);
}

void FunctionLowering::branchTo(const ptx::Label& label, const ptx::Operand* guard) {
  ir::Block* next = b.function().addBlock();
  if (guard) {
    b.branch(predicate(*guard), blockOf(label), next);
  } else {
    b.branch(blockOf(label));
  }
  b.setBlock(next);
}

void FunctionLowering::branchIndexed(const ptx::Operand& index, const ptx::TargetList& targets,
                                     const ptx::Operand* guard) {
  ir::Block* next = b.function().addBlock();
  if (guard) {
    ir::Block* taken = b.function().addBlock();
    b.branch(predicate(*guard), taken, next);
    b.setBlock(taken);
  }
  // An index out of range is undefined in PTX; the last label then stands for it.
  std::vector<uint32_t> cases;
  std::vector<ir::Block*> blocks;
  for (const ptx::Operand& target : targets.targets) {
    cases.push_back(static_cast<uint32_t>(cases.size()));
    blocks.push_back(blockOf(*target.label));
  }
  cases.pop_back();
  ir::Block* otherwise = blocks.back();
  blocks.pop_back();
  b.switchOn(value(index, ir::I32), otherwise, cases, blocks);
  b.setBlock(next);
}

void FunctionLowering::returnUnder(const ptx::Operand* guard) {
  ir::Block* next = b.function().addBlock();
  if (guard) {
    ir::Block* taken = b.function().addBlock();
    b.branch(predicate(*guard), taken, next);
    b.setBlock(taken);
  }
  lowerReturn();
  b.setBlock(next);
}

void FunctionLowering::beginIf(ir::Instruction* condition) {
  ir::Block* then = b.function().addBlock();
  open_.push_back({b.function().addBlock(), b.function().addBlock()});
  b.branch(condition, then, open_.back().otherwise);
  b.setBlock(then);
}

void FunctionLowering::beginElse() {
  startBlock(open_.back().end);
  b.setBlock(open_.back().otherwise);
  open_.back().otherwise = nullptr;
}

void FunctionLowering::endIf() {
  OpenConstruct construct = open_.back();
  open_.pop_back();
  startBlock(construct.end);
  if (construct.otherwise) {
    b.setBlock(construct.otherwise);
    startBlock(construct.end);
  }
}

void FunctionLowering::beginLoop() {
  ir::Block* body = b.function().addBlock();
  open_.push_back({body, b.function().addBlock()});
  startBlock(body);
}

void FunctionLowering::endLoop(ir::Instruction* again) {
  OpenConstruct construct = open_.back();
  open_.pop_back();
  b.branch(again, construct.otherwise, construct.end);
  b.setBlock(construct.end);
}

}  // namespace mulciber::lower
