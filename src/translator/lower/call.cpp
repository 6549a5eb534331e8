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

using FormalRegisters = std::span<const ptx::RegisterId>;

bool isRegister(FormalRegisters registers, size_t index) {
  return index < registers.size() && registers[index] != ~ptx::RegisterId(0);
}

// Of a parameter or result as a value, which arrays are not.
ir::Type valueType(const ptx::Variable& formal) {
  const ir::Type type = irType(formal.type);
  return type.withLanes(static_cast<uint8_t>(type.lanes * formal.vector));
}

// How a function's parameter or result is passed: a register as its components, others as the function keeps them.
std::vector<ParameterPiece> piecesOf(const ptx::Function& function, const FunctionInfo& info,
                                     const ptx::Variable& formal, FormalRegisters registers, size_t index) {
  std::vector<ParameterPiece> pieces;
  if (isRegister(registers, index)) {
    const ptx::Register& named = function.registers[registers[index]];
    const ir::Type type = irType(named.type);
    for (unsigned i = 0; i < named.vector; i++) pieces.push_back({i * type.totalBits() / 8, type});
  } else if (auto found = info.shapes.find(&formal); found != info.shapes.end()) {
    pieces = found->second.pieces;
  }
  return pieces;
}

}  // namespace

const FunctionInfo& FunctionLowering::info() const { return program_.graph().info(function_); }

const ParameterShape* FunctionLowering::passedShape(const ptx::Variable& variable) const {
  auto found = info().shapes.find(&variable);
  return found == info().shapes.end() ? nullptr : &found->second;
}

std::span<const ir::VariableId> FunctionLowering::pieceVariables(const ptx::Variable& variable) {
  std::vector<ir::VariableId>& variables = passed_[&variable];
  if (variables.empty())
    for (const ParameterPiece& each : passedShape(variable)->pieces)
      variables.push_back(
          b.function().addVariable(each.type, std::string(variable.name) + "+" + std::to_string(each.offset)));
  return variables;
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
  if (type.isVector()) {
    std::vector<ir::Instruction*> lanes;
    for (unsigned i = 0; i < type.lanes; i++)
      lanes.push_back(readPassed(variable, offset + i * type.bits / 8, type.scalar()));
    return b.vector(lanes);
  }
  return readPieces(shape->pieces, pieceVariables(variable), offset, type);
}

