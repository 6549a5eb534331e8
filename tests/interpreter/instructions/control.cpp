// Branches, calls, and what ends a thread.
#include "interpreter/instructions/families.h"
#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

void branch(Thread& t, const Op& op) { t.next = t.frames.back().code->ops.data() + op.target; }

void branchByIndex(Thread& t, const Op& op) {
  const std::vector<uint32_t>& targets = t.frames.back().code->lists[op.target];
  const auto index = static_cast<uint32_t>(t.registers[op.a]);
  if (index >= targets.size()) throw Fault(Status::Undefined, "the index is beyond the list of targets");
  t.next = t.frames.back().code->ops.data() + targets[index];
}

void call(Thread& t, const Op& op) {
  const CallSite& site = t.frames.back().code->calls[op.target];
  Program& program = t.block->grid.program;
  const Function& callee = site.function >= 0 ? program.tree.functions[static_cast<size_t>(site.function)]
                                              : program.functionAt(t.registers[site.pointer]);
  // A declaration may stand before the definition.
  t.call(program.codeOf(*program.findFunction(callee.name)), &site);
}

void exitThread(Thread& t, const Op&) { t.state = Thread::State::Exited; }

void trap(Thread&, const Op&) { throw Fault(Status::Trapped, "the kernel has stopped itself"); }

void nothing(Thread&, const Op&) {}

}  // namespace

bool decodeControl(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.opcode == "bra") {
    if (i.operands.size() != 1) Decoder::unknown(i);
    op.target = decoder.target(i.operands[0]);
    op.execute = branch;
  } else if (i.opcode == "brx") {
    if (i.operands.size() != 2) Decoder::unknown(i);
    op.a = decoder.source(i.operands[0], Type::U32);
    op.target = decoder.targets(i.operands[1]);
    op.execute = branchByIndex;
  } else if (i.opcode == "call") {
    op.target = decoder.callSite(i);
    op.execute = call;
  } else if (i.opcode == "ret") {
    op.execute = returnFromFunction;
  } else if (i.opcode == "exit") {
    op.execute = exitThread;
  } else if (i.opcode == "trap") {
    op.execute = trap;
  } else if (i.opcode == "pmevent" || i.opcode == "nanosleep" || i.opcode == "membar" || i.opcode == "fence") {
    op.execute = nothing;  // threads see each other's writes at once
  } else {
    return false;
  }
  return true;
}

}  // namespace mulciber::interpreter
