// Calls and the parameters that pass through them.
#include <algorithm>
#include <cassert>

#include "translator/lower/families.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {
namespace {

uint8_t frameAlignment(const ptx::Variable& variable, uint32_t offset) {
  uint32_t alignment = std::clamp(variable.alignment, 1u, 16u);
  while (offset % alignment != 0) alignment /= 2;
  return static_cast<uint8_t>(alignment);
}

const ptx::Variable* passedVariable(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  bool named = operand.kind == Kind::Symbol || (operand.kind == Kind::Address && !operand.hasRegister);
  return named && operand.variable && operand.variable->space == ptx::StateSpace::Param ? operand.variable : nullptr;
}

}  // namespace

const FunctionInfo& FunctionLowering::info() const { return program_.graph().info(function_); }

const ParameterShape* FunctionLowering::passedShape(const ptx::Variable& variable) const {
  auto found = info().shapes.find(&variable);
  return found == info().shapes.end() ? nullptr : &found->second;
}

ir::VariableId FunctionLowering::pieceVariable(const ptx::Variable& variable, size_t piece) {
  std::vector<ir::VariableId>& variables = passed_[&variable];
  if (variables.empty())
    for (const ParameterPiece& each : passedShape(variable)->pieces)
      variables.push_back(
          b.function().addVariable(each.type, std::string(variable.name) + "+" + std::to_string(each.offset)));
  return variables[piece];
}

ir::Instruction* FunctionLowering::frameAddress(uint32_t offset) {
  if (!info().isRecursive) return b.i32(info().frameBegin + offset);
  ir::Instruction* begin = b.read(b.function().frame->begin);  // a multiple of 16
  const uint32_t alignment = info().frameAlignment;
  if (alignment > 16) begin = b.bitAnd(b.add(begin, b.i32(alignment - 16)), b.i32(~(alignment - 1)));
  return b.add(begin, b.i32(offset));
}

// Of alloca's memory.
ir::Instruction* FunctionLowering::stackBegin() {
  if (info().isRecursive) return frameAddress(info().stackBegin);
  ir::Instruction* before = b.mul(b.input(ir::InputKind::StackBytes), b.i32(info().stackNumber));
  return b.add(b.i32(program_.graph().frameBytes()), before);
}

ir::Instruction* FunctionLowering::stackEnd() {
  if (info().isRecursive) return b.add(stackBegin(), b.i32(allocaBytes));
  return b.add(stackBegin(), b.input(ir::InputKind::StackBytes));
}

ir::Instruction* FunctionLowering::accessFrame(const ptx::Variable& variable, uint32_t offset, ir::Type type,
                                               ir::Instruction* stored) {
  ir::MemoryAccess access;
  access.space = ir::Space::Local;
  access.alignment = frameAlignment(variable, offset);
  ir::Instruction* address = frameAddress(info().frameOffsets.at(&variable) + offset);
  return stored ? b.store(address, stored, access) : b.load(type, address, access);
}

ir::Instruction* FunctionLowering::readPassed(const ptx::Variable& variable, uint32_t offset, ir::Type type) {
  const ParameterShape* shape = passedShape(variable);
  if (!shape) return b.undef(type);
  if (shape->inFrame) return accessFrame(variable, offset, type, nullptr);
  ir::Type whole = ir::intType(type.totalBits());
  ir::Instruction* result = nullptr;
  for (size_t i = 0; i < shape->pieces.size(); i++) {
    const ParameterPiece& piece = shape->pieces[i];
    if (piece.offset == offset && piece.type.bits == type.bits) return fit(b.read(pieceVariable(variable, i)), type);
    if (piece.offset + piece.type.bits / 8 <= offset || offset + type.bits / 8 <= piece.offset) continue;
    ir::Instruction* part = fit(b.read(pieceVariable(variable, i)), piece.type.asInt());
    if (piece.offset < offset) part = b.lshr(part, b.i32((offset - piece.offset) * 8));
    part = fit(part, whole);
    if (piece.offset > offset) part = b.shl(part, b.i32((piece.offset - offset) * 8));
    result = result ? b.bitOr(result, part) : part;
  }
  return result ? fit(result, type) : b.undef(type);
}

void FunctionLowering::writePassed(const ptx::Variable& variable, uint32_t offset, ir::Instruction* stored) {
  const ParameterShape* shape = passedShape(variable);
  if (!shape) return;
  if (shape->inFrame) {
    accessFrame(variable, offset, stored->type, stored);
    return;
  }
  uint32_t bytes = stored->type.bits / 8;
  for (size_t i = 0; i < shape->pieces.size(); i++) {
    const ParameterPiece& piece = shape->pieces[i];
    uint32_t pieceBytes = piece.type.bits / 8;
    if (piece.offset + pieceBytes <= offset || offset + bytes <= piece.offset) continue;
    ir::VariableId target = pieceVariable(variable, i);
    if (piece.offset == offset && pieceBytes == bytes) {
      b.write(target, fit(stored, piece.type));
      continue;
    }
    ir::Instruction* part = fit(stored, stored->type.asInt());
    ir::Type bits = piece.type.asInt();
    uint32_t first = std::max(piece.offset, offset), last = std::min(piece.offset + pieceBytes, offset + bytes);
    if (piece.offset > offset) part = b.lshr(part, b.i32((piece.offset - offset) * 8));
    part = fit(part, bits);
    if (piece.offset < offset) part = b.shl(part, b.i32((offset - piece.offset) * 8));
    if (last - first < pieceBytes) {
      uint64_t mask = ((uint64_t(1) << (last - first) * 8) - 1) << (first - piece.offset) * 8;
      ir::Instruction* kept = b.bitAnd(fit(b.read(target), bits), b.constant(bits, ~mask));
      part = b.bitOr(kept, b.bitAnd(part, b.constant(bits, mask)));
    }
    b.write(target, fit(part, piece.type));
  }
}

