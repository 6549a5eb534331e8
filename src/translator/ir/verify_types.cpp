#include "translator/ir/verify_types.h"

#include "translator/ir/names.h"

namespace mulciber::ir {
namespace {

bool in(Op op, Op first, Op last) { return op >= first && op <= last; }

bool isStorable(Type type) { return (type.isInt() || type.isFloat()) && type.bits >= 8; }

std::string checkConversion(const Instruction& instruction) {
  Type from = instruction.operands[0]->type, to = instruction.type;
  auto expect = [](bool fits, const char* message) { return fits ? std::string() : std::string(message); };
  bool sameLanes = from.lanes == to.lanes;
  switch (instruction.op) {
    case Op::ZExt:
      return expect(to.isInt() && sameLanes && (from.isBool() || (from.isInt() && from.bits < to.bits)),
                    "extends to a wider integer");
    case Op::SExt:
      return expect(to.isInt() && sameLanes && from.isInt() && from.bits < to.bits, "extends to a wider integer");
    case Op::Trunc:
      return expect(to.isInt() && sameLanes && from.isInt() && from.bits > to.bits, "truncates to a narrower integer");
    case Op::UToF:
    case Op::SToF: return expect(from.isInt() && to.isFloat() && sameLanes, "converts an integer to a float");
    case Op::FToU:
    case Op::FToS:
    case Op::FToUClamped:
    case Op::FToSClamped: return expect(from.isFloat() && to.isInt() && sameLanes, "converts a float to an integer");
    case Op::FConvert:
      return expect(from.isFloat() && to.isFloat() && sameLanes && from.bits != to.bits,
                    "changes the width of a float");
    case Op::PackBfloats:
      return expect(from == F32 && instruction.operands[1]->type == F32 && to == I32, "packs two f32 into an i32");
    case Op::Bitcast:
      return expect(isStorable(from) && isStorable(to) && from.totalBits() == to.totalBits(),
                    "keeps the number of bits");
    default: return {};
  }
}

std::string checkVector(const Instruction& instruction) {
  Type type = instruction.type;
  if (instruction.op == Op::VecBuild) {
    if (instruction.operands.size() != type.lanes) return "has one operand for each lane";
    for (const Instruction* operand : instruction.operands)
      if (operand->type != type.scalar()) return "has operands of the element type";
    return {};
  }
  Type vector = instruction.operands[0]->type;
  if (!vector.isVector() || instruction.payload >= vector.lanes) return "names a lane of a vector";
  if (instruction.op == Op::VecExtract) return type == vector.scalar() ? "" : "has the element type";
  return type == vector && instruction.operands[1]->type == vector.scalar() ? "" : "takes a vector and one element";
}

std::string checkMemory(const Instruction& instruction) {
  if (instruction.op == Op::Fence) return {};
  Space space = instruction.memory.space;
  Type address = space == Space::Global || space == Space::Generic ? I64 : I32;
  if (instruction.operands[0]->type != address)
    return "takes an address of type " + toString(address) + " in " + std::string(spaceNames[size_t(space)]);
  Type value = instruction.op == Op::Store ? instruction.operands[1]->type : instruction.type;
  if (!isStorable(value)) return "moves integers or floats of whole bytes";
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    if (instruction.operands[i]->type != value) return "has values of the result's type";
  uint8_t alignment = instruction.memory.alignment;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return "has an alignment that is a power of two";
  return {};
}

std::string checkCall(const Instruction& call, const Function& function) {
  if (!call.callee) return "has a callee";
  const auto& parameters = call.callee->parameters;
  const auto& returns = call.callee->returns;
  if (call.operands.size() != parameters.size()) return "has an argument for each parameter";
  for (size_t i = 0; i < parameters.size(); ++i)
    if (call.operands[i]->type != call.callee->variables[parameters[i]].type)
      return "has arguments of the parameters' types";
  if (call.results.size() > returns.size()) return "takes no more results than the function returns";
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (call.results[i] >= function.variables.size()) return "writes declared variables";
    if (function.variables[call.results[i]].type != call.callee->variables[returns[i]].type)
      return "writes variables of the results' types";
  }
  return {};
}

bool isInt32(const Instruction* value) { return value->type == I32; }

// Its number, the coordinates, and what is written.
std::string checkStorageImage(const Instruction& instruction) {
  const auto shape = static_cast<abi::ImageShape>(instruction.payload);
  if (shape == abi::ImageShape::Cube || shape == abi::ImageShape::Cubes) return "has faces of cubes as layers";
  const bool reads = instruction.op == Op::ImageRead, writes = instruction.op == Op::ImageWrite;
  const auto& operands = instruction.operands;
  const size_t places = 1 + coordinateCount(shape);
  if (operands.size() != places + (reads ? 0 : 1)) return "has the coordinates of its shape";
  for (size_t i = 0; i < places; ++i)
    if (!isInt32(operands[i])) return "takes a number and coordinates as i32";
  const Type texel = reads || writes ? I32.withLanes(4) : I32;
  if (!reads && operands.back()->type != texel) return "writes " + toString(texel);
  return writes || instruction.type == texel ? "" : "gives " + toString(texel);
}

std::string checkImage(const Instruction& instruction) {
  if (instruction.payload >= shapeNames.size()) return "names the shape of an image";
  if (isStorageImage(instruction.op)) return checkStorageImage(instruction);
  const auto shape = static_cast<abi::ImageShape>(instruction.payload);
  const bool samples = instruction.op == Op::ImageSample;
  const Type coordinate = samples ? F32 : I32;
  const auto& operands = instruction.operands;
  const bool isLayered =
      shape == abi::ImageShape::Lines || shape == abi::ImageShape::Planes || shape == abi::ImageShape::Cubes;
  const size_t numbers = samples ? 2 : 1, coordinates = coordinateCount(shape);
  const size_t levels = operands.size() - std::min(operands.size(), numbers + coordinates);  // or two gradients
  if (levels != 1 && !(samples && levels == 2 * (coordinates - (isLayered ? 1 : 0))))
    return "has the coordinates of its shape";
  if (!samples && (shape == abi::ImageShape::Cube || shape == abi::ImageShape::Cubes)) return "fetches no cube";
  if (!isInt32(operands[0]) || (samples && !isInt32(operands[1]))) return "takes the number of an image as i32";
  for (size_t i = numbers; i < operands.size(); ++i)
    if (operands[i]->type != coordinate) return "takes a level and coordinates of type " + toString(coordinate);
  const bool givesFour = instruction.type == I32.withLanes(4) || instruction.type == F32.withLanes(4);
  return givesFour ? "" : "gives four channels";
}

std::string checkInteger(const Instruction& instruction) {
  Type type = instruction.operands[0]->type;
  Op op = instruction.op;
  if (in(op, Op::And, Op::Not)) {
    if (!type.isInt() && !type.isBool()) return "takes integers or booleans";
  } else if (!type.isInt() || type.isVector()) {
    return "takes integer scalars";
  }
  if (in(op, Op::DotU8, Op::DotSU8)) return type == I32 && isInt32(instruction.operands[1]) ? "" : "takes i32";
  if (in(op, Op::Shl, Op::AShr)) return isInt32(instruction.operands[1]) ? "" : "takes an i32 amount";
  if (in(op, Op::BitExtractU, Op::BitExtractS))
    return isInt32(instruction.operands[1]) && isInt32(instruction.operands[2]) ? "" : "takes an i32 offset and count";
  if (op == Op::BitInsert) {
    bool fits =
        instruction.operands[1]->type == type && isInt32(instruction.operands[2]) && isInt32(instruction.operands[3]);
    return fits ? "" : "takes two integers, an i32 offset and count";
  }
  if (op == Op::PopCount || in(op, Op::FindMsbU, Op::FindLsb)) return isInt32(&instruction) ? "" : "gives i32";
  for (const Instruction* operand : instruction.operands)
    if (operand->type != type) return "takes operands of one type";
  return {};
}

std::string checkSelection(const Instruction& instruction) {
  Type condition = instruction.operands[0]->type;
  bool fits = condition.isBool() && (condition.lanes == 1 || condition.lanes == instruction.type.lanes) &&
              instruction.operands[1]->type == instruction.type && instruction.operands[2]->type == instruction.type;
  return fits ? "" : "chooses between two values of its type";
}

std::string checkFloat(const Instruction& instruction) {
  if (!instruction.type.isFloat()) return "takes floats";
  for (const Instruction* operand : instruction.operands)
    if (operand->type != instruction.type) return "takes operands of one type";
  return {};
}

std::string checkComparison(const Instruction& instruction) {
  Type type = instruction.operands[0]->type;
  bool isFloat = family(instruction.op) != Family::IntegerComparison;
  bool takesBool = instruction.op == Op::IEq || instruction.op == Op::INe;
  if (isFloat ? !type.isFloat() : !type.isInt() && !(takesBool && type.isBool()))
    return isFloat ? "takes floats" : "takes integers";
  for (const Instruction* operand : instruction.operands)
    if (operand->type != type) return "takes operands of one type";
  return instruction.type == Bool.withLanes(type.lanes) ? "" : "gives a boolean for each lane";
}

std::string checkValue(const Instruction& instruction, const Function& function) {
  switch (instruction.op) {
    case Op::Constant:
      if (instruction.type.isVector()) return "is a scalar";
      if (instruction.type.bits < 64 && instruction.payload >> instruction.type.bits) return "fits its type";
      return {};
    case Op::ReadVar:
      if (instruction.payload >= function.variables.size()) return "names a declared variable";
      return instruction.type == function.variables[instruction.payload].type ? "" : "has the variable's type";
    case Op::WriteVar:
      if (instruction.payload >= function.variables.size()) return "names a declared variable";
      return instruction.operands[0]->type == function.variables[instruction.payload].type ? ""
                                                                                           : "has the variable's type";
    case Op::Phi:
      for (const Instruction* operand : instruction.operands)
        if (operand->type != instruction.type) return "has operands of its type";
      return {};
    case Op::Input:
      if (instruction.payload >= inputNames.size()) return "names an input";
      return instruction.type == I32 || instruction.type == I64 ? "" : "is i32 or i64";
    default: return {};
  }
}

std::string checkMatrixProduct(const Instruction& product) {
  if (product.payload >= matrixNames.size()) return "names a type of matrices";
  const auto type = static_cast<MatrixType>(product.payload);
  const bool isFloat = type == MatrixType::Halves || type == MatrixType::BrainFloats;
  const bool sumsHalves = type == MatrixType::Halves && product.type.scalar() == F16;
  if (product.type.lanes != 4 || (!sumsHalves && product.type.scalar() != (isFloat ? F32 : I32)))
    return "gives four sums";
  const bool fits = product.operands[0]->type == I32.withLanes(4) && product.operands[1]->type == I32.withLanes(2) &&
                    product.operands[2]->type == product.type;
  return fits ? "" : "takes four words of A, two of B, and four sums";
}

std::string checkThreads(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  switch (instruction.op) {
    case Op::Expect: return isInt32(operands[0]) ? "" : "takes i32";
    case Op::Shuffle:
      return operands[0]->type == instruction.type && isInt32(operands[1]) ? "" : "takes a value and an i32 lane";
    case Op::Ballot: return operands[0]->type == Bool && instruction.type == I32 ? "" : "takes a boolean and gives i32";
    case Op::VoteAll:
    case Op::VoteAny: return operands[0]->type == Bool ? "" : "takes a boolean";
    case Op::MatrixProduct: return checkMatrixProduct(instruction);
    case Op::LoadRows:
      if (instruction.memory.space != Space::Shared || !isInt32(operands[0]))
        return "takes an address in shared memory";
      return instruction.type == I32.withLanes(2) || instruction.type == I32.withLanes(4) ? "" : "gives 2 or 4 words";
    default: return {};
  }
}

}  // namespace

