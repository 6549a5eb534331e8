// Graphs that allocate memory: what is refused with what.
#include "graph_notes.h"

namespace mulciber::replay {

namespace {
const Group D = Group::Driver;
}

void addGraphMemoryCalls() {
  const auto allocating = [](CUgraphNode* nodes) {
    const CUgraph graph = newGraph();
    CUgraphNodeParams given = allocationNode(), freed{}, empty{};
    add(graph, given, &nodes[0]);
    freed.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    freed.free.dptr = given.alloc.dptr;
    FUNCTION(cuGraphAddNode)(&nodes[1], graph, nodes, nullptr, size_t{1}, &freed);
    empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
    add(graph, empty, &nodes[2]);
    return graph;
  };
  sequence(D, "what a graph that allocates memory forbids", [allocating](World&) {
    Notes notes;
    CUgraphNode nodes[3]{}, child = nullptr;
    const CUgraph graph = allocating(nodes), parent = newGraph();
    CUgraph copy = nullptr;
    notes << FUNCTION(cuGraphClone)(&copy, graph);
    notes << FUNCTION(cuGraphAddChildGraphNode)(&child, parent, nullptr, size_t{0}, graph);
    notes << FUNCTION(cuGraphDestroyNode)(nodes[1]) << FUNCTION(cuGraphDestroyNode)(nodes[2]);
    notes << FUNCTION(cuGraphAddDependencies)(graph, &nodes[0], &nodes[2], nullptr, size_t{1});
    notes << FUNCTION(cuGraphRemoveDependencies)(graph, &nodes[0], &nodes[2], nullptr, size_t{1});
    CUgraphExec first = nullptr, second = nullptr;
    noteInstantiation(notes, graph, &first);
    noteInstantiation(notes, graph, &second);
    return notes << FUNCTION(cuGraphExecDestroy)(first);
  });
  sequence(D, "update of a graph that allocates memory", [allocating](World&) {
    Notes notes;
    CUgraphNode nodes[3]{}, others[3]{};
    const CUgraph graph = allocating(nodes), other = allocating(others);
    CUgraphExec exec = nullptr;
    noteInstantiation(notes, graph, &exec);
    noteUpdate(notes, exec, graph);
    noteUpdate(notes, exec, other);
    return notes << FUNCTION(cuGraphExecDestroy)(exec);
  });
}

}  // namespace mulciber::replay
