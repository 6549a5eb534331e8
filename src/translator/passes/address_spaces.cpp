#include "translator/passes/address_spaces.h"

#include <algorithm>
#include <bit>

#include "mulciber/kernel_abi.h"
#include "translator/analyses/address_origins.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Space;

constexpr unsigned windowShift = 56;

uint64_t windowOf(Space space) {
  switch (space) {
    case Space::Shared: return abi::sharedWindow;
    case Space::Local: return abi::localWindow;
    case Space::Param: return abi::paramWindow;
    default: return 0;
  }
}

// What the access can mean: nothing writes parameters, and atomics work on memory that threads share.
analyses::Spaces possible(const Instruction& access, analyses::Spaces spaces) {
  if (access.op != Op::Load) spaces &= static_cast<analyses::Spaces>(~analyses::spaceBit(Space::Param));
  if (ir::isAtomic(access.op)) spaces &= static_cast<analyses::Spaces>(~analyses::spaceBit(Space::Local));
  return spaces == 0 ? analyses::onlyGlobal : spaces;
}

class Rewriter {
 public:
  Rewriter(ir::Function& function, const analyses::AddressOrigins& origins) : function_(function), origins_(origins) {}

  bool run() {
    std::vector<Block*> before = std::move(function_.blocks);
    function_.blocks.clear();
    bool changed = false;
    for (Block* block : before) {
      function_.blocks.push_back(block);
      changed |= rewrite(block);
    }
    return changed;
  }

 private:
  static bool isGeneric(const Instruction& instruction) {
    bool isAccess = instruction.op == Op::Load || instruction.op == Op::Store || isAtomic(instruction.op);
    return isAccess && instruction.memory.space == Space::Generic;
  }

  // New blocks are appended to the function's list, which holds what has been dealt with so far.
  bool rewrite(Block* block) {
    bool changed = false;
    for (size_t i = 0; i < block->instructions.size(); i++) {
      Instruction* access = block->instructions[i];
      if (!isGeneric(*access)) continue;
      changed = true;
      analyses::Spaces spaces = possible(*access, origins_.of(access->operands[0]));
      if (std::has_single_bit(spaces)) {
        Space space = static_cast<Space>(std::countr_zero(spaces));
        if (Instruction* address = narrowAddress(access->operands[0], space)) {
          block->instructions.insert(block->instructions.begin() + static_cast<ptrdiff_t>(i++), address);
          access->operands[0] = address;
        }
        access->memory.space = space;
        continue;
      }
      block = split(block, i, spaces);
      i = block->instructions.empty() || block->instructions[0]->op != Op::Phi ? size_t(-1) : 0;
    }
    return changed;
  }

  Instruction* narrowAddress(Instruction* address, Space space) {
    return space == Space::Global ? nullptr : function_.create(Op::Trunc, ir::I32, {{address}});
  }

