#include "runtime/core/graph_plan.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "runtime/core/context.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

constexpr size_t mostSpares = 8;
// A piece more takes an H200 5 us, recording a kernel the host 1.3 us: so long must be what the device need not wait
// for.
constexpr size_t firstPiece = 24, leastNodesForPieces = 4 * firstPiece;

Error launchOf(const KernelNode& kernel, Context& context, DeviceWork& out) {
  Arguments arguments;
  arguments.packed = kernel.arguments.data();
  arguments.packedBytes = kernel.arguments.size();
  return prepare(*kernel.function, kernel.launch, arguments, context, out.emplace<KernelLaunch>());
}

const Copy& shapeOf(const CopyNode& node) { return node.copy; }
const Fill& shapeOf(const FillNode& node) { return node.fill; }

template <class Node>
bool isOutdated(const Node& node, const CopyMemory& memory) {
  const auto& shape = shapeOf(node);
  return memoryOf(*node.context, shape) != memory && check(*node.context, shape) == Error::Success;
}

Error prepareOperations(const MemoryOperationsNode& node, std::vector<PlannedNode::Work>& parts) {
  Error error = Error::Success;
  for (const WordOperation& operation : node.operations) {
    if (const auto* wait = std::get_if<WordWait>(&operation)) {
      WaitForWord prepared;
      error = prepare(*node.context, *wait, prepared);
      parts.emplace_back(std::move(prepared));
    } else if (const auto* write = std::get_if<WordWrite>(&operation)) {
      DeviceWork prepared;
      error = prepare(*node.context, *write, prepared);
      parts.emplace_back(std::move(prepared));
    }
    if (error != Error::Success) return error;
  }
  return Error::Success;
}

// The copy engine works whatever a guard says: a kernel does the copy instead.
DeviceWork guarded(DeviceWork work) {
  const auto* const copy = std::get_if<BufferCopy>(&work);
  if (!copy) return work;
  return DeviceCopy{{copy->destination->memory.address + copy->destinationOffset,
                     copy->source->memory.address + copy->sourceOffset, copy->bytes}};
}

}  // namespace

