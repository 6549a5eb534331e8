#include "translator/lower/call_graph.h"

#include <algorithm>

#include "translator/lower/operand_walk.h"
#include "translator/lower/service_functions.h"

namespace mulciber::lower {
namespace {

constexpr uint32_t alignUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool isUnsized(const ptx::Variable& parameter) { return parameter.isArray && parameter.size == 0; }

bool isPassedAlike(const ptx::Variable& a, const ptx::Variable& b) {
  return a.size == b.size || (!a.isArray && !b.isArray && ptx::bitWidth(a.type) == ptx::bitWidth(b.type));
}

bool fits(const ptx::Function& function, const ptx::CallPrototype& prototype) {
  return std::ranges::equal(function.parameters, prototype.parameters,
                            [](auto* a, auto* b) { return isPassedAlike(*a, *b); }) &&
         std::ranges::equal(function.results, prototype.results,
                            [](auto* a, auto* b) { return isPassedAlike(*a, *b); });
}

bool isBarrier(const ptx::Instruction& instruction) {
  return instruction.opcode == ptx::Opcode::Bar || instruction.opcode == ptx::Opcode::Barrier;
}

bool isBlockBarrier(const ptx::Instruction& instruction) {
  return isBarrier(instruction) && !instruction.has(ptx::Mod::warp);
}

// Barriers of a block that are more than bar.sync of all threads.
bool countsThreads(const ptx::Instruction& instruction) {
  if (!isBlockBarrier(instruction) || instruction.has(ptx::Mod::cluster)) return false;
  return instruction.has(ptx::Mod::red) || instruction.operands.size() > 1;
}

bool isWarpOperation(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case ptx::Opcode::Shfl:
    case ptx::Opcode::Vote:
    case ptx::Opcode::Match:
    case ptx::Opcode::Redux:
    case ptx::Opcode::Activemask:
    case ptx::Opcode::Elect:
    case ptx::Opcode::Mma:
    case ptx::Opcode::Wmma:
    case ptx::Opcode::Ldmatrix:
    case ptx::Opcode::Stmatrix:
    case ptx::Opcode::Movmatrix: return true;  // matrices are spread over a warp's lanes
    default: return isBarrier(instruction) && instruction.has(ptx::Mod::warp);
  }
}

bool usesStack(ptx::Opcode opcode) {
  return opcode == ptx::Opcode::Alloca || opcode == ptx::Opcode::Stacksave || opcode == ptx::Opcode::Stackrestore;
}

bool endsThread(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case ptx::Opcode::Call: break;
    case ptx::Opcode::Exit:
    case ptx::Opcode::Trap:
    case ptx::Opcode::Alloca:  // when the stack is full
    case ptx::Opcode::Tex:     // and these where there is no such object, or no such texel
    case ptx::Opcode::Tld4:
    case ptx::Opcode::Txq:
    case ptx::Opcode::Suld:
    case ptx::Opcode::Sust:
    case ptx::Opcode::Sured:
    case ptx::Opcode::Suq: return true;
    default: return false;
  }
  const ptx::Operand& callee = instruction.operands[ptx::CallCallee];
  if (callee.kind != ptx::Operand::Kind::Function) return true;  // the pointer may name no function
  return callee.function->name == "__assertfail";
}

}  // namespace

const ptx::Function& resolve(const ptx::Function& function) {
  if (function.aliasee) return *function.aliasee;
  if (!function.isDefined)
    if (const ptx::Function* service = findServiceFunction(function.name)) return *service;
  return function;
}

CallGraph::CallGraph(const ptx::Function& kernel, const ModuleLayout& layout) : layout_(layout) {
  functions_.push_back(&kernel);
  infos_[&kernel];
  for (size_t i = 0; i < functions_.size(); i++) scan(*functions_[i]);
  order(kernel);
  std::reverse(callersFirst_.begin(), callersFirst_.end());
  for (const ptx::Function* function : callersFirst_) {
    FunctionInfo& info = infos_.at(function);
    layOutFrame(*function, info);
    info.mayEndThread |= info.isRecursive;  // when the stack is full
  }
  placeFrames();
  for (auto function = callersFirst_.rbegin(); function != callersFirst_.rend(); ++function) {
    FunctionInfo& info = infos_.at(*function);
    for (const ptx::Function* callee : info.callees) info.mayEndThread |= infos_.at(callee).mayEndThread;
  }
}

