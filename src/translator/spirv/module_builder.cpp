#include "translator/spirv/module_builder.h"

#include <algorithm>

namespace mulciber::spirv {
namespace {

constexpr uint32_t generatorMagic = 0;  // not registered

}  // namespace

void ModuleBuilder::append(Words& section, spv::Op op, std::span<const uint32_t> operands) {
  section.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
  section.insert(section.end(), operands.begin(), operands.end());
}

void ModuleBuilder::appendString(Words& words, std::string_view text) {
  uint32_t word = 0;
  unsigned shift = 0;
  for (char c : text) {
    word |= static_cast<uint32_t>(static_cast<unsigned char>(c)) << shift;
    if ((shift += 8) == 32) words.push_back(word), word = 0, shift = 0;
  }
  words.push_back(word);
}

void ModuleBuilder::executionMode(Id function, spv::ExecutionMode mode, std::initializer_list<uint32_t> operands) {
  Words words{function, static_cast<uint32_t>(mode)};
  words.insert(words.end(), operands);
  append(executionModes_, spv::Op::OpExecutionMode, words);
}

void ModuleBuilder::executionModeId(Id function, spv::ExecutionMode mode, std::initializer_list<Id> operands) {
  Words words{function, static_cast<uint32_t>(mode)};
  words.insert(words.end(), operands);
  append(executionModes_, spv::Op::OpExecutionModeId, words);
}

void ModuleBuilder::name(Id id, std::string_view text) {
  if (text.empty()) return;
  Words words{id};
  appendString(words, text);
  append(names_, spv::Op::OpName, words);
}

Id ModuleBuilder::string(const std::string& text) {
  auto [entry, isNew] = strings_.try_emplace(text, 0);
  if (isNew) {
    entry->second = newId();
    Words words{entry->second};
    appendString(words, text);
    append(stringSection_, spv::Op::OpString, words);
  }
  return entry->second;
}

void ModuleBuilder::decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> operands) {
  Words words{id, static_cast<uint32_t>(decoration)};
  words.insert(words.end(), operands);
  append(decorations_, spv::Op::OpDecorate, words);
}

void ModuleBuilder::decorateMember(Id type, uint32_t member, spv::Decoration decoration,
                                   std::initializer_list<uint32_t> operands) {
  Words words{type, member, static_cast<uint32_t>(decoration)};
  words.insert(words.end(), operands);
  append(decorations_, spv::Op::OpMemberDecorate, words);
}

Id ModuleBuilder::globalOf(spv::Op op, std::span<const uint32_t> operands, Id type) {
  Words key{static_cast<uint32_t>(op), type};
  key.insert(key.end(), operands.begin(), operands.end());
  auto [entry, isNew] = unique_.try_emplace(std::move(key), 0);
  if (isNew) {
    Id id = entry->second = newId();
    Words words;
    if (type != 0) words.push_back(type);
    words.push_back(id);
    words.insert(words.end(), operands.begin(), operands.end());
    append(globals_, op, words);
  }
  return entry->second;
}

Id ModuleBuilder::global(spv::Op op, std::initializer_list<uint32_t> operands, Id type) {
  return globalOf(op, {operands.begin(), operands.size()}, type);
}

Id ModuleBuilder::intType(uint32_t bits) {
  if (bits == 64) capability(spv::Capability::Int64);
  return global(spv::Op::OpTypeInt, {bits, 0});
}

Id ModuleBuilder::floatType(uint32_t bits) {
  if (bits == 64) capability(spv::Capability::Float64);
  return global(spv::Op::OpTypeFloat, {bits});
}

Id ModuleBuilder::plainArrayType(Id element, uint32_t count) {
  return global(spv::Op::OpTypeArray, {element, constant32(count)});
}

Id ModuleBuilder::layoutArrayType(Id element, Id count, uint32_t stride) {
  Id& id = strided_[{element, count}];
  if (id == 0) {
    id = newId();
    append(globals_, spv::Op::OpTypeArray, Words{id, element, count});
    decorate(id, spv::Decoration::ArrayStride, {stride});
  }
  return id;
}

Id ModuleBuilder::blockType(std::span<const Id> members, std::span<const uint32_t> offsets) {
  Id id = newId();
  Words words{id};
  words.insert(words.end(), members.begin(), members.end());
  append(globals_, spv::Op::OpTypeStruct, words);
  decorate(id, spv::Decoration::Block);
  for (uint32_t i = 0; i < offsets.size(); ++i) decorateMember(id, i, spv::Decoration::Offset, {offsets[i]});
  return id;
}

Id ModuleBuilder::pointerType(spv::StorageClass storage, Id pointee) {
  return global(spv::Op::OpTypePointer, {static_cast<uint32_t>(storage), pointee});
}

Id ModuleBuilder::imageType(Id texel, spv::Dim dim, bool isArrayed) {
  constexpr uint32_t noDepth = 0, oneSample = 0, isSampled = 1;
  return global(spv::Op::OpTypeImage, {texel, static_cast<uint32_t>(dim), noDepth, isArrayed, oneSample, isSampled,
                                       static_cast<uint32_t>(spv::ImageFormat::Unknown)});
}

Id ModuleBuilder::matrixType(Id component, uint32_t rows, uint32_t columns, spv::CooperativeMatrixUse use) {
  Id scope = constant32(static_cast<uint32_t>(spv::Scope::Subgroup)), useId = constant32(static_cast<uint32_t>(use));
  return global(spv::Op::OpTypeCooperativeMatrixKHR, {component, scope, constant32(rows), constant32(columns), useId});
}

