// Where the bytes of each state space are.
#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {

std::span<uint8_t> Memory::buffer(uint64_t address) {
  const auto found = buffers_.find(address);
  return found == buffers_.end() ? std::span<uint8_t>() : std::span<uint8_t>(found->second);
}

uint8_t* Memory::find(uint64_t address, uint64_t size) {
  if (!last_ || address - lastAddress_ >= lastSize_) {
    auto found = buffers_.upper_bound(address);
    if (found == buffers_.begin()) return nullptr;
    --found;
    lastAddress_ = found->first;
    lastSize_ = found->second.size();
    last_ = found->second.data();
  }
  const uint64_t offset = address - lastAddress_;
  return offset < lastSize_ && size <= lastSize_ - offset ? last_ + offset : nullptr;
}

namespace {

uint8_t* within(std::vector<uint8_t>& bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.data() + offset : nullptr;
}

uint8_t* locate(Block& block, Thread& thread, Space space, uint64_t address, uint64_t bytes) {
  switch (space) {
    case Space::Shared: return within(block.shared, address, bytes);
    case Space::Local: return within(thread.local, address - kStack, bytes);
    case Space::Const: return within(block.grid.program.constants, address, bytes);
    case Space::Param:
      return address < kStack ? within(block.grid.parameters, address, bytes)
                              : within(thread.local, address - kStack, bytes);
    default: break;
  }
  if (address >= kGlobalVariables && address < kSharedWindow)
    return within(block.grid.program.globals, address - kGlobalVariables, bytes);
  if (space == Space::Generic && address >= kSharedWindow) {
    for (const Space one : {Space::Shared, Space::Local, Space::Const, Space::Param})
      if (address - windowOf(one) < kWindow) return locate(block, thread, one, address - windowOf(one), bytes);
  }
  return block.grid.memory.find(address, bytes);
}

std::string hex(uint64_t value) {
  std::string text;
  do text.insert(text.begin(), "0123456789abcdef"[value & 15]);
  while (value >>= 4);
  return "0x" + text;
}

}  // namespace

uint8_t* Block::resolve(Thread& thread, Space space, uint64_t address, uint64_t bytes) {
  if (address & (bytes - 1)) throw Fault(Status::IllegalAccess, "the address " + hex(address) + " is not aligned");
  uint8_t* at = locate(*this, thread, space, address, bytes);
  if (!at) throw Fault(Status::IllegalAccess, "nothing is at the address " + hex(address));
  return at;
}

}  // namespace mulciber::interpreter
