// What drivers may know of values. They unroll and peel loops, resolve selections, and forward what is stored to what
// is loaded; behind a comparison they put the value that another one equals in its place; and they know how large
// blocks are, so also which threads blocks of one thread have.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Of values in SSA form: those that may be constants to a driver, in one turn of a loop at least.
class KnownValues {
 public:
  explicit KnownValues(const ir::Function& function);

  bool mayBeKnown(const ir::Instruction* value) const { return level(value) != Level::Unknown; }
  // Whether the driver may compute x * y beforehand, and has to round it.
  bool mayRoundProduct(const ir::Instruction* x, const ir::Instruction* y) const {
    return level(x) == Level::Any && level(y) == Level::Any;
  }

 private:
  enum class Level : uint8_t { Unknown, Unit, Any };  // Unit: 0, 1 and -1 only, whose products are exact

  // What passes have hidden since then is not known.
  Level level(const ir::Instruction* value) const {
    return value->id < levels_.size() ? levels_[value->id] : Level::Unknown;
  }
  static Level levelOfConstant(const ir::Instruction& constant);
  // In device memory what lies behind one pointer is kept apart from what lies behind others.
  using Place = std::pair<ir::Space, const ir::Instruction*>;
  static Place placeOf(const ir::Instruction& access);
  Level levelOfLoad(const Place& place) const;
  Level levelOf(const ir::Instruction& instruction) const;
  bool update(const ir::Instruction& instruction);
  bool updateBits(const ir::Instruction& instruction);
  bool compare(const ir::Instruction& x, const ir::Instruction& y);

  std::vector<Level> levels_;          // by instruction id
  std::vector<bool> comesOfIntegers_;  // by instruction id: bits that operations of integers leave
  std::map<Place, Level> memory_;      // of what is stored there
};

}  // namespace mulciber::analyses
