// The nodes of a graph: what each does, as the program said it, and what it comes after.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "runtime/core/conditional.h"
#include "runtime/core/copy.h"
#include "runtime/core/error.h"
#include "runtime/core/event.h"
#include "runtime/core/external.h"
#include "runtime/core/graph_memory.h"
#include "runtime/core/launch.h"

namespace mulciber::core {

class Context;
class Function;
class Graph;
class GraphNode;
class Module;

enum class NodeType : int {  // as CUgraphNodeType numbers them
  Kernel = 0,
  Copy = 1,
  Fill = 2,
  Host = 3,
  ChildGraph = 4,
  Empty = 5,
  EventWait = 6,
  EventRecord = 7,
  SemaphoreSignal = 8,
  SemaphoreWait = 9,
  Allocation = 10,
  Free = 11,
  MemoryOperations = 12,
  Conditional = 13,
};

// A kernel with its launch. The arguments were copied when the node got them.
struct KernelNode {
  static constexpr NodeType type = NodeType::Kernel;
  using Attributes = std::map<int, std::array<uint8_t, 64>>;  // by CUlaunchAttributeID

  Function* function = nullptr;
  std::shared_ptr<Context> context;  // the module's, which ends before it
  std::shared_ptr<Module> module;    // the function's
  const void* handle = nullptr;      // what the program calls the kernel
  Launch launch;
  const KernelInfo* info = nullptr;  // says where each argument lies
  std::vector<uint8_t> arguments;    // as the kernel lays them out
  Attributes attributes;             // hints, kept to be told back
};

struct CopyNode {
  static constexpr NodeType type = NodeType::Copy;
  std::shared_ptr<Context> context;
  Copy copy;
};

struct FillNode {
  static constexpr NodeType type = NodeType::Fill;
  std::shared_ptr<Context> context;
  Fill fill;
};

struct HostNode {
  static constexpr NodeType type = NodeType::Host;
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

struct ChildGraphNode {
  static constexpr NodeType type = NodeType::ChildGraph;
  std::shared_ptr<Graph> graph;  // the node's own
  bool isMoved = false;          // it was a graph of the program's before, which still knows it by its handle
};

struct EmptyNode {
  static constexpr NodeType type = NodeType::Empty;
};

struct EventWaitNode {
  static constexpr NodeType type = NodeType::EventWait;
  EventRef event;
};

struct EventRecordNode {
  static constexpr NodeType type = NodeType::EventRecord;
  EventRef event;
};

// Semaphores of other interfaces.
struct SemaphoreSignalNode : ExternalSemaphoreUses {
  static constexpr NodeType type = NodeType::SemaphoreSignal;
};

struct SemaphoreWaitNode : ExternalSemaphoreUses {
  static constexpr NodeType type = NodeType::SemaphoreWait;
};

struct AllocationNode {
  static constexpr NodeType type = NodeType::Allocation;
  std::shared_ptr<Context> context;
  MemoryKind kind{};
  size_t bytes = 0;
  GraphMemoryRef memory;  // the graph gives it when it gets the node
};

struct FreeNode {
  static constexpr NodeType type = NodeType::Free;
  GraphMemoryRef memory;
};

struct MemoryOperationsNode {
  static constexpr NodeType type = NodeType::MemoryOperations;
  std::shared_ptr<Context> context;
  std::vector<WordOperation> operations;
  std::vector<uint8_t> given;  // as the program gave them, to be told back
};

enum class ConditionalKind : int { If = 0, While = 1, Switch = 2 };  // as CUgraphConditionalNodeType numbers them

// Runs one of its graphs, or none, as its value says; of a loop, the graph again and again.
struct ConditionalNode {
  static constexpr NodeType type = NodeType::Conditional;
  std::shared_ptr<Context> context;
  uint64_t handle = 0;
  ConditionalKind kind = ConditionalKind::If;
  uint32_t size = 0;
  // The graph gives these when it gets the node.
  ConditionalValueRef value;
  std::vector<std::shared_ptr<Graph>> bodies;  // the node's own
};

// The number of the graph that the value runs; there may be none of that number.
inline uint32_t chosenBody(ConditionalKind kind, uint32_t value) {
  if (kind == ConditionalKind::Switch) return value;
  return value != 0 ? 0 : kind == ConditionalKind::If ? 1 : ~0u;
}

using NodeParameters = std::variant<KernelNode, CopyNode, FillNode, HostNode, ChildGraphNode, EmptyNode, EventWaitNode,
                                    EventRecordNode, SemaphoreSignalNode, SemaphoreWaitNode, AllocationNode, FreeNode,
                                    MemoryOperationsNode, ConditionalNode>;

inline NodeType typeOf(const NodeParameters& parameters) {
  return std::visit([](const auto& one) { return std::decay_t<decltype(one)>::type; }, parameters);
}

// The parameters of a kernel node: checks the launch as a launch itself would, and copies the arguments.
Error describe(Function& function, const Launch& launch, const Arguments& arguments, KernelNode& out);

// Attributes are set on their own: new parameters of a kernel node leave them as they are.
void keepAttributes(const GraphNode& node, NodeParameters& parameters);

// What CUgraphEdgeData says of an edge, laid out alike. Every edge is a full dependency here, whatever it allows to
// overlap.
struct EdgeData {
  uint8_t fromPort = 0, toPort = 0, type = 0, reserved[5] = {};
  bool operator==(const EdgeData&) const = default;
};

// One end of an edge, as the node at the other end has it.
struct Edge {
  GraphNode* node;
  EdgeData data;
};

class GraphNode {
 public:
  GraphNode(Graph& graph, NodeParameters parameters);

  Graph& graph() const { return graph_; }
  NodeType type() const { return typeOf(parameters_); }
  const NodeParameters& parameters() const { return parameters_; }
  template <class Parameters>
  const Parameters* as() const {
    return std::get_if<Parameters>(&parameters_);
  }
  // A kernel node's arguments as cuLaunchKernel takes them: the node's own, until it gets others.
  void** argumentPointers();
  // The graphs that stand in this node, and a conditional's as an array of the node's own.
  std::span<const std::shared_ptr<Graph>> graphs() const;
  Graph** conditionalGraphs() { return conditionalGraphs_.data(); }
  // In the order in which the edges were made.
  const std::vector<Edge>& dependencies() const { return dependencies_; }
  const std::vector<Edge>& dependents() const { return dependents_; }
  // Unique in the process; a node of a clone also knows that of the node it was cloned from.
  uint64_t id() const { return id_; }
  uint64_t originalId() const { return originalId_; }
  size_t place() const { return place_; }  // among the nodes of its graph

 private:
  friend class Graph;
  Graph& graph_;
  const uint64_t id_;
  uint64_t originalId_ = 0;
  size_t place_ = 0;
  NodeParameters parameters_;
  std::vector<Edge> dependencies_, dependents_;
  std::vector<void*> argumentPointers_;
  std::vector<Graph*> conditionalGraphs_;
};

}  // namespace mulciber::core
