#include "translator/passes/recursion.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "translator/ir/builder.h"
#include "translator/passes/body_copy.h"
#include "translator/passes/split_values.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The end of every frame, just before the next one begins: where to continue, and where the caller's frame begins.
constexpr uint32_t linkBytes = 8;
constexpr uint32_t frameAlignment = 16;

using FunctionSet = std::unordered_set<const Function*>;

template <typename Visitor>
void forEachCall(Function& function, Visitor visit) {
  for (Block* block : function.blocks)
    for (Instruction* instruction : block->instructions)
      if (instruction->op == Op::Call) visit(*instruction);
}

// Of functions that may call themselves; others do not lead back.
FunctionSet reachableFrom(Function* function) {
  FunctionSet reached;
  std::vector<Function*> work{function};
  while (!work.empty()) {
    Function* caller = work.back();
    work.pop_back();
    forEachCall(*caller, [&](Instruction& call) {
      if (call.callee->frame && reached.insert(call.callee).second) work.push_back(call.callee);
    });
  }
  return reached;
}

// A call among recursive functions, which ends its block after prepare().
struct CallSite {
  Block* block;
  const Instruction* call;
  std::vector<VariableId> saved;  // variables of the caller that it reads later
};

struct Member {
  Function* function;
  std::vector<CallSite> sites;
};

// Ends a block after each call to the group and makes all that crosses blocks a variable.
Member prepare(Function& function, const FunctionSet& group) {
  for (size_t i = 0; i < function.blocks.size(); ++i) {
    Block* block = function.blocks[i];
    auto isInner = [&](const Instruction* instruction) {
      return instruction->op == Op::Call && group.contains(instruction->callee);
    };
    auto call = std::find_if(block->instructions.begin(), block->instructions.end(), isInner);
    if (call == block->instructions.end()) continue;
    Block* after = function.addBlock();
    after->instructions.assign(call + 1, block->instructions.end());
    after->terminator = std::move(block->terminator);
    block->instructions.erase(call + 1, block->instructions.end());
    block->terminator = {ir::Terminator::Kind::Branch, nullptr, {after}, {}};
  }
  splitCrossBlockValues(function);
  Member member{&function, {}};
  for (Block* block : function.blocks)
    if (!block->instructions.empty() && block->instructions.back()->op == Op::Call &&
        group.contains(block->instructions.back()->callee))
      member.sites.push_back({block, block->instructions.back(), {}});
  return member;
}

// Which variables are read after each block before they are written.
class Liveness {
 public:
  explicit Liveness(Function& function) : count_(function.variables.size()) {
    function.computePredecessors();
    live_.resize(function.blockIdBound());
    std::vector<std::vector<bool>> writes(function.blockIdBound());
    std::vector<Block*> work;
    for (Block* block : function.blocks) {
      live_[block->id].resize(count_);
      writes[block->id].resize(count_);
      scan(*block, live_[block->id], writes[block->id], function);
      work.push_back(block);
    }
    while (!work.empty()) {
      Block* block = work.back();
      work.pop_back();
      for (Block* from : block->predecessors)
        if (flow(live_[block->id], writes[from->id], live_[from->id])) work.push_back(from);
    }
  }

  bool isLiveInto(const Block* block, VariableId variable) const { return live_[block->id][variable]; }

 private:
  static void scan(const Block& block, std::vector<bool>& reads, std::vector<bool>& writes, const Function& function) {
    for (const Instruction* instruction : block.instructions) {
      if (instruction->op == Op::ReadVar && !writes[instruction->payload]) reads[instruction->payload] = true;
      if (instruction->op == Op::WriteVar) writes[instruction->payload] = true;
      for (VariableId result : instruction->results) writes[result] = true;
    }
    if (block.terminator.kind != ir::Terminator::Kind::Return) return;
    for (VariableId variable : function.returns)
      if (!writes[variable]) reads[variable] = true;
  }

  bool flow(const std::vector<bool>& from, const std::vector<bool>& blocked, std::vector<bool>& into) const {
    bool changed = false;
    for (size_t i = 0; i < count_; ++i) {
      if (!from[i] || blocked[i] || into[i]) continue;
      into[i] = changed = true;
    }
    return changed;
  }

  size_t count_;
  std::vector<std::vector<bool>> live_;  // by block id
};

void findSaved(Member& member) {
  Liveness live(*member.function);
  const ir::RecursiveFrame& frame = *member.function->frame;
  for (CallSite& site : member.sites)
    for (VariableId id = 0; id < member.function->variables.size(); ++id) {
      const auto& results = site.call->results;
      bool isResult = std::find(results.begin(), results.end(), id) != results.end();
      if (!isResult && id != frame.begin && id != frame.overflows &&
          live.isLiveInto(site.block->terminator.targets[0], id))
        site.saved.push_back(id);
    }
}

