#include "translator/passes/share_calls.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "translator/ir/builder.h"
#include "translator/passes/body_copy.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/loop_forest.h"
#include "translator/passes/spin_loops.h"
#include "translator/passes/split_values.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Op;

// A smaller body costs about as much as coming to it and finding back.
constexpr uint64_t leastShared = 512;
// In kernels so large that size is all that counts.
constexpr uint64_t hugeKernel = 1'000'000, leastSharedInHuge = 64;
constexpr uint64_t countless = uint64_t(1) << 40;

// A thread that ends with an error tells the host, unless another did (FunctionLowering::fail): it waits for nobody.
bool isReport(const Instruction& atomic) {
  const Instruction* record = atomic.operands[0];
  if (atomic.op != Op::AtomicCas || record->op != Op::Load || record->operands[0]->op != Op::Add) return false;
  const Instruction* state = record->operands[0]->operands[0];
  return state->op == Op::Input && ir::InputKind(state->payload) == ir::InputKind::LaunchState;
}

// Where threads of a function meet, or may wait for each other, as loops around an atomic operation do.
class Meetings {
 public:
  explicit Meetings(Function& function) {
    bool hasSwaps = false;
    std::unordered_set<uint64_t> readVariables(function.returns.begin(), function.returns.end());
    for (const Block* block : function.blocks)
      for (const Instruction* instruction : block->instructions) {
        if (instruction->op == Op::ReadVar) readVariables.insert(instruction->payload);
        hasSwaps |= instruction->op == Op::AtomicCas;
      }
    for (const Block* block : function.blocks) {
      use(block->terminator.value);
      for (const Instruction* instruction : block->instructions)
        if (instruction->op != Op::WriteVar || readVariables.contains(instruction->payload))
          for (const Instruction* operand : instruction->operands) use(operand);
    }
    if (hasSwaps)
      for (const Instruction* swap : retriedSwaps(function)) usedAtomics_.erase(swap);
  }

  bool areAt(const Instruction& instruction) const {
    if (instruction.op == Op::Call) return false;
    if (instruction.op == Op::Load) return isOrderedLoad(instruction);
    return ir::isAtomic(instruction.op) ? usedAtomics_.contains(&instruction) : ir::isConvergent(instruction.op);
  }

 private:
  void use(const Instruction* value) {
    if (value && ir::isAtomic(value->op) && !isReport(*value)) usedAtomics_.insert(value);
  }

  std::unordered_set<const Instruction*> usedAtomics_;
};

std::vector<const Block*> blocksWithMeetings(Function& function) {
  const Meetings meetings(function);
  std::vector<const Block*> blocks;
  for (const Block* block : function.blocks)
    if (std::ranges::any_of(block->instructions, [&](const Instruction* i) { return meetings.areAt(*i); }))
      blocks.push_back(block);
  return blocks;
}

struct Facts {
  std::vector<Function*> callees;  // one for each call
  uint64_t size = 0;               // with all calls inlined
  uint32_t sites = 0;              // calls of it
  bool meetsThreads = false;       // it, or what it calls
};

class CallGraph {
 public:
  explicit CallGraph(Function* kernel) {
    struct Visit {
      Function* function;
      size_t next = 0;
    };
    std::vector<Visit> path;
    auto enter = [&](Function* function) {
      read(*function);
      path.push_back({function});
    };
    enter(kernel);
    while (!path.empty()) {
      Visit& top = path.back();
      Facts& facts = facts_[top.function];
      if (top.next == facts.callees.size()) {
        addCallees(facts);
        calleesFirst_.push_back(top.function);
        path.pop_back();
        continue;
      }
      Function* callee = facts.callees[top.next++];
      const bool isNew = !facts_.contains(callee);
      ++facts_[callee].sites;
      if (isNew) enter(callee);
    }
  }

  const Facts& operator[](const Function* function) const { return facts_.at(function); }
  const std::vector<Function*>& calleesFirst() const { return calleesFirst_; }

 private:
  void read(Function& function) {
    Facts& facts = facts_[&function];
    const Meetings meetings(function);
    for (const Block* block : function.blocks) {
      facts.size += block->instructions.size() + 1;
      for (const Instruction* instruction : block->instructions) {
        if (instruction->op == Op::Call) facts.callees.push_back(instruction->callee);
        facts.meetsThreads |= meetings.areAt(*instruction);
      }
    }
  }