  // block: ... access ...   becomes   block: ... switch on the window; one block for each space; then the rest.
  Block* split(Block* block, size_t index, analyses::Spaces spaces) {
    Instruction* access = block->instructions[index];
    std::vector<Instruction*> tail(block->instructions.begin() + static_cast<ptrdiff_t>(index) + 1,
                                   block->instructions.end());
    block->instructions.resize(index);
    ir::Terminator terminator = std::move(block->terminator);
    ir::Merge merge = block->merge;
    Block* head = block;
    if (merge.kind == ir::Merge::Kind::Loop) {  // the header keeps its loop, the switch needs a block of its own
      head = function_.addBlock();
      auto firstOther = std::find_if(block->instructions.begin(), block->instructions.end(),
                                     [](const Instruction* each) { return each->op != Op::Phi; });
      head->instructions.assign(firstOther, block->instructions.end());
      block->instructions.erase(firstOther, block->instructions.end());
      block->terminator = {ir::Terminator::Kind::Branch, nullptr, {head}, {}};
      head->predecessors = {block};
      merge = {};
    }

    std::vector<Space> arms;  // global last: it is what no window matches
    for (Space space : {Space::Shared, Space::Local, Space::Param, Space::Global})
      if (spaces & analyses::spaceBit(space)) arms.push_back(space);
    std::vector<Block*> blocks;
    for (size_t i = 0; i < arms.size(); i++) blocks.push_back(function_.addBlock());
    Block* join = function_.addBlock();

    ir::Builder b(function_, head);
    b.setSource(access->source);
    Instruction* window = b.lshr(access->operands[0], b.i32(windowShift));
    window = b.convert(Op::Trunc, ir::I32, window);
    if (arms.size() == 2) {
      Instruction* isFirst = b.compare(Op::IEq, window, b.i32(windowNumber(arms[0])));
      b.branch(isFirst, blocks[0], blocks[1]);
    } else {
      std::vector<uint32_t> cases;
      for (size_t i = 0; i + 1 < arms.size(); i++) cases.push_back(windowNumber(arms[i]));
      b.switchOn(window, blocks.back(), cases, std::span(blocks).first(blocks.size() - 1));
    }
    head->merge = {ir::Merge::Kind::Selection, join, nullptr, false};

    Instruction* phi = access->type.isVoid() ? nullptr : function_.create(Op::Phi, access->type);
    for (size_t i = 0; i < arms.size(); i++) {
      blocks[i]->predecessors = {head};
      join->predecessors.push_back(blocks[i]);
      b.setBlock(blocks[i]);
      Instruction* copy = function_.clone(*access);
      if (Instruction* address = narrowAddress(copy->operands[0], arms[i])) {
        blocks[i]->instructions.push_back(address);
        copy->operands[0] = address;
      }
      copy->memory.space = arms[i];
      blocks[i]->instructions.push_back(copy);
      if (phi) phi->operands.push_back(copy);
      b.branch(join);
    }
    if (phi) {
      join->instructions.push_back(phi);
      replaced_.push_back({access, phi});
    }
    join->instructions.insert(join->instructions.end(), tail.begin(), tail.end());
    join->terminator = std::move(terminator);
    join->merge = merge;
    for (Block* target : join->terminator.targets)
      std::replace(target->predecessors.begin(), target->predecessors.end(), block, join);
    return join;
  }

  static uint32_t windowNumber(Space space) { return static_cast<uint32_t>(windowOf(space) >> windowShift); }

 public:
  struct Replacement {
    const Instruction* access;
    Instruction* phi;
  };
  const std::vector<Replacement>& replaced() const { return replaced_; }

 private:
  ir::Function& function_;
  const analyses::AddressOrigins& origins_;
  std::vector<Replacement> replaced_;
};

void replaceUses(ir::Function& function, const std::vector<Rewriter::Replacement>& replaced) {
  if (replaced.empty()) return;
  std::vector<Instruction*> by(function.instructionIdBound());
  for (const auto& [access, phi] : replaced) by[access->id] = phi;
  auto replace = [&](Instruction*& value) {
    if (value && by[value->id]) value = by[value->id];
  };
  for (Block* block : function.blocks) {
    for (Instruction* instruction : block->instructions)
      for (Instruction*& operand : instruction->operands) replace(operand);
    replace(block->terminator.value);
  }
}

}  // namespace

bool resolveAddressSpaces(ir::Function& function, const ir::Program& program) {
  analyses::Spaces existing = analyses::onlyGlobal;
  if (program.hasGenericShared) existing |= analyses::spaceBit(Space::Shared);
  if (program.hasGenericLocal) existing |= analyses::spaceBit(Space::Local);
  if (program.hasGenericParam) existing |= analyses::spaceBit(Space::Param);
  analyses::AddressOrigins origins(function, existing);
  Rewriter rewriter(function, origins);
  bool changed = rewriter.run();
  replaceUses(function, rewriter.replaced());
  return changed;
}

bool AddressSpaces::run(ir::Function& function, PassContext& context) {
  return resolveAddressSpaces(function, context.program);
}

}  // namespace mulciber::passes
