#include "translator/passes/raise_switches.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "translator/analyses/convergent_blocks.h"
#include "translator/ir/builder.h"
#include "translator/ir/dominators.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Terminator;

constexpr size_t leastComparisons = 4;  // below, a switch is no better than its branches
constexpr uint64_t mostCases = 128;

// Unsigned numbers, as ranges in order that do not touch.
struct Range {
  uint64_t first, last;
};
using Numbers = std::vector<Range>;

uint64_t countOf(const Numbers& numbers) {
  uint64_t count = 0;
  for (const Range& range : numbers) count += range.last - range.first + 1;
  return count;
}

Numbers intersection(const Numbers& a, const Numbers& b) {
  Numbers result;
  for (const Range& x : a)
    for (const Range& y : b)
      if (std::max(x.first, y.first) <= std::min(x.last, y.last))
        result.push_back({std::max(x.first, y.first), std::min(x.last, y.last)});
  return result;
}

// The rest of the numbers from 0 to `most`.
Numbers complement(const Numbers& numbers, uint64_t most) {
  Numbers result;
  uint64_t next = 0;
  for (const Range& range : numbers) {
    if (range.first > next) result.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= most) result.push_back({next, most});
  return result;
}

// A block's last comparison: of a variable with a constant.
struct Comparison {
  const Instruction* read;
  Op op;
  uint64_t constant;
  bool constantIsFirst;

  uint64_t most() const { return (uint64_t{1} << read->type.bits) - 1; }

  // For which numbers it is true.
  Numbers matches() const {
    const uint64_t sign = isSigned() ? uint64_t{1} << (read->type.bits - 1) : 0;
    const uint64_t place = constant ^ sign;  // among all numbers in their order
    Numbers inOrder;
    if (op == Op::IEq || op == Op::INe) inOrder = {{place, place}};
    else if (constantIsFirst && (isStrict() ? place < most() : true)) inOrder = {{place + isStrict(), most()}};
    else if (!constantIsFirst && (isStrict() ? place > 0 : true)) inOrder = {{0, place - isStrict()}};
    if (op == Op::INe) inOrder = complement(inOrder, most());
    if (sign == 0) return inOrder;
    // The half of the negative numbers comes first in their order, and last as unsigned ones.
    Numbers result;
    for (const Range& half : {Range{sign, most()}, Range{0, sign - 1}})
      for (const Range& part : intersection(inOrder, {half})) result.push_back({part.first ^ sign, part.last ^ sign});
    return result;
  }

 private:
  bool isSigned() const { return op == Op::SLt || op == Op::SLe; }
  bool isStrict() const { return op == Op::SLt || op == Op::ULt; }
};

bool isComparison(Op op) {
  return op == Op::IEq || op == Op::INe || op == Op::ULt || op == Op::ULe || op == Op::SLt || op == Op::SLe;
}

class SwitchRaiser {
 public:
  explicit SwitchRaiser(ir::Function& function) : function_(function), readers_(function.variables.size()) {}

  void run() {
    function_.removeUnreachableBlocks();
    function_.computePredecessors();
    findReaders();
    std::vector<Block*> roots;
    for (Block* block : function_.blocks)
      if (comparisonOf(*block)) roots.push_back(block);
    if (roots.size() < leastComparisons) return;
    const analyses::ConvergentBlocks convergent(function_);
    // In the order of the program: a root comes before what it would take in.
    for (Block* root : convergent.tree().reversePostOrder())
      if (!taken_.contains(root) && comparisonOf(*root)) raise(root, convergent);
    if (!taken_.empty()) function_.removeUnreachableBlocks();
  }

 private:
  struct Leaf {
    Block* target;
    Numbers numbers;
  };
  struct Readers {
    const Block* first = nullptr;  // of a variable
    bool areSeveral = false;
  };

  void findReaders() {
    for (const Block* block : function_.blocks)
      for (const Instruction* i : block->instructions) {
        if (i->op != Op::ReadVar) continue;
        Readers& readers = readers_[i->payload];
        readers.areSeveral |= readers.first && readers.first != block;
        readers.first = block;
      }
  }

  bool isReadElsewhere(uint64_t variable, const Block& block) const {
    const Readers& readers = readers_[variable];
    return readers.areSeveral || (readers.first && readers.first != &block);
  }

  static std::optional<Comparison> comparisonOf(const Block& block) {
    if (block.terminator.kind != Terminator::Kind::Conditional) return std::nullopt;
    const auto& all = block.instructions;
    const Instruction* condition = block.terminator.value;
    if (condition->op == Op::ReadVar) {
      const auto read = std::find(all.rbegin(), all.rend(), condition);
      const auto written = std::find_if(read, all.rend(), [&](const Instruction* i) {
        return i->op == Op::WriteVar && i->payload == condition->payload;
      });
      if (written == all.rend()) return std::nullopt;
      condition = (*written)->operands[0];
    }
    if (!isComparison(condition->op)) return std::nullopt;
    const Instruction *x = condition->operands[0], *y = condition->operands[1];
    const bool constantIsFirst = x->isConstant();
    if (constantIsFirst) std::swap(x, y);
    if (x->op != Op::ReadVar || !y->isConstant() || !x->type.isInt() || x->type.isVector() || x->type.bits > 32)
      return std::nullopt;
    auto read = std::find(all.begin(), all.end(), x);
    const bool isOverwritten = std::any_of(
        read, all.end(), [&](const Instruction* i) { return i->op == Op::WriteVar && i->payload == x->payload; });
    if (read == all.end() || isOverwritten) return std::nullopt;
    return Comparison{x, condition->op, y->payload, constantIsFirst};
  }

