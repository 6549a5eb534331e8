// What kernels ask of their host: errors, printf, the heap, time.
#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "translator/lower/families.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {
namespace {

ir::MemoryAccess globalAccess(unsigned alignment) {
  ir::MemoryAccess access;
  access.space = ir::Space::Global;
  access.alignment = static_cast<uint8_t>(alignment);
  return access;
}

void lowerTrap(FunctionLowering& f, const ptx::Instruction&) { f.fail(KernelFault::Trap); }

// Libraries wait so between looks at memory that others are about to write: without, those looks fill the memory
// system. Counted in cycles, two for each nanosecond: at 1 GHz that is twice the time, which PTX allows, and at 2 GHz
// the time. An H200 takes two to three (docs/performance.md).
void lowerNanosleep(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (!f.profile().shaderSubgroupClock || !f.profile().warpsProgress) return;  // sleeping for no time is allowed
  ir::Builder& b = f.b;
  ir::Instruction* most = b.i32(1'000'000);
  ir::Instruction* time = b.emit(ir::Op::UMin, ir::I32, {f.value(instruction.operands[0], ir::I32), most});
  ir::Instruction* cycles = b.shl(time, b.i32(1));
  auto now = [&b] { return b.convert(ir::Op::Trunc, ir::I32, b.emit(ir::Op::ClockSubgroup, ir::I64, {})); };
  ir::Instruction* start = now();
  // Should the clock stand still: to look at it takes more than eight cycles.
  ir::VariableId looks = b.function().addVariable(ir::I32, "looks");
  b.write(looks, b.lshr(cycles, b.i32(3)));
  f.beginLoop();
  ir::Instruction* left = b.read(looks);
  b.write(looks, b.sub(left, b.i32(1)));
  ir::Instruction* tooEarly = b.compare(ir::Op::ULt, b.sub(now(), start), cycles);
  f.endLoop(b.emit(ir::Op::And, ir::Bool, {tooEarly, b.compare(ir::Op::INe, left, b.i32(0))}));
}

void doNothing(FunctionLowering&, const ptx::Instruction&) {}

constexpr Lowering rows[] = {
    {ptx::Opcode::Trap, lowerTrap, Effect::Effects},
    {ptx::Opcode::Brkpt, doNothing, Effect::Effects},  // no debugger is attached
    {ptx::Opcode::Pmevent, doNothing, Effect::Effects},
    {ptx::Opcode::Nanosleep, lowerNanosleep, Effect::Effects},
    {ptx::Opcode::Setmaxnreg, doNothing, Effect::Effects},
    {ptx::Opcode::Griddepcontrol, doNothing, Effect::Effects},  // launches of one stream never overlap
};

}  // namespace

ir::Instruction* FunctionLowering::launchState(size_t offset) {
  ir::Program& result = program_.result();
  result.usesPrintf |= offset == offsetof(abi::LaunchState, printfBuffer);
  result.usesHeap |= offset == offsetof(abi::LaunchState, heap);
  result.reportsErrors |= offset == offsetof(abi::LaunchState, errorWord);
  result.usesLocks |= offset == offsetof(abi::LaunchState, locks);
  result.usesTextures |= offset == offsetof(abi::LaunchState, textures);
  ir::Instruction* state = b.input(ir::InputKind::LaunchState);
  ir::MemoryAccess access = globalAccess(8);
  access.isReadOnly = true;
  access.mayComeEarly = offset == offsetof(abi::LaunchState, textures);  // others are mostly for what never happens
  return b.load(ir::I64, b.add(state, b.i64(offset)), access);
}

// Fills the error record unless another thread was first, and ends this thread.
void FunctionLowering::fail(KernelFault fault, const FaultText* text) {
  ir::Instruction* record = launchState(offsetof(abi::LaunchState, errorWord));
  ir::Instruction* first = b.emit(ir::Op::AtomicCas, ir::I32, {record, b.i32(0), b.i32(static_cast<uint32_t>(fault))});
  first->memory = globalAccess(4);
  first->memory.order = ir::Order::Relaxed;
  first->memory.scope = ir::Scope::System;
  auto store = [&](size_t offset, ir::Instruction* stored) {
    b.store(b.add(record, b.i64(offset)), stored, globalAccess(stored->type.bits / 8));
  };
  beginIf(b.compare(ir::Op::IEq, first, b.i32(0)));
  store(offsetof(abi::ErrorRecord, line), text ? text->line : b.i32(0));
  using Id = ptx::SpecialRegister;
  constexpr Id places[] = {Id::CtaidX, Id::CtaidY, Id::CtaidZ, Id::TidX, Id::TidY, Id::TidZ};
  for (size_t i = 0; i < 6; i++) store(offsetof(abi::ErrorRecord, block) + 4 * i, specialRegister(places[i]));
  if (text) {
    store(offsetof(abi::ErrorRecord, message), text->message);
    store(offsetof(abi::ErrorRecord, file), text->file);
    store(offsetof(abi::ErrorRecord, function), text->function);
  }
  endIf();
  endThread();
}

bool FunctionLowering::callService(std::string_view name, const ptx::Instruction& call) {
  const ptx::Operand& arguments = call.operands[ptx::CallArguments];
  auto take = [&](size_t index, ir::Type type) {
    return index < arguments.elements.size() ? argument(arguments.elements[index], type) : b.constant(type, 0);
  };
  if (name == "__assertfail") {
    FaultText text{take(0, ir::I64), take(1, ir::I64), take(2, ir::I32), take(3, ir::I64)};
    fail(KernelFault::Assert, &text);
    return true;
  }
  const ptx::Operand& results = call.operands[ptx::CallResults];
  size_t place = name == "__mulciber_printf_buffer" ? offsetof(abi::LaunchState, printfBuffer)
                 : name == "__mulciber_heap"        ? offsetof(abi::LaunchState, heap)
                                                    : 0;
  if (place != 0 && results.elements.size() == 1) {
    write(results.elements[0], launchState(place));
    return true;
  }
  return false;
}

std::span<const Lowering> serviceLowerings() { return rows; }

}  // namespace mulciber::lower
