#include "translator/passes/address_spaces.h"

#include <algorithm>
#include <bit>

#include "mulciber/kernel_abi.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Space;

// A set of spaces, one bit for each. Numbers that are no address at all count as global: they carry no window.
using Spaces = uint8_t;

constexpr Spaces bit(Space space) { return static_cast<Spaces>(1u << static_cast<unsigned>(space)); }
constexpr Spaces onlyGlobal = bit(Space::Global);
constexpr unsigned windowShift = 56;

// The spaces that a constant of an address can stand for. It is the sum of a window and of a distance that may be
// negative, so the window is the nearest one. What lies near none may hold a window all the same (one subtracted, or
// one and a large number), which leaves every space.
Spaces spacesOfConstant(uint64_t constant, Spaces existing) {
  constexpr uint64_t half = uint64_t{1} << (windowShift - 1);
  switch ((constant + half) & abi::windowMask) {
    case 0: return onlyGlobal;
    case abi::sharedWindow: return bit(Space::Shared);
    case abi::localWindow: return bit(Space::Local);
    case abi::paramWindow: return bit(Space::Param);
    default: return existing;
  }
}

uint64_t windowOf(Space space) {
  switch (space) {
    case Space::Shared: return abi::sharedWindow;
    case Space::Local: return abi::localWindow;
    case Space::Param: return abi::paramWindow;
    default: return 0;
  }
}

// Which spaces each 64-bit value may be an address of: the least solution, so that loops of pointers stay precise.
class Provenance {
 public:
  Provenance(const ir::Function& function, Spaces existing)
      : existing_(existing), known_(function.instructionIdBound()) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block* block : function.blocks) {
        for (const Instruction* instruction : block->instructions) {
          Origin& known = known_[instruction->id];
          const Origin found = transfer(*instruction);
          const Origin both{static_cast<Spaces>(known.spaces | (found.spaces & existing_)),
                            std::max(known.pieceEnd, found.pieceEnd)};
          changed |= both != known;
          known = both;
        }
      }
    }
  }

  Spaces of(const Instruction* value) const { return known_[value->id].spaces; }

 private:
  // A number that is no address may be a piece of one: bytes or words that were shifted apart to be put together again.
  // A piece that has been shifted into the top byte makes an address of any space.
  struct Origin {
    Spaces spaces = 0;
    uint8_t pieceEnd = 0;  // the bit above the highest one that a piece can have reached; at most 64
    bool operator==(const Origin&) const = default;
  };

  static bool isPlain(Spaces spaces) { return (spaces & ~onlyGlobal) == 0; }
  static Origin piece(unsigned bits) { return {onlyGlobal, static_cast<uint8_t>(bits)}; }
  // What is left of a value that has lost its top byte.
  static Origin remainder(const Origin& value, unsigned bits) {
    return piece(isPlain(value.spaces) ? std::min<unsigned>(value.pieceEnd, bits) : bits);
  }

  // An address and a distance, in either order.
  Spaces sum(Spaces a, Spaces b) const {
    if (a == 0 || b == 0) return 0;  // not known yet
    if (isPlain(a) || isPlain(b)) return static_cast<Spaces>(isPlain(a) ? b : a);
    return existing_;
  }

  Origin shifted(const Origin& value, unsigned amount) const {
    if (value.pieceEnd == 0) return {isPlain(value.spaces) ? onlyGlobal : existing_};
    const unsigned end = std::min(value.pieceEnd + amount, 64u);
    return {isPlain(value.spaces) && end <= windowShift ? onlyGlobal : existing_, static_cast<uint8_t>(end)};
  }

  Origin transfer(const Instruction& instruction) const {
    if (instruction.type != ir::I64) return {existing_};
    const auto& x = instruction.operands;
    auto spaces = [&](size_t i) { return known_[x[i]->id].spaces; };
    auto isConstant = [&](size_t i) { return x[i]->isConstant(); };
    unsigned pieceEnd = 0;
    for (const Instruction* operand : x) pieceEnd = std::max<unsigned>(pieceEnd, known_[operand->id].pieceEnd);
    auto with = [&](Spaces result) { return Origin{result, static_cast<uint8_t>(pieceEnd)}; };
    switch (instruction.op) {
      case Op::Constant: return {spacesOfConstant(instruction.payload, existing_)};
      case Op::Undef: return {};
      case Op::Input: return {onlyGlobal};
      case Op::ZExt:
      case Op::SExt: return piece(x[0]->type.isBool() ? 1 : x[0]->type.bits);
      case Op::Load: return {instruction.memory.space == Space::Param ? onlyGlobal : existing_};
      case Op::VecExtract: {
        bool isParameter = x[0]->op == Op::Load && x[0]->memory.space == Space::Param;
        return {isParameter ? onlyGlobal : existing_};
      }
      case Op::Add:
      case Op::Or: return with(sum(spaces(0), spaces(1)));
      case Op::Sub: return with(isPlain(spaces(1)) ? spaces(0) : existing_);
      case Op::And: {
        if (!isConstant(0) && !isConstant(1))
          return with(isPlain(spaces(0)) && isPlain(spaces(1)) ? onlyGlobal : existing_);
        const size_t mask = isConstant(1) ? 1 : 0;
        const uint64_t window = x[mask]->payload & abi::windowMask;
        if (window == 0)
          return remainder(known_[x[1 - mask]->id], static_cast<unsigned>(std::bit_width(x[mask]->payload)));
        return with(window == abi::windowMask ? spaces(1 - mask) : existing_);
      }
      case Op::Phi:
      case Op::Select: {
        Spaces result = 0;
        for (size_t i = instruction.op == Op::Select ? 1 : 0; i < x.size(); i++) result |= spaces(i);
        return with(result);
      }
      case Op::LShr:
      case Op::AShr:
        if (isConstant(1) && x[1]->payload >= 64 - windowShift)
          return remainder(known_[x[0]->id], 64 - static_cast<unsigned>(x[1]->payload));
        return with(isPlain(spaces(0)) ? onlyGlobal : existing_);
      case Op::Shl: return shifted(known_[x[0]->id], isConstant(1) ? static_cast<unsigned>(x[1]->payload) : 64);
      case Op::Mul: {
        if (!isConstant(1)) return with(isPlain(spaces(0)) && isPlain(spaces(1)) ? onlyGlobal : existing_);
        return shifted(known_[x[0]->id], static_cast<unsigned>(std::countr_zero(x[1]->payload)));
      }
      case Op::URem: return with(isPlain(spaces(1)) ? onlyGlobal : existing_);  // less than a distance
      case Op::UDiv:
      case Op::SDiv:
      case Op::SRem:
      case Op::Neg:
      case Op::Not:
      case Op::Xor:
        return with(std::ranges::all_of(x, [&](auto* value) { return isPlain(known_[value->id].spaces); }) ? onlyGlobal
                                                                                                           : existing_);
      default: return {existing_};
    }
  }

  Spaces existing_;
  std::vector<Origin> known_;  // by instruction id
};

