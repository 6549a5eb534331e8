// How conditional nodes are planned. If the device can leave out everything that a conditional's graphs do, their nodes
// are recorded with the other nodes, after a node that decides which of them run. Several runs of a loop's body are
// recorded one after the other. The host looks at whether the loop continues while the device does the next runs, and
// submits more of them in time. If the device cannot leave something out, the host makes the choice.
#include <algorithm>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/graph_plan.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

// A loop's runs before the host first looks, and between its later looks; fewer where a run has many nodes. From the
// first look on there are runs for one more look ahead.
constexpr uint32_t firstRuns = 12, mostNodes = 1024;
constexpr uint32_t laterRuns[] = {12, 32};

uint32_t runsOf(const Graph& body, uint32_t wanted) {
  const auto nodes = static_cast<uint32_t>(body.nodes().size());
  return std::clamp(mostNodes / std::max(nodes, 1u), 1u, wanted);
}

bool canBeLeftOut(const Graph& graph);

bool canBeLeftOut(const CopyNode& node) {
  PreparedCopy copy;
  if (prepare(*node.context, node.copy, copy) != Error::Success || copy.before || copy.after) return false;
  return !copy.work || std::holds_alternative<DeviceCopy>(*copy.work) || std::holds_alternative<BufferCopy>(*copy.work);
}

bool canBeLeftOut(const FillNode& node) {
  PreparedCopy fill;
  if (prepare(*node.context, node.fill, fill) != Error::Success || fill.before || fill.after) return false;
  return !fill.work || std::holds_alternative<vk::FillRegion>(*fill.work);
}

bool canBeLeftOut(const GraphNode& node) {
  switch (node.type()) {
    case NodeType::Kernel:
    case NodeType::Empty: return true;
    case NodeType::Copy: return canBeLeftOut(*node.as<CopyNode>());
    case NodeType::Fill: return canBeLeftOut(*node.as<FillNode>());
    case NodeType::ChildGraph: return canBeLeftOut(*node.as<ChildGraphNode>()->graph);
    case NodeType::Conditional: {
      const auto& conditional = *node.as<ConditionalNode>();
      return conditional.kind != ConditionalKind::While &&
             std::ranges::all_of(conditional.bodies, [](const GraphRef& body) { return canBeLeftOut(*body); });
    }
    default: return false;
  }
}

bool canBeLeftOut(const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [](const auto& node) { return canBeLeftOut(*node); });
}

bool isDecidedOnDevice(const ConditionalNode& node) {
  return vk::canLeaveOutWork(node.context->vulkan()) &&
         std::ranges::all_of(node.bodies, [](const GraphRef& body) { return canBeLeftOut(*body); });
}

// Whether the value itself may say what the device leaves out: the only dispatch that it says it of may change it, and
// Vulkan does not say when the device looks at it again.
bool isOneDispatch(const ConditionalNode& node, Context& context) {
  if (node.bodies.size() != 1 || node.kind == ConditionalKind::Switch) return false;
  const auto& nodes = node.bodies.front()->nodes();
  const auto* const kernel = nodes.size() == 1 ? nodes.front()->as<KernelNode>() : nullptr;
  KernelLaunch launch;
  return kernel &&
         prepare(*kernel->function, kernel->launch, {nullptr, kernel->arguments.data(), kernel->arguments.size()},
                 context, launch) == Error::Success &&
         launch.isOneDispatch();
}

Error allocate(Context& context, vk::MemoryUse use, uint64_t bytes, vk::Memory& out,
               std::vector<std::shared_ptr<const void>>& kept) {
  vk::Allocator& allocator = context.vulkan().allocator();
  if (const auto status = allocator.allocate(use, bytes, out); status != vk::Status::Ok) return errorFrom(status);
  kept.push_back(allocator.owner(out));
  return Error::Success;
}

}  // namespace

// Each launch begins with the values that were given for it. All of the graph comes after that.
std::vector<uint32_t> GraphPlan::assignValues(const Graph& graph) {
  std::vector<ConditionalValueRef> values;
  gatherValues(graph, values);
  std::vector<uint32_t> all;
  for (const ConditionalValueRef& value : values) {
    kept_.push_back(value);
    if (!value->first()) continue;
    PlannedNode assignment;
    assignment.work = DeviceWork{vk::FillRegion{value->handle(), *value->first(), sizeof(uint32_t), 1}};
    all.push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(assignment));
  }
  return all;
}

Error GraphPlan::makeBody(const Graph& body, Context* context, const GraphNode*& failed,
                          const std::vector<std::shared_ptr<const void>>& kept) {
  kept_ = kept;
  std::vector<uint32_t> ends;
  TRY(add(body, {}, context, failed, ends));
  schedule();
  return Error::Success;
}