uint32_t GraphPlan::append(const GraphNode& node, PlannedNode::Work work, std::vector<uint32_t> dependencies) {
  nodes_.push_back({&node, std::move(work), nullptr, std::move(dependencies), true, guard_});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

bool GraphPlan::takeEarlier(const GraphNode& node, std::vector<PlannedNode::Work>& parts,
                            std::shared_ptr<const void>& kept) {
  if (!earlier_ || guard_ || earlier_->changed.contains(&node)) return false;
  const GraphPlan& plan = earlier_->plan;
  const auto found = plan.places_.find(&node);
  if (found == plan.places_.end()) return false;
  const Ends ends = found->second.front();
  for (uint32_t i = ends.first; i <= ends.last; ++i) parts.push_back(plan.nodes_[i].work);
  kept = plan.nodes_[ends.last].kept;
  memory_[&node] = plan.memory_.at(&node);
  return true;
}

// Of a copy or a fill.
template <class Node>
Error GraphPlan::prepareParts(const GraphNode& node, const Node& copy, std::vector<PlannedNode::Work>& parts,
                              std::shared_ptr<const void>& kept) {
  if (takeEarlier(node, parts, kept)) return Error::Success;
  memory_[&node] = memoryOf(*copy.context, shapeOf(copy));
  PreparedCopy prepared;
  TRY(prepare(*copy.context, shapeOf(copy), prepared));
  if (prepared.before) parts.emplace_back(PlannedNode::HostPart{std::move(prepared.before), true});
  if (prepared.work) parts.emplace_back(guard_ ? guarded(std::move(*prepared.work)) : std::move(*prepared.work));
  if (prepared.after) parts.emplace_back(PlannedNode::HostPart{std::move(prepared.after), true});
  kept = std::move(prepared.staging);
  return Error::Success;
}

// What one node becomes: parts in a row, of which the first comes after `before`.
Error GraphPlan::add(const GraphNode& node, std::vector<uint32_t> before, Context* context, const GraphNode*& failed,
                     Ends& out) {
  using Work = PlannedNode::Work;
  std::vector<Work> parts;
  std::shared_ptr<const void> kept;
  Error error = Error::Success;
  if (const auto* kernel = node.as<KernelNode>()) {
    DeviceWork work;
    error = launchOf(*kernel, *context, work);
    parts.emplace_back(std::move(work));
  } else if (const auto* copy = node.as<CopyNode>()) {
    error = prepareParts(node, *copy, parts, kept);
  } else if (const auto* fill = node.as<FillNode>()) {
    error = prepareParts(node, *fill, parts, kept);
  } else if (const auto* host = node.as<HostNode>()) {
    parts.emplace_back(PlannedNode::HostPart{[call = *host] { call.function(call.data); }});
  } else if (const auto* record = node.as<EventRecordNode>()) {
    parts.emplace_back(*record);
  } else if (const auto* wait = node.as<EventWaitNode>()) {
    parts.emplace_back(*wait);
  } else if (const auto* signal = node.as<SemaphoreSignalNode>()) {
    parts.emplace_back(*signal);
  } else if (const auto* semaphores = node.as<SemaphoreWaitNode>()) {
    parts.emplace_back(*semaphores);
  } else if (const auto* words = node.as<MemoryOperationsNode>()) {
    error = prepareOperations(*words, parts);
  } else if (node.as<ConditionalNode>()) {
    return addConditional(node, std::move(before), context, failed, out);
  } else if (const auto* child = node.as<ChildGraphNode>()) {
    out.first = append(node, PlannedNode::Nothing{}, std::move(before));
    std::vector<uint32_t> ends;
    error = add(*child->graph, {out.first}, context, failed, ends);
    out.last = append(node, PlannedNode::Nothing{}, std::move(ends));
    return error;
  }
  if (error != Error::Success) {
    if (!failed) failed = &node;
    return error;
  }
  if (parts.empty()) parts.emplace_back(PlannedNode::Nothing{});
  out.first = static_cast<uint32_t>(nodes_.size());
  for (Work& part : parts) {
    out.last = append(node, std::move(part), std::move(before));
    nodes_[out.last].kept = kept;
    before = {out.last};
  }
  return Error::Success;
}

// All nodes of a graph; those without dependencies come after `before`, and what comes after the graph after `ends`.
Error GraphPlan::add(const Graph& graph, const std::vector<uint32_t>& before, Context* context,
                     const GraphNode*& failed, std::vector<uint32_t>& ends) {
  std::vector<GraphNode*> order;
  if (!graph.inOrder(order)) return Error::InvalidValue;
  for (const GraphNode* node : order) {
    std::vector<uint32_t> dependencies;
    for (const Edge& edge : node->dependencies()) dependencies.push_back(places_.at(edge.node).back().last);
    if (dependencies.empty()) dependencies = before;
    Ends place{};
    TRY(add(*node, std::move(dependencies), context, failed, place));
    places_[node].push_back(place);
    if (node->dependents().empty()) ends.push_back(place.last);
  }
  if (ends.empty()) ends = before;
  return Error::Success;
}

Error GraphPlan::make(const Graph& graph, Context* context, const Earlier* earlier, const GraphNode*& failed) {
  earlier_ = earlier;
  std::vector<uint32_t> ends;
  const Error error = add(graph, assignValues(graph), context, failed, ends);
  earlier_ = nullptr;
  if (error == Error::Success) schedule();
  return error;
}

void GraphPlan::gatherOutdated(Nodes& out) const {
  forEachBody(*this, [&](const GraphPlan& body) { body.gatherOutdated(out); });
  for (const auto& [node, memory] : memory_) {
    const auto* const copy = node->as<CopyNode>();
    if (copy ? isOutdated(*copy, memory) : isOutdated(*node->as<FillNode>(), memory)) out.insert(node);
  }
}

// Nodes of the device go first, in the order in which they become ready, so that those that depend on nothing of each
// other stand side by side and share a barrier. Only when none is left does the host get its turn: so there are as few
// steps as can be. Waits come last of all, since what they wait for may be in the graph itself.
void GraphPlan::schedule() {
  steps_.clear();
  stepOf_.assign(nodes_.size(), 0);
  std::vector<std::vector<uint32_t>> dependents(nodes_.size());
  std::vector<size_t> missing(nodes_.size());
  std::deque<uint32_t> onDevice, onHost, waits;
  const auto becomesReady = [&](uint32_t i) {
    const PlannedNode& node = nodes_[i];
    if (!node.isOnHost()) onDevice.push_back(i);
    else if (node.isWait()) waits.push_back(i);
    else onHost.push_back(i);
  };
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    missing[i] = nodes_[i].dependencies.size();
    for (const uint32_t dependency : nodes_[i].dependencies) dependents[dependency].push_back(i);
    if (missing[i] == 0) becomesReady(i);
  }
  const auto take = [&](std::deque<uint32_t>& ready, PlannedStep& step) {
    const uint32_t i = ready.front();
    ready.pop_front();
    step.nodes.push_back(i);
    stepOf_[i] = static_cast<uint32_t>(steps_.size() - 1);
    for (const uint32_t dependent : dependents[i])
      if (--missing[dependent] == 0) becomesReady(dependent);
  };
  while (!onDevice.empty() || !onHost.empty() || !waits.empty()) {
    steps_.emplace_back();
    if (!onDevice.empty()) {
      while (!onDevice.empty()) take(onDevice, steps_.back());
      continue;
    }
    steps_.back().isOnHost = true;
    take(onHost.empty() ? waits : onHost, steps_.back());
  }
}

