// Lowers a kernel and every device function it can reach.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"
#include "translator/lower/call_graph.h"
#include "translator/lower/module_layout.h"
#include "translator/ptx/parser.h"

namespace mulciber::lower {

// Refusals and errors go to `diagnostics`, each with the kernel, the line, what and why; then nothing is returned.
// `threadsWait`: for each other, by looking at memory, which shows in the program and not in the PTX (passes/waits.h).
std::optional<ir::Program> lowerKernel(const ptx::ModuleHolder& module, const ptx::Function& kernel,
                                       const ModuleLayout& layout, const TargetProfile& profile,
                                       Diagnostics& diagnostics, bool threadsWait = false);

class AsyncCopies;
class FunctionLowering;

// What the functions of one program share. FunctionLowering asks it for everything beyond its own function.
class ProgramLowering {
 public:
  ProgramLowering(const ptx::ModuleHolder& module, const ptx::Function& kernel, const ModuleLayout& layout,
                  const TargetProfile& profile, Diagnostics& diagnostics, bool threadsWait);

  ~ProgramLowering();

  std::optional<ir::Program> run();

  const ptx::Module& module() const { return holder_.module; }
  const ptx::Function& kernel() const { return kernel_; }
  const ModuleLayout& layout() const { return layout_; }
  const TargetProfile& profile() const { return profile_; }
  const CallGraph& graph() const { return graph_; }
  ir::Program& result() { return result_; }

  // The IR of a device function the kernel can reach.
  ir::Function& functionFor(const ptx::Function& function);

  // Byte offsets in the block's shared memory and the kernel's parameter block.
  uint32_t sharedOffset(const ptx::Variable& variable) const { return sharedOffsets_.at(&variable); }
  std::optional<uint32_t> parameterOffset(const ptx::Variable& variable) const {
    auto found = parameterOffsets_.find(&variable);
    return found == parameterOffsets_.end() ? std::nullopt : std::optional(found->second);
  }

  // Barriers that count threads: some kernels need them, some devices then need them for all barriers, see barrier.cpp.
  bool usesArrive() const { return graph_.barriers().arrives; }
  bool countsAllBarriers() const;
  bool hasBarrierWords() const { return hasBarrierWords_; }
  uint32_t barrierWords() const { return barrierWords_; }         // 16 words of shared memory, zero at first
  uint32_t reductionWords() const { return barrierWords_ + 64; }  // and 16 more

  // Shared memory that CUDA keeps for itself: groups of more than a warp meet in it. Only for kernels that ask where.
  static constexpr uint32_t reservedBytes = 1024;
  uint32_t reservedShared() const { return reservedShared_; }

  // A generic address of this space exists: accesses through generic addresses must expect it.
  void noteGeneric(ir::Space space);

  void noteService(std::string_view name);
  void refuse(uint32_t where, std::string_view what, std::string_view why);

  // The copies that the function on which lowering has begun may wait for; null: all are done at once.
  void beginAsyncCopies(FunctionLowering& lowering);
  AsyncCopies* asyncCopies() { return asyncCopies_.get(); }

 private:
  void noteSourceLines();
  void layOutParameters();
  void layOutShared();
  uint32_t blockRoundsBytes() const;

  const ptx::ModuleHolder& holder_;
  const ptx::Function& kernel_;
  const ModuleLayout& layout_;
  const TargetProfile& profile_;
  Diagnostics& diagnostics_;
  CallGraph graph_;
  ir::Program result_;
  bool failed_ = false;
  bool hasBarrierWords_ = false;
  uint32_t barrierWords_ = 0, reservedShared_ = 0;
  std::unique_ptr<AsyncCopies> asyncCopies_;

  std::unordered_map<const ptx::Variable*, uint32_t> sharedOffsets_, parameterOffsets_;
  std::unordered_map<const ptx::Function*, ir::Function*> functions_;
};

}  // namespace mulciber::lower
