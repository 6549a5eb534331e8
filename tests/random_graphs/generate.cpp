#include <algorithm>
#include <numeric>

#include "order.h"
#include "random_ptx/generator/random.h"

namespace mulciber::random_graphs {

namespace {

using random_ptx::Random;

// Kernels and fills reach pinned and managed memory too, host functions all of the host's.
bool canUse(Kind kind, unsigned buffer) {
  const Place place = placeOf(buffer);
  if (kind == Kind::Copy) return true;
  return kind == Kind::Host ? isReachedByHost(buffer) : place != Place::Pageable && place != Place::Array;
}

bool isArray(const Range& range) { return placeOf(range.buffer) == Place::Array; }

Range rangeFor(Random& random, Kind kind) {
  Range range;
  do range.buffer = random.below(buffers);
  while (!canUse(kind, range.buffer));
  range.words = 1 + random.below(random.chance(20) ? 128 : 24);
  range.begin = random.below(wordsOfBuffer - range.words + 1);
  return range;
}

Range partOf(Random& random, const Range& whole, unsigned words) {
  return {whole.buffer, whole.begin + random.below(whole.words - words + 1), words};
}

void chooseBytes(Random& random, Work& work) {
  work.toByte = work.fromByte = work.lessBytes = 0;
  if (!random.chance(30)) return;
  work.toByte = random.below(4);
  work.fromByte = random.below(4);
  work.lessBytes = std::max(work.toByte, work.fromByte);
  if (random.chance(50)) work.lessBytes = std::min(work.lessBytes + random.below(3), 3u);
}

void chooseNumbers(Random& random, Work& work) {
  work.isSecond = random.chance(50);
  work.a = static_cast<uint32_t>(random.bits()) | 1;
  work.b = static_cast<uint32_t>(random.bits());
  work.block = random.pick(std::vector<unsigned>{1, 7, 32, 33, 64, 128});
  work.delay = random.chance(15) ? random.below(500) : 0;
}

// Several rows, where there is room for them.
void chooseRows(Random& random, Work& work) {
  const unsigned words = work.to.words;
  if (isArray(work.to) || isArray(work.from)) return;  // one row
  if (words < 6 || !random.chance(30)) return;
  work.rows = 2 + random.below(std::min(4u, words / 3));
  const unsigned pitch = words / work.rows;
  if (work.rows * pitch < 2) return;
  const unsigned width = 1 + random.below(pitch);
  work.toPitch = work.fromPitch = pitch;
  work.to.words = work.from.words = (work.rows - 1) * pitch + width;
  work.toByte = work.fromByte = work.lessBytes = 0;
}

Node makeNode(Random& random, Kind kind) {
  Node node;
  node.work.kind = kind;
  if (kind == Kind::Empty) return node;
  Range to = rangeFor(random, kind), from;
  node.writes = {to};
  if (kind != Kind::Fill) {
    do from = rangeFor(random, kind);
    while (from.overlaps(to));
    node.reads = {from};
  }
  Work& work = node.work;
  const unsigned words = 1 + random.below(kind == Kind::Fill ? to.words : std::min(to.words, from.words));
  work.to = partOf(random, to, words);
  if (kind != Kind::Fill) work.from = partOf(random, from, words);
  chooseNumbers(random, work);
  if (kind == Kind::Copy) {
    chooseBytes(random, work);
    do from = rangeFor(random, kind);  // for updates: perhaps in another kind of memory
    while (from.overlaps(to) || isArray(from) != isArray(work.from));
    node.reads.push_back(from);
  }
  if (kind == Kind::Fill) work.valueBytes = 1u << random.below(3);
  if (kind == Kind::Copy || kind == Kind::Fill) chooseRows(random, work);
  node.isUnified = random.chance(30);
  return node;
}

Kind kindOfWork(Random& random) {
  const unsigned choice = random.below(100);
  return choice < 55 ? Kind::Kernel : choice < 75 ? Kind::Copy : choice < 88 ? Kind::Fill : Kind::Host;
}

// Edges for all conflicts that no other edges keep apart, and some more.
void connect(Random& random, Graph& graph) {
  std::vector<uint64_t> before(graph.nodes.size());
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    for (unsigned j = i; j-- > 0;) {
      if (before[i] >> j & 1 ? !random.chance(5) : !conflict(node, graph.nodes[j]) && !random.chance(8)) continue;
      node.after.push_back(j);
      before[i] |= before[j] | uint64_t{1} << j;
    }
    std::shuffle(node.after.begin(), node.after.end(), std::minstd_rand(static_cast<unsigned>(random.bits())));
  }
}

// An order in which the program makes the nodes: before or after what they depend on.
std::vector<unsigned> orderOf(Random& random, size_t count) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (random.chance(50))
    std::shuffle(order.begin(), order.end(), std::minstd_rand(static_cast<unsigned>(random.bits())));
  return order;
}