Error GraphPlan::update(const std::vector<const GraphNode*>& kernels, Context& context) {
  std::vector<DeviceWork> works(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) TRY(launchOf(*kernels[i]->as<KernelNode>(), context, works[i]));
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!std::get<KernelLaunch>(works[i]).isOneDispatch() && isGuardedByValue(*kernels[i])) return Error::NotSupported;
  for (size_t i = 0; i < kernels.size(); ++i) replace(*kernels[i], works[i]);
  return Error::Success;
}

// Plans of what the host chooses.
template <class Plan, class Body>
void GraphPlan::forEachBody(Plan& plan, Body&& body) {
  if (!plan.hasChoices_) return;
  for (const PlannedNode& node : plan.nodes_)
    if (const auto* choice = std::get_if<PlannedNode::Choice>(&node.work))
      for (const auto& inner : choice->bodies) body(*inner);
}

bool GraphPlan::isGuardedByValue(const GraphNode& node) const {
  bool is = false;
  forEachBody(*this, [&](const GraphPlan& body) { is = is || body.isGuardedByValue(node); });
  if (const auto found = places_.find(&node); found != places_.end()) {
    const auto& guard = nodes_[found->second.front().first].guard;
    is = is || (guard && guard->isValue);
  }
  return is;
}

// All places of a node have the same launch: what one of them takes, they all take.
bool GraphPlan::canRelaunch(const GraphNode& node, const KernelNode& next) const {
  bool can = true;
  forEachBody(*this, [&](const GraphPlan& body) { can = can && body.canRelaunch(node, next); });
  const auto found = places_.find(&node);
  if (!can || found == places_.end()) return can;
  const PlannedNode& planned = nodes_[found->second.front().first];
  if (planned.guard && planned.guard->isValue && next.launch.grid[0] > KernelLaunch::mostBlocks) return false;
  return std::get<KernelLaunch>(std::get<DeviceWork>(planned.work)).canRelaunch();
}