void CallGraph::scan(const ptx::Function& function) {
  std::vector<const ptx::Function*> callees;
  auto add = [&](const ptx::Instruction& call, const ptx::Function& callee) {
    if (!callee.isDefined) return;
    if (infos_.emplace(&callee, FunctionInfo{}).second) functions_.push_back(&callee);
    if (std::ranges::find(callees, &callee) == callees.end()) callees.push_back(&callee);
    notePassed(call, callee);
  };
  bool mayEndThread = false;
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind != ptx::Statement::Kind::Instruction) continue;
    const ptx::Instruction& instruction = *statement.instruction;
    mayEndThread |= endsThread(instruction);
    scanBarrier(instruction);
    if (instruction.opcode != ptx::Opcode::Call) continue;
    const ptx::Operand& callee = instruction.operands[ptx::CallCallee];
    if (callee.kind == ptx::Operand::Kind::Function) {
      add(instruction, resolve(*callee.function));
    } else {
      for (const ptx::Function* candidate : candidates(instruction)) add(instruction, *candidate);
    }
  }
  FunctionInfo& info = infos_.at(&function);
  info.shapes = parameterShapes(function);
  info.callees = std::move(callees);
  info.mayEndThread = mayEndThread;
}

void CallGraph::notePassed(const ptx::Instruction& call, const ptx::Function& callee) {
  const std::span<const ptx::Operand> arguments = call.operands[ptx::CallArguments].elements;
  if (arguments.empty() || arguments.size() != callee.parameters.size() || !arguments.back().variable) return;
  if (!isUnsized(*callee.parameters.back())) return;
  uint64_t& most = infos_.at(&callee).unsizedBytes;
  most = std::max(most, arguments.back().variable->size);
}

bool isAligned(const ptx::Instruction& barrier) {
  return barrier.opcode == ptx::Opcode::Bar || barrier.has(ptx::Mod::aligned);
}

void CallGraph::scanBarrier(const ptx::Instruction& instruction) {
  using ptx::Mod;
  if (instruction.opcode == ptx::Opcode::Mbarrier)
    barriers_.waits |= instruction.has(Mod::test_wait) || instruction.has(Mod::try_wait);
  barriers_.warps |= isWarpOperation(instruction);
  barriers_.any |= isBlockBarrier(instruction);
  barriers_.apart |= isBlockBarrier(instruction) && !isAligned(instruction);
  if (!countsThreads(instruction)) return;
  barriers_.arrives |= instruction.has(Mod::arrive);
  barriers_.reduces |= instruction.has(Mod::red);
  const bool counts = !instruction.has(Mod::red) || instruction.operands.size() > 3;
  barriers_.counts |= counts;
  barriers_.warps |= counts;
}

std::vector<const ptx::Function*> CallGraph::candidates(const ptx::Instruction& call) const {
  const ptx::Operand& signature = call.operands[ptx::CallSignature];
  const auto mayBeMeant = [&](const ptx::Function& function) {
    if (signature.kind == ptx::Operand::Kind::CallTarget) return fits(function, *signature.prototype);
    return std::ranges::any_of(signature.targets->targets,
                               [&](const ptx::Operand& target) { return &resolve(*target.function) == &function; });
  };
  std::vector<const ptx::Function*> found;
  for (const ptx::Function* function : layout_.addressTaken())
    if (function->isDefined && !function->isEntry && mayBeMeant(*function)) found.push_back(function);
  return found;
}

