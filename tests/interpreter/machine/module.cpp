// Loading, and launching block after block.
#include <deque>

#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

// Does what may throw a Fault, and says what came of it.
template <class Action>
Result attempt(Action action) {
  try {
    return action();
  } catch (const Fault& fault) {
    return {fault.status, fault.what(), fault.line, 0};
  }
}

void checkLaunch(const Launch& launch, const Code& code) {
  uint64_t threads = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    threads *= launch.block[axis];
    if (launch.grid[axis] == 0) throw Fault(Status::Undefined, "the grid is empty");
  }
  if (threads == 0 || threads > 1024) throw Fault(Status::Undefined, "a block has 1 to 1024 threads");
  const uint64_t wanted = code.parameters.empty() ? 0 : code.parameters.back().place + code.parameters.back().bytes;
  if (launch.arguments.size() < wanted)
    throw Fault(Status::Undefined, "the kernel has " + std::to_string(wanted) + " bytes of parameters");
}

// A block that does not end soon may wait for one that comes later: it is set aside, and others begin.
void runBlocks(Grid& grid, const Code& code) {
  constexpr unsigned kTurns = 64, kMostAtOnce = 64;
  const std::array<uint32_t, 3>& size = grid.launch.grid;
  const uint64_t count = uint64_t(size[0]) * size[1] * size[2];
  std::deque<std::unique_ptr<Block>> waiting;
  for (uint64_t next = 0; next < count || !waiting.empty();) {
    std::unique_ptr<Block> block;
    if (next < count && waiting.size() < kMostAtOnce) {
      const auto z = static_cast<uint32_t>(next / size[0] / size[1]);
      const std::array index = {static_cast<uint32_t>(next % size[0]), static_cast<uint32_t>(next / size[0] % size[1]),
                                z};
      block = std::make_unique<Block>(grid, code, index);
      ++next;
    } else {
      block = std::move(waiting.front());
      waiting.pop_front();
    }
    bool isLive = true;
    for (unsigned turn = 0; isLive && turn < kTurns; ++turn) isLive = block->step();
    if (isLive) waiting.push_back(std::move(block));
  }
}

}  // namespace

const char* nameOf(Status status) {
  static constexpr std::array<const char*, 9> kNames = {"done",        "invalid text", "unknown instruction",
                                                        "approximate", "undefined",    "illegal access",
                                                        "deadlock",    "trapped",      "too long"};
  return kNames[static_cast<size_t>(status)];
}

Module::Module() = default;
Module::~Module() = default;

Result Module::load(std::string_view text) {
  return attempt([&]() -> Result {
    program_ = std::make_unique<Program>(text);
    return {};
  });
}

Result Module::run(const Launch& launch, Memory& memory) {
  return attempt([&]() -> Result {
    const Function* kernel = program_ ? program_->findFunction(launch.kernel) : nullptr;
    if (!kernel || !kernel->isEntry) throw Fault(Status::InvalidText, "there is no kernel " + launch.kernel);
    const Code& code = program_->codeOf(*kernel);
    checkLaunch(launch, code);
    Grid grid{*program_, memory, launch, launch.arguments};
    runBlocks(grid, code);
    return {Status::Done, "", 0, grid.instructions};
  });
}

std::span<uint8_t> Module::variable(const std::string& name) {
  if (!program_) return {};
  const auto found = program_->variables.find(name);
  if (found == program_->variables.end() || found->second.space == Space::Shared) return {};
  const Program::Place& place = found->second;
  uint8_t* const begin = place.space == Space::Global ? program_->globals.data() + (place.address - kGlobalVariables)
                                                      : program_->constants.data() + place.address;
  return {begin, place.bytes};
}

}  // namespace mulciber::interpreter
