// Copies of cp.async, which the device has no instruction for: what they read is loaded at once and stored when the
// kernel waits for it, so that other work runs while it comes.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

class AsyncCopies {
 public:
  // How many copies of how many bytes a thread holds before it stores the oldest; nothing where copies are best done
  // at once: on devices without warps, of several sizes, and where several functions copy.
  struct Shape {
    unsigned count, bytes;
  };
  static std::optional<Shape> shapeFor(const FunctionLowering& lowering);

  AsyncCopies(FunctionLowering& lowering, Shape shape);  // where the kernel begins

  // Of one copy, in this order: stores the oldest where all registers are taken, and keeps what has been loaded since.
  void makeRoom();
  void add(ir::Instruction* destination, ir::Instruction* value);

  void commitGroup();
  void waitForGroups(uint32_t pending);  // all but the last ones
  void waitForAll();

 private:
  // Copies in the order in which they began, the youngest first.
  struct Slot {
    ir::VariableId destination, value;
  };

  void storeFrom(ir::Instruction* first);  // all from that one on

  FunctionLowering& f;
  ir::Builder& b;
  unsigned bytes_;
  std::vector<Slot> slots_;
  Slot nothing_{};                        // is never written
  ir::VariableId count_;                  // of slots that are taken
  std::array<ir::VariableId, 4> groups_;  // copies in the group that is not committed yet, and in those before it
};

}  // namespace mulciber::lower
