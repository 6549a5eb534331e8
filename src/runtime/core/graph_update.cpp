// What may change in a graph that is ready to run, and how it changes.
#include <algorithm>
#include <concepts>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/executable_graph.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"

namespace mulciber::core {

namespace {

bool isSame(const Launch& one, const Launch& other) {
  return std::ranges::equal(one.grid, other.grid) && std::ranges::equal(one.block, other.block) &&
         one.dynamicSharedBytes == other.dynamicSharedBytes && one.isCooperative == other.isCooperative;
}

bool isSame(const KernelNode& one, const KernelNode& other) {
  return one.function == other.function && isSame(one.launch, other.launch) && one.arguments == other.arguments &&
         one.attributes == other.attributes;
}

// How the program names the memory says nothing about a copy between the same addresses.
bool isSame(const CopyNode& one, const CopyNode& other) {
  Copy copy = one.copy;
  copy.kind = other.copy.kind;
  return one.context == other.context && copy == other.copy;
}

bool isSame(const FillNode& one, const FillNode& other) {
  return one.context == other.context && one.fill == other.fill;
}

bool isSame(const HostNode& one, const HostNode& other) {
  return one.function == other.function && one.data == other.data;
}

bool isSame(const EventWaitNode& one, const EventWaitNode& other) { return one.event == other.event; }
bool isSame(const EventRecordNode& one, const EventRecordNode& other) { return one.event == other.event; }
bool isSame(const ExternalSemaphoreUses& one, const ExternalSemaphoreUses& other) {
  const auto isValue = [](const auto& first, const auto& second) { return first.value == second.value; };
  return one.semaphores == other.semaphores && std::ranges::equal(one.parameters, other.parameters, isValue);
}
bool isSame(const EmptyNode&, const EmptyNode&) { return true; }
bool isSame(const MemoryOperationsNode&, const MemoryOperationsNode&) { return false; }  // their memory may be another
bool isSame(const AllocationNode& one, const AllocationNode& other) { return one.memory == other.memory; }
bool isSame(const FreeNode& one, const FreeNode& other) { return one.memory == other.memory; }

// Their graphs are compared on their own.
bool isSame(const ConditionalNode& one, const ConditionalNode& other) { return one.value == other.value; }

// Whether a recorded launch stays as it is but for its grid and its arguments.
bool isRelaunch(const KernelNode& one, const KernelNode& other) {
  return one.function == other.function && std::ranges::equal(one.launch.block, other.launch.block) &&
         one.launch.dynamicSharedBytes == other.launch.dynamicSharedBytes && !one.launch.isCooperative &&
         !other.launch.isCooperative && one.function->module().referenceCount() == 0;
}

UpdateResult check(const KernelNode& one, const KernelNode& other) {
  if (&one.function->module().context() != &other.function->module().context())
    return UpdateResult::UnsupportedFunctionChange;
  return one.launch.isCooperative == other.launch.isCooperative ? UpdateResult::Success
                                                                : UpdateResult::AttributesChanged;
}

// Another kind of memory may take the place of the one that there was: it is only a matter of other steps.
UpdateResult check(const CopyNode& one, const CopyNode& other) {
  const bool isFlat = one.copy.height == 1 && one.copy.depth == 1 && other.copy.height == 1 && other.copy.depth == 1;
  return isFlat && one.context == other.context ? UpdateResult::Success : UpdateResult::ParametersChanged;
}

UpdateResult check(const FillNode& one, const FillNode& other) {
  const bool isFlat = one.fill.height == 1 && other.fill.height == 1;
  const bool keepsShape = one.fill.width == other.fill.width && one.fill.height == other.fill.height &&
                          one.fill.pitch == other.fill.pitch && one.fill.valueBytes == other.fill.valueBytes;
  return (isFlat || keepsShape) && one.context == other.context ? UpdateResult::Success
                                                                : UpdateResult::ParametersChanged;
}

// Addresses and values change, and how a word is compared; neither which operations there are nor their sizes.
UpdateResult check(const MemoryOperationsNode& one, const MemoryOperationsNode& other) {
  const auto isAlike = [](const WordOperation& first, const WordOperation& second) {
    if (first.index() != second.index()) return false;
    const auto* const wait = std::get_if<WordWait>(&first);
    const auto* const write = std::get_if<WordWrite>(&first);
    return wait    ? wait->bytes == std::get<WordWait>(second).bytes
           : write ? write->bytes == std::get<WordWrite>(second).bytes
                   : true;
  };
  return one.context == other.context && std::ranges::equal(one.operations, other.operations, isAlike)
             ? UpdateResult::Success
             : UpdateResult::ParametersChanged;
}

// Memory has the address that it got with its node.
UpdateResult check(const AllocationNode&, const AllocationNode&) { return UpdateResult::NotSupported; }
UpdateResult check(const FreeNode&, const FreeNode&) { return UpdateResult::NotSupported; }

UpdateResult check(const ConditionalNode& one, const ConditionalNode& other) {
  return one.kind == other.kind && one.bodies.size() == other.bodies.size() && one.context == other.context
             ? UpdateResult::Success
             : UpdateResult::NotSupported;
}

template <class Node>
UpdateResult check(const Node&, const Node&) {
  return UpdateResult::Success;
}

template <std::derived_from<ExternalSemaphoreUses> Node>
UpdateResult check(const Node& one, const Node& other) {
  return one.semaphores.size() == other.semaphores.size() ? UpdateResult::Success : UpdateResult::ParametersChanged;
}

using Changes = ExecutableGraph::Changes;
using Update = ExecutableGraph::Update;

Update compare(Graph& own, const Graph& given, Changes& changes);

// It keeps its graphs, whose nodes change, and goes by the other's value, which the other's kernels set.
Update compare(GraphNode& own, const ConditionalNode& now, const GraphNode& given, const ConditionalNode& next,
               Changes& changes) {
  const UpdateResult result = own.graph().placeOf(*now.value) == given.graph().placeOf(*next.value)
                                  ? check(now, next)
                                  : UpdateResult::NotSupported;
  if (result != UpdateResult::Success) return {result, &given, nullptr};
  for (size_t i = 0; i < now.bodies.size(); ++i)
    if (const Update update = compare(*now.bodies[i], *next.bodies[i], changes); update.result != UpdateResult::Success)
      return update;
  if (isSame(now, next)) return {};
  ConditionalNode changed = next;
  changed.bodies = now.bodies;
  changes.nodes.emplace_back(&own, std::move(changed));
  return {};
}

Update compare(GraphNode& own, const GraphNode& given, Changes& changes) {
  if (own.type() != given.type()) return {UpdateResult::NodeTypeChanged, &given, nullptr};
  return std::visit(
      [&]<class Node>(const Node& now) -> Update {
        const Node& next = *given.as<Node>();
        if constexpr (std::is_same_v<Node, ChildGraphNode>) {
          return compare(*now.graph, *next.graph, changes);
        } else if constexpr (std::is_same_v<Node, ConditionalNode>) {
          return compare(own, now, given, next, changes);
        } else {
          if (isSame(now, next)) return {};
          const UpdateResult result = check(now, next);
          if (result != UpdateResult::Success) return {result, &given, nullptr};
          if constexpr (std::is_same_v<Node, KernelNode>)
            if (isRelaunch(now, next) && now.attributes == next.attributes) {
              changes.relaunches.emplace_back(&own, &next);
              return {};
            }
          changes.nodes.emplace_back(&own, next);
          return {};
        }
      },
      own.parameters());
}

// Nodes are paired in the order in which they were made.
Update compare(Graph& own, const Graph& given, Changes& changes) {
  if (own.nodes().size() != given.nodes().size()) return {UpdateResult::TopologyChanged, nullptr, nullptr};
  for (size_t i = 0; i < own.nodes().size(); ++i) {
    GraphNode& node = *own.nodes()[i];
    const GraphNode& other = *given.nodes()[i];
    if (const Update update = compare(node, other, changes); update.result != UpdateResult::Success) return update;
    const auto& edges = node.dependencies();
    if (edges.size() != other.dependencies().size()) return {UpdateResult::TopologyChanged, &other, nullptr};
    for (const Edge& edge : other.dependencies()) {
      const auto isIt = [&](const Edge& one) {
        return one.node->place() == edge.node->place() && one.data == edge.data;
      };
      if (std::ranges::none_of(edges, isIt)) return {UpdateResult::TopologyChanged, &other, edge.node};
    }
  }
  changes.graphs.emplace_back(&own, &given);
  return {};
}

}  // namespace

Error ExecutableGraph::take(Changes changes, std::vector<UserReferences>& objects) {
  const auto graphs = std::move(changes.graphs);
  TRY(apply(std::move(changes)));
  for (const auto& [own, given] : graphs) {
    UserReferences before = std::exchange(own->userObjects(), given->userObjects());
    if (!before.isEmpty()) objects.push_back(std::move(before));
  }
  keepUntilEnd(objects);
  return Error::Success;
}

// Kernels change in their place; all else may change which steps there are.
Error ExecutableGraph::apply(Changes changes) {
  std::erase_if(changes.relaunches, [&](const auto& change) {
    if (plan_.canRelaunch(*change.first, *change.second)) return false;
    changes.nodes.emplace_back(change.first, *change.second);
    return true;
  });
  TRY(apply(changes.nodes));
  for (const auto& [node, next] : changes.relaunches) {
    plan_.relaunch(*node, *next);
    node->graph().relaunch(*node, *next);
  }
  return Error::Success;
}

Error ExecutableGraph::apply(std::vector<std::pair<GraphNode*, NodeParameters>>& changes) {
  if (changes.empty()) return Error::Success;
  std::vector<const GraphNode*> nodes;
  for (auto& [node, parameters] : changes) {
    nodes.push_back(node);
    NodeParameters next = std::exchange(parameters, node->parameters());
    (void)node->graph().set(*node, std::move(next));
  }
  const GraphNode* failed = nullptr;
  const bool areKernels = std::ranges::all_of(nodes, [](const auto* node) { return node->type() == NodeType::Kernel; });
  Error error = areKernels ? plan_.update(nodes, *context_) : Error::NotSupported;
  if (error == Error::NotSupported) error = plan({nodes.begin(), nodes.end()}, failed);
  if (error != Error::Success)
    for (auto& [node, parameters] : changes) (void)node->graph().set(*node, std::move(parameters));
  return error;
}

Error ExecutableGraph::update(const Graph& graph, Update& out) {
  if (graph.isMoved()) {
    out.result = UpdateResult::Failed;
    return Error::InvalidValue;
  }
  std::vector<UserReferences> objects;
  std::lock_guard lock(mutex_);
  Changes changes;
  out = compare(*graph_, graph, changes);
  if (out.result != UpdateResult::Success) return Error::GraphExecUpdateFailure;
  GraphPlan::Nodes outdated;
  plan_.gatherOutdated(outdated);
  for (const auto& change : changes.nodes) outdated.erase(change.first);
  for (const GraphNode* node : outdated) changes.nodes.emplace_back(nodes_.at(node->originalId()), node->parameters());
  if (take(std::move(changes), objects) == Error::Success) return Error::Success;
  out.result = UpdateResult::Failed;
  return Error::GraphExecUpdateFailure;
}

Error ExecutableGraph::set(const GraphNode& original, NodeParameters&& parameters) {
  std::vector<UserReferences> objects;
  std::lock_guard lock(mutex_);
  GraphNode* const node = nodeOf(original);
  if (!node || node->type() != typeOf(parameters)) return Error::InvalidValue;
  if (node->type() == NodeType::Conditional) return Error::NotSupported;
  if (const auto* child = std::get_if<ChildGraphNode>(&parameters)) return takeChild(*node, *child->graph, objects);
  if (const auto* next = std::get_if<KernelNode>(&parameters);
      next && isRelaunch(*node->as<KernelNode>(), *next) && plan_.canRelaunch(*node, *next)) {
    plan_.relaunch(*node, *next);
    node->graph().relaunch(*node, *next);
    return Error::Success;
  }
  keepAttributes(*node, parameters);
  const bool isAllowed = std::visit(
      [&]<class Node>(const Node& now) {
        const Node& next = std::get<Node>(parameters);
        if constexpr (std::is_same_v<Node, ChildGraphNode> || std::is_same_v<Node, ConditionalNode>) return false;
        else return isSame(now, next) || check(now, next) == UpdateResult::Success;
      },
      node->parameters());
  if (!isAllowed) return Error::InvalidValue;
  Changes changes;
  changes.nodes.emplace_back(node, std::move(parameters));
  return apply(std::move(changes));
}

Error ExecutableGraph::setChild(const GraphNode& original, const Graph& graph) {
  std::vector<UserReferences> objects;
  std::lock_guard lock(mutex_);
  GraphNode* const node = nodeOf(original);
  return node && node->type() == NodeType::ChildGraph ? takeChild(*node, graph, objects) : Error::InvalidValue;
}

Error ExecutableGraph::takeChild(GraphNode& child, const Graph& graph, std::vector<UserReferences>& objects) {
  Changes changes;
  if (compare(*child.as<ChildGraphNode>()->graph, graph, changes).result != UpdateResult::Success)
    return Error::GraphExecUpdateFailure;
  return take(std::move(changes), objects);
}

Error ExecutableGraph::enable(const GraphNode& original, bool isEnabled) {
  std::lock_guard lock(mutex_);
  const GraphNode* const node = nodeOf(original);
  if (!node || !canBeDisabled(*node)) return Error::InvalidValue;
  if (isEnabled == !disabled_.contains(node)) return Error::Success;
  if (isEnabled) disabled_.erase(node);
  else disabled_.insert(node);
  plan_.enable(*node, isEnabled);
  return Error::Success;
}

Error ExecutableGraph::isEnabled(const GraphNode& original, bool& out) const {
  std::lock_guard lock(mutex_);
  const GraphNode* const node = nodeOf(original);
  if (!node || !canBeDisabled(*node)) return Error::InvalidValue;
  out = !disabled_.contains(node);
  return Error::Success;
}

}  // namespace mulciber::core
