// The accesses by which threads take locks, wait and let go: what spin_loops and join_waits look at.
#pragma once

#include <unordered_set>
#include <vector>

#include "translator/analyses/same_values.h"
#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

// What an address is made of, as far as two of them can be seen to be equal. Functions that take locks and let them go
// have the lock's address in registers of their own.
struct Place {
  const ir::Instruction* root;
  uint64_t offset;

  bool operator==(const Place& other) const;
};

class Places {
 public:
  explicit Places(const ir::Function& function);

  bool isConstant(ir::Instruction& value) const { return values_.leader(&value)->isConstant(); }
  Place of(const ir::Instruction& access) const;
  bool isSame(const ir::Instruction& one, const ir::Instruction& other) const;  // also what it stores or compares with

 private:
  const analyses::SameValues values_;
};

// Compare-and-swap, exchange, or a load that waits for others, such as that of a ticket lock.
bool takesLock(const ir::Instruction& instruction);
bool takesLocks(const ir::Function& function);
bool mayReleaseLock(const ir::Instruction& instruction);

// The blocks of each loop, those of loops inside it too.
std::vector<std::vector<ir::Block*>> bodiesOf(const ir::Function& function, const LoopForest& forest);

// Whether the loop is left by what is made of one of the values.
bool isLeftBy(const std::vector<ir::Block*>& body, std::unordered_set<const ir::Instruction*> tainted);

// A compare-and-swap that is tried again with what it found, as atomic operations are made of it: nobody has to release
// anything for it to succeed.
bool isRetried(const ir::Instruction& swap, const std::vector<ir::Block*>& body, const Places& places);

// The addresses of accesses on whose results the loop is left.
std::vector<Place> locksOf(const std::vector<ir::Block*>& body, const Places& places);

bool contains(const std::vector<Place>& places, const Place& place);
void addOnce(std::vector<Place>& places, const Place& place);

// Loads that wait for others, of a loop without a compare-and-swap or an exchange.
std::vector<const ir::Instruction*> waitingLoads(const std::vector<ir::Block*>& body);

bool isConvergent(const ir::Block& block);
// Whether threads are meant to be in the block together; a thread that yields runs on by itself.
bool hasMeeting(const ir::Block& block);

}  // namespace mulciber::passes