std::string checkTypes(const Instruction& instruction, const Function& function) {
  Op op = instruction.op;
  int expected = operandCount(op);
  if (expected >= 0 && instruction.operands.size() != static_cast<size_t>(expected))
    return "takes " + std::to_string(expected) + " operands";
  for (const Instruction* operand : instruction.operands)
    if (!operand || operand->type.isVoid()) return "uses a value";
  switch (family(op)) {
    case Family::Value: return checkValue(instruction, function);
    case Family::Integer: return checkInteger(instruction);
    case Family::IntegerComparison:
    case Family::FloatComparison:
    case Family::FloatClass: return checkComparison(instruction);
    case Family::Selection: return checkSelection(instruction);
    case Family::FloatArithmetic:
    case Family::FloatFunction:
    case Family::FloatRounding: return checkFloat(instruction);
    case Family::Conversion:
    case Family::FloatConversion: return checkConversion(instruction);
    case Family::Vector: return checkVector(instruction);
    case Family::Image:
    case Family::StorageImage: return checkImage(instruction);
    case Family::Access:
    case Family::Atomic:
    case Family::Fence: return checkMemory(instruction);
    case Family::Call: return checkCall(instruction, function);
    case Family::Block:
    case Family::Warp:
    case Family::Clock: return checkThreads(instruction);
  }
  return {};
}

}  // namespace mulciber::ir
