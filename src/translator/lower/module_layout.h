// Where a module's variables live: .global and .const in one block of device memory (ModuleData), .shared and
// .local per kernel.
#pragma once

#include <unordered_map>

#include "mulciber/translator.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

// Lays out the module's data, its initial image and relocations. Offsets are stable for one module.
class ModuleLayout {
 public:
  explicit ModuleLayout(const ptx::Module& module);

  const ModuleData& data() const { return data_; }
  uint64_t offsetOf(const ptx::Variable& variable) const { return offsets_.at(&variable); }
  // Functions whose address is taken, in a fixed order: a function pointer is this number plus 1.
  uint32_t functionIndex(const ptx::Function& function) const { return functions_.at(&function); }

 private:
  ModuleData data_;
  std::unordered_map<const ptx::Variable*, uint64_t> offsets_;
  std::unordered_map<const ptx::Function*, uint32_t> functions_;
};

}  // namespace mulciber::lower