void GraphPlan::relaunch(const GraphNode& node, const KernelNode& next) {
  forEachBody(*this, [&](GraphPlan& body) { body.relaunch(node, next); });
  const auto found = places_.find(&node);
  if (found == places_.end()) return;
  for (const Ends place : found->second) {
    auto& work = std::get<DeviceWork>(nodes_[place.first].work);
    std::get<KernelLaunch>(work).relaunch(next.launch.grid, next.arguments);
    setChanged(place.first);
  }
}

void GraphPlan::replace(const GraphNode& node, const DeviceWork& work) {
  forEachBody(*this, [&](GraphPlan& body) { body.replace(node, work); });
  const auto found = places_.find(&node);
  if (found == places_.end()) return;
  for (const Ends place : found->second) {
    nodes_[place.first].work = work;
    setChanged(place.first);
  }
}

void GraphPlan::enable(const GraphNode& node, bool isEnabled) {
  forEachBody(*this, [&](GraphPlan& body) { body.enable(node, isEnabled); });
  const auto found = places_.find(&node);
  if (found == places_.end()) return;
  for (const Ends ends : found->second)
    for (uint32_t i = ends.first; i <= ends.last; ++i) {
      nodes_[i].isEnabled = isEnabled;
      setChanged(i);
    }
}

void GraphPlan::setChanged(uint32_t node) {
  PlannedStep& step = steps_[stepOf_[node]];
  step.wasChanged = step.isRecorded || step.wasChanged;
  step.isRecorded = false;
}

void GraphPlan::recordFor(uint32_t family) {
  if (std::exchange(family_, family) == family) return;
  spares_ = std::make_shared<Spares>();
  for (PlannedStep& step : steps_) step.isRecorded = false;
  forEachBody(*this, [&](GraphPlan& body) { body.recordFor(family); });
}

Error GraphPlan::record(Context& context) {
  Epochs epochs;
  for (PlannedStep& step : steps_) {
    if (!step.isOnHost && !step.isRecorded) {
      epochs.resize(nodes_.size());
      RecordedWorkRef recorded;
      TRY(record(step.nodes, context, epochs, recorded));
      for (const uint32_t node : step.nodes) epochs[node] = 0;
      step.recorded.clear();
      if (recorded) step.recorded.push_back(std::move(recorded));
      step.isRecorded = true;
      step.wasChanged = false;
    }
    if (!step.isOnHost) continue;
    if (const auto* choice = std::get_if<PlannedNode::Choice>(&nodes_[step.nodes.front()].work))
      for (const auto& body : choice->bodies) TRY(body->record(context));
  }
  return Error::Success;
}

bool GraphPlan::canRecordInPieces(uint32_t family) const {
  const PlannedStep& step = steps_.front();
  if (family != family_ || step.isOnHost || step.isRecorded || !step.wasChanged ||
      step.nodes.size() < leastNodesForPieces)
    return false;
  // The pieces are recorded while the stream is held: nothing else is allocated then.
  return std::ranges::none_of(step.nodes, [&](uint32_t i) {
    const auto* const work = std::get_if<DeviceWork>(&nodes_[i].work);
    const auto* const launch = work ? std::get_if<KernelLaunch>(work) : nullptr;
    return launch && launch->ownMemory.memory;
  });
}

// Each piece is twice as long as the one before: the device is not done with that when it has been recorded.
Error GraphPlan::recordNextPiece(Context& context, size_t& done, RecordedWorkRef& piece) {
  PlannedStep& step = steps_.front();
  if (done == 0) step.recorded.clear();
  const size_t left = step.nodes.size() - done, wanted = firstPiece + done;
  const size_t count = left < 2 * wanted ? left : wanted;
  Epochs epochs(nodes_.size());  // a command buffer comes after the one before it as a whole
  TRY(record(std::span(step.nodes).subspan(done, count), context, epochs, piece));
  if (piece) step.recorded.push_back(piece);
  done += count;
  if (done != step.nodes.size()) return Error::Success;
  step.isRecorded = true;
  step.wasChanged = false;
  return Error::Success;
}

