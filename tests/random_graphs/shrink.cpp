#include <algorithm>

#include "runner.h"

namespace mulciber::random_graphs {

namespace {

// A fault may show itself only now and then.
bool isWrong(Device& device, const Program& program) {
  for (int i = 0; i < 5; ++i)
    if (!run(device, program).empty()) return true;
  return false;
}

// What came after the node comes after what the node came after.
void removeNode(Program& program, unsigned graphIndex, unsigned index) {
  Graph& graph = program.graphs[graphIndex];
  const std::vector<unsigned> before = graph.nodes[index].after;
  graph.nodes.erase(graph.nodes.begin() + index);
  const auto renumber = [&](std::vector<unsigned>& list) {
    std::erase(list, index);
    for (unsigned& one : list) one -= one > index;
  };
  renumber(graph.order);
  for (unsigned i = index; i < graph.nodes.size(); ++i) {
    auto& after = graph.nodes[i].after;
    if (std::find(after.begin(), after.end(), index) != after.end())
      for (const unsigned one : before)
        if (std::find(after.begin(), after.end(), one) == after.end()) after.push_back(one);
    renumber(after);
  }
  std::erase_if(program.steps, [&](const Step& step) {
    return step.kind != Step::Kind::Work && step.kind != Step::Kind::Now && step.kind != Step::Kind::Check &&
           step.graph == graphIndex && step.node == index && step.kind != Step::Kind::Launch &&
           step.kind != Step::Kind::Update;
  });
  for (Step& step : program.steps)
    if (step.graph == graphIndex && step.node > index) --step.node;
    else if (step.graph == graphIndex && step.node == index) step.node = 0;
}

}  // namespace

Program shrink(Device& device, Program program) {
  const auto attempt = [&](auto&& change) {
    Program smaller = program;
    change(smaller);
    if (!isWrong(device, smaller)) return false;
    program = std::move(smaller);
    return true;
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (size_t count = program.steps.size(); count > 0; count /= 2)
      for (size_t i = 0; i + count <= program.steps.size();) {
        const auto first = static_cast<std::ptrdiff_t>(i), last = static_cast<std::ptrdiff_t>(i + count);
        if (attempt([&](Program& p) { p.steps.erase(p.steps.begin() + first, p.steps.begin() + last); }))
          hasChanged = true;
        else ++i;
      }
    for (unsigned graph = 0; graph < program.graphs.size(); ++graph) {
      for (unsigned i = static_cast<unsigned>(program.graphs[graph].nodes.size()); i-- > 0;)
        if (program.graphs[graph].nodes.size() > 1) hasChanged |= attempt([&](Program& p) { removeNode(p, graph, i); });
      if (program.graphs[graph].isCaptured)
        hasChanged |= attempt([&](Program& p) { p.graphs[graph].isCaptured = false; });
    }
  }
  return program;
}

}  // namespace mulciber::random_graphs
