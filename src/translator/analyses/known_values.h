// What drivers may know of values. They unroll and peel loops, resolve selections, and forward what is stored to what
// is loaded; behind a comparison they put the value that another one equals in its place; and they know how large
// blocks are, so also which threads blocks of one thread have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Of values in SSA form: those that may be constants to a driver.
class KnownValues {
 public:
  // What counts. Numbers leave out infinities and NaNs, what is the greater or less of a known and another number, bits
  // that no difference leaves, and threads of blocks of one. Sure ones also leave out choices between a known and
  // another number, bits that operations of integers leave if no lane passes them on, and what is in memory that is not
  // private.
  enum class Count : uint8_t { All, Numbers, SureNumbers };
  explicit KnownValues(const ir::Function& function, Count count = Count::All);

  bool mayBeKnown(const ir::Instruction* value) const { return level(value) != Level::Unknown; }
  // Whether the driver may compute x * y beforehand, and has to round it.
  bool mayRoundProduct(const ir::Instruction* x, const ir::Instruction* y) const {
    return level(x) == Level::Any && level(y) == Level::Any;
  }
  // The same of x + y.
  bool mayRoundSum(const ir::Instruction* x, const ir::Instruction* y) const {
    const auto [less, more] = std::minmax({level(x), level(y)});
    return less > Level::Zero && more == Level::Any;
  }

 private:
  enum class Level : uint8_t { Unknown, Zero, Unit, Any };  // Unit: 0, 1 and -1 only, whose products are exact

  // What passes have hidden since then is not known.
  Level level(const ir::Instruction* value) const {
    return value->id < levels_.size() ? levels_[value->id] : Level::Unknown;
  }
  void find(const ir::Function& function);
  bool leaveOut(const ir::Function& function);
  Level levelOfConstant(const ir::Instruction& constant) const;
  // In device memory what lies behind one pointer is kept apart from what lies behind others.
  using Place = std::pair<ir::Space, const ir::Instruction*>;
  static Place placeOf(const ir::Instruction& access);
  Level levelOfLoad(const Place& place) const;
  Level levelOf(const ir::Instruction& instruction) const;
  bool update(const ir::Instruction& instruction);
  bool updateBits(const ir::Instruction& instruction);
  bool compare(const ir::Instruction& x, const ir::Instruction& y);

  const Count count_;
  std::vector<Level> levels_;          // by instruction id
  std::vector<bool> comesOfIntegers_;  // by instruction id: bits that operations of integers leave
  std::vector<bool> isLeftOut_;        // by instruction id: choices that do not count
  std::map<Place, Level> memory_;      // of what is stored there
};

}  // namespace mulciber::analyses
