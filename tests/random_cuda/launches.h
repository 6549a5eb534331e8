// The launches of a random program: which buffers there are and what fills them, which kernels run with what. The
// generator writes them as text; every way to run a program reads them here, and prints the same.
//
//   buffer NAME BYTES SEED|zero
//   launch KERNEL GRID_X GRID_Y GRID_Z BLOCK_X BLOCK_Y BLOCK_Z SHARED_BYTES ARGUMENT...   (buffer NAME or 0xBYTES)
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace launches {

// Of each thread: without optimisation, functions that call themselves need more than there is by default.
constexpr size_t stackBytes = 16384;

using Bytes = std::vector<uint8_t>;

struct Launch {
  std::string kernel;
  unsigned grid[3], block[3], sharedBytes;
  // A buffer's name, or the bytes of a value.
  std::vector<std::pair<std::string, Bytes>> arguments;
};

struct Program {
  std::vector<std::pair<std::string, Bytes>> buffers;
  std::vector<Launch> launches;
};

inline uint64_t nextWord(uint64_t& state) {
  uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Small numbers, all ones, numbers that make floats of middling size, and anything.
inline Bytes contents(size_t size, const std::string& seed) {
  Bytes bytes(size);
  if (seed == "zero") return bytes;
  uint64_t state = std::stoull(seed);
  for (size_t at = 0; at + 4 <= size; at += 4) {
    const uint64_t random = nextWord(state);
    auto word = static_cast<uint32_t>(random >> 32);
    switch (random & 7) {
      case 0: word &= 63; break;
      case 1: word = (word & 1) - 1; break;
      case 2:
      case 3: word = (word & 0x83ffffff) | 0x3c000000; break;
      default: break;
    }
    for (unsigned byte = 0; byte < 4; ++byte) bytes[at + byte] = static_cast<uint8_t>(word >> 8 * byte);
  }
  return bytes;
}

inline Program parse(const std::string& text) {
  Program program;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name, word;
    words >> what >> name;
    if (what == "buffer") {
      size_t size = 0;
      words >> size >> word;
      program.buffers.emplace_back(name, contents(size, word));
    } else if (what == "launch") {
      Launch launch{name, {}, {}, 0, {}};
      for (unsigned& n : launch.grid) words >> n;
      for (unsigned& n : launch.block) words >> n;
      words >> launch.sharedBytes;
      while (words >> word) {
        Bytes value;
        if (word.compare(0, 2, "0x") == 0) {
          for (size_t at = 2; at < word.size(); at += 2)
            value.push_back(static_cast<uint8_t>(std::stoul(word.substr(at, 2), nullptr, 16)));
        }
        launch.arguments.emplace_back(value.empty() ? word : "", value);
      }
      program.launches.push_back(launch);
    }
  }
  return program;
}

inline std::string readFile(const char* name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", name);
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void print(size_t number, const Launch& launch, const std::string& buffer, const Bytes& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  std::printf("%zu %s %s %016llx\n", number, launch.kernel.c_str(), buffer.c_str(),
              static_cast<unsigned long long>(hash));
  if (std::getenv("DUMP") == nullptr) return;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::printf("  %s[%zu] %02x%02x%02x%02x\n", buffer.c_str(), at / 4, bytes[at + 3], bytes[at + 2], bytes[at + 1],
                bytes[at]);
  }
}

// A Device has `uint64_t allocate(size_t)`, `void write(uint64_t, const Bytes&)`, `void read(uint64_t, Bytes&)` and
// `void launch(const Launch&, void** arguments)`. Each launch finds the buffers as they were at the start.
template <class Device>
void run(const Program& program, Device& device) {
  std::map<std::string, uint64_t> addresses;
  for (const auto& [name, bytes] : program.buffers) addresses[name] = device.allocate(bytes.size());
  for (size_t number = 0; number < program.launches.size(); ++number) {
    Launch launch = program.launches[number];
    for (const auto& [name, bytes] : program.buffers) device.write(addresses[name], bytes);
    std::vector<void*> arguments;
    for (auto& [name, bytes] : launch.arguments)
      arguments.push_back(name.empty() ? static_cast<void*>(bytes.data()) : &addresses.at(name));
    device.launch(launch, arguments.data());
    for (const auto& [name, bytes] : program.buffers) {
      Bytes result(bytes.size());
      device.read(addresses[name], result);
      if (result != bytes) print(number, launch, name, result);
    }
    std::fflush(stdout);
  }
}

}  // namespace launches