bool isPlain(const Graph& graph, const std::vector<Graph>& all);

// Whether the node may stand in a conditional's graph, whatever updates make of it. A child graph is not captured
// there, since the conditional may itself be in a capture.
bool isPlain(const Node& node, const std::vector<Graph>& all) {
  const auto isPaged = [](const Range& range) {
    return placeOf(range.buffer) == Place::Pageable || placeOf(range.buffer) == Place::Managed;
  };
  return node.work.kind != Kind::Host && std::none_of(node.reads.begin(), node.reads.end(), isPaged) &&
         std::none_of(node.writes.begin(), node.writes.end(), isPaged) &&
         (node.work.kind != Kind::Child || (!all[node.child].isCaptured && isPlain(all[node.child], all))) &&
         std::all_of(node.bodies.begin(), node.bodies.end(), [&](unsigned body) { return isPlain(all[body], all); });
}
bool isPlain(const Graph& graph, const std::vector<Graph>& all) {
  return !graph.hasEvents && !graph.hasMemory &&
         std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return isPlain(node, all); });
}

Node makeConditional(Random& random, const std::vector<Graph>& earlier, const std::vector<unsigned>& plain) {
  Node node;
  node.work.kind = Kind::Conditional;
  node.flow = static_cast<Flow>(random.below(3));
  const unsigned most = node.flow == Flow::While ? 1 : node.flow == Flow::If ? 2 : 4;
  for (unsigned count = 1 + random.below(most); count > 0; --count) node.bodies.push_back(random.pick(plain));
  node.work.from = rangeFor(random, Kind::Kernel);
  node.work.from.words = 1;
  node.reads = {node.work.from};
  for (const unsigned body : node.bodies)
    for (const Node& inner : earlier[body].nodes) {
      node.reads.insert(node.reads.end(), inner.reads.begin(), inner.reads.end());
      node.writes.insert(node.writes.end(), inner.writes.begin(), inner.writes.end());
    }
  return node;
}

Graph makeGraph(Random& random, const std::vector<Graph>& earlier) {
  Graph graph;
  graph.isCaptured = random.chance(40);
  graph.isThereBefore = random.chance(50);
  graph.hasOwnLanes = random.chance(50);
  const bool mayHaveMemory = random.chance(30);
  std::vector<unsigned> plain;
  for (unsigned i = 0; i < earlier.size(); ++i)
    if (earlier[i].nodes.size() < 12 && isPlain(earlier[i], earlier)) plain.push_back(i);
  const unsigned lanes = 1 + random.below(4), count = 1 + random.below(random.chance(20) ? 40 : 12);
  for (unsigned i = 0; i < count; ++i) {
    Node node;
    const unsigned choice = random.below(100);
    const unsigned child = earlier.empty() ? 0 : random.below(earlier.size());
    if (choice < 12 && !earlier.empty() && !earlier[child].hasEvents && !earlier[child].hasMemory &&
        !earlier[child].hasConditionals && earlier[child].nodes.size() < 16) {
      node.work.kind = Kind::Child;
      node.child = child;
      node.isMoved = random.chance(50);
      for (const Node& inner : earlier[child].nodes) {
        node.reads.insert(node.reads.end(), inner.reads.begin(), inner.reads.end());
        node.writes.insert(node.writes.end(), inner.writes.begin(), inner.writes.end());
      }
    } else if (!plain.empty() && random.chance(12)) {
      graph.hasConditionals = true;
      node = makeConditional(random, earlier, plain);
    } else if (choice < 16 && !graph.hasEvents) {
      graph.hasEvents = true;
      node.work.kind = Kind::Record;
      node.event = static_cast<unsigned>(earlier.size());
    } else if (choice < 20 && !earlier.empty() && earlier[child].hasEvents) {
      graph.hasEvents = true;
      node.work.kind = Kind::Wait;
      node.event = child;
    } else if (mayHaveMemory && choice < 40) {
      graph.hasMemory = true;
      node = makeNode(random, Kind::Kernel);
      node.work.kind = Kind::Scratch;
    } else {
      node = makeNode(random, choice < 26 ? Kind::Empty : kindOfWork(random));
    }
    node.lane = random.below(lanes);
    graph.nodes.push_back(std::move(node));
  }
  connect(random, graph);
  graph.order = orderOf(random, graph.nodes.size());
  return graph;
}

