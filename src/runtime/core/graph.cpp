#include "runtime/core/graph.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "runtime/core/context.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"

namespace mulciber::core {

namespace {

std::atomic<uint64_t> nextId{1};

constexpr uint8_t programmaticPort = 1, launchOrderPort = 2, programmaticType = 1;

// Most nodes depend on one other: for these no set is made.
bool isNamedTwice(std::span<const Edge> dependencies) {
  if (dependencies.size() < 2) return false;
  std::unordered_set<const GraphNode*> named;
  return std::ranges::any_of(dependencies, [&](const Edge& edge) { return !named.insert(edge.node).second; });
}

auto edgeTo(std::vector<Edge>& edges, const GraphNode& node) {
  return std::ranges::find_if(edges, [&](const Edge& edge) { return edge.node == &node; });
}

}  // namespace

GraphNode::GraphNode(Graph& graph, NodeParameters parameters)
    : graph_(graph), id_(nextId.fetch_add(1)), parameters_(std::move(parameters)) {}

void** GraphNode::argumentPointers() {
  auto& kernel = std::get<KernelNode>(parameters_);
  argumentPointers_.clear();
  for (const auto& parameter : kernel.info->parameters)
    argumentPointers_.push_back(kernel.arguments.data() + parameter.offset);
  return argumentPointers_.data();
}

std::span<const GraphRef> GraphNode::graphs() const {
  if (const auto* child = as<ChildGraphNode>()) return {&child->graph, 1};
  if (const auto* conditional = as<ConditionalNode>()) return conditional->bodies;
  return {};
}

void keepAttributes(const GraphNode& node, NodeParameters& parameters) {
  const auto* now = node.as<KernelNode>();
  auto* next = std::get_if<KernelNode>(&parameters);
  if (!now || !next) return;
  next->attributes = now->attributes;
  next->launch.isCooperative = now->launch.isCooperative;
}

Error describe(Function& function, const Launch& launch, const Arguments& arguments, KernelNode& out) {
  TRY(check(function, launch));
  const KernelInfo* kernel = nullptr;
  TRY(function.info(kernel));
  out.arguments.assign(kernel->parameterBytes, 0);
  TRY(gather(*kernel, arguments, out.arguments.data()));
  out.info = kernel;
  out.function = &function;
  out.context = function.module().context().shared_from_this();
  out.module = function.module().shared_from_this();
  out.launch = launch;
  return Error::Success;
}

HandleTable<Graph>& graphs() {
  static auto* const table = new HandleTable<Graph>;  // programs destroy graphs from exit handlers
  return *table;
}

HandleTable<GraphNode>& graphNodes() {
  static auto* const table = new HandleTable<GraphNode>;
  return *table;
}

Graph::Graph() : id_(nextId.fetch_add(1)) {}

std::shared_ptr<Graph> Graph::create() { return std::shared_ptr<Graph>(new Graph); }

Graph::~Graph() {
  graphNodes().remove(nodes_);
  for (const auto& node : nodes_)
    for (const GraphRef& child : node->graphs()) graphs().remove(child.get());
}

GraphNode& Graph::append(NodeParameters parameters) {
  const NodeType type = typeOf(parameters);
  hasMemory_ |= type == NodeType::Allocation || type == NodeType::Free;
  nodes_.push_back(std::make_shared<GraphNode>(*this, std::move(parameters)));
  nodes_.back()->place_ = nodes_.size() - 1;
  adopt(*nodes_.back());
  return *graphNodes().add(nodes_.back());
}

void Graph::adopt(const GraphNode& node) {
  for (const GraphRef& child : node.graphs()) {
    child->parent_ = this;
    core::graphs().add(child);
  }
  if (const auto* child = node.as<ChildGraphNode>()) child->graph->isMoved_ = child->isMoved;
}

// A graph cannot be moved into itself, nor into one that stands in it.
Error Graph::check(const ChildGraphNode& node) const {
  return node.graph.get() == &root() ? Error::InvalidValue : Error::Success;
}

Error Graph::createValue(Context& context, std::optional<uint32_t> first, uint64_t& handle) {
  ConditionalValueRef value;
  TRY(ConditionalValue::create(context, first, value));
  handle = value->handle();
  root().values_.push_back(std::move(value));
  return Error::Success;
}

size_t Graph::placeOf(const ConditionalValue& value) const {
  const auto found = std::ranges::find_if(values(), [&](const auto& one) { return one.get() == &value; });
  return static_cast<size_t>(found - values().begin());
}

bool Graph::hasConditionals() const {
  return std::ranges::any_of(nodes_, [](const auto& node) { return node->type() == NodeType::Conditional; });
}

bool Graph::takeValues(std::shared_ptr<const void>& use) const {
  if (!hasConditionals()) return true;
  if (!valuesUse_.expired()) return false;
  use = std::make_shared<char>();
  valuesUse_ = use;
  return true;
}

void gatherValues(const Graph& graph, std::vector<ConditionalValueRef>& out) {
  for (const auto& node : graph.nodes()) {
    if (const auto* conditional = node->as<ConditionalNode>()) out.push_back(conditional->value);
    for (const GraphRef& child : node->graphs()) gatherValues(*child, out);
  }
}

Error Graph::complete(ConditionalNode& node) const {
  const auto found =
      std::ranges::find_if(values(), [&](const ConditionalValueRef& value) { return value->handle() == node.handle; });
  std::vector<ConditionalValueRef> used;
  gatherValues(root(), used);
  if (found == values().end() || std::ranges::find(used, *found) != used.end()) return Error::InvalidValue;
  if ((*found)->context() != node.context.get()) return Error::InvalidValue;
  node.value = *found;
  for (uint32_t i = 0; i < node.size; ++i) {
    node.bodies.push_back(create());
    node.bodies.back()->isConditional_ = true;
  }
  return Error::Success;
}

Error Graph::check(const EdgeData& data, const GraphNode& from) const {
  if (data.type > programmaticType || data.fromPort > launchOrderPort || data.toPort != 0) return Error::InvalidValue;
  if (data.fromPort != 0 && from.type() != NodeType::Kernel) return Error::InvalidValue;
  return data.type == programmaticType && data.fromPort < programmaticPort ? Error::InvalidValue : Error::Success;
}

Error Graph::add(NodeParameters parameters, std::span<const Edge> dependencies, GraphNode*& out) {
  if (isNamedTwice(dependencies)) return Error::InvalidValue;
  for (const Edge& edge : dependencies) {
    if (!edge.node || &edge.node->graph() != this) return Error::InvalidValue;
    TRY(check(edge.data, *edge.node));
  }
  const NodeType type = typeOf(parameters);
  const bool isMemory = type == NodeType::Allocation || type == NodeType::Free;
  if (isMemory && isChild() && !isConditional_) return Error::NotSupported;
  if (auto* conditional = std::get_if<ConditionalNode>(&parameters)) {
    TRY(complete(*conditional));
  } else if (auto* allocation = std::get_if<AllocationNode>(&parameters)) {
    TRY(place(*allocation, dependencies));
  } else if (const auto* free = std::get_if<FreeNode>(&parameters)) {
    TRY(check(*free));
  } else if (const auto* child = std::get_if<ChildGraphNode>(&parameters)) {
    TRY(check(*child));
  }
  GraphNode& node = append(std::move(parameters));
  for (const GraphRef& body : node.graphs()) node.conditionalGraphs_.push_back(body.get());
  node.dependencies_.assign(dependencies.begin(), dependencies.end());
  for (const Edge& edge : dependencies) edge.node->dependents_.push_back({&node, edge.data});
  out = &node;
  return Error::Success;
}

// Memory that the graph frees before lies at the same address again: of what is large enough, the smallest.
Error Graph::place(AllocationNode& node, std::span<const Edge> dependencies) const {
  std::unordered_set<const GraphNode*> seen;
  std::vector<const GraphNode*> open;
  const auto see = [&](const Edge& edge) {
    if (seen.insert(edge.node).second) open.push_back(edge.node);
  };
  std::ranges::for_each(dependencies, see);
  GraphMemoryRef best;
  while (!open.empty()) {
    const GraphNode& before = *open.back();
    open.pop_back();
    std::ranges::for_each(before.dependencies(), see);
    const auto* const free = before.as<FreeNode>();
    if (!free || !allocates(*free->memory)) continue;
    if (free->memory->kind() != node.kind) continue;
    const size_t most = free->memory->mostBytes();
    if (free->memory->isLast() && most >= node.bytes && (!best || most < best->mostBytes())) best = free->memory;
  }
  if (!best) return GraphMemory::create(*node.context, node.kind, node.bytes, node.memory);
  node.memory = GraphMemory::after(*best, node.bytes);
  return Error::Success;
}

bool Graph::allocates(const GraphMemory& memory) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    const auto* const allocation = node->template as<AllocationNode>();
    return allocation && allocation->memory.get() == &memory;
  });
}

