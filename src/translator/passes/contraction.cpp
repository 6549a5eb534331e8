#include "translator/passes/contraction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "translator/analyses/writes_across.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isSum(const Instruction& i) { return i.op == Op::FAdd || i.op == Op::FSub; }

// ptxas makes a call of it, which ends its basic block.
bool isCallForPtxas(const Instruction& i) {
  switch (i.op) {
    case Op::FDiv:
    case Op::FRcp:
    case Op::FSqrt: return !i.fp.approximate && i.type.bits >= 32;
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem: return i.type.bits == 64;
    default: return false;
  }
}

// What is known of variables and values before any product is looked at.
struct Registers {
  std::vector<bool> areReadOutside;            // variables: in some block before they are written there, or by callers
  std::vector<const Instruction*> onlyWrites;  // of variables: null if there are several, or callers read it
  std::vector<bool> areReturned;               // variables
  std::vector<bool> valuesUsedOutside;         // by id: in another block, or by a terminator

  explicit Registers(const ir::Function& function)
      : areReadOutside(function.variables.size()),
        onlyWrites(function.variables.size()),
        areReturned(function.variables.size()),
        valuesUsedOutside(function.instructionIdBound()) {
    std::vector<const Block*> homes(function.instructionIdBound());
    for (const Block* block : function.blocks)
      for (const Instruction* i : block->instructions) homes[i->id] = block;
    std::vector<unsigned> writeCounts(function.variables.size());
    std::vector<const Block*> writers(function.variables.size());
    for (const Block* block : function.blocks) {
      for (const Instruction* i : block->instructions) {
        if (i->op == Op::WriteVar) {
          writers[i->payload] = block;
          onlyWrites[i->payload] = ++writeCounts[i->payload] == 1 ? i : nullptr;
        }
        if (i->op == Op::ReadVar && writers[i->payload] != block) areReadOutside[i->payload] = true;
        for (const Instruction* operand : i->operands)
          if (homes[operand->id] != block) valuesUsedOutside[operand->id] = true;
      }
      if (block->terminator.value) valuesUsedOutside[block->terminator.value->id] = true;
    }
    for (ir::VariableId variable : function.returns) {
      areReadOutside[variable] = areReturned[variable] = true;
      onlyWrites[variable] = nullptr;
    }
  }

  // What an instruction of ptxas's can have as an operand in place of a register: a constant, a parameter of the
  // kernel, or a number at a fixed place in constant memory.
  bool isConstantOperand(const Instruction* value, int depth = 0) const {
    if (value->isConstant()) return true;
    if (depth >= deepest) return false;
    switch (value->op) {
      case Op::Load:
        return (value->memory.space == ir::Space::Param || value->memory.isConstant) && isFixed(value->operands[0]);
      case Op::Bitcast:
      case Op::FNeg: return isConstantOperand(value->operands[0], depth + 1);
      case Op::ReadVar:
        return onlyWrites[value->payload] && isConstantOperand(onlyWrites[value->payload]->operands[0], depth + 1);
      default: return false;
    }
  }

 private:
  bool isFixed(const Instruction* address, int depth = 0) const {
    if (address->isConstant()) return true;
    if (depth >= deepest) return false;
    switch (address->op) {
      case Op::Input: return static_cast<ir::InputKind>(address->payload) == ir::InputKind::ModuleData;
      case Op::Add: return isFixed(address->operands[0], depth + 1) && isFixed(address->operands[1], depth + 1);
      case Op::ReadVar:
        return onlyWrites[address->payload] && isFixed(onlyWrites[address->payload]->operands[0], depth + 1);
      default: return false;
    }
  }

  static constexpr int deepest = 8;
};

// A value that is the product of a multiplication, or its negation.
struct Product {
  Instruction* multiplication = nullptr;
  bool isNegated = false;
};

class FunctionContraction {
 public:
  explicit FunctionContraction(ir::Function& function)
      : function_(function),
        registers_(function),
        products_(function.instructionIdBound()),
        lastWrites_(function.variables.size()),
        areReadBefore_(function.variables.size()),
        holdProducts_(function.variables.size()),
        across_(function) {}

  bool run() {
    for (const Block* block : function_.blocks) findUses(*block);
    for (const bool isOnlyUse : {true, false})
      for (const Block* block : function_.blocks)
        for (const Instruction* i : block->instructions)
          if (isSum(*i) && i->fp.contracts && !fused_.contains(i)) choose(*i, isOnlyUse);
    if (fused_.empty()) return false;
    rewrite();
    return true;
  }

