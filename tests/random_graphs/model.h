// What a program must give: all that it does, one thing after the other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program.h"

namespace mulciber::random_graphs {

constexpr unsigned bytesOfBuffer = wordsOfBuffer * 4;
using Memory = std::array<std::vector<uint8_t>, buffers>;

Memory initialMemory(uint64_t seed);

// The arithmetic of kernels and host functions, for one word.
uint32_t combine(const Work& work, uint32_t to, uint32_t from);
void apply(const Work& work, Memory& memory);

// What the nodes of a graph do now; those of a child or conditional node stand in `child`.
struct Instance {
  const Graph* graph;
  struct Member {
    Work work;
    bool isEnabled = true;
    std::vector<Instance> child;
  };
  std::vector<Member> members;

  void run(Memory& memory) const;

 private:
  static void choose(const Node& node, const Member& member, Memory& memory);
};

// As the program's graph says; with a seed, about half of the nodes do something else.
Instance instanceOf(const Program& program, unsigned graph, uint64_t seed = 0);
// What an update gives: nodes that are not enabled stay so.
void replaceWorks(Instance& instance, const Instance& by);

}  // namespace mulciber::random_graphs
