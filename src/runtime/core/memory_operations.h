// Operations of a stream on single words of memory (cuStreamWaitValue and its kin).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "runtime/core/error.h"

namespace mulciber::core {

class Context;
class MemoryMap;
class Stream;
struct Allocation;

struct WordWait {
  enum class Condition : uint8_t { GreaterOrEqual, Equal, And, Nor };  // as CU_STREAM_WAIT_VALUE_* numbers them

  uint64_t address = 0, value = 0;
  uint32_t bytes = 4;  // or 8
  Condition condition = Condition::GreaterOrEqual;

  bool isMet(uint64_t word) const;
};

struct WordWrite {
  uint64_t address = 0, value = 0;
  uint32_t bytes = 4;  // or 8
};

// Operations of a stream, and of a node, are ordered as they are: barriers add nothing.
struct WordBarrier {};

using WordOperation = std::variant<WordWait, WordWrite, WordBarrier>;

// Later work of the stream waits for the words. Other streams do not wait, even those that share the queue.
Error carryOut(Stream& stream, const std::vector<WordOperation>& operations);
// Whether the word is now as the wait wants it.
bool isMet(Context& context, const Allocation& allocation, const WordWait& wait);
// Whether a program may use a word there: InvalidValue when not.
Error checkWord(const MemoryMap& memory, uint64_t address, uint32_t bytes);

}  // namespace mulciber::core
