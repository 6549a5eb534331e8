#include "support/ir_interpreter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "translator/ir/dominators.h"

namespace mulciber::test {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

uint64_t mask(uint64_t value, ir::Type type) {
  return type.bits >= 64 ? value : value & ((uint64_t(1) << type.bits) - 1);
}

int64_t signedValue(uint64_t value, ir::Type type) {
  unsigned unused = 64u - type.bits;
  return static_cast<int64_t>(value << unused) >> unused;
}

// Of the double-width product, by halves of at most 32 bits.
uint64_t highHalf(uint64_t a, uint64_t b, unsigned bits) {
  if (bits <= 32) return a * b >> bits;
  uint64_t low = 0xFFFF'FFFF, cross = (a & low) * (b & low) >> 32;
  uint64_t middle = (a >> 32) * (b & low) + cross, other = (a & low) * (b >> 32) + (middle & low);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

struct Frame {
  const ir::Function* function;
  std::vector<uint64_t> values, variables;
  const Block* block;
  const Block* previous = nullptr;
  size_t next = 0;                    // instruction
  const Instruction* call = nullptr;  // in this frame, that waits for the frame above
};

class Lane {
 public:
  using Memory = std::map<uint64_t, uint64_t>;

  Lane(const ir::Function& function, uint32_t index, uint64_t junk, const std::vector<uint64_t>& arguments,
       Memory& global)
      : index_(index), junk_(junk), local_(1 << 16), global_(&global) {
    push(function, arguments);
  }

  LaneResult result;

  bool isDone() const { return frames_.empty() || !result.error.empty(); }
  const Block* block() const { return frames_.back().block; }
  const Instruction* nextInstruction() const {
    const Frame& frame = frames_.back();
    return frame.next < frame.block->instructions.size() ? frame.block->instructions[frame.next] : nullptr;
  }
  uint64_t operand(const Instruction& instruction, size_t i) const {
    return frames_.back().values[instruction.operands[i]->id];
  }
  void finish(const Instruction& instruction, uint64_t value) {
    frames_.back().values[instruction.id] = mask(value, instruction.type);
    ++frames_.back().next;
  }

  // One instruction that is not warp-wide, or the terminator.
  void step() {
    const Instruction* instruction = nextInstruction();
    if (!instruction) return terminate();
    if (instruction->op == Op::Phi) return phis();
    if (instruction->op == Op::Call) return call(*instruction);
    finish(*instruction, evaluate(*instruction));
  }

 private:
  void push(const ir::Function& function, const std::vector<uint64_t>& arguments) {
    if (frames_.size() > 1000) {
      result.error = "call depth";
      return;
    }
    Frame frame{&function, {}, {}, function.blocks.front()};
    frame.values.assign(function.instructionIdBound(), junk_);
    for (const auto& variable : function.variables) frame.variables.push_back(mask(junk_, variable.type));
    for (size_t i = 0; i < arguments.size(); ++i) frame.variables[function.parameters[i]] = arguments[i];
    frames_.push_back(std::move(frame));
  }

  void call(const Instruction& instruction) {
    std::vector<uint64_t> arguments;
    for (size_t i = 0; i < instruction.operands.size(); ++i) arguments.push_back(operand(instruction, i));
    frames_.back().call = &instruction;
    push(*instruction.callee, arguments);
  }

  void phis() {
    Frame& frame = frames_.back();
    const auto& predecessors = frame.block->predecessors;
    size_t from = size_t(std::find(predecessors.begin(), predecessors.end(), frame.previous) - predecessors.begin());
    std::vector<std::pair<uint32_t, uint64_t>> values;
    for (; frame.next < frame.block->instructions.size(); ++frame.next) {
      const Instruction* phi = frame.block->instructions[frame.next];
      if (phi->op != Op::Phi) break;
      if (from >= phi->operands.size()) {
        result.error = "phi without the predecessor";
        return;
      }
      values.emplace_back(phi->id, frame.values[phi->operands[from]->id]);
    }
    for (auto [id, value] : values) frame.values[id] = value;
  }

  void terminate() {
    Frame& frame = frames_.back();
    const ir::Terminator& terminator = frame.block->terminator;
    const Block* target = nullptr;
    switch (terminator.kind) {
      case ir::Terminator::Kind::Branch: target = terminator.targets[0]; break;
      case ir::Terminator::Kind::Conditional:
        target = terminator.targets[frame.values[terminator.value->id] & 1 ? 0 : 1];
        break;
      case ir::Terminator::Kind::Switch: {
        auto found = std::find(terminator.cases.begin(), terminator.cases.end(), frame.values[terminator.value->id]);
        target = found == terminator.cases.end() ? terminator.targets[0]
                                                 : terminator.targets[size_t(found - terminator.cases.begin()) + 1];
        break;
      }
      case ir::Terminator::Kind::Return: return leave();
      default: result.error = "reached a block that must not be reached"; return;
    }
    frame.previous = frame.block;
    frame.block = target;
    frame.next = 0;
  }

  void leave() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    std::vector<uint64_t> returned;
    if (!frame.function->isSsa)
      for (ir::VariableId variable : frame.function->returns) returned.push_back(frame.variables[variable]);
    if (frames_.empty()) {
      result.finished = true;
      result.returns = returned;
      return;
    }
    Frame& caller = frames_.back();
    for (size_t i = 0; i < caller.call->results.size(); ++i) caller.variables[caller.call->results[i]] = returned[i];
    ++caller.next;
  }

  uint64_t load(const Instruction& instruction) {
    uint64_t address = operand(instruction, 0);
    if (instruction.memory.space == ir::Space::Local) {
      uint64_t value = 0;
      if (address + instruction.type.bits / 8 > local_.size()) result.error = "local address";
      else
        for (unsigned i = 0; i < instruction.type.bits / 8u; ++i) value |= uint64_t(local_[address + i]) << (8 * i);
      return value;
    }
    if (instruction.memory.space == ir::Space::Constant) address += moduleData;
    auto found = global_->find(address);
    return found != global_->end() ? found->second : (address + index_) * 0x9E37'79B9'7F4A'7C15ull >> 7;
  }

  void store(const Instruction& instruction) {
    uint64_t address = operand(instruction, 0), value = operand(instruction, 1);
    if (instruction.memory.space == ir::Space::Local) {
      unsigned bytes = instruction.operands[1]->type.bits / 8u;
      if (address + bytes > local_.size()) result.error = "local address";
      else
        for (unsigned i = 0; i < bytes; ++i) local_[address + i] = static_cast<uint8_t>(value >> (8 * i));
      return;
    }
    (*global_)[address] = value;
    result.stores.push_back({address, value});
  }

  uint64_t ofSingles(const Instruction& instruction, uint64_t a, uint64_t b, uint64_t c) {
    const auto single = [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); };
    const float x = single(a), y = single(b);
    const auto bits = [](float value) -> uint64_t { return std::bit_cast<uint32_t>(value); };
    switch (instruction.op) {
      case Op::UToF: return bits(static_cast<float>(a));
      case Op::FNeg: return a ^ 0x8000'0000;
      case Op::FAdd: return bits(x + y);
      case Op::FSub: return bits(x - y);
      case Op::FMul: return bits(x * y);
      case Op::Fma: return bits(std::fma(x, y, single(c)));
      default: result.error = "cannot run " + std::string(ir::mnemonic(instruction.op)); return 0;
    }
  }

