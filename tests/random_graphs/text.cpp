// A program as people read it.
#include <sstream>

#include "program.h"

namespace mulciber::random_graphs {

namespace {

constexpr const char* kinds[] = {"kernel", "copy",  "fill",   "host", "scratch",
                                 "empty",  "child", "record", "wait", "conditional"};
constexpr const char* flows[] = {"if", "while", "switch"};
constexpr const char* steps[] = {"launch",    "work",   "now",   "set",  "set child", "update",
                                 "set graph", "enable", "again", "drop", "upload",    "check"};

std::string textOf(const Range& range) {
  std::ostringstream out;
  out << range.buffer << '[' << range.begin << ".." << range.begin + range.words << ')';
  return out.str();
}

std::string textOf(const Work& work) {
  std::ostringstream out;
  out << kinds[static_cast<int>(work.kind)];
  if (work.to.words == 0) return out.str();
  out << " to " << textOf(work.to);
  if (work.from.words != 0) out << " from " << textOf(work.from);
  if (work.rows > 1) out << ", " << work.rows << " rows";
  if (work.toByte + work.fromByte + work.lessBytes != 0)
    out << ", bytes " << work.toByte << ' ' << work.fromByte << ' ' << work.lessBytes;
  if (work.kind == Kind::Fill) out << ", values of " << work.valueBytes;
  if (work.delay != 0) out << ", delay " << work.delay;
  return out.str();
}

}  // namespace

std::string textOf(const Program& program) {
  std::ostringstream out;
  for (size_t i = 0; i < program.graphs.size(); ++i) {
    const Graph& graph = program.graphs[i];
    out << "graph " << i;
    if (graph.isCaptured)
      out << ", captured" << (graph.isThereBefore ? " to" : "") << (graph.hasOwnLanes ? " in streams that go" : "");
    out << '\n';
    for (size_t j = 0; j < graph.nodes.size(); ++j) {
      const Node& node = graph.nodes[j];
      out << "  " << j << ": " << textOf(node.work);
      if (node.work.kind == Kind::Child) out << ' ' << node.child << (node.isMoved ? ", moved" : "");
      if (node.work.kind == Kind::Conditional) out << ' ' << flows[static_cast<int>(node.flow)];
      for (const unsigned body : node.bodies) out << ' ' << body;
      if (node.work.kind == Kind::Record || node.work.kind == Kind::Wait) out << " event " << node.event;
      if (graph.isCaptured) out << ", lane " << node.lane;
      if (!node.after.empty()) out << ", after";
      for (const unsigned one : node.after) out << ' ' << one;
      out << '\n';
    }
  }
  for (const Step& step : program.steps) {
    out << steps[static_cast<int>(step.kind)];
    const bool isOfGraph = step.kind == Step::Kind::SetGraph || step.kind == Step::Kind::Drop;
    if (step.kind == Step::Kind::Work || step.kind == Step::Kind::Now) out << ' ' << textOf(step.work);
    else if (isOfGraph) out << " graph " << step.graph;
    else if (step.kind != Step::Kind::Check)
      out << " executable " << step.executable << " of graph " << step.graph
          << (program.executables[step.executable].isOfClone ? "'s clone" : "");
    if (step.kind == Step::Kind::Launch || step.kind == Step::Kind::Work) out << " in stream " << step.stream;
    if (step.kind == Step::Kind::Set || step.kind == Step::Kind::SetChild || step.kind == Step::Kind::SetGraph ||
        step.kind == Step::Kind::Enable)
      out << ", node " << step.node;
    if (step.kind == Step::Kind::Enable) out << (step.isEnabled ? " on" : " off");
    out << '\n';
  }
  return out.str();
}

}  // namespace mulciber::random_graphs
