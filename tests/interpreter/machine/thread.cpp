#include "interpreter/machine/thread.h"

#include <cstring>
#include <set>

#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

constexpr uint64_t kFrameAlignment = 128;  // more than variables ask for
constexpr size_t kMostRegisters = size_t(1) << 22, kMostLocal = size_t(1) << 22;

uint32_t laneMaskBelow(unsigned lane) { return (uint32_t(1) << lane) - 1; }

}  // namespace

void Thread::begin(const Code& code) { enter(code, 0, nullptr); }

void Thread::enter(const Code& code, uint32_t returnTo, const CallSite* site) {
  const size_t at = frames.empty() ? 0 : frames.back().registers + frames.back().code->frame.size();
  const uint64_t localAt = (local.size() + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  if (at + code.frame.size() > kMostRegisters || localAt + code.localBytes > kMostLocal)
    throw Fault(Status::IllegalAccess, "the stack has overflowed");
  stack_.resize(at + code.frame.size());
  std::memcpy(&stack_[at], code.frame.data(), code.frame.size() * sizeof(uint64_t));
  local.resize(localAt + code.localBytes);
  frames.push_back({&code, returnTo, at, localAt, site});
  registers = &stack_[at];
  next = code.ops.data();
  for (const Preset& preset : code.presets)
    registers[preset.place] = preset.special.empty() ? kStack + localAt + preset.offset : special(preset.special);
}

void Thread::call(const Code& callee, const CallSite* site) {
  const Frame caller = frames.back();
  const auto returnTo = static_cast<uint32_t>(next - caller.code->ops.data());
  if (site->arguments.size() != callee.parameters.size() || site->results.size() != callee.results.size())
    throw Fault(Status::Undefined, callee.function->name + " is called with another number of arguments");
  enter(callee, returnTo, site);
  for (size_t i = 0; i < site->arguments.size(); ++i) {
    const Slot &from = site->arguments[i], &to = callee.parameters[i];
    std::memcpy(
        to.isRegister ? reinterpret_cast<uint8_t*>(&registers[to.place]) : &local[frames.back().local + to.place],
        from.isRegister ? reinterpret_cast<uint8_t*>(&stack_[caller.registers + from.place])
                        : &local[caller.local + from.place],
        std::min(from.bytes, to.bytes));
  }
}

void Thread::leave() {
  const Frame callee = frames.back();
  frames.pop_back();
  if (frames.empty()) {
    state = State::Exited;
    return;
  }
  const Frame& caller = frames.back();
  for (size_t i = 0; i < callee.code->results.size(); ++i) {
    const Slot &from = callee.code->results[i], &to = callee.site->results[i];
    std::memcpy(
        to.isRegister ? reinterpret_cast<uint8_t*>(&stack_[caller.registers + to.place])
                      : &local[caller.local + to.place],
        from.isRegister ? reinterpret_cast<uint8_t*>(&registers[from.place]) : &local[callee.local + from.place],
        std::min(from.bytes, to.bytes));
  }
  local.resize(callee.local);
  registers = &stack_[caller.registers];
  next = caller.code->ops.data() + callee.returnTo;
}

uint64_t Thread::special(const std::string& name) const {
  const Launch& launch = block->grid.launch;
  auto component = [&](const char* vector, auto of) -> const uint32_t* {
    const size_t length = std::strlen(vector);
    if (name.size() != length + 2 || name.compare(0, length, vector) != 0 || name[length] != '.') return nullptr;
    const char axis = name[length + 1];
    return axis == 'x' ? &of[0] : axis == 'y' ? &of[1] : axis == 'z' ? &of[2] : nullptr;
  };
  const std::array<uint32_t, 3> tid = {linear % launch.block[0], linear / launch.block[0] % launch.block[1],
                                       linear / launch.block[0] / launch.block[1]};
  if (const uint32_t* value = component("%tid", tid.data())) return *value;
  if (const uint32_t* value = component("%ntid", launch.block.data())) return *value;
  if (const uint32_t* value = component("%ctaid", block->index.data())) return *value;
  if (const uint32_t* value = component("%nctaid", launch.grid.data())) return *value;
  const uint32_t bit = uint32_t(1) << lane;
  if (name == "%laneid") return lane;
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return laneMaskBelow(lane);
  if (name == "%lanemask_le") return laneMaskBelow(lane) | bit;
  if (name == "%lanemask_gt") return ~(laneMaskBelow(lane) | bit);
  if (name == "%lanemask_ge") return ~laneMaskBelow(lane);
  if (name == "%dynamic_smem_size") return launch.dynamicSharedBytes;
  if (name == "%total_smem_size") return block->shared.size();
  return block->shared.size();  // %total_smem_size
}

bool isSpecialRegister(const std::string& name) {
  static const std::set<std::string> kKnown = {"%tid.x",
                                               "%tid.y",
                                               "%tid.z",
                                               "%ntid.x",
                                               "%ntid.y",
                                               "%ntid.z",
                                               "%ctaid.x",
                                               "%ctaid.y",
                                               "%ctaid.z",
                                               "%nctaid.x",
                                               "%nctaid.y",
                                               "%nctaid.z",
                                               "%lanemask_eq",
                                               "%lanemask_lt",
                                               "%lanemask_le",
                                               "%lanemask_gt",
                                               "%lanemask_ge",
                                               "%laneid",
                                               "%dynamic_smem_size",
                                               "%total_smem_size"};
  for (const char* device :
       {"%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "%pm", "%envreg", "%cluster",
        "%ncluster", "%is_explicit_cluster", "%aggr_smem_size", "%reserved_smem", "%current_graph_exec"})
    if (name.starts_with(device))
      throw Fault(Status::UnknownInstruction, "what " + name + " holds only the device knows");
  return kKnown.contains(name);
}

// The distance is computed in 32 bits, whatever the index has; op.immediate is the window of a generic address.
uint64_t addressOfElement(const Thread& thread, const Op& op) {
  auto index = static_cast<uint32_t>(thread.registers[op.index]);
  if (op.indexType == Type::S16) index = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(index)));
  const uint32_t distance = index * op.elementBytes;
  const uint64_t base = thread.registers[op.a];
  const uint64_t address = op.isNarrowAddress ? static_cast<uint32_t>(base + distance) : base + distance;
  return address + op.immediate;
}

uint32_t Warp::live() const {
  uint32_t mask = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if (lanes[i] && lanes[i]->state != Thread::State::Exited) mask |= uint32_t(1) << i;
  return mask;
}

void waitForLanes(Thread& thread, const Op& op) {
  const auto mask = static_cast<uint32_t>(thread.registers[op.e]);
  if (!(mask >> thread.lane & 1) && op.source->opcode != "activemask")
    throw Fault(Status::Undefined, "the lane is not in its own mask");
  thread.state = Thread::State::Waiting;
  thread.waitingAt = &op;
}

void returnFromFunction(Thread& thread, const Op&) { thread.leave(); }

}  // namespace mulciber::interpreter
