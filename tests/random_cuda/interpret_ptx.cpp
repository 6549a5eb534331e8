// Runs a random program's launches with PTX that nvcc made of it, in the interpreter of PTX: no device, no translator.
//   interpret_ptx PTX LAUNCHES
#include <iostream>

#include "interpreter/interpreter.h"
#include "launches.h"

namespace {

struct InterpreterDevice {
  mulciber::interpreter::Module module;
  mulciber::interpreter::Memory memory;
  uint64_t next = 0x10000;

  uint64_t allocate(size_t size) {
    const uint64_t address = next;
    memory.set(address, launches::Bytes(size));
    next += (size + 0xffff) & ~uint64_t(0xfff);
    return address;
  }
  void write(uint64_t to, const launches::Bytes& bytes) { memory.set(to, bytes); }
  void read(uint64_t from, launches::Bytes& bytes) {
    const auto buffer = memory.buffer(from);
    bytes.assign(buffer.begin(), buffer.end());
  }
  void launch(const launches::Launch& launch, void** arguments) {
    mulciber::interpreter::Launch described{.kernel = launch.kernel, .dynamicSharedBytes = launch.sharedBytes};
    std::copy(launch.grid, launch.grid + 3, described.grid.begin());
    std::copy(launch.block, launch.block + 3, described.block.begin());
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto& [buffer, bytes] = launch.arguments[i];
      const size_t size = buffer.empty() ? bytes.size() : sizeof(uint64_t);
      auto& packed = described.arguments;
      packed.resize((packed.size() + size - 1) / size * size);  // each value is as aligned as it is large
      const auto* value = static_cast<const uint8_t*>(arguments[i]);
      packed.insert(packed.end(), value, value + size);
    }
    check(module.run(described, memory), launch.kernel);
  }
  static void check(const mulciber::interpreter::Result& result, const std::string& what) {
    if (result) return;
    std::cout << what << ": " << nameOf(result.status) << ", line " << result.line << ": " << result.message
              << std::endl;
    std::exit(1);
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: interpret_ptx PTX LAUNCHES\n";
    return 2;
  }
  InterpreterDevice device;
  device.check(device.module.load(launches::readFile(arguments[1])), arguments[1]);
  launches::run(launches::parse(launches::readFile(arguments[2])), device);
}
