// Which functions a kernel may call, and where their private frames lie.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "translator/lower/module_layout.h"
#include "translator/lower/parameters.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

// What each call of a recursive function that uses alloca has for it.
constexpr uint32_t allocaBytes = 4096;

// What one function of the program needs to be known before any is lowered.
struct FunctionInfo {
  std::unordered_map<const ptx::Variable*, ParameterShape> shapes;
  std::unordered_map<const ptx::Variable*, uint32_t> frameOffsets;  // from the frame's begin
  std::vector<const ptx::Function*> callees;                        // each once
  bool isRecursive = false;                                         // may call itself, through others perhaps
  uint32_t frameBegin = 0;  // in the thread's private memory; of a recursive function: see ir::RecursiveFrame
  uint32_t frameBytes = 0;  // .local variables and parameters in memory
  uint32_t frameAlignment = 16;
  // Of alloca: in the frame of a recursive function, else that many times InputKind::StackBytes behind all frames.
  bool usesStack = false;
  uint32_t stackBegin = 0, stackNumber = 0;
  uint64_t unsizedBytes = 0;  // the most that calls pass for an array without a size
  bool mayEndThread = false;  // exit, trap, or calls such a function
};

// What barriers and operations of warps the program's functions use.
struct BarrierUse {
  bool any = false;      // barriers of the block
  bool apart = false;    // and such as lanes of a warp may come to one by one
  bool warps = false;    // operations of a warp, also within barriers that count threads
  bool counts = false;   // of a number of threads
  bool arrives = false;  // without waiting
  bool reduces = false;
  bool waits = false;  // of mbarriers
};

// Of a barrier of the block: all lanes of a warp come to it together.
bool isAligned(const ptx::Instruction& barrier);

class CallGraph {
 public:
  CallGraph(const ptx::Function& kernel, const ModuleLayout& layout);

  const std::vector<const ptx::Function*>& functions() const { return functions_; }  // [0] is the kernel
  const FunctionInfo& info(const ptx::Function& function) const { return infos_.at(&function); }
  uint32_t frameBytes() const { return frameBytes_; }  // of the deepest chain of calls
  uint32_t stackCount() const { return stackCount_; }  // of alloca, behind the frames

  const BarrierUse& barriers() const { return barriers_; }

  // The functions an indirect call may reach.
  std::vector<const ptx::Function*> candidates(const ptx::Instruction& call) const;

 private:
  void scan(const ptx::Function& function);
  void notePassed(const ptx::Instruction& call, const ptx::Function& callee);
  void scanBarrier(const ptx::Instruction& instruction);
  void order(const ptx::Function& function);
  void layOutFrame(const ptx::Function& function, FunctionInfo& info);
  void placeFrames();

  const ModuleLayout& layout_;
  std::vector<const ptx::Function*> functions_;
  std::unordered_map<const ptx::Function*, FunctionInfo> infos_;
  std::vector<const ptx::Function*> callersFirst_;
  uint32_t frameBytes_ = 0, stackCount_ = 0;
  BarrierUse barriers_;
};

// The function that a name stands for: an .alias its aliasee, a function without definition the service of its name.
const ptx::Function& resolve(const ptx::Function& function);

}  // namespace mulciber::lower
