#include "runtime/core/memory_operations.h"

#include <memory>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/stream.h"

namespace mulciber::core {

namespace {

// The word as it is now. Where the host reaches the memory, whatever the host or a kernel last wrote.
bool read(Context& context, const Allocation& allocation, uint64_t address, uint32_t bytes, uint64_t& word) {
  if (!allocation.memory.host) return context.readMemory(address, &word, bytes) == Error::Success;
  const char* const place = static_cast<const char*>(allocation.memory.host) + allocation.offsetOf(address);
  if (bytes == 8) word = __atomic_load_n(reinterpret_cast<const uint64_t*>(place), __ATOMIC_ACQUIRE);
  else word = __atomic_load_n(reinterpret_cast<const uint32_t*>(place), __ATOMIC_ACQUIRE);
  return true;
}

}  // namespace

bool WordWait::isMet(uint64_t word) const {
  const uint64_t mask = bytes == 8 ? ~uint64_t{0} : 0xFFFFFFFF;
  switch (condition) {
    // Counters may wrap around.
    case Condition::GreaterOrEqual:
      return bytes == 8 ? static_cast<int64_t>(word - value) >= 0 : static_cast<int32_t>(word - value) >= 0;
    case Condition::Equal: return ((word ^ value) & mask) == 0;
    case Condition::And: return (word & value & mask) != 0;
    case Condition::Nor: return (~(word | value) & mask) != 0;
  }
  return true;
}

Error checkWord(const MemoryMap& memory, uint64_t address, uint32_t bytes) {
  if (address == 0 || address % bytes != 0) return Error::InvalidValue;
  return memory.find(address, bytes) ? Error::Success : Error::InvalidValue;
}

bool isMet(Context& context, const Allocation& allocation, const WordWait& wait) {
  uint64_t word = 0;
  return read(context, allocation, wait.address, wait.bytes, word) && wait.isMet(word);
}

Error prepare(Context& context, const WordWait& wait, WaitForWord& out) {
  TRY(checkWord(context.device().memory(), wait.address, wait.bytes));
  out = {context.device().memory().find(wait.address, wait.bytes), wait};
  return Error::Success;
}

Error prepare(Context& context, const WordWrite& write, DeviceWork& out) {
  TRY(checkWord(context.device().memory(), write.address, write.bytes));
  const AllocationRef allocation = context.device().memory().find(write.address, write.bytes);
  const uint64_t address = allocation->deviceAddress + allocation->offsetOf(write.address);
  if (write.bytes == 4) {
    out = vk::FillRegion{address, static_cast<uint32_t>(write.value), 4, 1};
    return Error::Success;
  }
  // A copy of one unit of eight bytes: nobody sees half of it.
  const auto* const bytes = reinterpret_cast<const char*>(&write.value);
  out = Upload{{address, 0, 8}, std::make_shared<std::vector<char>>(bytes, bytes + 8)};
  return Error::Success;
}

Error carryOut(Stream& stream, const std::vector<WordOperation>& operations) {
  for (const WordOperation& operation : operations) {
    Error error = Error::Success;
    if (const auto* wait = std::get_if<WordWait>(&operation)) {
      WaitForWord prepared;
      error = prepare(stream.context(), *wait, prepared);
      if (error == Error::Success) error = stream.waitForWord(prepared.allocation, prepared.wait);
    } else if (const auto* write = std::get_if<WordWrite>(&operation)) {
      DeviceWork prepared;
      error = prepare(stream.context(), *write, prepared);
      if (error == Error::Success) error = stream.enqueue(prepared);
    }
    if (error != Error::Success) return error;
  }
  return Error::Success;
}

}  // namespace mulciber::core