// Of one group: where it begins, in bytes behind the fixed part of private memory and the stacks before it.
struct Stack {
  uint32_t begin, index;
};

// The function that runs a group of recursive functions.
class Machine {
 public:
  Machine(Function& function, const std::vector<Member>& members, const Stack& stack)
      : machine_(function), members_(members), stack_(stack), b_(function) {}

  void build(const Function& first) {
    machine_.name = first.name + ".loop";
    begin_ = machine_.addVariable(ir::I32, "frame");
    Block* entry = machine_.addBlock();
    leave_ = machine_.addBlock();
    for (const Member& member : members_) {
      auto& copy = copies_.try_emplace(member.function, machine_, *member.function).first->second;
      copy.copyTo(leave_);
    }
    const BodyCopy& firstCopy = copies_.at(&first);
    for (VariableId parameter : first.parameters) machine_.parameters.push_back(firstCopy.variable(parameter));
    for (VariableId result : first.returns) machine_.returns.push_back(firstCopy.variable(result));
    writeEntry(entry, first);
    for (const Member& member : members_)
      for (const CallSite& site : member.sites) writeCall(member, site);
    writeLeave();
  }

 private:
  static ir::MemoryAccess localAccess(ir::Type type) {
    ir::MemoryAccess access;
    access.space = ir::Space::Local;
    access.alignment = static_cast<uint8_t>(std::min(type.totalBits() / 8, frameAlignment));
    return access;
  }

  Instruction* address(Instruction* base, int64_t offset) {
    return b_.add(base, b_.i32(static_cast<uint32_t>(offset)));
  }

  // The address `offset` bytes behind the begin of this stack, and `stacks` whole stacks further.
  Instruction* stackAddress(uint32_t offset, uint32_t stacks) {
    Instruction* fixed = b_.i32(stack_.begin + offset);
    if (stacks == 0) return fixed;
    return b_.add(fixed, b_.mul(b_.input(ir::InputKind::StackBytes), b_.i32(stacks)));
  }

  void push(Instruction* base, int64_t offset, Instruction* value) {
    b_.store(address(base, offset), value, localAccess(value->type));
  }

  Instruction* pop(Instruction* base, int64_t offset, ir::Type type) {
    return b_.load(type, address(base, offset), localAccess(type));
  }

  static ir::Type storedType(ir::Type type) { return type.isBool() ? ir::I32 : type; }

  void enter(const Function& function, Instruction* begin, Instruction* overflows) {
    const BodyCopy& copy = copies_.at(&function);
    b_.write(begin_, begin);
    b_.write(copy.variable(function.frame->begin), begin);
    b_.write(copy.variable(function.frame->overflows), overflows);
    b_.branch(copy.entry());
  }

  void writeEntry(Block* entry, const Function& first) {
    b_.setBlock(entry);
    Instruction* begin = stackAddress(frameAlignment, stack_.index);
    push(begin, -4, b_.i32(0));
    enter(first, begin, b_.boolean(false));
  }

  void writeCall(const Member& member, const CallSite& site) {
    const BodyCopy& copy = copies_.at(member.function);
    const Function& callee = *site.call->callee;
    const BodyCopy& calleeCopy = copies_.at(&callee);
    Block* block = copy.block(site.block);
    std::vector<Instruction*> arguments = block->instructions.back()->operands;
    block->instructions.pop_back();
    Block* after = copy.block(site.block->terminator.targets[0]);

    // Where each saved variable goes, after the function's own frame.
    std::vector<uint32_t> offsets;
    uint32_t end = member.function->localBytes;
    for (VariableId id : site.saved) {
      uint32_t bytes = storedType(member.function->variables[id].type).totalBits() / 8;
      end = alignUp(end, std::min(bytes, frameAlignment));
      offsets.push_back(end);
      end += bytes;
    }
    end = alignUp(end + linkBytes, frameAlignment);

    b_.setBlock(block);
    Instruction* begin = b_.read(begin_);
    for (size_t i = 0; i < site.saved.size(); ++i) {
      Instruction* value = b_.read(copy.variable(site.saved[i]));
      if (value->type.isBool()) value = b_.convert(Op::ZExt, ir::I32, value);
      push(begin, offsets[i], value);
    }
    Instruction* next = address(begin, end);
    places_.push_back(machine_.addBlock());
    push(next, -4, b_.i32(static_cast<uint32_t>(places_.size())));
    push(next, -8, begin);
    for (size_t i = 0; i < arguments.size(); ++i) b_.write(calleeCopy.variable(callee.parameters[i]), arguments[i]);
    // Whatever a function needs to fail and return still fits behind the limit.
    enter(callee, next, b_.compare(Op::ULt, stackAddress(0, stack_.index + 1), next));

    b_.setBlock(places_.back());
    std::vector<Instruction*> results;
    for (size_t i = 0; i < site.call->results.size(); ++i)
      results.push_back(b_.read(calleeCopy.variable(callee.returns[i])));
    begin = b_.read(begin_);
    for (size_t i = 0; i < site.saved.size(); ++i) {
      ir::Type type = member.function->variables[site.saved[i]].type;
      Instruction* value = pop(begin, offsets[i], storedType(type));
      if (type.isBool()) value = b_.compare(Op::INe, value, b_.i32(0));
      b_.write(copy.variable(site.saved[i]), value);
    }
    b_.write(copy.variable(member.function->frame->begin), begin);
    b_.write(copy.variable(member.function->frame->overflows), b_.boolean(false));
    for (size_t i = 0; i < results.size(); ++i) b_.write(copy.variable(site.call->results[i]), results[i]);
    b_.branch(after);
  }