Id ModuleBuilder::storageImageType(Id texel, spv::Dim dim, bool isArrayed, spv::ImageFormat format) {
  constexpr uint32_t noDepth = 0, oneSample = 0, isStored = 2;
  return global(spv::Op::OpTypeImage, {texel, static_cast<uint32_t>(dim), noDepth, isArrayed, oneSample, isStored,
                                       static_cast<uint32_t>(format)});
}

Id ModuleBuilder::scalarConstant(Id type, uint32_t bits, uint64_t value) {
  if (bits <= 32) return global(spv::Op::OpConstant, {static_cast<uint32_t>(value)}, type);
  return global(spv::Op::OpConstant, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)}, type);
}

Id ModuleBuilder::boolConstant(bool value) {
  return global(value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, {}, boolType());
}

Id ModuleBuilder::compositeConstant(Id type, std::span<const Id> members) {
  return globalOf(spv::Op::OpConstantComposite, members, type);
}

Id ModuleBuilder::specConstant32(uint32_t specId, uint32_t value, std::string_view text) {
  Id id = newId();
  append(globals_, spv::Op::OpSpecConstant, Words{intType(32), id, value});
  decorate(id, spv::Decoration::SpecId, {specId});
  name(id, text);
  return id;
}

Id ModuleBuilder::specOperation(spv::Op op, Id type, std::initializer_list<Id> operands) {
  Words words{static_cast<uint32_t>(op)};
  words.insert(words.end(), operands);
  return globalOf(spv::Op::OpSpecConstantOp, words, type);
}

Id ModuleBuilder::globalVariable(spv::StorageClass storage, Id type, std::string_view text) {
  Id pointer = pointerType(storage, type);
  Id id = newId();
  append(globals_, spv::Op::OpVariable, Words{pointer, id, static_cast<uint32_t>(storage)});
  name(id, text);
  interface_.push_back(id);
  return id;
}

Id ModuleBuilder::builtin(spv::BuiltIn which, Id type, std::string_view text) {
  Id& id = builtins_[static_cast<uint32_t>(which)];
  if (id == 0) {
    id = globalVariable(spv::StorageClass::Input, type, text);
    decorate(id, spv::Decoration::BuiltIn, {static_cast<uint32_t>(which)});
  }
  return id;
}

Id ModuleBuilder::functionVariable(Id type, std::string_view text) {
  Id pointer = pointerType(spv::StorageClass::Function, type);
  Id id = newId();
  append(functionVariables_, spv::Op::OpVariable,
         Words{pointer, id, static_cast<uint32_t>(spv::StorageClass::Function)});
  name(id, text);
  return id;
}

Id ModuleBuilder::prologue(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
  Id id = newId();
  Words words{type, id};
  words.insert(words.end(), operands);
  append(prologue_, op, words);
  return id;
}

Id ModuleBuilder::prologueLoad(Id type, Id pointer, std::initializer_list<uint32_t> memoryOperands) {
  Id id = newId();
  Words words{type, id, pointer};
  words.insert(words.end(), memoryOperands);
  append(prologue_, spv::Op::OpLoad, words);
  return id;
}

Id ModuleBuilder::emit(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Id id = newId();
  body_.push_back(static_cast<uint32_t>(operands.size() + 3) << 16 | static_cast<uint32_t>(op));
  body_.push_back(type);
  body_.push_back(id);
  body_.insert(body_.end(), operands.begin(), operands.end());
  return id;
}

Id ModuleBuilder::glsl(GLSLstd450 function, Id type, std::span<const Id> operands) {
  if (glsl_ == 0) glsl_ = newId();
  Words words{glsl_, static_cast<uint32_t>(function)};
  words.insert(words.end(), operands.begin(), operands.end());
  return emit(spv::Op::OpExtInst, type, words);
}

Id ModuleBuilder::deferredPhi(Id type, uint32_t pairs, size_t& firstOperand) {
  Words operands(size_t{pairs} * 2);
  Id id = emit(spv::Op::OpPhi, type, operands);
  firstOperand = body_.size() - operands.size();
  return id;
}

std::vector<uint32_t> ModuleBuilder::finish() {
  Id voidId = voidType();
  Id functionType = global(spv::Op::OpTypeFunction, {voidId});

  Words module{spv::MagicNumber, 0x00010600, generatorMagic, 0, 0};
  for (spv::Capability capability : capabilities_)
    append(module, spv::Op::OpCapability, Words{static_cast<uint32_t>(capability)});
  for (const std::string& extension : extensions_) {
    Words words;
    appendString(words, extension);
    append(module, spv::Op::OpExtension, words);
  }
  if (glsl_ != 0) {
    Words words{glsl_};
    appendString(words, "GLSL.std.450");
    append(module, spv::Op::OpExtInstImport, words);
  }
  append(module, spv::Op::OpMemoryModel,
         Words{static_cast<uint32_t>(spv::AddressingModel::PhysicalStorageBuffer64),
               static_cast<uint32_t>(spv::MemoryModel::Vulkan)});
  Words entry{static_cast<uint32_t>(spv::ExecutionModel::GLCompute), entryPoint_};
  appendString(entry, entryName_);
  entry.insert(entry.end(), interface_.begin(), interface_.end());
  append(module, spv::Op::OpEntryPoint, entry);

  for (const Words* section : {&executionModes_, &stringSection_, &names_, &decorations_, &globals_})
    module.insert(module.end(), section->begin(), section->end());

  append(module, spv::Op::OpFunction, Words{voidId, entryPoint_, 0, functionType});
  append(module, spv::Op::OpLabel, Words{newId()});
  for (const Words* section : {&functionVariables_, &prologue_, &body_})
    module.insert(module.end(), section->begin(), section->end());
  append(module, spv::Op::OpFunctionEnd, {});

  module[3] = nextId_;
  return module;
}

}  // namespace mulciber::spirv