bool FunctionLowering::loadCallParameter(const ptx::Instruction& instruction, ir::Type type) {
  const ptx::Operand& source = instruction.operands[1];
  const ptx::Variable* variable = passedVariable(source);
  const ParameterShape* shape = variable ? passedShape(*variable) : nullptr;
  if (!shape || shape->inFrame) return false;
  std::vector<ir::Instruction*> parts;
  for (unsigned i = 0; i < type.lanes; i++)
    parts.push_back(readPassed(*variable, static_cast<uint32_t>(source.offset) + i * type.bits / 8, type.scalar()));
  ir::Instruction* loaded = parts.size() == 1 ? parts[0] : b.vector(parts);
  write(instruction.operands[0], loaded, ptx::isSigned(instruction.type()));
  return true;
}

bool FunctionLowering::storeCallParameter(const ptx::Instruction& instruction, ir::Type type) {
  const ptx::Operand& destination = instruction.operands[0];
  const ptx::Variable* variable = passedVariable(destination);
  const ParameterShape* shape = variable ? passedShape(*variable) : nullptr;
  if (!shape || shape->inFrame) return false;
  ir::Instruction* stored = value(instruction.operands[1], type);
  for (unsigned i = 0; i < type.lanes; i++)
    writePassed(*variable, static_cast<uint32_t>(destination.offset) + i * type.bits / 8,
                type.lanes == 1 ? stored : b.extract(stored, i));
  return true;
}

// Declares what callers write and read, and moves parameters that live in memory there.
void FunctionLowering::lowerPrologue() {
  if (info().isRecursive)
    b.function().frame = {b.function().addVariable(ir::I32, "frame"), b.function().addVariable(ir::Bool, "overflows")};
  if (info().usesStack) {
    stackPointer_ = b.function().addVariable(ir::I32, "stack");
    b.write(stackPointer_, stackBegin());
  }
  if (function_.isEntry && program_.hasBarrierWords()) clearBarrierWords();
  if (function_.isEntry) return;
  for (size_t i = 0; i < function_.parameters.size(); i++) {
    const ptx::Variable& parameter = *function_.parameters[i];
    if (i < function_.parameterRegisters.size() && function_.parameterRegisters[i] != ~ptx::RegisterId(0)) {
      b.function().parameters.push_back(variableOf(function_.parameterRegisters[i]));
      continue;
    }
    const ParameterShape* shape = passedShape(parameter);
    for (size_t piece = 0; shape && piece < shape->pieces.size(); piece++) {
      ir::VariableId variable = pieceVariable(parameter, piece);
      b.function().parameters.push_back(variable);
      if (shape->inFrame)
        accessFrame(parameter, shape->pieces[piece].offset, shape->pieces[piece].type, b.read(variable));
    }
  }
  for (size_t i = 0; i < function_.results.size(); i++) {
    if (i < function_.resultRegisters.size() && function_.resultRegisters[i] != ~ptx::RegisterId(0)) {
      b.function().returns.push_back(variableOf(function_.resultRegisters[i]));
      continue;
    }
    const ParameterShape* shape = passedShape(*function_.results[i]);
    for (size_t piece = 0; shape && piece < shape->pieces.size(); piece++)
      b.function().returns.push_back(pieceVariable(*function_.results[i], piece));
  }
  if (info().mayEndThread) {
    ended_ = b.function().addVariable(ir::Bool, "ended");
    b.function().returns.push_back(ended_);
    b.write(ended_, b.boolean(false));
  }
  if (info().isRecursive) {
    beginIf(b.read(b.function().frame->overflows));
    fail(KernelFault::OutOfStack);
    endIf();
  }
}

void FunctionLowering::lowerReturn() {
  for (const ptx::Variable* result : function_.results) {
    const ParameterShape* shape = passedShape(*result);
    if (!shape || !shape->inFrame) continue;
    for (size_t piece = 0; piece < shape->pieces.size(); piece++)
      b.write(pieceVariable(*result, piece),
              accessFrame(*result, shape->pieces[piece].offset, shape->pieces[piece].type, nullptr));
  }
  b.ret();
}

void FunctionLowering::endThread() {
  assert(function_.isEntry || info().mayEndThread);
  if (!function_.isEntry) b.write(ended_, b.boolean(true));
  b.ret();
  b.setBlock(b.function().addBlock());
}