void GraphPlan::joinPieces() {
  for (PlannedStep& step : steps_)
    if (step.recorded.size() > 1) step.isRecorded = false;
}

// A node comes after the last epoch in which something it depends on was recorded, and all after the given one.
template <class RecordLaunch>
vk::Status GraphPlan::record(std::span<const uint32_t> nodes, uint64_t after, vk::Commands& commands, Epochs& epochs,
                             RecordLaunch&& recordLaunch) const {
  for (const auto& kept : kept_) commands.keep(kept);
  const vk::Pipeline* pipeline = nullptr;
  const PlannedNode::Guard* guard = nullptr;
  // What follows the beginning comes after all before: true then.
  const auto guardBy = [&](const PlannedNode::Guard* next) {
    if (guard && next && guard->address() == next->address() && !next->isValue) return false;
    if (guard) vk::endIf(commands);
    if (guard && guard->isValue && !next) vk::letSetConditions(commands);
    if (next) vk::beginIf(commands, next->words, next->number);
    guard = next;
    return next != nullptr;
  };
  for (const uint32_t i : nodes) {
    const PlannedNode& node = nodes_[i];
    uint64_t epoch = after;
    for (const uint32_t dependency : node.dependencies) epoch = std::max(epoch, epochs[dependency]);
    const auto* work = std::get_if<DeviceWork>(&node.work);
    if (const auto* condition = std::get_if<PlannedNode::Decide>(&node.work)) {
      guardBy(nullptr);
      vk::decide(commands, *condition);
      epoch = commands.hazards().epoch;
    } else if (work && node.isEnabled) {
      commands.after(guardBy(node.guard ? &*node.guard : nullptr) ? 0 : epoch);
      const auto* launch = std::get_if<KernelLaunch>(work);
      TRY(launch ? recordLaunch(*launch) : core::record(*work, commands));
      epoch = commands.hazards().epoch;
      if (node.kept) commands.keep(node.kept);
      if (launch && launch->pipeline != pipeline) commands.keep(launch->pipeline->shared_from_this());
      if (launch) pipeline = launch->pipeline;
    }
    epochs[i] = epoch;
  }
  guardBy(nullptr);
  return vk::Status::Ok;
}

// They come back once the plan has recorded others and the last of their runs is over.
Error GraphPlan::takeCommands(vk::Device& device, std::shared_ptr<vk::Commands>& out) {
  std::unique_ptr<vk::Commands> commands;
  {
    const std::lock_guard lock(spares_->mutex);
    if (!spares_->commands.empty()) {
      commands = std::move(spares_->commands.back());
      spares_->commands.pop_back();
    }
  }
  if (!commands) TRY(errorFrom(vk::Commands::create(device, family_, vk::Commands::Kind::Reusable, commands)));
  out = {commands.release(), [spares = std::weak_ptr(spares_)](vk::Commands* done) {
           std::unique_ptr<vk::Commands> owned(done);
           const auto kept = spares.lock();
           if (!kept) return;
           owned->reset();
           const std::lock_guard lock(kept->mutex);
           if (kept->commands.size() < mostSpares) kept->commands.push_back(std::move(owned));
         }};
  return Error::Success;
}