Step makeStep(Random& random, const Program& program) {
  using StepKind = Step::Kind;
  Step step;
  step.executable = random.below(program.executables.size());
  step.graph = program.executables[step.executable].graph;
  step.stream = random.below(Program::streams);
  step.node = random.below(program.graphs[step.graph].nodes.size());
  step.isEnabled = random.chance(40);
  step.seed = random.bits();
  const unsigned choice = random.below(100);
  if (choice < 38) step.kind = StepKind::Launch;
  else if (choice < 50) {
    step.kind = StepKind::Work;
    do step.work = makeNode(random, kindOfWork(random)).work;
    while (step.work.kind == Kind::Copy &&
           (placeOf(step.work.to.buffer) == Place::Pageable || placeOf(step.work.from.buffer) == Place::Pageable));
  } else if (choice < 55) {
    step.kind = StepKind::Now;
    step.work = makeNode(random, random.chance(75) ? Kind::Copy : Kind::Fill).work;
  } else if (choice < 67) step.kind = StepKind::Set;
  else if (choice < 72) step.kind = StepKind::Update;
  else if (choice < 75) step.kind = StepKind::SetChild;
  else if (choice < 78) step.kind = StepKind::SetGraph;
  else if (choice < 88) step.kind = StepKind::Enable;
  else if (choice < 92) step.kind = StepKind::Again;
  else if (choice < 94) step.kind = StepKind::Drop;
  else if (choice < 97) step.kind = StepKind::Upload;
  return step;
}

}  // namespace

Work variantOf(const Node& node, uint64_t seed) {
  Random random(seed);
  Work work = node.work;
  if (work.kind != Kind::Kernel && work.kind != Kind::Copy && work.kind != Kind::Fill && work.kind != Kind::Host)
    return work;
  chooseNumbers(random, work);
  if (work.rows > 1) return work;
  const Range& to = node.writes.front();
  const Range from = work.kind == Kind::Fill ? to : random.pick(node.reads);
  const unsigned words = 1 + random.below(std::min(to.words, from.words));
  work.to = partOf(random, to, words);
  if (work.kind != Kind::Fill) work.from = partOf(random, from, words);
  if (work.kind == Kind::Copy) chooseBytes(random, work);
  return work;
}

Program makeProgram(uint64_t seed) {
  Random random(seed);
  Program program;
  const unsigned graphs = 1 + random.below(4);
  for (unsigned i = 0; i < graphs; ++i) program.graphs.push_back(makeGraph(random, program.graphs));
  // A graph with events is made ready once: which launch an event stands for would depend on their order otherwise. Of
  // one with memory or conditional nodes CUDA allows no more, and no clones.
  for (unsigned i = 0; i < graphs; ++i) {
    const Graph& graph = program.graphs[i];
    const bool isSingle = graph.hasMemory || graph.hasConditionals;
    for (unsigned copies = graph.hasEvents || isSingle ? 1 : 1 + random.below(2); copies > 0; --copies)
      program.executables.push_back({i, !isSingle && random.chance(20)});
  }
  const unsigned steps = 4 + random.below(random.chance(20) ? 60 : 20);
  for (unsigned i = 0; i < steps; ++i) program.steps.push_back(makeStep(random, program));
  program.steps.push_back({});  // a check
  return program;
}

}  // namespace mulciber::random_graphs
