// What the emission of every instruction family shares: the module under construction, the ids of IR values, and how
// IR types appear in SPIR-V.
//
// Integers of 8 and 16 bits that the device cannot compute with are kept in 32-bit words whose upper bits are zero.
// Vectors of 8, which shaders lack, are arrays.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "translator/analyses/barrier_hazards.h"
#include "translator/ir/ir.h"
#include "translator/spirv/module_builder.h"
#include "translator/spirv/spirv.h"

namespace mulciber::spirv {

class MemoryEmitter;

class Emitter {
 public:
  Emitter(const ir::Program& program, const TargetProfile& target, const TranslateOptions& settings);
  ~Emitter();
  std::optional<std::vector<uint32_t>> run(Refusal& refusal);

  ModuleBuilder module;
  const ir::Program& program;
  const TargetProfile& profile;
  const TranslateOptions& options;
  const ir::Function& function;

  // The kernel cannot be emitted: `why` completes "... cannot be translated: ".
  void refuse(std::string_view why);

  // Types
  Id type(ir::Type type);
  Id brainFloatType();  // with the capability that it needs
  Id u32() { return module.intType(32); }
  Id u64() { return module.intType(64); }
  bool isNative(ir::Type type) const;         // false: an integer kept in a wider word
  Id constant(ir::Type type, uint64_t bits);  // of every lane
  Id zero(ir::Type type) { return module.nullConstant(this->type(type)); }

  // Values
  Id value(const ir::Instruction* instruction);
  Id operand(const ir::Instruction& instruction, unsigned index) { return value(instruction.operands[index]); }
  Id bitcast(Id value, ir::Type from, ir::Type to);
  Id extract(Id composite, ir::Type componentType, unsigned lane);
  Id construct(ir::Type type, std::span<const Id> components);

  // Integers by width: to 32 bits or back, however the narrow type is kept.
  Id widen(Id value, ir::Type from, bool isSigned);
  Id narrow(Id value, ir::Type to);
  Id low(Id value64);  // words of a 64-bit integer
  Id high(Id value64);
  Id join(Id low, Id high);
  // A word with a half of it, at bit 0 or 16, replaced by other bits: at 0 they are no more than 16. NVIDIA's compiler
  // (580.159.04) changes the wrong word too where OpBitFieldInsert does this to an upper half in a loop.
  Id insertHalf(Id word, Id bits, Id shift);

  Id op(spv::Op op, ir::Type resultType, std::initializer_list<Id> operands) {
    return module.emit(op, type(resultType), operands);
  }
  Id glsl(GLSLstd450 which, ir::Type resultType, std::initializer_list<Id> operands) {
    return module.glsl(which, type(resultType), operands);
  }
  Id select(Id condition, ir::Type resultType, Id a, Id b);

  // Structured control flow within one IR block.
  struct If {
    Id merge, elseLabel;
    Id thenEnd = 0, elseEnd = 0;
  };
  If beginIf(Id condition, bool hasElse);
  void beginElse(If& state);
  void endIf(If& state);
  // After endIf() of an if with both arms: the value that came out.
  Id merged(const If& state, ir::Type resultType, Id thenValue, Id elseValue);
  void startBlock(Id label) {
    module.label(currentLabel_ = label);
    line_ = nullptr;  // a line holds to the end of its block
  }
  Id currentLabel() const { return currentLabel_; }

  // The target has atomic operations on integers of this width there.
  bool hasAtomics(ir::Type type, ir::Space space);
  void fence(ir::Order order, ir::Scope scope);
  // What orders accesses to memory, and to images in programs that write them.
  uint32_t semantics(ir::Order order) const;
  analyses::BarrierHazard hazardAt(const ir::Instruction& barrier) const { return barrierHazards_.at(&barrier); }

  Id input(ir::InputKind kind);
  MemoryEmitter& memory() { return *memory_; }

  // The array of descriptors at that binding (texture_abi.h), as one of that type.
  Id descriptors(uint32_t binding, Id type, std::string_view name);
  // Descriptors that were loaded where their number is known, by it and their type.
  std::map<std::pair<Id, Id>, Id> loadedDescriptors;

 private:
  void emitFunction();
  void emitBlock(const ir::Block& block);
  void emitInstruction(const ir::Instruction& instruction);
  void emitLine(uint32_t source);
  void nameValue(const ir::Instruction& instruction);
  void emitPhi(const ir::Block& block, const ir::Instruction& phi);
  void emitTerminator(const ir::Block& block);
  void patchPhis();
  void emitExecutionModes(Id main);
  Id makeInput(ir::InputKind kind);
  Id makeThreadIndex(unsigned dimension);

  struct PendingPhi {
    const ir::Block* block;
    const ir::Instruction* phi;
    size_t firstOperand;
  };

  std::unordered_map<const ir::Instruction*, Id> values_;
  std::unordered_map<const ir::Block*, Id> labels_, lastLabels_;
  std::unordered_map<uint8_t, Id> inputs_;
  std::unordered_map<Id, Id> descriptors_;  // arrays, by the type of their elements
  std::unordered_map<const ir::Instruction*, std::vector<const ir::Instruction*>> samples_;  // by their two numbers
  std::vector<PendingPhi> phis_;
  const analyses::BarrierHazards barrierHazards_;
  const bool writesImages_;
  std::unique_ptr<MemoryEmitter> memory_;
  const ir::Instruction* current_ = nullptr;
  const ir::SourceLine* line_ = nullptr;  // that the block's instructions come from
  Id currentLabel_ = 0;
  Refusal refusal_;
};

// One function for each instruction family; each returns the id of the result, or 0 when there is none.
Id emitInteger(Emitter& e, const ir::Instruction& i);
Id emitBits(Emitter& e, const ir::Instruction& i);
Id emitComparison(Emitter& e, const ir::Instruction& i);
Id emitFloat(Emitter& e, const ir::Instruction& i);
Id emitConversion(Emitter& e, const ir::Instruction& i);
Id emitImage(Emitter& e, const ir::Instruction& i);
void loadDescriptors(Emitter& e, const ir::Instruction& number, const std::vector<const ir::Instruction*>& samples);
Id emitMemory(Emitter& e, const ir::Instruction& i);
Id emitAtomic(Emitter& e, const ir::Instruction& i);
Id emitSubgroup(Emitter& e, const ir::Instruction& i);
Id emitMatrixProduct(Emitter& e, const ir::Instruction& i);
Id emitLoadRows(Emitter& e, const ir::Instruction& i);

}  // namespace mulciber::spirv