  void writeLeave() {
    b_.setBlock(leave_);
    Instruction* begin = b_.read(begin_);
    Instruction* place = pop(begin, -4, ir::I32);
    b_.write(begin_, pop(begin, -8, ir::I32));
    Block* end = machine_.addBlock();
    std::vector<uint32_t> numbers;
    for (uint32_t i = 1; i <= places_.size(); ++i) numbers.push_back(i);
    b_.switchOn(place, end, numbers, places_);
    b_.setBlock(end);
    b_.ret();
  }

  Function& machine_;
  const std::vector<Member>& members_;
  Stack stack_;
  ir::Builder b_;
  VariableId begin_ = 0;        // of the frame of the function that runs
  Block* leave_ = nullptr;      // where returns go
  std::vector<Block*> places_;  // where calls return to: place i + 1
  std::map<const Function*, BodyCopy> copies_;
};

// How much of private memory one group needs behind its stack: one more of its largest frames, with what is saved in
// it, for the call that fails.
uint32_t reserveBytes(const std::vector<Member>& members) {
  uint32_t largest = 0;
  for (const Member& member : members) {
    uint32_t bytes = member.function->localBytes + 2 * frameAlignment + linkBytes;
    for (const ir::VariableInfo& variable : member.function->variables)
      bytes += std::max(4u, variable.type.totalBits() / 8) * 2;
    largest = std::max(largest, bytes);
  }
  return alignUp(2 * largest, frameAlignment);
}

}  // namespace

bool removeRecursion(ir::Program& program) {
  std::unordered_map<const Function*, FunctionSet> reaches;
  for (const auto& function : program.functions)
    if (function->frame) reaches[function.get()] = reachableFrom(function.get());

  std::vector<std::vector<Function*>> groups;
  FunctionSet grouped;
  for (const auto& function : program.functions) {
    if (!function->frame || !reaches[function.get()].contains(function.get()) || grouped.contains(function.get()))
      continue;
    groups.emplace_back();
    for (const auto& other : program.functions)
      if (reaches[function.get()].contains(other.get()) && reaches[other.get()].contains(function.get())) {
        groups.back().push_back(other.get());
        grouped.insert(other.get());
      }
  }
  Function& kernel = *program.functions.front();
  for (const std::vector<Function*>& group : groups) {
    FunctionSet set(group.begin(), group.end());
    std::vector<Member> members;
    for (Function* function : group) members.push_back(prepare(*function, set));
    for (Member& member : members) findSaved(member);
    const Stack stack{alignUp(kernel.localBytes, frameAlignment), kernel.stackCount++};
    kernel.localBytes = stack.begin + reserveBytes(members);

    std::unordered_map<const Function*, Function*> machines;
    std::vector<std::unique_ptr<Function>> added;
    for (const auto& function : program.functions) {
      if (set.contains(function.get())) continue;
      forEachCall(*function, [&](Instruction& call) {
        if (!set.contains(call.callee)) return;
        Function*& machine = machines[call.callee];
        if (!machine) {
          machine = added.emplace_back(std::make_unique<Function>()).get();
          Machine(*machine, members, stack).build(*call.callee);
        }
        call.callee = machine;
      });
    }
    std::erase_if(program.functions, [&](const auto& function) { return set.contains(function.get()); });
    for (auto& machine : added) program.functions.push_back(std::move(machine));
  }
  return !groups.empty();
}

}  // namespace mulciber::passes
