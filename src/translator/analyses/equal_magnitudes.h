// Which values a compiler may find to be the same but for their sign, by what they are made of.
//
// It sees through copies in memory, shuffles, choices between equal values and arithmetic of integers that cancels. So
// this names more values alike than are alike: a load may give what any earlier access to its address had, whatever was
// stored in between.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "translator/analyses/known_values.h"
#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Of values in SSA form.
class EqualMagnitudes {
 public:
  EqualMagnitudes(const ir::Function& function, const KnownValues& known);

  // What passes have hidden since then is like nothing else.
  uint64_t name(const ir::Instruction* value) const {
    return value->id < names_.size() ? names_[value->id] : uint64_t(value->id) << 32;
  }

 private:
  using Key = std::vector<uint64_t>;
  // A sum of integers: a constant, and names with what they are multiplied by.
  struct Sum {
    uint64_t constant = 0;
    std::map<uint32_t, uint64_t> parts;
  };

  void nameWhatIsInNoBlock(const ir::Function& function);
  uint32_t nameOf(const ir::Instruction& i);
  uint32_t nameOfChoice(const ir::Instruction& i, size_t first);
  uint32_t nameOfLoad(const ir::Instruction& i);
  uint32_t wholeOf(const ir::Instruction& i) const;
  uint32_t nameOfSum(const Sum& sum, unsigned bits);
  uint32_t nameOfFloatSum(const ir::Instruction& i);
  uint32_t nameOfOperation(const ir::Instruction& i);
  uint32_t nameOfKey(Key key);
  bool isSum(const ir::Instruction& i, Sum& sum) const;
  Sum partsOf(const ir::Instruction* value) const;
  Key placeOf(const ir::Instruction& access, ir::Type type) const;

  const KnownValues& known_;
  uint32_t next_ = 1;            // 0: no name yet
  std::vector<uint32_t> names_;  // by instruction id
  // By instruction id: the name of what an integer has parts of, which is what they are put together to again.
  std::vector<uint32_t> wholes_;
  std::map<Key, uint32_t> named_, stored_;
  std::map<uint32_t, Sum> sums_;  // by name
};

}  // namespace mulciber::analyses
