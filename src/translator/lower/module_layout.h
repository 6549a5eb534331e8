// Where a module's variables live: .global and .const in one block of device memory (ModuleData), .shared and
// .local per kernel.
#pragma once

#include <unordered_map>
#include <vector>

#include "mulciber/translator.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

// Lays out the module's data, its initial image and relocations. Offsets are stable for one module.
class ModuleLayout {
 public:
  explicit ModuleLayout(const ptx::Module& module);

  const ModuleData& data() const { return data_; }
  bool contains(const ptx::Variable& variable) const { return offsets_.contains(&variable); }
  uint64_t offsetOf(const ptx::Variable& variable) const { return offsets_.at(&variable); }
  // .const variables are contiguous: isspacep.const compares with these.
  uint64_t constantBegin() const { return constantBegin_; }
  uint64_t constantEnd() const { return constantEnd_; }

  // Functions whose address is taken, in a fixed order, and these addresses: no null, and even, since an odd pointer to
  // a member function stands for a virtual one.
  uint32_t functionAddress(const ptx::Function& function) const { return 16 * (functionIndices_.at(&function) + 1); }
  const std::vector<const ptx::Function*>& addressTaken() const { return addressTaken_; }

  // Texture and surface references, in their order. They are no data: each launch says which objects they stand for.
  const std::vector<const ptx::Variable*>& references() const { return references_; }

 private:
  void collectVariables(const ptx::Module& module);
  void collectFunctions(const ptx::Module& module);
  void fill(const ptx::Variable& variable);
  void takeAddress(const ptx::Function* function);

  ModuleData data_;
  std::vector<const ptx::Variable*> variables_, references_;
  uint64_t constantBegin_ = 0, constantEnd_ = 0;
  std::unordered_map<const ptx::Variable*, uint64_t> offsets_;
  std::vector<const ptx::Function*> addressTaken_;
  std::unordered_map<const ptx::Function*, uint32_t> functionIndices_;
};

}  // namespace mulciber::lower