  uint64_t evaluate(const Instruction& instruction) {
    Frame& frame = frames_.back();
    ir::Type type = instruction.operands.empty() ? instruction.type : instruction.operands[0]->type;
    uint64_t a = instruction.operands.size() > 0 ? operand(instruction, 0) : 0;
    uint64_t b = instruction.operands.size() > 1 ? operand(instruction, 1) : 0;
    uint64_t c = instruction.operands.size() > 2 ? operand(instruction, 2) : 0;
    int64_t sa = type.bits ? signedValue(a, type) : 0, sb = type.bits ? signedValue(b, type) : 0;
    switch (instruction.op) {
      case Op::Constant: return instruction.payload;
      case Op::Undef: return junk_;
      case Op::ReadVar: return frame.variables[instruction.payload];
      case Op::WriteVar: frame.variables[instruction.payload] = a; return 0;
      case Op::Input:
        if (instruction.payload == uint64_t(ir::InputKind::ModuleData)) return moduleData;
        return instruction.payload == uint64_t(ir::InputKind::LocalIndex) ? index_ : 1;
      case Op::Load: return load(instruction);
      case Op::Store: store(instruction); return 0;
      case Op::AtomicCas: {
        uint64_t& place = (*global_)[a];
        return place == b ? std::exchange(place, c) : place;
      }
      case Op::AtomicExchange: return std::exchange((*global_)[a], b);
      case Op::AtomicAdd: return std::exchange((*global_)[a], mask((*global_)[a] + b, instruction.type));
      case Op::Add: return a + b;
      case Op::Sub: return a - b;
      case Op::Mul: return a * b;
      case Op::MulHiU: return highHalf(a, b, type.bits);
      case Op::MulHiS:  // the unsigned product, less what the signs added
        return highHalf(a, b, type.bits) - (sa < 0 ? b : 0) - (sb < 0 ? a : 0);
      case Op::SDiv: return b && sb != -1 ? static_cast<uint64_t>(sa / sb) : junk_;
      case Op::SRem: return b && sb != -1 ? static_cast<uint64_t>(sa % sb) : junk_;
      case Op::FindMsbU: return a ? static_cast<uint64_t>(std::bit_width(a)) - 1 : ~uint64_t(0);
      case Op::FindLsb: return a ? static_cast<uint64_t>(std::countr_zero(a)) : ~uint64_t(0);
      case Op::BitExtractU:
      case Op::BitExtractS: {
        uint64_t field = 0;
        for (uint64_t i = 0; i < c; ++i) field |= (a >> (b + i) & 1) << i;
        bool isNegative = instruction.op == Op::BitExtractS && c > 0 && field >> (c - 1) & 1;
        for (uint64_t i = c; isNegative && i < 64; ++i) field |= uint64_t(1) << i;
        return field;
      }
      case Op::BitInsert: {
        uint64_t count = operand(instruction, 3), merged = a;
        for (uint64_t i = 0; i < count; ++i) {
          uint64_t bit = uint64_t(1) << (c + i);
          merged = (b >> i & 1) ? merged | bit : merged & ~bit;
        }
        return merged;
      }
      case Op::UDiv: return b ? a / b : junk_;
      case Op::URem: return b ? a % b : junk_;
      case Op::Neg: return 0 - a;
      case Op::And: return a & b;
      case Op::Or: return a | b;
      case Op::Xor: return a ^ b;
      case Op::Not: return ~a;
      case Op::Shl: return a << b;
      case Op::LShr: return a >> b;
      case Op::AShr: return static_cast<uint64_t>(sa >> b);
      case Op::UMin: return std::min(a, b);
      case Op::UMax: return std::max(a, b);
      case Op::SMin: return static_cast<uint64_t>(std::min(sa, sb));
      case Op::SMax: return static_cast<uint64_t>(std::max(sa, sb));
      case Op::PopCount: return static_cast<uint64_t>(std::popcount(a));
      case Op::IEq: return a == b;
      case Op::INe: return a != b;
      case Op::ULt: return a < b;
      case Op::ULe: return a <= b;
      case Op::SLt: return sa < sb;
      case Op::SLe: return sa <= sb;
      case Op::Select: return a & 1 ? b : c;
      case Op::ZExt:
      case Op::Trunc:
      case Op::Bitcast: return a;
      case Op::SExt: return static_cast<uint64_t>(sa);
      case Op::Fence:
      case Op::Barrier:
      case Op::Expect:
      case Op::Yield:
      case Op::WarpBarrier: return 0;
      default:
        if (instruction.type == ir::F32) return ofSingles(instruction, a, b, c);
        result.error = "cannot run " + std::string(ir::mnemonic(instruction.op));
        return 0;
    }
  }

