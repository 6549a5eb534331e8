// A graph as a program builds it: nodes and the edges between them. It runs nothing: executable_graph.h does, of a
// copy. Programs use a graph from one thread at a time (GRF-06).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/graph_node.h"
#include "runtime/core/handle_table.h"
#include "runtime/core/user_object.h"

namespace mulciber::core {

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  static std::shared_ptr<Graph> create();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // A node after those it depends on. InvalidValue when one is of another graph or named twice, and for a node that
  // frees what a node of this graph, or of the allocating one, frees already. A conditional node gets its graphs.
  Error add(NodeParameters parameters, std::span<const Edge> dependencies, GraphNode*& out);
  Error remove(GraphNode& node);                           // and its edges. NotSupported in a graph with memory
  Error set(GraphNode& node, NodeParameters parameters);   // of the same type; memory nodes stay as they are
  void relaunch(GraphNode& node, const KernelNode& next);  // of the same kernel: takes the launch and the arguments
  // InvalidValue for an edge that is there already, from a node to itself, or to or from another graph. Edges may form
  // a cycle until the graph is instantiated.
  Error connect(GraphNode& from, GraphNode& to, const EdgeData& data);
  Error disconnect(GraphNode& from, GraphNode& to, const EdgeData& data);  // InvalidValue when there is no such edge

  // In the order in which they were added.
  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  // Nodes in an order in which each comes after all it depends on; false when a cycle leaves some over.
  bool inOrder(std::vector<GraphNode*>& out) const;

  std::shared_ptr<Graph> clone() const;  // child graphs too
  // Of a graph that was cloned from the node's: the node's copy; null when there is none.
  GraphNode* copyOf(const GraphNode& original) const;

  // The graph allocates memory at fixed addresses. So its nodes and edges cannot be removed, it cannot be cloned, and
  // it has one executable graph at a time.
  bool hasMemory() const { return hasMemory_; }

  // Values for conditional nodes, one for each, in this graph and all others that stand inside the program's own.
  Error createValue(Context& context, std::optional<uint32_t> first, uint64_t& handle);
  const std::vector<ConditionalValueRef>& values() const { return root().values_; }
  size_t placeOf(const ConditionalValue& value) const;  // among them
  bool hasConditionals() const;
  // A conditional node's graph: it is not to be cloned or instantiated.
  bool isConditional() const { return isConditional_; }
  // Values belong to one executable graph at a time: false when there is one. It holds `use` while it is there.
  bool takeValues(std::shared_ptr<const void>& use) const;

  // Objects of the program's that live as long as the graph, its clones, and what is made of it.
  UserReferences& userObjects() { return userObjects_; }
  const UserReferences& userObjects() const { return userObjects_; }
  // In the language of Graphviz; `isVerbose` says what the nodes do.
  std::string dot(bool isVerbose) const;

  uint64_t id() const { return id_; }
  // A child graph belongs to its node; only the program's own graphs can be destroyed.
  bool isChild() const { return parent_ != nullptr; }
  // It was one of those before.
  bool isMoved() const { return isMoved_; }
  // While a stream is captured to it, nothing can be taken from it, and it cannot be destroyed.
  bool isCaptured() const { return isCaptured_; }
  void setCaptured(bool isCaptured) { isCaptured_ = isCaptured; }

 private:
  Graph();
  GraphNode& append(NodeParameters parameters);
  Error check(const EdgeData& data, const GraphNode& from) const;
  void adopt(const GraphNode& node);
  Error complete(ConditionalNode& node) const;
  Error check(const ChildGraphNode& node) const;
  const Graph& root() const { return parent_ ? parent_->root() : *this; }
  Graph& root() { return parent_ ? parent_->root() : *this; }
  Error place(AllocationNode& node, std::span<const Edge> dependencies) const;
  Error check(const FreeNode& node) const;
  bool allocates(const GraphMemory& memory) const;

  const uint64_t id_;
  uint64_t originalId_ = 0;
  Graph* parent_ = nullptr;
  bool isCaptured_ = false, hasMemory_ = false, isConditional_ = false, isMoved_ = false;
  UserReferences userObjects_;
  std::vector<ConditionalValueRef> values_;  // of the program's own graph
  mutable std::weak_ptr<const void> valuesUse_;
  std::vector<std::shared_ptr<GraphNode>> nodes_;
};
using GraphRef = std::shared_ptr<Graph>;

// All graphs and nodes, by their handles. A graph stays in the table until the program destroys it, or its node goes
// when it is a child.
HandleTable<Graph>& graphs();
// The values of all conditional nodes in a graph and in the graphs inside it.
void gatherValues(const Graph& graph, std::vector<ConditionalValueRef>& out);
HandleTable<GraphNode>& graphNodes();

}  // namespace mulciber::core