Error Graph::check(const FreeNode& node) const {
  const bool isFreedHere = std::ranges::any_of(nodes_, [&](const auto& one) {
    const auto* const free = one->template as<FreeNode>();
    return free && free->memory == node.memory;
  });
  return isFreedHere || !node.memory->letFree(allocates(*node.memory)) ? Error::InvalidValue : Error::Success;
}

Error Graph::remove(GraphNode& node) {
  const auto place = std::ranges::find_if(nodes_, [&](const auto& one) { return one.get() == &node; });
  if (place == nodes_.end()) return Error::InvalidValue;
  if (hasMemory_) return Error::NotSupported;
  if (isCaptured_) return Error::IllegalState;
  for (const Edge& edge : node.dependencies_) edge.node->dependents_.erase(edgeTo(edge.node->dependents_, node));
  for (const Edge& edge : node.dependents_) edge.node->dependencies_.erase(edgeTo(edge.node->dependencies_, node));
  for (const GraphRef& child : node.graphs()) graphs().remove(child.get());
  graphNodes().remove(&node);
  for (auto moved = nodes_.erase(place); moved != nodes_.end(); ++moved) --(*moved)->place_;
  return Error::Success;
}

Error Graph::set(GraphNode& node, NodeParameters parameters) {
  const NodeType type = typeOf(parameters);
  if (type != node.type() || type == NodeType::Allocation || type == NodeType::Free) return Error::InvalidValue;
  if (const auto* child = std::get_if<ChildGraphNode>(&parameters)) TRY(check(*child));
  if (const auto* conditional = std::get_if<ConditionalNode>(&parameters))  // another value takes the place of its own
    std::ranges::replace(root().values_, node.as<ConditionalNode>()->value, conditional->value);
  if (type != NodeType::ChildGraph) {
    node.parameters_ = std::move(parameters);
    return Error::Success;
  }
  for (const GraphRef& child : node.graphs()) graphs().remove(child.get());
  node.parameters_ = std::move(parameters);
  adopt(node);
  return Error::Success;
}

