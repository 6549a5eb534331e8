// A random program: graphs over a few buffers, and steps that launch and change them from several streams. Which node
// comes after which is part of the program; what must be ordered between launches, the runner finds out as it goes. So
// a program stays right whatever steps and nodes are taken out of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mulciber::random_graphs {

// An array is reached by copies alone.
enum class Place : uint8_t { Device, Pinned, Pageable, Managed, Array };
constexpr unsigned deviceBuffers = 4, pinnedBuffer = 4, pageableBuffer = 5, managedBuffer = 6, arrayBuffer = 7,
                   buffers = 8, wordsOfBuffer = 192;
constexpr Place placeOf(unsigned buffer) {
  return buffer < deviceBuffers ? Place::Device : static_cast<Place>(buffer - deviceBuffers + 1);
}
constexpr bool isReachedByHost(unsigned buffer) {
  return placeOf(buffer) != Place::Device && placeOf(buffer) != Place::Array;
}

// Words of a buffer.
struct Range {
  unsigned buffer = 0, begin = 0, words = 0;
  bool overlaps(const Range& other) const {
    return buffer == other.buffer && begin < other.begin + other.words && other.begin < begin + words;
  }
};

// Scratch: a kernel that reads a copy, in memory that is allocated and freed around it.
// Conditional: a kernel that sets a value by a word, and a conditional node with the graphs that it chooses from.
enum class Kind : uint8_t { Kernel, Copy, Fill, Host, Scratch, Empty, Child, Record, Wait, Conditional };
enum class Flow : uint8_t { If, While, Switch };  // as CUgraphConditionalNodeType numbers them

// What a kernel, copy, fill or host function does. Kernels and host functions compute
//   to[i] = isSecond ? (to[i] ^ from[i]) * a + b : to[i] * a + from[i] + b
// and then take a step of a random sequence `delay` times, so that some take longer than others.
struct Work {
  Kind kind = Kind::Empty;
  Range to, from;
  unsigned rows = 1, toPitch = 0, fromPitch = 0;     // of copies and fills with several rows: words
  unsigned toByte = 0, fromByte = 0, lessBytes = 0;  // a copy of one row may begin and end inside words
  unsigned valueBytes = 4;                           // of a fill
  unsigned block = 32;                               // threads of a kernel's block
  unsigned delay = 0;                                // of a host function: microseconds
  bool isSecond = false;
  uint32_t a = 0, b = 0;  // b: a fill's value too
  unsigned rowWords() const { return rows == 1 ? to.words : to.words - (rows - 1) * toPitch; }
};

struct Node {
  Work work;                         // what it is made with; its kind is the node's
  std::vector<Range> reads, writes;  // nothing that the node ever does goes beyond them
  std::vector<unsigned> after;
  unsigned child = 0;            // the graph of a child node: one before this one
  bool isMoved = false;          // the child node has the graph itself, whose nodes the program can still name
  Flow flow = Flow::If;          // of a conditional node
  std::vector<unsigned> bodies;  // its graphs: some before this one
  unsigned event = 0;            // of a record or wait node
  unsigned lane = 0;             // the stream that it is captured in
  bool isUnified = false;        // a copy names its memory by addresses alone
};

struct Graph {
  std::vector<Node> nodes;      // each after those that it depends on
  std::vector<unsigned> order;  // in which explicit nodes are made
  bool isCaptured = false;
  bool isThereBefore = false;  // it is captured to, and not made by the capture
  bool hasOwnLanes = false;  // all but the first stream that it is captured in are blocking ones, which go when joined
  bool hasEvents = false, hasMemory = false, hasConditionals = false;
};

struct Step {
  enum class Kind : uint8_t {
    Launch,    // an executable graph in a stream
    Work,      // given to a stream
    Now,       // a synchronous copy or fill; where the host reaches what was written, it is compared at once
    Set,       // new parameters for a node of an executable graph
    SetChild,  // for all nodes of its child graph
    Update,    // for all nodes of an executable graph, by another graph
    SetGraph,  // for a node of a graph: for what is made of it from now on
    Enable,
    Again,  // destroys an executable graph, which may be running, and makes it again
    Drop,   // destroys a graph; what was made of it stays
    Upload,
    Check,  // waits for all streams and compares all memory
  };
  Kind kind = Kind::Check;
  unsigned executable = 0, graph = 0, stream = 0, node = 0;
  bool isEnabled = false;
  Work work;
  uint64_t seed = 0;  // that the new parameters are made of
};

struct Executable {
  unsigned graph = 0;
  bool isOfClone = false;
};

struct Program {
  static constexpr unsigned streams = 4;  // the last one is the legacy default stream
  std::vector<Graph> graphs;
  std::vector<Executable> executables;
  std::vector<Step> steps;
};

Program makeProgram(uint64_t seed);
// What a conditional node's word comes to: one more than there are graphs, or how often a loop runs.
constexpr unsigned limitOf(const Node& node) {
  return node.flow == Flow::While ? 12 : static_cast<unsigned>(node.bodies.size()) + 1;
}
// Another work for the node, of the kind that an update may give it.
Work variantOf(const Node& node, uint64_t seed);

std::string textOf(const Program& program);

}  // namespace mulciber::random_graphs
