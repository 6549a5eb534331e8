#include "translator/lower/module_layout.h"

#include <algorithm>
#include <cstring>

#include "translator/lower/operand_walk.h"

namespace mulciber::lower {
namespace {

constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool isModuleData(const ptx::Variable& variable) {
  return variable.space == ptx::StateSpace::Global || variable.space == ptx::StateSpace::Const;
}

}  // namespace

ModuleLayout::ModuleLayout(const ptx::Module& module) {
  collectVariables(module);
  collectFunctions(module);
  // Constants first, then what has an initial value, the largest last, then zeros: the image ends with the last initial
  // value.
  auto rank = [](const ptx::Variable* variable) {
    bool isConstant = variable->space == ptx::StateSpace::Const;
    const int kind = variable->initializer ? (isConstant ? 1 : 2) : (isConstant ? 0 : 3);
    return std::pair(kind, kind == 2 ? variable->size : 0);
  };
  std::stable_sort(variables_.begin(), variables_.end(),
                   [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  uint64_t imageBytes = 0;
  for (const ptx::Variable* variable : variables_) {
    uint64_t offset = alignUp(data_.size, std::max(1u, variable->alignment));
    bool isConstant = variable->space == ptx::StateSpace::Const;
    offsets_[variable] = offset;
    data_.alignment = std::max(data_.alignment, variable->alignment);
    data_.size = offset + variable->size;
    if (isConstant) constantEnd_ = data_.size;
    if (variable->initializer && !variable->initializer->elements.empty())
      imageBytes = offset + ptx::initialBytes(*variable);
    data_.symbols.push_back(
        {std::string(variable->name), offset, variable->size, variable->alignment, isConstant, variable->isManaged});
  }
  data_.image.resize(imageBytes);
  for (const ptx::Variable* variable : variables_)
    if (variable->initializer) fill(*variable);
}

void ModuleLayout::collectVariables(const ptx::Module& module) {
  auto collect = [&](const ptx::Variable* variable) {
    // What is extern here has been linked, or is the module's own all the same: ptxas ignores the word then.
    if (!isModuleData(*variable)) return;
    const bool isReference = variable->type == ptx::Type::TexRef || variable->type == ptx::Type::SurfRef;
    if (isReference) references_.push_back(variable);
    else if (!ptx::isOpaque(variable->type)) variables_.push_back(variable);
  };
  for (const ptx::Variable* variable : module.variables) collect(variable);
  for (const ptx::Function* function : module.functions)
    for (const ptx::Statement& statement : function->body)
      if (statement.kind == ptx::Statement::Kind::Variable) collect(statement.variable);
}

void ModuleLayout::takeAddress(const ptx::Function* function) {
  if (function->aliasee) function = function->aliasee;
  if (functionIndices_.emplace(function, static_cast<uint32_t>(addressTaken_.size())).second)
    addressTaken_.push_back(function);
}

void ModuleLayout::collectFunctions(const ptx::Module& module) {
  for (const ptx::Variable* variable : variables_)
    if (variable->initializer)
      for (const ptx::InitializerElement& element : variable->initializer->elements)
        if (element.function) takeAddress(element.function);
  for (const ptx::Function* function : module.functions) {
    forEachOperand(*function, [&](const ptx::Instruction& instruction, const ptx::Operand& operand) {
      if (operand.kind == ptx::Operand::Kind::Function && instruction.opcode != ptx::Opcode::Call)
        takeAddress(operand.function);
    });
  }
  // An alias has the number of the function it stands for.
  for (const ptx::Function* function : module.functions)
    if (function->aliasee)
      if (auto found = functionIndices_.find(function->aliasee); found != functionIndices_.end())
        functionIndices_.emplace(function, found->second);
}

void ModuleLayout::fill(const ptx::Variable& variable) {
  uint64_t base = offsets_.at(&variable);
  auto bytes = static_cast<uint32_t>(ptx::scalarSize(variable.type));
  for (const ptx::InitializerElement& element : variable.initializer->elements) {
    uint64_t offset = base + element.index * bytes;
    if (offset + bytes > data_.image.size()) continue;  // the verifier has complained
    if (!element.isSymbol) {
      std::memcpy(&data_.image[offset], &element.bits, std::min<size_t>(bytes, 8));
      continue;
    }
    uint32_t shift = 0;
    uint32_t size = std::min(bytes, 8u);
    if (element.maskByte != 0xFF) {
      shift = element.maskByte * 8u;
      size = 1;
    }
    if (element.function) {
      const ptx::Function* function = element.function->aliasee ? element.function->aliasee : element.function;
      data_.relocations.push_back({offset, size, shift, functionAddress(*function) + element.bits, true});
    } else if (element.variable && offsets_.contains(element.variable)) {
      data_.relocations.push_back({offset, size, shift, offsets_.at(element.variable) + element.bits, false});
    } else if (element.variable && element.variable->space == ptx::StateSpace::Shared) {
      std::memcpy(&data_.image[offset], &element.bits, size);  // extern shared arrays alone may be named here
    }
  }
}

}  // namespace mulciber::lower