Error GraphPlan::makeRuns(const ConditionalNode& node, uint32_t runs, const DeviceCopy& look, Context& context,
                          const GraphNode*& failed, const std::vector<std::shared_ptr<const void>>& kept) {
  kept_ = kept;
  std::vector<uint32_t> ends;
  TRY(addRuns(node, runsOf(*node.bodies[0], runs), {}, context, failed, ends));
  PlannedNode last;
  last.work = DeviceWork{look};
  last.dependencies = std::move(ends);
  nodes_.push_back(std::move(last));
  schedule();
  return Error::Success;
}

Error GraphPlan::addConditional(const GraphNode& node, std::vector<uint32_t> before, Context* context,
                                const GraphNode*& failed, Ends& out) {
  const ConditionalNode& conditional = *node.as<ConditionalNode>();
  const bool isDecided = isDecidedOnDevice(conditional);
  out.first = append(node, PlannedNode::Nothing{}, std::move(before));
  std::vector<uint32_t> ends{out.first};
  Error error = Error::Success;
  if (isDecided && conditional.kind != ConditionalKind::While) {
    error = addGuarded(conditional, {out.first}, *context, failed, ends);
    out.last = append(node, PlannedNode::Nothing{}, std::move(ends));
    return error;
  }
  if (isDecided)
    error = addRuns(conditional, runsOf(*conditional.bodies[0], firstRuns), {out.first}, *context, failed, ends);
  if (error == Error::Success) error = addChoice(node, std::move(ends), *context, failed, out.last);
  return error;
}

Error GraphPlan::addGuarded(const ConditionalNode& node, const std::vector<uint32_t>& before, Context& context,
                            const GraphNode*& failed, std::vector<uint32_t>& ends) {
  const auto count = static_cast<uint32_t>(node.bodies.size());
  if (!guard_ && isOneDispatch(node, context)) {
    guard_ = {node.value->memory(), 0, /*isValue=*/true};
    ends.clear();
    const Error error = add(*node.bodies.front(), before, &context, failed, ends);
    guard_.reset();
    return error;
  }
  PlannedNode::Guard guard{{}, 0};
  TRY(allocate(context, vk::MemoryUse::Device, count * sizeof(uint32_t), guard.words, kept_));
  const std::optional<PlannedNode::Guard> outer = std::exchange(guard_, std::nullopt);
  PlannedNode decide;
  decide.work = PlannedNode::Decide{node.value->handle(), outer ? outer->address() : 0, guard.words.address, count,
                                    node.kind == ConditionalKind::Switch};
  decide.dependencies = before;
  const auto place = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(std::move(decide));
  Error error = Error::Success;
  ends.clear();
  for (uint32_t i = 0; i < count && error == Error::Success; ++i) {
    guard.number = i;
    guard_ = guard;
    std::vector<uint32_t> own;
    error = add(*node.bodies[i], {place}, &context, failed, own);
    ends.insert(ends.end(), own.begin(), own.end());
  }
  guard_ = outer;
  return error;
}

// Runs of a loop. Those after its end are left out: nothing sets the value any more.
Error GraphPlan::addRuns(const ConditionalNode& node, uint32_t count, std::vector<uint32_t> before, Context& context,
                         const GraphNode*& failed, std::vector<uint32_t>& ends) {
  for (uint32_t i = 0; i < count; ++i) {
    TRY(addGuarded(node, before, context, failed, ends));
    before = ends;
  }
  return Error::Success;
}

// The device writes the value where the host sees it, and the host chooses.
Error GraphPlan::addChoice(const GraphNode& node, std::vector<uint32_t> before, Context& context,
                           const GraphNode*& failed, uint32_t& out) {
  const ConditionalNode& conditional = *node.as<ConditionalNode>();
  vk::Memory word;
  TRY(allocate(context, vk::MemoryUse::Staging, 2 * sizeof(uint32_t), word, kept_));
  const auto kept = kept_.back();
  PlannedNode::Choice choice{&conditional,
                             {},
                             {{word.address, conditional.value->handle(), sizeof(uint32_t)}, /*hostReads=*/true},
                             static_cast<const uint32_t*>(word.host),
                             conditional.kind == ConditionalKind::While && isDecidedOnDevice(conditional)};
  const auto addBody = [&] { return choice.bodies.emplace_back(std::make_shared<GraphPlan>()).get(); };
  DeviceCopy firstLook = choice.look;
  if (choice.isRepeatable) {
    firstLook.region.destination += sizeof(uint32_t);
    choice.firstWord = choice.word + 1;
    choice.hasContinued = std::make_shared<std::atomic<bool>>(false);
    for (const uint32_t runs : laterRuns)
      TRY(addBody()->makeRuns(conditional, runs, choice.look, context, failed, kept_));
  } else {
    for (const GraphRef& body : conditional.bodies) TRY(addBody()->makeBody(*body, &context, failed, kept_));
  }
  hasChoices_ = true;
  const uint32_t look = append(node, DeviceWork{firstLook}, std::move(before));
  out = append(node, std::move(choice), {look});
  nodes_[out].kept = kept;
  return Error::Success;
}

}  // namespace mulciber::core