  uint32_t index_;
  uint64_t junk_;
  std::vector<Frame> frames_;
  std::vector<uint8_t> local_;
  Memory* global_;
};

bool isWarpWide(const Instruction& instruction) {
  return ir::isConvergent(instruction.op) && instruction.op != Op::Barrier && instruction.op != Op::Yield &&
         instruction.op != Op::WarpBarrier && instruction.op != Op::Call;
}

// Gives each of the lanes, which all stand before `instruction`, its result.
void stepTogether(std::vector<Lane*>& group, const std::vector<uint32_t>& numbers, const Instruction& instruction) {
  uint64_t ballot = 0;
  if (instruction.op != Op::Elect)
    for (size_t i = 0; i < group.size(); ++i) ballot |= (group[i]->operand(instruction, 0) & 1) << numbers[i];
  std::vector<uint64_t> results(group.size());
  for (size_t i = 0; i < group.size(); ++i) {
    switch (instruction.op) {
      case Op::Ballot: results[i] = ballot; break;
      case Op::VoteAny: results[i] = ballot != 0; break;
      case Op::VoteAll: results[i] = static_cast<size_t>(std::popcount(ballot)) == group.size(); break;
      case Op::Elect: results[i] = i == 0; break;
      default: {
        auto source = std::find(numbers.begin(), numbers.end(), group[i]->operand(instruction, 1));
        if (source != numbers.end()) results[i] = group[size_t(source - numbers.begin())]->operand(instruction, 0);
        break;
      }
    }
  }
  for (size_t i = 0; i < group.size(); ++i) group[i]->finish(instruction, results[i]);
}

constexpr size_t maxWarpSteps = 1'000'000;

class Warp {
 public:
  Warp(const ir::Function& function, uint32_t count, uint64_t junk) : function_(function) {
    for (uint32_t i = 0; i < count; ++i) lanes_.emplace_back(function, i, junk, std::vector<uint64_t>{}, global_);
  }

