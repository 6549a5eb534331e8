#include "model.h"

#include <cstring>

#include "random_ptx/generator/random.h"

namespace mulciber::random_graphs {

namespace {

uint32_t wordAt(const std::vector<uint8_t>& bytes, unsigned word) {
  uint32_t value = 0;
  std::memcpy(&value, &bytes[word * size_t{4}], 4);
  return value;
}

void setWord(std::vector<uint8_t>& bytes, unsigned word, uint32_t value) {
  std::memcpy(&bytes[word * size_t{4}], &value, 4);
}

void copy(const Work& work, Memory& memory) {
  for (unsigned row = 0; row < work.rows; ++row) {
    const size_t to = (work.to.begin + row * work.toPitch) * size_t{4} + work.toByte;
    const size_t from = (work.from.begin + row * work.fromPitch) * size_t{4} + work.fromByte;
    std::memcpy(&memory[work.to.buffer][to], &memory[work.from.buffer][from], work.rowWords() * 4 - work.lessBytes);
  }
}

void fill(const Work& work, Memory& memory) {
  for (unsigned row = 0; row < work.rows; ++row) {
    const size_t begin = (work.to.begin + row * work.toPitch) * size_t{4};
    for (size_t i = 0; i < work.rowWords() * size_t{4}; i += work.valueBytes)
      std::memcpy(&memory[work.to.buffer][begin + i], &work.b, work.valueBytes);
  }
}

}  // namespace

Memory initialMemory(uint64_t seed) {
  random_ptx::Random random(seed);
  Memory memory;
  for (auto& buffer : memory) {
    buffer.resize(bytesOfBuffer);
    for (uint8_t& byte : buffer) byte = static_cast<uint8_t>(random.bits());
  }
  return memory;
}

uint32_t combine(const Work& work, uint32_t to, uint32_t from) {
  uint32_t value = work.isSecond ? (to ^ from) * work.a + work.b : to * work.a + from + work.b;
  if (work.kind != Kind::Host)
    for (unsigned i = 0; i < work.delay; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

void apply(const Work& work, Memory& memory) {
  if (work.kind == Kind::Copy) copy(work, memory);
  if (work.kind == Kind::Fill) fill(work, memory);
  if (work.kind != Kind::Kernel && work.kind != Kind::Host && work.kind != Kind::Scratch) return;
  auto& to = memory[work.to.buffer];
  for (unsigned i = 0; i < work.to.words; ++i) {
    const uint32_t from = wordAt(memory[work.from.buffer], work.from.begin + i);
    setWord(to, work.to.begin + i, combine(work, wordAt(to, work.to.begin + i), from));
  }
}

void Instance::choose(const Node& node, const Member& member, Memory& memory) {
  const uint32_t value = wordAt(memory[member.work.from.buffer], member.work.from.begin) % limitOf(node);
  if (node.flow == Flow::While)
    for (uint32_t i = 0; i < value; ++i) member.child[0].run(memory);
  const size_t chosen = node.flow == Flow::Switch ? value : value != 0 ? 0 : 1;
  if (node.flow != Flow::While && chosen < member.child.size()) member.child[chosen].run(memory);
}

void Instance::run(Memory& memory) const {
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    if (!member.isEnabled) continue;
    if (member.work.kind == Kind::Conditional) {
      choose(graph->nodes[i], member, memory);
      continue;
    }
    for (const Instance& child : member.child) child.run(memory);
    apply(member.work, memory);
  }
}

Instance instanceOf(const Program& program, unsigned graph, uint64_t seed) {
  random_ptx::Random random(seed);
  Instance instance{&program.graphs[graph], {}};
  for (const Node& node : instance.graph->nodes) {
    const uint64_t own = seed == 0 || random.chance(50) ? 0 : random.bits();
    Instance::Member member{own == 0 ? node.work : variantOf(node, own), true, {}};
    if (node.work.kind == Kind::Child) member.child.push_back(instanceOf(program, node.child, own));
    for (const unsigned body : node.bodies) member.child.push_back(instanceOf(program, body, own));
    instance.members.push_back(std::move(member));
  }
  return instance;
}

void replaceWorks(Instance& instance, const Instance& by) {
  for (size_t i = 0; i < instance.members.size(); ++i) {
    instance.members[i].work = by.members[i].work;
    for (size_t child = 0; child < by.members[i].child.size(); ++child)
      replaceWorks(instance.members[i].child[child], by.members[i].child[child]);
  }
}

}  // namespace mulciber::random_graphs
