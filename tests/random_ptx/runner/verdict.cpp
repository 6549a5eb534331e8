#include "random_ptx/runner/verdict.h"

#include <array>
#include <cstring>

#include "interpreter/interpreter.h"
#include "random_ptx/generator/scope.h"
#include "random_ptx/runner/device.h"

namespace mulciber::random_ptx {
namespace {

constexpr uint64_t kInstructions = 100'000'000;  // that a program may take
constexpr unsigned kShown = 6;                   // differences

}  // namespace

std::string interpret(const Program& program, const std::string& text, Buffers& buffers) {
  interpreter::Module module;
  interpreter::Result result = module.load(text);
  interpreter::Memory memory;
  const std::array<std::vector<uint8_t>*, 3> contents = {&buffers.inputs, &buffers.results, &buffers.memory};
  interpreter::Launch launch;
  launch.kernel = kKernelName;
  launch.grid = {program.blocks, 1, 1};
  launch.block = {program.width, program.height, 1};
  launch.mostInstructions = kInstructions;
  launch.arguments.resize(32);  // three pointers, and bytes aligned to 16
  for (size_t i = 0; i < contents.size(); ++i) {
    const uint64_t address = (i + 1) << 32;
    memory.set(address, *contents[i]);
    std::memcpy(launch.arguments.data() + i * 8, &address, 8);
  }
  launch.arguments.insert(launch.arguments.end(), buffers.extra.begin(), buffers.extra.end());
  if (result) result = module.run(launch, memory);
  if (!result)
    return std::string(nameOf(result.status)) + ", line " + std::to_string(result.line) + ": " + result.message;
  for (size_t i = 0; i < contents.size(); ++i) {
    const auto bytes = memory.buffer((i + 1) << 32);
    contents[i]->assign(bytes.begin(), bytes.end());
  }
  return "";
}

namespace {

// The words of 64 bits that differ, the first of them named.
std::string compare(const Program& program, const Buffers& ours, const Buffers& right) {
  std::string text;
  unsigned count = 0;
  auto look = [&](const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, auto describe) {
    for (size_t i = 0; i + 8 <= a.size(); i += 8) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, a.data() + i, 8);
      std::memcpy(&y, b.data() + i, 8);
      if (x == y || ++count > kShown) continue;
      text += describe(i / 8) + cat(": ", std::hex, "0x", x, ", right is 0x", y, '\n');
    }
  };
  const size_t columns = program.results.size();
  const unsigned threads = program.threads();
  auto thread = [&](size_t row) { return cat("block ", row / threads, ", thread ", row % threads, ", "); };
  look(ours.results, right.results,
       [&](size_t word) { return thread(word / columns) + program.results[word % columns]; });
  look(ours.memory, right.memory, [&](size_t word) {
    const size_t perThread = kWindowBytes / 8, row = word / perThread;
    return row < program.rows() ? thread(row) + cat("global+", word % perThread * 8)
                                : cat("cell ", word - program.rows() * perThread, " of the grid");
  });
  return count == 0 ? "" : cat(count, " values differ\n") + text;
}

}  // namespace

const char* nameOf(Verdict verdict) {
  static constexpr std::array<const char*, kVerdicts> kNames = {"agrees",  "differs", "fails",
                                                                "crashes", "hangs",   "unjudged"};
  return kNames[static_cast<size_t>(verdict)];
}

Outcome judge(const test::CudaDriver& cu, const Program& program) {
  const std::string text = program.text();
  const Buffers buffers = makeBuffers(program);
  Buffers right = buffers, ours = buffers;
  if (const std::string problem = interpret(program, text, right); !problem.empty())
    return {Verdict::Unjudged, problem};
  if (const std::string error = runOnDevice(cu, program, text, ours); !error.empty()) return {Verdict::Fails, error};
  const std::string differences = compare(program, ours, right);
  if (!differences.empty()) return {Verdict::Differs, differences};
  return {};
}

}  // namespace mulciber::random_ptx