// Depth first, callees before their callers except along cycles. Functions on a cycle may call themselves: they are the
// strongly connected components, found by Tarjan's algorithm.
void CallGraph::order(const ptx::Function& kernel) {
  struct Visit {
    const ptx::Function* function;
    size_t next = 0;
  };
  struct Mark {
    size_t number, low;
    bool isOpen;
  };
  std::unordered_map<const ptx::Function*, Mark> marks;
  std::vector<Visit> path;
  std::vector<const ptx::Function*> open;
  const auto enter = [&](const ptx::Function* function) {
    marks[function] = {marks.size(), marks.size(), true};
    open.push_back(function);
    path.push_back({function});
  };
  enter(&kernel);
  while (!path.empty()) {
    Visit& visit = path.back();
    const ptx::Function* function = visit.function;
    Mark& mark = marks[function];
    FunctionInfo& info = infos_.at(function);
    if (visit.next < info.callees.size()) {
      const ptx::Function* callee = info.callees[visit.next++];
      info.isRecursive |= callee == function;
      const auto seen = marks.find(callee);
      if (seen == marks.end()) enter(callee);
      else if (seen->second.isOpen) mark.low = std::min(mark.low, seen->second.number);
      continue;
    }
    callersFirst_.push_back(function);
    path.pop_back();
    if (!path.empty()) {
      size_t& above = marks[path.back().function].low;
      above = std::min(above, mark.low);
    }
    if (mark.low != mark.number) continue;
    const bool isAlone = open.back() == function;
    for (const ptx::Function* member = nullptr; member != function; open.pop_back()) {
      member = open.back();
      marks[member].isOpen = false;
      infos_.at(member).isRecursive |= !isAlone;
    }
  }
}

// Each frame begins where those of all possible callers end, and so do stacks of alloca. Frames of recursive functions
// lie on a stack behind all others, so begins settle: along a cycle of calls they do not grow.
void CallGraph::placeFrames() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Function* function : callersFirst_) {
      const FunctionInfo& info = infos_.at(function);
      const uint32_t end = alignUp(info.frameBegin + (info.isRecursive ? 0 : info.frameBytes), 16);
      const uint32_t stacks = info.stackNumber + (info.usesStack && !info.isRecursive ? 1 : 0);
      frameBytes_ = std::max(frameBytes_, end);
      stackCount_ = std::max(stackCount_, stacks);
      for (const ptx::Function* callee : info.callees) {
        FunctionInfo& next = infos_.at(callee);
        const uint32_t begin = alignUp(end, next.frameAlignment);
        changed |= next.frameBegin < begin || next.stackNumber < stacks;
        next.frameBegin = std::max(next.frameBegin, begin);
        next.stackNumber = std::max(next.stackNumber, stacks);
      }
    }
  }
}

void CallGraph::layOutFrame(const ptx::Function& function, FunctionInfo& info) {
  uint32_t offset = 0;
  auto place = [&](const ptx::Variable& variable) {
    offset = alignUp(offset, std::max(1u, variable.alignment));
    info.frameAlignment = std::max(info.frameAlignment, variable.alignment);
    info.frameOffsets[&variable] = offset;
    offset += static_cast<uint32_t>(isUnsized(variable) ? info.unsizedBytes : variable.size);
  };
  auto placeParameter = [&](const ptx::Variable* variable) {
    auto shape = info.shapes.find(variable);
    if (shape == info.shapes.end() || !shape->second.inFrame) return;
    place(*variable);
    if (isUnsized(*variable)) shape->second.pieces = parameterWords(*variable, info.unsizedBytes);
  };
  for (const ptx::Variable* variable : function.parameters) placeParameter(variable);
  for (const ptx::Variable* variable : function.results) placeParameter(variable);
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind == ptx::Statement::Kind::Instruction) info.usesStack |= usesStack(statement.instruction->opcode);
    if (statement.kind != ptx::Statement::Kind::Variable) continue;
    if (statement.variable->space == ptx::StateSpace::Local) place(*statement.variable);
    if (statement.variable->space == ptx::StateSpace::Param) placeParameter(statement.variable);
  }
  info.stackBegin = alignUp(offset, 16);
  info.frameBytes = info.stackBegin;
  if (info.isRecursive) info.frameBytes += (info.usesStack ? allocaBytes : 0) + info.frameAlignment - 16;
}

}  // namespace mulciber::lower
