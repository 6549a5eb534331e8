// Builds one SPIR-V module: hands out ids, keeps types and constants unique, collects capabilities and extensions as
// they are needed, and puts the sections in order. It knows SPIR-V's rules of form and nothing of kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.hpp11>

namespace mulciber::spirv {

using Id = uint32_t;

class ModuleBuilder {
 public:
  Id newId() { return nextId_++; }

  void capability(spv::Capability capability) { capabilities_.insert(capability); }
  void extension(std::string_view name) { extensions_.emplace(name); }
  void executionMode(Id function, spv::ExecutionMode mode, std::initializer_list<uint32_t> operands = {});
  void executionModeId(Id function, spv::ExecutionMode mode, std::initializer_list<Id> operands);
  void entryPoint(Id function, std::string_view name) { entryPoint_ = function, entryName_ = name; }
  void name(Id id, std::string_view text);
  Id string(const std::string& text);  // for debug information; made once
  void decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> operands = {});
  void decorateMember(Id type, uint32_t member, spv::Decoration decoration,
                      std::initializer_list<uint32_t> operands = {});

  // Types. Integers are unsigned: operations say how they read them. Capabilities for 8- and 16-bit types are the
  // caller's: computing with them and merely loading them need different ones.
  Id voidType() { return global(spv::Op::OpTypeVoid, {}); }
  Id boolType() { return global(spv::Op::OpTypeBool, {}); }
  Id intType(uint32_t bits);
  Id floatType(uint32_t bits);
  Id brainFloatType() { return global(spv::Op::OpTypeFloat, {16, 0}); }  // with its encoding, BFloat16KHR
  Id vectorType(Id component, uint32_t count) { return global(spv::Op::OpTypeVector, {component, count}); }
  Id plainArrayType(Id element, uint32_t count);  // a value: no layout
  Id sizedArrayType(Id element, Id count) { return global(spv::Op::OpTypeArray, {element, count}); }
  Id layoutArrayType(Id element, Id count, uint32_t stride);                     // in memory
  Id blockType(std::span<const Id> members, std::span<const uint32_t> offsets);  // a new Block struct every time
  Id pairType(Id member) { return global(spv::Op::OpTypeStruct, {member, member}); }
  Id pointerType(spv::StorageClass storage, Id pointee);
  Id imageType(Id texel, spv::Dim dim, bool isArrayed);  // to be sampled and fetched from
  Id storageImageType(Id texel, spv::Dim dim, bool isArrayed, spv::ImageFormat format);
  Id samplerType() { return global(spv::Op::OpTypeSampler, {}); }
  Id sampledImageType(Id image) { return global(spv::Op::OpTypeSampledImage, {image}); }
  Id matrixType(Id component, uint32_t rows, uint32_t columns, spv::CooperativeMatrixUse use);  // of a subgroup
  Id runtimeArrayType(Id element) { return global(spv::Op::OpTypeRuntimeArray, {element}); }

  // Constants
  Id constant32(uint32_t value) { return scalarConstant(intType(32), 32, value); }
  Id scalarConstant(Id type, uint32_t bits, uint64_t value);
  Id boolConstant(bool value);
  Id compositeConstant(Id type, std::span<const Id> members);
  Id nullConstant(Id type) { return global(spv::Op::OpConstantNull, {}, type); }
  Id specConstant32(uint32_t specId, uint32_t value, std::string_view name);
  Id specOperation(spv::Op op, Id type, std::initializer_list<Id> operands);

  // A variable outside functions; joins the entry point's interface.
  Id globalVariable(spv::StorageClass storage, Id type, std::string_view name);
  Id builtin(spv::BuiltIn which, Id type, std::string_view name);  // an Input variable, made once

  // The entry function: variables, then what every block may use, then the blocks.
  Id functionVariable(Id type, std::string_view name);
  Id prologueLoad(Id type, Id pointer, std::initializer_list<uint32_t> memoryOperands = {});
  Id prologue(spv::Op op, Id type, std::initializer_list<uint32_t> operands);

  Id emit(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
    return emit(op, type, {operands.begin(), operands.size()});
  }
  Id emit(spv::Op op, Id type, std::span<const uint32_t> operands);
  void emitVoid(spv::Op op, std::initializer_list<uint32_t> operands) {
    append(body_, op, {operands.begin(), operands.size()});
  }
  void emitVoid(spv::Op op, std::span<const uint32_t> operands) { append(body_, op, operands); }
  Id glsl(GLSLstd450 function, Id type, std::span<const Id> operands);
  Id glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands) {
    return glsl(function, type, std::span{operands.begin(), operands.size()});
  }
  void label(Id id) { emitVoid(spv::Op::OpLabel, {id}); }
  void branch(Id target) { emitVoid(spv::Op::OpBranch, {target}); }

  // A phi whose operands are filled in later: `pairs` of (value, predecessor), zero until patched.
  Id deferredPhi(Id type, uint32_t pairs, size_t& firstOperand);
  void patch(size_t operand, uint32_t word) { body_[operand] = word; }

  std::vector<uint32_t> finish();

 private:
  using Words = std::vector<uint32_t>;
  static void append(Words& section, spv::Op op, std::span<const uint32_t> operands);
  static void appendString(Words& words, std::string_view text);
  Id global(spv::Op op, std::initializer_list<uint32_t> operands, Id type = 0);
  Id globalOf(spv::Op op, std::span<const uint32_t> operands, Id type);

  Id nextId_ = 1;
  std::set<spv::Capability> capabilities_;
  std::set<std::string, std::less<>> extensions_;
  std::map<Words, Id> unique_;  // type and constant instructions by their words
  std::map<uint32_t, Id> builtins_;
  std::map<std::pair<Id, uint32_t>, Id> strided_;  // (array, stride): layout is part of an array's identity
  Id glsl_ = 0, entryPoint_ = 0;
  std::string entryName_;
  Words interface_;
  std::map<std::string, Id> strings_;
  Words executionModes_, stringSection_, names_, decorations_, globals_, functionVariables_, prologue_, body_;
};

}  // namespace mulciber::spirv
