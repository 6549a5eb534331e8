// Work that the device skips, as words in its own memory say.
#pragma once

#include <cstdint>

namespace mulciber::vk {

class Commands;
class Device;
struct Memory;

bool canLeaveOutWork(const Device& device);

// Which of several pieces of work run: of two, the first for a value that is not 0 and the second for 0; else the one
// with the value's number.
struct Condition {
  uint64_t value;       // its address
  uint64_t within = 0;  // the address of a word that is 0 when none is done
  uint64_t words;       // where a word for each is written, 0 for what is left out
  uint32_t count;
  bool isSwitch;
};
void decide(Commands& commands, const Condition& condition);

// Dispatches between the two are skipped when the word is 0. What wrote it was recorded before. Transfers by the copy
// engine are never left out.
void beginIf(Commands& commands, const Memory& words, uint32_t number);
void endIf(Commands& commands);
// What is recorded next may write the words that were read so far.
void letSetConditions(Commands& commands);

}  // namespace mulciber::vk