ir::Instruction* FunctionLowering::readPieces(std::span<const ParameterPiece> pieces,
                                              std::span<const ir::VariableId> variables, uint32_t offset,
                                              ir::Type type) {
  ir::Type whole = ir::intType(type.totalBits());
  ir::Instruction* result = nullptr;
  for (size_t i = 0; i < pieces.size(); i++) {
    const ParameterPiece& piece = pieces[i];
    if (piece.offset == offset && piece.type.bits == type.bits) return fit(b.read(variables[i]), type);
    if (piece.offset + piece.type.bits / 8 <= offset || offset + type.bits / 8 <= piece.offset) continue;
    ir::Instruction* part = fit(b.read(variables[i]), piece.type.asInt());
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
  if (stored->type.isVector()) {
    for (unsigned i = 0; i < stored->type.lanes; i++)
      writePassed(variable, offset + i * stored->type.bits / 8, b.extract(stored, i));
    return;
  }
  uint32_t bytes = stored->type.bits / 8;
  for (size_t i = 0; i < shape->pieces.size(); i++) {
    const ParameterPiece& piece = shape->pieces[i];
    uint32_t pieceBytes = piece.type.bits / 8;
    if (piece.offset + pieceBytes <= offset || offset + bytes <= piece.offset) continue;
    ir::VariableId target = pieceVariables(variable)[i];
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
  ir::Instruction* loaded = readPassed(*variable, static_cast<uint32_t>(source.offset), type);
  write(instruction.operands[0], loaded, ptx::isSigned(instruction.type()));
  return true;
}

bool FunctionLowering::storeCallParameter(const ptx::Instruction& instruction, ir::Type type) {
  const ptx::Operand& destination = instruction.operands[0];
  const ptx::Variable* variable = passedVariable(destination);
  const ParameterShape* shape = variable ? passedShape(*variable) : nullptr;
  if (!shape || shape->inFrame) return false;
  writePassed(*variable, static_cast<uint32_t>(destination.offset), value(instruction.operands[1], type));
  return true;
}

// What a caller writes or reads of a parameter or result: see piecesOf().
std::vector<ir::VariableId> FunctionLowering::formalVariables(const ptx::Variable& formal, FormalRegisters registers,
                                                              size_t index) {
  if (!isRegister(registers, index)) {
    if (!passedShape(formal)) return {};
    const std::span<const ir::VariableId> variables = pieceVariables(formal);
    return {variables.begin(), variables.end()};
  }
  std::vector<ir::VariableId> components;
  for (unsigned i = 0; i < function_.registers[registers[index]].vector; i++)
    components.push_back(variableOf(registers[index], i));
  return components;
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
    const std::vector<ir::VariableId> variables = formalVariables(parameter, function_.parameterRegisters, i);
    b.function().parameters.insert(b.function().parameters.end(), variables.begin(), variables.end());
    const ParameterShape* shape = passedShape(parameter);
    if (!shape || !shape->inFrame) continue;
    for (size_t piece = 0; piece < variables.size(); piece++)
      accessFrame(parameter, shape->pieces[piece].offset, shape->pieces[piece].type, b.read(variables[piece]));
  }
  for (size_t i = 0; i < function_.results.size(); i++) {
    const std::vector<ir::VariableId> variables = formalVariables(*function_.results[i], function_.resultRegisters, i);
    b.function().returns.insert(b.function().returns.end(), variables.begin(), variables.end());
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
      b.write(pieceVariables(*result)[piece],
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

ir::Instruction* FunctionLowering::argument(const ptx::Operand& operand, ir::Type type) {
  if (const ptx::Variable* variable = passedVariable(operand)) return readPassed(*variable, 0, type);
  return value(operand, type);
}

// A piece of what a call passes for a parameter.
ir::Instruction* FunctionLowering::argumentPiece(const ptx::Operand& operand, const ptx::Variable& formal,
                                                 const ParameterPiece& piece) {
  if (const ptx::Variable* variable = passedVariable(operand)) {
    const bool isPassed = piece.offset < variable->size;  // not all need give as much for an array without a size
    return isPassed ? readPassed(*variable, piece.offset, piece.type) : b.undef(piece.type);
  }
  const ir::Type whole = valueType(formal);
  ir::Instruction* given = value(operand, whole);
  if (piece.offset == 0 && piece.type.totalBits() == whole.totalBits()) return fit(given, piece.type);
  std::vector<ParameterPiece> lanes;
  std::vector<ir::VariableId> variables;
  for (unsigned i = 0; i < whole.lanes; i++) {
    lanes.push_back({i * whole.bits / 8, whole.scalar()});
    variables.push_back(b.function().addVariable(whole.scalar(), "argument"));
    b.write(variables[i], whole.lanes == 1 ? given : b.extract(given, i));
  }
  return readPieces(lanes, variables, piece.offset, piece.type);
}

void FunctionLowering::receive(const ptx::Operand& destination, const ptx::Variable& formal,
                               std::span<const ParameterPiece> pieces, std::span<const ir::VariableId> variables) {
  if (const ptx::Variable* variable = passedVariable(destination)) {
    for (size_t i = 0; i < pieces.size(); i++) writePassed(*variable, pieces[i].offset, b.read(variables[i]));
    return;
  }
  const ir::Type whole = valueType(formal);
  if (pieces.empty()) return;  // the function leaves it undefined
  if (pieces[0].type.totalBits() == whole.totalBits()) return write(destination, b.read(variables[0]));
  std::vector<ir::Instruction*> lanes;
  for (unsigned i = 0; i < whole.lanes; i++)
    lanes.push_back(readPieces(pieces, variables, i * whole.bits / 8, whole.scalar()));
  write(destination, lanes.size() == 1 ? lanes[0] : b.vector(lanes));
}

void FunctionLowering::callDirect(const ptx::Function& callee, const ptx::Instruction& call) {
  const std::span<const ptx::Operand> results = call.operands[ptx::CallResults].elements;
  const std::span<const ptx::Operand> arguments = call.operands[ptx::CallArguments].elements;
  if (arguments.size() > callee.parameters.size() || results.size() > callee.results.size())
    return refuse(call, "the call passes other parameters than the function takes");

  const FunctionInfo& calleeInfo = program_.graph().info(callee);
  std::vector<ir::Instruction*> operands;
  for (size_t i = 0; i < callee.parameters.size(); i++) {
    const ptx::Variable& formal = *callee.parameters[i];
    for (const ParameterPiece& piece : piecesOf(callee, calleeInfo, formal, callee.parameterRegisters, i))
      operands.push_back(i < arguments.size() ? argumentPiece(arguments[i], formal, piece) : b.undef(piece.type));
  }
  struct Result {
    std::vector<ParameterPiece> pieces;
    std::vector<ir::VariableId> variables;
  };
  std::vector<Result> received;
  for (size_t i = 0; i < callee.results.size(); i++) {
    Result& result = received.emplace_back();
    result.pieces = piecesOf(callee, calleeInfo, *callee.results[i], callee.resultRegisters, i);
    for (const ParameterPiece& piece : result.pieces)
      result.variables.push_back(b.function().addVariable(piece.type, "result"));
  }
  ir::Instruction* instruction = b.emit(ir::Op::Call, ir::Void, {});
  instruction->operands = std::move(operands);
  instruction->callee = &program_.functionFor(callee);
  for (const Result& result : received)
    instruction->results.insert(instruction->results.end(), result.variables.begin(), result.variables.end());
  if (calleeInfo.mayEndThread) {
    ir::VariableId ended = b.function().addVariable(ir::Bool, "ended");
    instruction->results.push_back(ended);
    beginIf(b.read(ended));
    endThread();
    endIf();
  }
  for (size_t i = 0; i < results.size(); i++)
    receive(results[i], *callee.results[i], received[i].pieces, received[i].variables);
}

// A function pointer is a number: one case for each function it can be.
void FunctionLowering::callIndirect(const ptx::Instruction& call) {
  std::vector<const ptx::Function*> candidates = program_.graph().candidates(call);
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