ir::Instruction* FunctionLowering::argument(const ptx::Operand& operand, uint32_t at, ir::Type type) {
  const ptx::Variable* variable = passedVariable(operand);
  if (variable && !(function_.isEntry && !passedShape(*variable))) return readPassed(*variable, at, type);
  return value(operand, type);
}

void FunctionLowering::callDirect(const ptx::Function& callee, const ptx::Instruction& call) {
  const ptx::Operand& results = call.operands[ptx::CallResults];
  const ptx::Operand& arguments = call.operands[ptx::CallArguments];
  if (arguments.elements.size() != callee.parameters.size() || results.elements.size() > callee.results.size())
    return refuse(call, "the call passes other parameters than the function takes");

  std::vector<ir::Instruction*> operands;
  const FunctionInfo& calleeInfo = program_.graph().info(callee);
  auto shapeOf = [&](const ptx::Variable& variable) -> std::vector<ParameterPiece> {
    auto found = calleeInfo.shapes.find(&variable);
    return found == calleeInfo.shapes.end() ? std::vector<ParameterPiece>{} : found->second.pieces;
  };
  for (size_t i = 0; i < callee.parameters.size(); i++) {
    if (i < callee.parameterRegisters.size() && callee.parameterRegisters[i] != ~ptx::RegisterId(0)) {
      ir::Type type = irType(callee.registers[callee.parameterRegisters[i]].type);
      operands.push_back(argument(arguments.elements[i], 0, type));
      continue;
    }
    for (const ParameterPiece& piece : shapeOf(*callee.parameters[i]))
      operands.push_back(argument(arguments.elements[i], piece.offset, piece.type));
  }

  struct Result {
    const ptx::Operand* destination;  // null when the caller ignores it
    uint32_t offset;
    ir::VariableId variable;
  };
  std::vector<Result> received;
  auto receive = [&](size_t index, uint32_t at, ir::Type type) {
    const ptx::Operand* destination = index < results.elements.size() ? &results.elements[index] : nullptr;
    received.push_back({destination, at, b.function().addVariable(type, "result")});
  };
  for (size_t i = 0; i < callee.results.size(); i++) {
    if (i < callee.resultRegisters.size() && callee.resultRegisters[i] != ~ptx::RegisterId(0)) {
      receive(i, 0, irType(callee.registers[callee.resultRegisters[i]].type));
      continue;
    }
    for (const ParameterPiece& piece : shapeOf(*callee.results[i])) receive(i, piece.offset, piece.type);
  }
  ir::Instruction* instruction = b.emit(ir::Op::Call, ir::Void, {});
  instruction->operands = std::move(operands);
  instruction->callee = &program_.functionFor(callee);
  for (const Result& result : received) instruction->results.push_back(result.variable);
  if (calleeInfo.mayEndThread) {
    ir::VariableId ended = b.function().addVariable(ir::Bool, "ended");
    instruction->results.push_back(ended);
    beginIf(b.read(ended));
    endThread();
    endIf();
  }
  for (const Result& result : received) {
    if (!result.destination) continue;
    if (const ptx::Variable* variable = passedVariable(*result.destination)) {
      writePassed(*variable, result.offset, b.read(result.variable));
    } else {
      write(*result.destination, b.read(result.variable));
    }
  }
}

// A function pointer is a number: one case for each function it can be.
void FunctionLowering::callIndirect(const ptx::Instruction& call) {
  std::vector<const ptx::Function*> candidates = program_.graph().candidates(function_, call);
  ir::Instruction* number = value(call.operands[ptx::CallCallee], ir::I64);
  ir::Instruction* low = b.convert(ir::Op::Trunc, ir::I32, number);
  ir::Block* end = b.function().addBlock();
  ir::Block* otherwise = b.function().addBlock();
  std::vector<uint32_t> cases;
  std::vector<ir::Block*> blocks;
  for (const ptx::Function* candidate : candidates) {
    cases.push_back(program_.layout().functionAddress(*candidate));
    blocks.push_back(b.function().addBlock());
  }
  b.switchOn(low, otherwise, cases, blocks);
  for (size_t i = 0; i < candidates.size(); i++) {
    b.setBlock(blocks[i]);
    callDirect(*candidates[i], call);
    startBlock(end);
  }
  b.setBlock(otherwise);
  fail(KernelFault::IllegalAddress);
  b.setBlock(end);
}

namespace {

void lowerCall(FunctionLowering& f, const ptx::Instruction& instruction) {
  const ptx::Operand& callee = instruction.operands[ptx::CallCallee];
  if (callee.kind != ptx::Operand::Kind::Function) return f.callIndirect(instruction);
  const ptx::Function& function = resolve(*callee.function);
  if (function.isDefined) return f.callDirect(function, instruction);
  if (!f.callService(function.name, instruction))
    f.refuse(instruction, "function '" + std::string(function.name) + "' is not defined in this module");
}

constexpr Lowering rows[] = {{ptx::Opcode::Call, lowerCall, Effect::Effects}};

}  // namespace

std::span<const Lowering> callLowerings() { return rows; }

}  // namespace mulciber::lower