  void addCallees(Facts& facts) {
    for (const Function* callee : facts.callees) {
      facts.size = std::min(facts.size + facts_[callee].size, countless);
      facts.meetsThreads |= facts_[callee].meetsThreads;
    }
  }

  std::unordered_map<const Function*, Facts> facts_;
  std::vector<Function*> calleesFirst_;
};

struct CallSite {
  Block* block;  // ends with the call
  Block* after;
};

// Each call ends its block, and what crosses blocks is in variables: a value before a call does not dominate what
// follows it once others come back the same way.
std::vector<CallSite> prepare(Function& caller, const Function& callee) {
  std::vector<CallSite> sites;
  for (size_t i = 0; i < caller.blocks.size(); ++i) {
    Block* block = caller.blocks[i];
    auto call = std::ranges::find_if(block->instructions, [&](const Instruction* instruction) {
      return instruction->op == Op::Call && instruction->callee == &callee;
    });
    if (call == block->instructions.end()) continue;
    Block* after = caller.addBlock();
    after->instructions.assign(call + 1, block->instructions.end());
    after->terminator = std::move(block->terminator);
    block->instructions.erase(call + 1, block->instructions.end());
    block->terminator = {ir::Terminator::Kind::Branch, nullptr, {after}, {}};
    sites.push_back({block, after});
  }
  splitCrossBlockValues(caller);
  return sites;
}

// Which calls have to stay apart.
//
// Calls that share a body make a loop of the ways from one to the other. No meeting may be in it, or some threads would
// wait there while others have yet to come round. Ways through the header of a loop around all of these calls are not
// in it: the new loop is inside that one. A shared body also leads from each of its calls to what follows the others.
class Ways {
 public:
  explicit Ways(Function& caller) : caller_(caller), meetingBlocks_(blocksWithMeetings(caller)) {}

  std::vector<std::vector<CallSite>> group(const std::vector<CallSite>& sites) {
    if (meetingBlocks_.empty()) return {sites};
    findMeetingLoops();
    callAt_.assign(meets_.size(), none);
    groupOf_.assign(sites.size(), none);
    std::vector<Call> rest;
    for (uint32_t i = 0; i < sites.size(); ++i) callAt_[sites[i].block->id] = i;
    for (uint32_t i = 0; i < sites.size(); ++i) {
      rest.push_back({sites[i], i, meetingLoopHeader(sites[i].block), {}});
      rest.back().reach = reachOf(rest.back());
    }
    while (!rest.empty()) {
      std::vector<Call> members, others;
      for (Call& call : rest)
        (std::ranges::all_of(members, [&](const Call& member) { return mayShare(member, call); }) ? members : others)
            .push_back(std::move(call));
      share(members, others);
      rest = std::move(others);
    }
    return std::move(groups_);
  }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  // By number of the call: to which calls ways lead, and to which over a meeting.
  struct Reach {
    std::vector<bool> all, apart;
  };
  struct Call {
    CallSite site;
    uint32_t number;
    const Block* header;  // of the innermost loop around it in which threads meet, or null
    Reach reach;
  };

  static bool mayShare(const Call& a, const Call& b) {
    return a.header == b.header && !a.reach.apart[b.number] && !b.reach.apart[a.number];
  }

  void findMeetingLoops() {
    forest_ = findLoops(caller_);
    meets_.resize(caller_.blockIdBound());
    loopMeets_.resize(forest_.loops.size());
    for (const Block* block : meetingBlocks_) {
      meets_[block->id] = true;
      for (uint32_t loop = forest_.loopOf(block); loop != LoopForest::none; loop = forest_.loops[loop].parent)
        loopMeets_[loop] = true;
    }
  }

  // Of the innermost loop around the block in which threads meet, or null.
  const Block* meetingLoopHeader(const Block* block) const {
    uint32_t loop = forest_.loopOf(block);
    while (loop != LoopForest::none && !loopMeets_[loop]) loop = forest_.loops[loop].parent;
    return loop == LoopForest::none ? nullptr : forest_.loops[loop].header;
  }

