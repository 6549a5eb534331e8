#include "translator/passes/contraction.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <vector>

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

// What other blocks see of a block's values.
struct Outside {
  std::vector<bool> variables;  // read in some block before it is written there
  std::vector<bool> values;     // by id: used in another block, or by a terminator

  explicit Outside(const ir::Function& function)
      : variables(function.variables.size()), values(function.instructionIdBound()) {
    std::vector<const Block*> homes(function.instructionIdBound());
    for (const Block* block : function.blocks)
      for (const Instruction* i : block->instructions) homes[i->id] = block;
    for (ir::VariableId variable : function.returns) variables[variable] = true;
    std::vector<const Block*> writers(function.variables.size());
    for (const Block* block : function.blocks) {
      for (const Instruction* i : block->instructions) {
        if (i->op == Op::WriteVar) writers[i->payload] = block;
        if (i->op == Op::ReadVar && writers[i->payload] != block) variables[i->payload] = true;
        for (const Instruction* operand : i->operands)
          if (homes[operand->id] != block) values[operand->id] = true;
      }
      if (block->terminator.value) values[block->terminator.value->id] = true;
    }
  }
};

// A value that is the product of a multiplication, or its negation.
struct Product {
  Instruction* multiplication = nullptr;
  bool isNegated = false;
};

class BlockContraction {
 public:
  // `products` has a place for each value of the function.
  BlockContraction(ir::Function& function, Block& block, const Outside& outside, std::vector<Product>& products)
      : function_(function), block_(block), outside_(outside), products_(products) {}

  bool run() {
    findUses();
    for (const bool isOnlyUse : {true, false})
      for (const Instruction* i : block_.instructions)
        if (isSum(*i) && i->fp.contracts && !fused_.contains(i)) choose(*i, isOnlyUse);
    if (fused_.empty()) return false;
    rewrite();
    return true;
  }

 private:
  struct Uses {
    std::vector<Instruction*> sums;
    std::vector<const Instruction*> carriers;  // bring it from register to register
    unsigned segment = 0;
    bool areOther = false;  // not all of them are sums that may take it
  };

  Product productOf(const Instruction* value) const { return products_[value->id]; }

  // Whether the result is the operand's product, so that what uses the result is what counts.
  static bool carries(const Instruction& i, const Product& product) {
    if (i.op == Op::Bitcast || i.op == Op::WriteVar) return true;
    return i.op == Op::FNeg && i.type == product.multiplication->type && i.fp.flush == product.multiplication->fp.flush;
  }

  void findUses() {
    std::vector<const Instruction*> writes(function_.variables.size());  // the last of each variable
    unsigned segment = 0;
    for (Instruction* i : block_.instructions) {
      if (isCallForPtxas(*i)) ++segment;
      if (i->op == Op::FMul && i->fp.contracts) {
        products_[i->id] = {i, false};
        uses_[i].segment = segment;
      }
      if (i->op == Op::ReadVar && writes[i->payload]) follow(*i, productOf(writes[i->payload]->operands[0]));
      if (i->op == Op::WriteVar) writes[i->payload] = i;
      for (size_t k = 0; k < i->operands.size(); ++k) {
        const Product product = productOf(i->operands[k]);
        if (!product.multiplication) continue;
        Uses& uses = uses_[product.multiplication];
        if (carries(*i, product)) {
          follow(*i, {product.multiplication, product.isNegated != (i->op == Op::FNeg)});
          continue;
        }
        const bool mayTake = isSum(*i) && i->fp.contracts && i->type == product.multiplication->type &&
                             i->fp.flush == product.multiplication->fp.flush && uses.segment == segment &&
                             std::find(uses.sums.begin(), uses.sums.end(), i) == uses.sums.end();
        if (mayTake) uses.sums.push_back(i);
        else uses.areOther = true;
      }
    }
    for (const Instruction* i : block_.instructions)
      if (const Product product = productOf(i); product.multiplication && outside_.values[i->id])
        uses_[product.multiplication].areOther = true;
    for (ir::VariableId variable = 0; variable < writes.size(); ++variable)
      if (writes[variable] && outside_.variables[variable])
        if (const Product product = productOf(writes[variable]->operands[0]); product.multiplication)
          uses_[product.multiplication].areOther = true;
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
    Block rewritten;
    ir::Builder b(function_, &rewritten);
    for (Instruction* i : block_.instructions) {
      if (const auto found = fused_.find(i); found != fused_.end()) fuse(b, *i, found->second);
      if (!std::binary_search(dead.begin(), dead.end(), i)) rewritten.instructions.push_back(i);
    }
    block_.instructions = std::move(rewritten.instructions);
  }

  void fuse(ir::Builder& b, Instruction& sum, unsigned place) {
    const Product product = productOf(sum.operands[place]);
    Instruction *x = product.multiplication->operands[0], *y = product.multiplication->operands[1];
    Instruction* addend = sum.operands[1 - place];
    const bool isDifference = sum.op == Op::FSub;
    if (product.isNegated != (isDifference && place == 1)) x = b.unary(Op::FNeg, x);
    if (isDifference && place == 0) addend = b.unary(Op::FNeg, addend);
    sum.op = Op::Fma;
    sum.operands = {x, y, addend};
  }

  ir::Function& function_;
  Block& block_;
  const Outside& outside_;
  std::vector<Product>& products_;                          // by id
  std::unordered_map<const Instruction*, Uses> uses_;       // of multiplications
  std::unordered_map<const Instruction*, unsigned> fused_;  // of sums: which operand they take
};

}  // namespace

bool contractProducts(ir::Function& function) {
  auto mayHaveOne = [](const Block* block) {
    bool hasProduct = false, hasSum = false;
    for (const Instruction* i : block->instructions) {
      hasProduct |= i->op == Op::FMul && i->fp.contracts;
      hasSum |= isSum(*i) && i->fp.contracts;
    }
    return hasProduct && hasSum;
  };
  std::vector<Block*> blocks;
  std::copy_if(function.blocks.begin(), function.blocks.end(), std::back_inserter(blocks), mayHaveOne);
  bool changed = false;
  if (!blocks.empty()) {
    const Outside outside(function);
    std::vector<Product> products(function.instructionIdBound());
    for (Block* block : blocks) changed |= BlockContraction(function, *block, outside, products).run();
  }
  for (Block* block : function.blocks)
    for (Instruction* i : block->instructions) i->fp.contracts = false;
  return changed;
}

bool Contraction::run(ir::Function& function, PassContext&) { return contractProducts(function); }

}  // namespace mulciber::passes