// What the access can mean: nothing writes parameters, and atomics work on memory that threads share.
Spaces possible(const Instruction& access, Spaces spaces) {
  if (access.op != Op::Load) spaces &= static_cast<Spaces>(~bit(Space::Param));
  if (ir::isAtomic(access.op)) spaces &= static_cast<Spaces>(~bit(Space::Local));
  return spaces == 0 ? onlyGlobal : spaces;
}

class Rewriter {
 public:
  Rewriter(ir::Function& function, const Provenance& provenance) : function_(function), provenance_(provenance) {}

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
      Spaces spaces = possible(*access, provenance_.of(access->operands[0]));
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
  Block* split(Block* block, size_t index, Spaces spaces) {
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
      if (spaces & bit(space)) arms.push_back(space);
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
  const Provenance& provenance_;
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
  Spaces existing = onlyGlobal;
  if (program.hasGenericShared) existing |= bit(Space::Shared);
  if (program.hasGenericLocal) existing |= bit(Space::Local);
  if (program.hasGenericParam) existing |= bit(Space::Param);
  Provenance provenance(function, existing);
  Rewriter rewriter(function, provenance);
  bool changed = rewriter.run();
  replaceUses(function, rewriter.replaced());
  return changed;
}

bool AddressSpaces::run(ir::Function& function, PassContext& context) {
  return resolveAddressSpaces(function, context.program);
}

}  // namespace mulciber::passes
