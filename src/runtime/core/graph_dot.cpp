// Graphs as text for Graphviz.
#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "runtime/core/function.h"
#include "runtime/core/graph.h"

namespace mulciber::core {

namespace {

// What a node is, and what it does.
struct Label {
  std::string name, details;
};

Label labelOf(const KernelNode& kernel) {
  const Launch& l = kernel.launch;
  return {kernel.function->name(), fmt::format("<<<({}, {}, {}), ({}, {}, {}), {}>>>", l.grid[0], l.grid[1], l.grid[2],
                                               l.block[0], l.block[1], l.block[2], l.dynamicSharedBytes)};
}
Label labelOf(const CopyNode& node) {
  const Copy& c = node.copy;
  return {"MEMCPY", fmt::format("{:#x} to {:#x}, {} x {} x {}", c.source, c.destination, c.width, c.height, c.depth)};
}
Label labelOf(const FillNode& node) {
  const Fill& f = node.fill;
  return {"MEMSET",
          fmt::format("{:#x}, {} x {} of {} bytes: {:#x}", f.destination, f.width, f.height, f.valueBytes, f.value)};
}
Label labelOf(const HostNode& node) {
  return {"HOST", fmt::format("{}({})", reinterpret_cast<const void*>(node.function), node.data)};
}
Label labelOf(const ChildGraphNode& node) { return {"GRAPH", fmt::format("{} nodes", node.graph->nodes().size())}; }
Label labelOf(const EmptyNode&) { return {"EMPTY", ""}; }
Label labelOf(const EventWaitNode& node) { return {"EVENT_WAIT", fmt::format("{}", fmt::ptr(node.event.get()))}; }
Label labelOf(const EventRecordNode& node) { return {"EVENT_RECORD", fmt::format("{}", fmt::ptr(node.event.get()))}; }
Label labelOf(const SemaphoreSignalNode& node) {
  return {"EXT_SEMAS_SIGNAL", fmt::format("{} semaphores", node.semaphores.size())};
}
Label labelOf(const SemaphoreWaitNode& node) {
  return {"EXT_SEMAS_WAIT", fmt::format("{} semaphores", node.semaphores.size())};
}
Label labelOf(const AllocationNode& node) {
  return {"MEM_ALLOC", fmt::format("{} bytes at {:#x}", node.bytes, node.memory->address())};
}
Label labelOf(const FreeNode& node) { return {"MEM_FREE", fmt::format("{:#x}", node.memory->address())}; }
Label labelOf(const MemoryOperationsNode& node) {
  return {"MEM_OPS", fmt::format("{} operations", node.operations.size())};
}

Label labelOf(const ConditionalNode& node) {
  static constexpr const char* kinds[] = {"IF", "WHILE", "SWITCH"};
  return {fmt::format("CONDITIONAL_{}", kinds[static_cast<int>(node.kind)]),
          fmt::format("{} graphs, handle {:#x}", node.bodies.size(), node.handle)};
}

// Child graphs become clusters behind the nodes that hold them. Nodes are numbered over all of them.
void write(const Graph& graph, bool isVerbose, std::string& out, size_t& number) {
  std::unordered_map<const GraphNode*, size_t> numbers;
  auto to = std::back_inserter(out);
  for (const auto& node : graph.nodes()) {
    const Label label = std::visit([](const auto& one) { return labelOf(one); }, node->parameters());
    numbers[node.get()] = number;
    const char* const gap = isVerbose && !label.details.empty() ? "\\n" : "";
    fmt::format_to(to, "  node_{} [shape=box label=\"{}{}{}\"];\n", number++, label.name, gap,
                   isVerbose ? label.details : "");
    for (size_t i = 0; i < node->graphs().size(); ++i) {
      fmt::format_to(to, "  subgraph cluster_{}_{} {{\n", numbers[node.get()], i);
      write(*node->graphs()[i], isVerbose, out, number);
      out += "  }\n";
    }
  }
  for (const auto& node : graph.nodes())
    for (const Edge& edge : node->dependents())
      fmt::format_to(to, "  node_{} -> node_{};\n", numbers.at(node.get()), numbers.at(edge.node));
}

}  // namespace

std::string Graph::dot(bool isVerbose) const {
  std::string out = "digraph dot {\n";
  size_t number = 0;
  write(*this, isVerbose, out, number);
  return out + "}\n";
}

}  // namespace mulciber::core