void Graph::relaunch(GraphNode& node, const KernelNode& next) {
  auto& kernel = std::get<KernelNode>(node.parameters_);
  kernel.launch = next.launch;
  kernel.arguments = next.arguments;
}

Error Graph::connect(GraphNode& from, GraphNode& to, const EdgeData& data) {
  if (&from.graph() != this || &to.graph() != this || &from == &to) return Error::InvalidValue;
  TRY(check(data, from));
  if (edgeTo(to.dependencies_, from) != to.dependencies_.end()) return Error::InvalidValue;
  to.dependencies_.push_back({&from, data});
  from.dependents_.push_back({&to, data});
  return Error::Success;
}

Error Graph::disconnect(GraphNode& from, GraphNode& to, const EdgeData& data) {
  if (&from.graph() != this || &to.graph() != this) return Error::InvalidValue;
  const auto edge = edgeTo(to.dependencies_, from);
  if (edge == to.dependencies_.end() || edge->data != data) return Error::InvalidValue;
  if (hasMemory_) return Error::NotSupported;
  to.dependencies_.erase(edge);
  from.dependents_.erase(edgeTo(from.dependents_, to));
  return Error::Success;
}

bool Graph::inOrder(std::vector<GraphNode*>& out) const {
  std::unordered_map<const GraphNode*, size_t> missing;
  out.clear();
  for (const auto& node : nodes_) {
    missing[node.get()] = node->dependencies().size();
    if (node->dependencies().empty()) out.push_back(node.get());
  }
  for (size_t i = 0; i < out.size(); ++i)
    for (const Edge& edge : out[i]->dependents())
      if (--missing[edge.node] == 0) out.push_back(edge.node);
  return out.size() == nodes_.size();
}

std::shared_ptr<Graph> Graph::clone() const {
  std::shared_ptr<Graph> copy = create();
  copy->originalId_ = id_;
  copy->userObjects_ = userObjects_;
  copy->values_ = values_;
  copy->isConditional_ = isConditional_;
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    NodeParameters parameters = node->parameters();
    if (auto* child = std::get_if<ChildGraphNode>(&parameters)) child->graph = child->graph->clone();
    if (auto* conditional = std::get_if<ConditionalNode>(&parameters))
      for (GraphRef& body : conditional->bodies) body = body->clone();
    GraphNode& cloned = copy->append(std::move(parameters));
    cloned.originalId_ = node->id();
    copies[node.get()] = &cloned;
  }
  const auto translated = [&](const std::vector<Edge>& edges) {
    std::vector<Edge> list = edges;
    for (Edge& edge : list) edge.node = copies.at(edge.node);
    return list;
  };
  for (const auto& node : nodes_) {
    GraphNode& cloned = *copies.at(node.get());
    cloned.dependencies_ = translated(node->dependencies_);
    cloned.dependents_ = translated(node->dependents_);
  }
  return copy;
}

GraphNode* Graph::copyOf(const GraphNode& original) const {
  if (originalId_ != original.graph().id()) return nullptr;
  const auto found = std::ranges::find_if(nodes_, [&](const auto& one) { return one->originalId() == original.id(); });
  return found == nodes_.end() ? nullptr : found->get();
}

}  // namespace mulciber::core