 private:
  struct Uses {
    std::vector<Instruction*> sums;
    std::vector<const Instruction*> carriers;  // bring it from register to register
    const Block* home = nullptr;
    unsigned segment = 0;
    bool isOfConstant = false;  // ptxas takes it into sums of any block
    bool areOther = false;      // not all of them are sums that may take it
  };
  struct Write {
    const Block* block = nullptr;
    const Instruction* instruction = nullptr;
  };

  Product productOf(const Instruction* value) const {
    return value->id < products_.size() ? products_[value->id] : Product{};
  }

  // Whether the result is the operand's product, so that what uses the result is what counts.
  static bool carries(const Instruction& i, const Product& product) {
    if (i.op == Op::Bitcast || i.op == Op::WriteVar) return true;
    return i.op == Op::FNeg && i.type == product.multiplication->type && i.fp.flush == product.multiplication->fp.flush;
  }

  void findUses(const Block& block) {
    ++segment_;
    for (Instruction* i : block.instructions) {
      if (isCallForPtxas(*i)) ++segment_;
      if (i->op == Op::FMul && i->fp.contracts) {
        products_[i->id] = {i, false};
        Uses& uses = uses_[i];
        uses.home = &block;
        uses.segment = segment_;
        uses.isOfConstant =
            std::ranges::any_of(i->operands, [&](const Instruction* x) { return registers_.isConstantOperand(x); });
      }
      if (i->op == Op::ReadVar) findProductIn(*i, block);
      if (i->op == Op::WriteVar) lastWrites_[i->payload] = {&block, i};
      for (const Instruction* operand : i->operands)
        if (const Product product = productOf(operand); product.multiplication) addUse(*i, product);
      if (const Product product = productOf(i); product.multiplication && registers_.valuesUsedOutside[i->id])
        uses_[product.multiplication].areOther = true;
    }
    for (const Instruction* i : block.instructions) {
      if (i->op != Op::WriteVar || lastWrites_[i->payload].instruction != i) continue;
      if (const Product product = productOf(i->operands[0]); product.multiplication && !reaches(*i, product))
        uses_[product.multiplication].areOther = true;
    }
  }
  void findProductIn(const Instruction& read, const Block& block) {
    const Write& last = lastWrites_[read.payload];
    if (last.block == &block) return follow(read, productOf(last.instruction->operands[0]));
    const Instruction* write = registers_.onlyWrites[read.payload];
    if (write && !last.instruction) areReadBefore_[read.payload] = true;
    if (!write && holdProducts_[read.payload]) write = across_.writeOf(&read);
    if (!write) return;
    if (const Product product = productOf(write->operands[0]);
        product.multiplication && uses_[product.multiplication].isOfConstant)
      follow(read, product);
  }
  // Whether all that read what is written are seen to: in the same block, or behind it where they see nothing else.
  bool reaches(const Instruction& write, const Product& product) {
    const uint64_t variable = write.payload;
    if (!registers_.areReadOutside[variable]) return true;
    const Uses& uses = uses_[product.multiplication];
    if (!uses.isOfConstant || registers_.areReturned[variable]) return false;
    const bool isOnly = registers_.onlyWrites[variable];
    if (isOnly ? areReadBefore_[variable] : !across_.isClear(&write)) return false;
    if (!isOnly && !across_.isSeen(&write)) return true;
    // A copy that another block makes may be older than the factors by one round of a loop.
    if (lastWrites_[variable].block != uses.home) return false;
    return holdProducts_[variable] = true;
  }
  void addUse(Instruction& i, const Product& product) {
    Uses& uses = uses_[product.multiplication];
    if (carries(i, product)) {
      follow(i, {product.multiplication, product.isNegated != (i.op == Op::FNeg)});
      return;
    }
    const bool mayTake = isSum(i) && i.fp.contracts && i.type == product.multiplication->type &&
                         i.fp.flush == product.multiplication->fp.flush &&
                         (uses.isOfConstant || uses.segment == segment_) &&
                         std::find(uses.sums.begin(), uses.sums.end(), &i) == uses.sums.end();
    if (mayTake) uses.sums.push_back(&i);
    else uses.areOther = true;
  }

  void follow(const Instruction& carrier, const Product& product) {
    if (!product.multiplication) return;
    uses_[product.multiplication].carriers.push_back(&carrier);
    if (carrier.op != Op::WriteVar) products_[carrier.id] = product;
  }

  // Products are not computed twice: all sums that use one have to take it.
  bool mayBeTaken(const Instruction* multiplication) {
    const Uses& uses = uses_[multiplication];
    return !uses.areOther && std::all_of(uses.sums.begin(), uses.sums.end(), [&](const Instruction* sum) {
      const auto found = fused_.find(sum);
      return found == fused_.end() || productOf(sum->operands[found->second]).multiplication == multiplication;
    });
  }

