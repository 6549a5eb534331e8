// A thread with its own program counter, the warp and the block that it is of.
#pragma once

#include <array>
#include <memory>

#include "interpreter/machine/program.h"

namespace mulciber::interpreter {

struct Block;

inline constexpr unsigned kWarpLanes = 32;

struct Thread {
  enum class State : uint8_t { Running, Waiting, Exited };
  struct Frame {
    const Code* code;
    uint32_t returnTo;     // the caller's next instruction
    size_t registers;      // where its own begin
    uint64_t local;        // the same of its local memory
    const CallSite* site;  // by which it was called
  };

  void begin(const Code& code);
  void call(const Code& callee, const CallSite* site);
  // To the caller; the thread exits when there is none.
  void leave();
  bool predicate(uint32_t place, const Op& op, unsigned source) const {
    return (registers[place] != 0) != ((op.negated >> source & 1) != 0);
  }

  uint64_t* registers = nullptr;  // of the function that runs
  const Op* next = nullptr;
  State state = State::Running;
  bool carry = false;
  uint8_t lane = 0;
  const Op* waitingAt = nullptr;  // of what lanes do together, or of a barrier
  Warp* warp = nullptr;
  Block* block = nullptr;
  uint32_t linear = 0;  // its number within the block
  std::vector<Frame> frames;
  std::vector<uint8_t> local;

 private:
  void enter(const Code& code, uint32_t returnTo, const CallSite* site);
  uint64_t special(const std::string& name) const;
  std::vector<uint64_t> stack_;
};

// The registers of a vector operand.
inline const std::vector<uint32_t>& listOf(const Thread& thread, const Op& op) {
  return thread.frames.back().code->lists[op.target];
}

uint64_t addressOfElement(const Thread& thread, const Op& op);
inline uint64_t addressOf(const Thread& thread, const Op& op) {
  if (op.isIndexed) return addressOfElement(thread, op);
  const uint64_t address = thread.registers[op.a] + op.immediate;
  return op.isNarrowAddress ? static_cast<uint32_t>(address) : address;
}

struct Warp {
  std::array<Thread*, kWarpLanes> lanes{};  // null where the block has no thread
  uint32_t live() const;                    // those that have not exited
};

// What bar and barrier count.
struct Barrier {
  uint32_t expected = 0;          // threads; 0 when all of the block
  std::vector<uint32_t> arrived;  // the lanes of each warp
  uint32_t sum = 0, all = 1, any = 0;
};

struct Grid {
  Program& program;
  Memory& memory;
  const Launch& launch;
  std::vector<uint8_t> parameters;
  uint64_t instructions = 0;
};

struct Block {
  Block(Grid& grid, const Code& code, std::array<uint32_t, 3> index);

  // Runs every thread for a while; false when all have exited. Throws Fault.
  bool step();
  // Where an access goes. Throws Fault.
  uint8_t* resolve(Thread& thread, Space space, uint64_t address, uint64_t bytes);
  void arrive(Thread& thread, unsigned barrier, uint32_t expected, bool isTrue, bool waits);

  Grid& grid;
  std::array<uint32_t, 3> index;
  std::vector<uint8_t> shared;
  std::vector<Thread> threads;
  std::vector<Warp> warps;

 private:
  void run(Thread& thread);
  bool releaseLanes(Warp& warp);
  bool releaseBarrier(unsigned number);
  [[noreturn]] void reportDeadlock() const;

  std::array<Barrier, 16> barriers_;
};

// Whether the interpreter knows what a special register holds. Throws Fault for one that only the device knows.
bool isSpecialRegister(const std::string& name);
// What a wait is told apart by: lanes that execute the same thing with the same mask do it together.
void waitForLanes(Thread& thread, const Op& op);
void returnFromFunction(Thread& thread, const Op& op);

}  // namespace mulciber::interpreter
