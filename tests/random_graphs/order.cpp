#include "order.h"

#include <algorithm>

namespace mulciber::random_graphs {

namespace {

constexpr size_t mostExecutables = 16;

bool overlap(const std::vector<Range>& some, const std::vector<Range>& others) {
  return std::any_of(some.begin(), some.end(), [&](const Range& one) {
    return std::any_of(others.begin(), others.end(), [&](const Range& other) { return one.overlaps(other); });
  });
}

}  // namespace

bool conflict(const Node& one, const Node& other) {
  // Which of two records an event stands for must not depend on their order.
  if (one.work.kind == Kind::Record && other.work.kind == Kind::Record && one.event == other.event) return true;
  return overlap(one.writes, other.writes) || overlap(one.writes, other.reads) || overlap(one.reads, other.writes);
}

void Order::forget() {
  accesses_.clear();
  streams_.assign(Program::streams, {});
  executables_.assign(mostExecutables, {});
  events_.assign(mostExecutables, {});
}

// Makes the stream wait for what the parts need and nobody has waited for.
void Order::settle(unsigned stream, const Past& also, const std::vector<Part>& parts) {
  for (const Part& part : parts)
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const Access& access = accesses_[i];
      if (streams_[stream].has(i) || also.has(i) || part.events.has(i) || !conflict(*part.node, *access.node)) continue;
      wait_(stream, access.stream);
      streams_[stream].add(streams_[access.stream]);
    }
}

void Order::giveWork(unsigned stream, const Node& node) {
  settle(stream, {}, {{&node, {}, {}}});
  streams_[stream].add(accesses_.size());
  accesses_.push_back({&node, stream});
}

// The parts of a graph, and of its child graphs; those without dependencies come after `before`.
void Order::gather(const Graph& graph, const Program& program, const std::vector<size_t>& before, const Past& events,
                   std::vector<Part>& parts) {
  std::vector<std::vector<size_t>> own(graph.nodes.size());  // the parts that each node and those before it became
  std::vector<Past> waited(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    own[i] = before;
    waited[i] = events;
    for (const unsigned j : node.after) {
      own[i].insert(own[i].end(), own[j].begin(), own[j].end());
      waited[i].add(waited[j]);
    }
    std::sort(own[i].begin(), own[i].end());
    own[i].erase(std::unique(own[i].begin(), own[i].end()), own[i].end());
    if (node.work.kind == Kind::Wait) waited[i].add(events_[node.event]);
    const size_t first = parts.size();
    if (node.work.kind == Kind::Child) gather(program.graphs[node.child], program, own[i], waited[i], parts);
    else parts.push_back({&node, own[i], waited[i]});
    for (size_t part = first; part < parts.size(); ++part) own[i].push_back(part);
  }
}

void Order::launch(unsigned stream, unsigned executable, const Program& program) {
  std::vector<Part> parts;
  gather(program.graphs[program.executables[executable].graph], program, {}, {}, parts);
  settle(stream, executables_[executable], parts);
  streams_[stream].add(executables_[executable]);
  const Past base = streams_[stream];
  const size_t first = accesses_.size();
  for (const Part& part : parts) {
    if (part.node->work.kind == Kind::Record) {
      Past& event = events_[part.node->event];
      event = base;
      event.add(part.events);
      for (const size_t before : part.before) event.add(first + before);
    }
    streams_[stream].add(part.events);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    streams_[stream].add(first + i);
    accesses_.push_back({parts[i].node, stream});
  }
  executables_[executable] = streams_[stream];
}

}  // namespace mulciber::random_graphs