  // First of the products that are used nowhere else, then of all: that with fewer uses, or the first.
  void choose(const Instruction& sum, bool isOnlyUse) {
    size_t fewest = isOnlyUse ? 1 : SIZE_MAX - 1;
    std::optional<unsigned> place;
    for (unsigned k = 0; k < 2; ++k) {
      const Instruction* multiplication = productOf(sum.operands[k]).multiplication;
      if (!multiplication || uses_[multiplication].sums.size() > fewest || !mayBeTaken(multiplication)) continue;
      place = k;
      fewest = uses_[multiplication].sums.size() - 1;
    }
    if (place) fused_[&sum] = *place;
  }

  void rewrite() {
    std::vector<const Instruction*> dead;
    for (const auto& [multiplication, uses] : uses_) {
      const bool isTaken =
          !uses.areOther && !uses.sums.empty() &&
          std::all_of(uses.sums.begin(), uses.sums.end(), [&, wanted = multiplication](const Instruction* sum) {
            const auto found = fused_.find(sum);
            return found != fused_.end() && productOf(sum->operands[found->second]).multiplication == wanted;
          });
      if (!isTaken) continue;
      dead.push_back(multiplication);
      dead.insert(dead.end(), uses.carriers.begin(), uses.carriers.end());
    }
    std::sort(dead.begin(), dead.end());
    for (const Block* block : function_.blocks)
      for (const Instruction* i : block->instructions)
        if (const auto found = fused_.find(i); found != fused_.end()) carryFactors(*i, found->second, *block);
    for (Block* block : function_.blocks) {
      Block rewritten;
      ir::Builder b(function_, &rewritten);
      for (Instruction* i : block->instructions) {
        if (const auto found = fused_.find(i); found != fused_.end()) fuse(b, *i, found->second, *block);
        if (!std::binary_search(dead.begin(), dead.end(), i)) rewritten.instructions.push_back(i);
        if (const auto found = factors_.find(i); found != factors_.end())
          for (size_t n : {0, 1}) b.write(found->second[n], i->operands[n]);
      }
      block->instructions = std::move(rewritten.instructions);
    }
  }
  // To a sum in another block, the factors come in variables.
  void carryFactors(const Instruction& sum, unsigned place, const Block& block) {
    const Instruction* multiplication = productOf(sum.operands[place]).multiplication;
    if (uses_[multiplication].home == &block || factors_.contains(multiplication)) return;
    for (size_t n : {0, 1})
      factors_[multiplication][n] = function_.addVariable(multiplication->type, n == 0 ? "factor" : "other");
  }

  void fuse(ir::Builder& b, Instruction& sum, unsigned place, const Block& block) {
    const Product product = productOf(sum.operands[place]);
    Instruction *x = product.multiplication->operands[0], *y = product.multiplication->operands[1];
    if (uses_[product.multiplication].home != &block) {
      x = b.read(factors_[product.multiplication][0]);
      y = b.read(factors_[product.multiplication][1]);
    }
    Instruction* addend = sum.operands[1 - place];
    const bool isDifference = sum.op == Op::FSub;
    if (product.isNegated != (isDifference && place == 1)) x = b.unary(Op::FNeg, x);
    if (isDifference && place == 0) addend = b.unary(Op::FNeg, addend);
    sum.op = Op::Fma;
    sum.operands = {x, y, addend};
  }

  ir::Function& function_;
  const Registers registers_;
  unsigned segment_ = 0;             // between two calls
  std::vector<Product> products_;    // by id
  std::vector<Write> lastWrites_;    // of variables
  std::vector<bool> areReadBefore_;  // variables: before their only write, as the function's text goes
  std::vector<bool> holdProducts_;   // variables: that are written several times, once with a product at least
  analyses::WritesAcross across_;
  std::unordered_map<const Instruction*, Uses> uses_;                              // of multiplications
  std::unordered_map<const Instruction*, unsigned> fused_;                         // of sums: which operand they take
  std::unordered_map<const Instruction*, std::array<ir::VariableId, 2>> factors_;  // of multiplications, elsewhere
};

}  // namespace

bool contractProducts(ir::Function& function) {
  bool hasProduct = false, hasSum = false;
  for (const Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      hasProduct |= i->op == Op::FMul && i->fp.contracts;
      hasSum |= isSum(*i) && i->fp.contracts;
    }
  const bool changed = hasProduct && hasSum && FunctionContraction(function).run();
  for (Block* block : function.blocks)
    for (Instruction* i : block->instructions) i->fp.contracts = false;
  return changed;
}

bool Contraction::run(ir::Function& function, PassContext&) { return contractProducts(function); }

}  // namespace mulciber::passes
