// Runs kernels of PTX text on the host, thread by thread: the judge of programs whose results nobody wrote down. It is
// written from the PTX manual and from what a GPU was seen to do, and shares no code with the translator. Products and
// sums of floating-point numbers that name no rounding are not fused, as assemblers may.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mulciber::interpreter {

enum class Status : uint8_t {
  Done,
  InvalidText,         // no PTX, or a name that nothing declares
  UnknownInstruction,  // PTX that the interpreter does not have
  Approximate,         // an instruction whose result PTX leaves to the device within a bound
  Undefined,           // what PTX leaves undefined: reading a lane that does not take part, say
  IllegalAccess,       // outside every buffer, or not aligned
  Deadlock,            // threads wait for threads that never come
  Trapped,             // by trap
  TooLong,             // more instructions than the launch allows
};
const char* nameOf(Status status);

struct Result {
  Status status = Status::Done;
  std::string message;        // a sentence that names the instruction, empty when done
  unsigned line = 0;          // of the PTX text
  uint64_t instructions = 0;  // executed, of all threads together
  explicit operator bool() const { return status == Status::Done; }
};

// Device memory: buffers at addresses that the caller chooses, below Memory::kEnd and apart from each other.
class Memory {
 public:
  static constexpr uint64_t kEnd = uint64_t(1) << 46;  // from here on are variables and the windows of other spaces

  // Adds a buffer, or replaces the one at the address.
  void set(uint64_t address, std::vector<uint8_t> bytes) {
    buffers_[address] = std::move(bytes);
    last_ = nullptr;
  }
  // The bytes of the buffer at the address; empty when there is none.
  std::span<uint8_t> buffer(uint64_t address);
  // Null when the bytes are not all within one buffer.
  uint8_t* find(uint64_t address, uint64_t size);

 private:
  std::map<uint64_t, std::vector<uint8_t>> buffers_;
  uint64_t lastAddress_ = 0, lastSize_ = 0;
  uint8_t* last_ = nullptr;  // the buffer found last
};

struct Launch {
  std::string kernel = {};
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> arguments = {};         // the parameters, each aligned to its type, as the kernel declares them
  uint64_t mostInstructions = 10'000'000'000;  // of all threads together
};

struct Program;

// A module of PTX text. Its variables keep their values from launch to launch.
class Module {
 public:
  Module();
  ~Module();

  // Kernels are decoded when they are first run: an instruction that is not known is an error of that launch.
  Result load(std::string_view text);
  Result run(const Launch& launch, Memory& memory);
  // A variable of the global or const state space; empty when there is none of this name.
  std::span<uint8_t> variable(const std::string& name);

 private:
  std::unique_ptr<Program> program_;
};

}  // namespace mulciber::interpreter