  // Compares and does nothing else that could be missed.
  bool isOnlyComparison(const Block& block) const {
    return std::all_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction* i) {
      return i->op == Op::ReadVar || i->op == Op::Constant || isComparison(i->op) ||
             (i->op == Op::WriteVar && !isReadElsewhere(i->payload, block));
    });
  }

  // Where control from `from` to `target` does something for the first time.
  template <typename BlockPointer>
  static BlockPointer behindEmptyBlocks(BlockPointer target) {
    for (size_t steps = 0; steps < 8 && isEmpty(*target); ++steps) target = target->terminator.targets[0];
    return target;
  }
  static bool isEmpty(const Block& block) {
    return block.instructions.empty() && block.terminator.kind == Terminator::Kind::Branch;
  }

  // The block, when it belongs to the tree that the edge comes from.
  std::optional<Comparison> nextInTree(const Block* edge, const Block& block, const Comparison& parent) const {
    for (const Block* next = edge; next != &block; next = next->terminator.targets[0])
      if (next->predecessors.size() != 1) return std::nullopt;
    if (block.predecessors.size() != 1 || taken_.contains(&block) || !isOnlyComparison(block)) return std::nullopt;
    const auto comparison = comparisonOf(block);
    if (!comparison || comparison->read->payload != parent.read->payload) return std::nullopt;
    return comparison;
  }

  void raise(Block* root, const analyses::ConvergentBlocks& convergent) {
    const Comparison first = *comparisonOf(*root);
    struct Node {
      Block* block;
      Comparison comparison;
      Numbers numbers;
    };
    std::vector<Node> nodes{{root, first, {{0, first.most()}}}};
    std::vector<Leaf> leaves;
    for (size_t n = 0; n < nodes.size(); ++n) {
      const Numbers yes = nodes[n].comparison.matches(), no = complement(yes, first.most());
      for (size_t side = 0; side < 2; ++side) {
        Block* const edge = nodes[n].block->terminator.targets[side];
        Block* const target = behindEmptyBlocks(edge);
        Numbers numbers = intersection(nodes[n].numbers, side == 0 ? yes : no);
        if (numbers.empty()) continue;
        if (const auto next = nextInTree(edge, *target, first); next && target != root)
          nodes.push_back({target, *next, std::move(numbers)});
        else addLeaf(leaves, target, numbers);
      }
    }
    if (nodes.size() < leastComparisons || leaves.size() < 3) return;
    auto isSmaller = [](const Leaf& a, const Leaf& b) { return countOf(a.numbers) < countOf(b.numbers); };
    std::iter_swap(leaves.begin(), std::max_element(leaves.begin(), leaves.end(), isSmaller));
    uint64_t cases = 0;
    for (size_t i = 1; i < leaves.size(); ++i) cases += countOf(leaves[i].numbers);
    if (cases > mostCases) return;
    std::unordered_set<const Block*> tree;
    for (const Node& node : nodes) tree.insert(node.block);
    for (const Node& node : nodes)
      for (const Block* edge : node.block->terminator.targets) {
        const Block* const target = behindEmptyBlocks(edge);
        for (; edge != target; edge = edge->terminator.targets[0]) tree.insert(edge);
      }
    for (const Leaf& leaf : leaves)
      if (convergent.isConvergentArm(*leaf.target, tree)) return;

    for (const Node& node : nodes) {
      root->merge.dontUnroll |= node.block->merge.dontUnroll;
      if (node.block != root) taken_.insert(node.block);
    }
    endBySwitch(root, first, leaves);
  }

  static void addLeaf(std::vector<Leaf>& leaves, Block* target, const Numbers& numbers) {
    auto known = std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& leaf) { return leaf.target == target; });
    if (known == leaves.end()) known = leaves.insert(leaves.end(), Leaf{target, {}});
    known->numbers.insert(known->numbers.end(), numbers.begin(), numbers.end());
  }

  void endBySwitch(Block* root, const Comparison& first, const std::vector<Leaf>& leaves) {
    std::vector<std::pair<uint32_t, Block*>> cases;
    for (size_t i = 1; i < leaves.size(); ++i)
      for (const Range& range : leaves[i].numbers)
        for (uint64_t number = range.first; number <= range.last; ++number)
          cases.push_back({static_cast<uint32_t>(number), leaves[i].target});
    std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<uint32_t> numbers;
    std::vector<Block*> targets;
    for (const auto& [number, target] : cases) {
      numbers.push_back(number);
      targets.push_back(target);
    }
    ir::Builder b(function_, root);
    Instruction* value = b.read(static_cast<ir::VariableId>(first.read->payload));
    if (value->type.bits < 32) value = b.convert(Op::ZExt, ir::I32, value);
    root->terminator = {};
    b.switchOn(value, leaves[0].target, numbers, targets);
  }

  ir::Function& function_;
  std::vector<Readers> readers_;  // by variable
  std::unordered_set<const Block*> taken_;
};

}  // namespace

void raiseSwitches(ir::Function& function) { SwitchRaiser(function).run(); }

}  // namespace mulciber::passes