  // The members will share a body. Other calls that lead to one of them lead to what follows all of them.
  void share(const std::vector<Call>& members, std::vector<Call>& others) {
    std::vector<CallSite>& group = groups_.emplace_back();
    for (const Call& member : members) {
      group.push_back(member.site);
      groupOf_[member.number] = static_cast<uint32_t>(groups_.size() - 1);
    }
    if (members.size() == 1) return;
    for (Call& other : others)
      if (std::ranges::any_of(members, [&](const Call& member) { return other.reach.all[member.number]; }))
        other.reach = reachOf(other);
  }

  // Not over the header of the call's loop.
  Reach reachOf(const Call& call) const {
    Reach reach{std::vector<bool>(groupOf_.size()), std::vector<bool>(groupOf_.size())};
    std::vector<bool> seen(meets_.size()), beyond(meets_.size());  // blocks to whose end a way leads
    std::vector<std::pair<const Block*, bool>> work{{call.site.after, false}};
    while (!work.empty()) {
      auto [block, hasMet] = work.back();
      work.pop_back();
      if (block == call.header) continue;
      hasMet |= meets_[block->id];
      std::vector<bool>& done = hasMet ? beyond : seen;
      if (done[block->id] || beyond[block->id]) continue;
      done[block->id] = true;
      for (const Block* target : block->terminator.targets) work.emplace_back(target, hasMet);
      const uint32_t other = callAt_[block->id];
      if (other == none) continue;
      reach.all[other] = true;
      if (hasMet) reach.apart[other] = true;
      if (groupOf_[other] != none)
        for (const CallSite& site : groups_[groupOf_[other]]) work.emplace_back(site.after, hasMet);
    }
    return reach;
  }

  Function& caller_;
  LoopForest forest_;
  std::vector<const Block*> meetingBlocks_;
  std::vector<bool> meets_;       // by block id
  std::vector<bool> loopMeets_;   // by loop
  std::vector<uint32_t> callAt_;  // by block id
  std::vector<std::vector<CallSite>> groups_;
  std::vector<uint32_t> groupOf_;  // by number of the call
};

void replace(Function& caller, const Function& callee, const std::vector<CallSite>& sites) {
  BodyCopy body(caller, callee);
  Block* back = caller.addBlock();
  body.copyTo(back);
  const ir::VariableId place = caller.addVariable(ir::I32, "place");
  ir::Builder b(caller, back);
  std::vector<uint32_t> numbers;
  std::vector<Block*> returns;
  for (const CallSite& site : sites) {
    const Instruction& call = *site.block->instructions.back();
    site.block->instructions.pop_back();
    b.setBlock(site.block);
    for (size_t i = 0; i < call.operands.size(); ++i) b.write(body.variable(callee.parameters[i]), call.operands[i]);
    b.write(place, b.i32(static_cast<uint32_t>(returns.size())));
    b.branch(body.entry());

    numbers.push_back(static_cast<uint32_t>(returns.size()));
    returns.push_back(caller.addBlock());
    b.setBlock(returns.back());
    for (size_t i = 0; i < call.results.size(); ++i) b.write(call.results[i], b.read(body.variable(callee.returns[i])));
    b.branch(site.after);
  }
  b.setBlock(back);
  if (returns.size() == 1) return b.branch(returns.front());
  Block* last = returns.back();
  numbers.pop_back();
  returns.pop_back();
  b.switchOn(b.read(place), last, numbers, returns);
}

}  // namespace

std::vector<Function*> functionsToShare(const ir::Program& program, uint32_t limit) {
  const CallGraph graph(program.functions.front().get());
  const uint64_t size = graph[program.functions.front().get()].size;
  if (size <= limit) return {};
  const uint64_t least = std::min<uint64_t>(size > hugeKernel ? leastSharedInHuge : leastShared, limit);
  std::vector<Function*> found;
  for (Function* function : graph.calleesFirst()) {
    const Facts& facts = graph[function];
    if (facts.sites > 1 && !facts.meetsThreads && facts.size >= least) found.push_back(function);
  }
  std::ranges::reverse(found);
  return found;
}

void shareCalls(Function& caller, const Function& callee) {
  if (!blocksWithMeetings(caller).empty()) {
    // Every loop gets one header now: no edge may be led elsewhere once the calls are noted.
    caller.removeUnreachableBlocks();
    separateEntry(caller);
    splitCrossBlockValues(caller);
    findLoops(caller);
  }
  const std::vector<CallSite> sites = prepare(caller, callee);
  for (const auto& group : Ways(caller).group(sites)) replace(caller, callee, group);
}

}  // namespace mulciber::passes