  WarpResult inBlockOrder() {
    std::vector<uint32_t> position(function_.blockIdBound());
    for (uint32_t i = 0; i < function_.blocks.size(); ++i) position[function_.blocks[i]->id] = i;
    for (size_t steps = 0; steps < maxWarpSteps; ++steps) {
      const Block* block = nullptr;
      for (const Lane& lane : lanes_)
        if (!lane.isDone() && (!block || position[lane.block()->id] < position[block->id])) block = lane.block();
      if (!block) break;
      std::vector<uint32_t> group;
      for (uint32_t i = 0; i < lanes_.size(); ++i)
        if (!lanes_[i].isDone() && lanes_[i].block() == block) group.push_back(i);
      runBlock(group);
    }
    return finish();
  }

  WarpResult byPostDominators() {
    struct Entry {
      const Block *at, *until;  // null: the end
      std::vector<uint32_t> lanes;
    };
    auto postDominators = findPostDominators();
    std::vector<Entry> stack(1);
    stack[0].at = function_.blocks.front();
    for (uint32_t i = 0; i < lanes_.size(); ++i) stack[0].lanes.push_back(i);
    for (size_t steps = 0; !stack.empty() && steps < maxWarpSteps; ++steps) {
      Entry entry = std::move(stack.back());
      stack.pop_back();
      if (entry.at == entry.until || entry.lanes.empty()) continue;
      runBlock(entry.lanes);
      std::vector<Entry> next;
      for (uint32_t lane : entry.lanes) {
        if (lanes_[lane].isDone()) continue;
        const Block* block = lanes_[lane].block();
        auto found = std::find_if(next.begin(), next.end(), [&](const Entry& e) { return e.at == block; });
        if (found == next.end()) found = next.insert(next.end(), {block, entry.until, {}});
        found->lanes.push_back(lane);
      }
      if (next.size() > 1) {
        const Block* meeting = postDominators[entry.at->id];
        Entry rest{meeting, entry.until, {}};
        for (Entry& e : next) {
          e.until = meeting;
          rest.lanes.insert(rest.lanes.end(), e.lanes.begin(), e.lanes.end());
        }
        std::sort(rest.lanes.begin(), rest.lanes.end());
        if (meeting) stack.push_back(std::move(rest));
      }
      stack.insert(stack.end(), next.rbegin(), next.rend());
    }
    return finish();
  }

 private:
  void runBlock(const std::vector<uint32_t>& numbers) {
    std::vector<Lane*> group;
    for (uint32_t number : numbers) group.push_back(&lanes_[number]);
    for (const Instruction* next = group[0]->nextInstruction(); next; next = group[0]->nextInstruction()) {
      if (next->op == Op::Store) ++result_.storesIssued;
      if (isWarpWide(*next)) stepTogether(group, numbers, *next);
      else
        for (Lane* lane : group) lane->step();
      if (group[0]->isDone()) return;
    }
    for (Lane* lane : group) lane->step();
  }

  // By block id; null for the end. Dominators of the graph with all edges turned around.
  std::vector<const Block*> findPostDominators() const {
    ir::Function reversed;
    ir::Block* end = reversed.addBlock();
    std::vector<ir::Block*> mirror(function_.blockIdBound());
    std::vector<const Block*> original(function_.blocks.size() + 1);
    for (const Block* block : function_.blocks) {
      mirror[block->id] = reversed.addBlock();
      original[mirror[block->id]->id] = block;
    }
    for (const Block* block : function_.blocks) {
      for (const Block* target : block->terminator.targets)
        mirror[target->id]->terminator.targets.push_back(mirror[block->id]);
      if (block->terminator.targets.empty()) end->terminator.targets.push_back(mirror[block->id]);
    }
    ir::DominatorTree tree(reversed);
    std::vector<const Block*> result(function_.blockIdBound());
    for (const Block* block : function_.blocks)
      if (tree.isReachable(mirror[block->id]))
        result[block->id] = original[tree.immediateDominator(mirror[block->id])->id];
    return result;
  }

  WarpResult finish() {
    for (Lane& lane : lanes_) result_.lanes.push_back(std::move(lane.result));
    return std::move(result_);
  }

  const ir::Function& function_;
  Lane::Memory global_;
  std::vector<Lane> lanes_;
  WarpResult result_;
};

}  // namespace

LaneResult runLane(const ir::Function& function, uint32_t lane, size_t maxStores, uint64_t junk,
                   const std::vector<uint64_t>& arguments) {
  Lane::Memory global;
  Lane state(function, lane, junk, arguments, global);
  size_t sinceStore = 0, stores = 0;
  while (!state.isDone() && state.result.stores.size() < maxStores && sinceStore < 1'000'000) {
    state.step();
    sinceStore = state.result.stores.size() == stores ? sinceStore + 1 : 0;
    stores = state.result.stores.size();
  }
  return state.result;
}

WarpResult runWarp(const ir::Function& function, uint32_t lanes, Reconvergence reconvergence, uint64_t junk) {
  Warp warp(function, lanes, junk);
  return reconvergence == Reconvergence::BlockOrder ? warp.inBlockOrder() : warp.byPostDominators();
}

}  // namespace mulciber::test