Error GraphPlan::record(std::span<const uint32_t> nodes, Context& context, Epochs& epochs, RecordedWorkRef& out) {
  vk::Device& vulkan = context.vulkan();
  std::shared_ptr<vk::Commands> commands;
  TRY(takeCommands(vulkan, commands));
  vk::Status status = commands->begin({});
  if (status != vk::Status::Ok) return errorFrom(status);
  auto recorded = std::make_shared<RecordedWork>();
  recorded->services = &context.services();
  status = record(nodes, 0, *commands, epochs, [&](const KernelLaunch& launch) {
    recorded->usesPrintf |= launch.kernel->usesPrintf;
    recorded->readsHostWrites |= launch.kernel->readsHostWrites;
    if (vulkan.physical().isCpu()) recorded->kernels.push_back(launch.kernel->name);
    return launch.record(*commands);
  });
  if (status != vk::Status::Ok) return errorFrom(status);
  const bool isEmpty = commands->count() == 0;
  if (status = commands->end(); status != vk::Status::Ok) return errorFrom(status);
  recorded->commands = std::move(commands);
  if (!isEmpty) out = std::move(recorded);
  return Error::Success;
}

namespace {

std::string whyNotRecorded(const KernelLaunch& launch) {
  const KernelInfo& kernel = *launch.kernel;
  const char* why = kernel.usesPrintf      ? "calls printf"
                    : kernel.usesHeap      ? "calls malloc"
                    : launch.isCooperative ? "is launched cooperatively"
                                           : nullptr;
  return why ? fmt::format("the kernel {}, which {}", kernel.name, why) : std::string();
}

// Nobody waits for a borrowed command buffer on behalf of the host, and its owner orders compute shaders alone.
std::string whyNotRecorded(const PlannedNode& node) {
  if (!node.node || node.node->type() == NodeType::Conditional) return "a conditional node";
  const NodeType type = node.node->type();
  if (type == NodeType::Host) return "a function of the host";
  if (type == NodeType::Allocation || type == NodeType::Free) return "a node that allocates or frees memory";
  if (std::holds_alternative<EventRecordNode>(node.work)) return "the record of an event";
  if (std::holds_alternative<EventWaitNode>(node.work)) return "the wait for an event";
  if (type == NodeType::SemaphoreSignal || type == NodeType::SemaphoreWait) return "an external semaphore";
  if (std::holds_alternative<WaitForWord>(node.work)) return "the wait for a value in memory";
  if (node.isOnHost()) return "a copy that the host takes part in";
  const auto* work = std::get_if<DeviceWork>(&node.work);
  if (!work) return {};
  if (const auto* launch = std::get_if<KernelLaunch>(work)) return whyNotRecorded(*launch);
  if (std::holds_alternative<BufferCopy>(*work)) return "a copy between the device and the host";
  const bool usesArray = std::holds_alternative<ArrayCopy>(*work) || std::holds_alternative<ArrayUpload>(*work) ||
                         std::holds_alternative<ArrayToArrayCopy>(*work);
  return usesArray ? "a copy of an array, which takes transfer commands" : std::string();
}

// Memory of its own for each time it is recorded: these may run at the same time.
vk::Status recordOnItsOwn(const KernelLaunch& launch, vk::Commands& commands) {
  if (!launch.ownMemory.memory) return launch.record(commands);
  KernelLaunch own = launch;
  const uint64_t blocks = uint64_t{launch.piece[0]} * launch.piece[1] * launch.piece[2];
  if (own.services->ownMemory(blocks * own.scratchBytes, own.isCooperative, own.ownMemory) != Error::Success)
    return vk::Status::OutOfMemory;
  return own.record(commands);
}

}  // namespace

Error GraphPlan::record(vk::Commands& commands, uint64_t after, std::string& refused) const {
  for (const PlannedNode& node : nodes_)
    if (node.isEnabled)
      if (refused = whyNotRecorded(node); !refused.empty()) return Error::NotSupported;
  Epochs epochs(nodes_.size());
  vk::Status status = vk::Status::Ok;
  for (const PlannedStep& step : steps_)  // those of the host do nothing here, and still order others
    if (status == vk::Status::Ok)
      status = record(step.nodes, after, commands, epochs,
                      [&](const KernelLaunch& launch) { return recordOnItsOwn(launch, commands); });
  return errorFrom(status);
}

}  // namespace mulciber::core
