#include "runtime/core/executable_graph.h"

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"
#include "runtime/core/texture_table.h"
#include "runtime/core/worker.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

Context* contextOf(const GraphNode& node) {
  if (const auto* kernel = node.as<KernelNode>()) return kernel->context.get();
  if (const auto* copy = node.as<CopyNode>()) return copy->context.get();
  if (const auto* fill = node.as<FillNode>()) return fill->context.get();
  if (const auto* allocation = node.as<AllocationNode>()) return allocation->context.get();
  if (const auto* words = node.as<MemoryOperationsNode>()) return words->context.get();
  if (const auto* conditional = node.as<ConditionalNode>()) return conditional->context.get();
  return nullptr;
}

// The one context of all nodes. False when there are several, of which `failed` has the second.
bool findContext(const Graph& graph, Context*& context, const GraphNode*& failed) {
  for (const auto& node : graph.nodes()) {
    for (const GraphRef& child : node->graphs())
      if (!findContext(*child, context, failed)) return false;
    Context* const own = contextOf(*node);
    if (!own || own == context) continue;
    if (context) {
      failed = node.get();
      return false;
    }
    context = own;
  }
  return true;
}

// Nodes of types that may not stand in a conditional's graph; a copy that the host would have to help with counts as
// one of another context.
Error checkBody(const Graph& body, ExecutableGraph::Instantiation& instantiation) {
  for (const auto& node : body.nodes()) {
    const NodeType type = node->type();
    const bool isAllowed = type == NodeType::Kernel || type == NodeType::Copy || type == NodeType::Fill ||
                           type == NodeType::ChildGraph || type == NodeType::Empty || type == NodeType::Conditional;
    PreparedCopy copy;
    const auto* const given = node->as<CopyNode>();
    const bool needsHost =
        given && prepare(*given->context, given->copy, copy) == Error::Success && (copy.before || copy.after);
    if (!isAllowed || needsHost) {
      instantiation = {isAllowed ? InstantiateResult::ContextsNotSupported : InstantiateResult::NodeNotSupported,
                       node.get()};
      return Error::InvalidValue;
    }
    for (const GraphRef& child : node->graphs()) TRY(checkBody(*child, instantiation));
  }
  return Error::Success;
}

Error checkConditionals(const Graph& graph, uint64_t flags, ExecutableGraph::Instantiation& instantiation) {
  instantiation.result = InstantiateResult::Failed;
  if (graph.isConditional()) return Error::NotSupported;
  if (graph.hasConditionals() && (flags & ExecutableGraph::DeviceLaunch) != 0) return Error::InvalidValue;
  std::vector<ConditionalValueRef> used;
  gatherValues(graph, used);
  if (!graph.isChild() && used.size() < graph.values().size()) {
    instantiation.result = InstantiateResult::ConditionalUnused;
    return Error::InvalidValue;
  }
  instantiation.result = InstantiateResult::Success;
  for (const auto& node : graph.nodes())
    if (node->type() == NodeType::Conditional)
      for (const GraphRef& body : node->graphs()) TRY(checkBody(*body, instantiation));
  return Error::Success;
}

}  // namespace

HandleTable<ExecutableGraph>& executableGraphs() {
  static auto* const table = new HandleTable<ExecutableGraph>;  // programs destroy graphs from exit handlers
  return *table;
}

Error ExecutableGraph::create(const Graph& graph, uint64_t flags, std::shared_ptr<ExecutableGraph>& out,
                              Instantiation& instantiation) {
  TRY(unsafeDuringCapture());
  if ((flags & ~uint64_t{AutoFreeOnLaunch | UploadNow | DeviceLaunch | UseNodePriority}) != 0 || graph.isMoved()) {
    instantiation.result = InstantiateResult::Failed;
    return Error::InvalidValue;
  }
  TRY(checkConditionals(graph, flags, instantiation));
  if ((flags & DeviceLaunch) != 0) {
    util::log().warn("launching a graph from kernels is not offered");
    instantiation.result = InstantiateResult::Failed;
    return Error::NotSupported;
  }
  std::vector<GraphNode*> order;
  if (!graph.inOrder(order)) {
    instantiation.result = InstantiateResult::InvalidStructure;
    return Error::InvalidValue;
  }
  Context* context = nullptr;
  const GraphNode* failed = nullptr;
  if (!findContext(graph, context, failed)) {
    util::log().warn("a graph has nodes of several contexts, which is not offered");
    instantiation = {InstantiateResult::ContextsNotSupported, failed};
    return Error::NotSupported;
  }
  if (const Error error = context ? context->error() : Error::Success; error != Error::Success) {
    instantiation.result = InstantiateResult::Failed;
    return error;
  }
  std::shared_ptr<ExecutableGraph> executable(new ExecutableGraph(graph.clone(), flags));
  if (context) executable->context_ = context->shared_from_this();
  executable->gatherNodes(*executable->graph_);
  if (const Error error = executable->plan({}, failed); error != Error::Success) {
    const auto& nodes = graph.nodes();
    const auto original =
        std::ranges::find_if(nodes, [&](const auto& node) { return failed && node->id() == failed->originalId(); });
    instantiation.result =
        error == Error::NotSupported ? InstantiateResult::NodeNotSupported : InstantiateResult::Failed;
    instantiation.failed = original == nodes.end() ? nullptr : original->get();
    return error;
  }
  if (const Error error = executable->memory_.take(graph); error != Error::Success) {
    util::log().warn("a graph that allocates memory has an executable graph already");
    instantiation.result = InstantiateResult::Failed;
    return error;
  }
  if (!graph.takeValues(executable->valuesUse_)) {
    util::log().warn("a graph with conditional nodes has an executable graph already");
    instantiation.result = InstantiateResult::Failed;
    return Error::NotSupported;
  }
  out = std::move(executable);
  return Error::Success;
}

void ExecutableGraph::gatherNodes(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    nodes_[node->originalId()] = node.get();
    for (const GraphRef& child : node->graphs()) gatherNodes(*child);
  }
}

GraphNode* ExecutableGraph::nodeOf(const GraphNode& original) const {
  const auto found = nodes_.find(original.id());
  return found == nodes_.end() ? nullptr : found->second;
}

Error ExecutableGraph::plan(const GraphPlan::Nodes& changed, const GraphNode*& failed) {
  const bool needsFilter = context_ && context_->textures().needsFilter();
  const uint64_t blockCopies = context_ ? context_->vulkan().blockCopies() : 0;
  const GraphPlan::Earlier earlier{plan_, changed};
  GraphPlan fresh;
  TRY(fresh.make(*graph_, context_.get(), blockCopies == blockCopies_ ? &earlier : nullptr, failed));
  for (const GraphNode* node : disabled_) fresh.enable(*node, false);
  plan_ = std::move(fresh);
  isPlannedToFilter_ = needsFilter;
  blockCopies_ = blockCopies;
  return Error::Success;
}

// Where kernels have to read textures in another way now, or the device has another way to copy.
Error ExecutableGraph::renewPlan() {
  if (!context_) return Error::Success;
  const bool missesCopies = blockCopies_ != context_->vulkan().blockCopies();
  if (!missesCopies && (isPlannedToFilter_ || !context_->textures().needsFilter())) return Error::Success;
  const GraphNode* failed = nullptr;
  return plan({}, failed);
}

Error ExecutableGraph::prepare(const Stream& stream) {
  if (!context_) return Error::Success;
  TRY(renewPlan());
  plan_.recordFor(stream.queueFamily());
  plan_.joinPieces();
  return plan_.record(*context_);
}

Error ExecutableGraph::upload(Stream& stream) {
  TRY(stream.context().error());
  TRY(stream.refuseInCapture());
  std::lock_guard lock(mutex_);
  return prepare(stream);
}

Error ExecutableGraph::record(vk::Commands& commands, uint64_t after, std::string& refused) {
  std::lock_guard lock(mutex_);
  TRY(renewPlan());
  return plan_.record(commands, after, refused);
}

namespace {

using RecordedEvents = std::vector<std::pair<Event*, MarkerRef>>;

Error gather(const GraphPlan& plan, Stream& stream, RecordedEvents& recorded, std::vector<Operation>& out,
             size_t firstStep = 0);

Error gatherRecord(const EventRecordNode& node, Stream& stream, RecordedEvents& recorded, std::vector<Operation>& out) {
  if (&node.event->context() != &stream.context()) return Error::InvalidHandle;
  ResolveMarker resolve{std::make_shared<Marker>(), Precision::Exact, nullptr};
  if ((node.event->flags() & Event::DisableTiming) == 0) {
    resolve.precision = Precision::Timed;
    if (const auto status = stream.context().vulkan().timestamp(resolve.timestamp); status != vk::Status::Ok)
      return errorFrom(status);
  }
  recorded.emplace_back(node.event.get(), resolve.marker);
  out.emplace_back(std::move(resolve));
  return Error::Success;
}

void gatherWait(const EventWaitNode& node, Stream& stream, const RecordedEvents& recorded,
                std::vector<Operation>& out) {
  const auto own = std::ranges::find_if(recorded.rbegin(), recorded.rend(),
                                        [&](const auto& one) { return one.first == node.event.get(); });
  const MarkerRef marker = own != recorded.rend() ? own->second : node.event->marker();
  if (!marker) return;
  if (&node.event->context().vulkan() != &stream.context().vulkan()) out.emplace_back(WaitForDevice{marker});
  else out.emplace_back(WaitForMarker{marker});
}

using OperationLists = std::vector<std::shared_ptr<const OperationList>>;

// The worker looks at a loop's runs while the device does the next ones. Where the loop continues for long, there are
// more of them between two looks. A loop that continued after its first runs in the last launch is likely to do so
// again: its next runs are given before the first look.
void gatherLoop(const PlannedNode& node, const PlannedNode::Choice& choice, OperationLists lists,
                std::vector<Operation>& out) {
  constexpr uint32_t shortLists = 8;
  const bool isExpected = choice.hasContinued->load(std::memory_order_relaxed);
  if (isExpected) out.insert(out.end(), lists.front()->operations.begin(), lists.front()->operations.end());
  const auto choose = [lists = std::move(lists), first = choice.firstWord, hasContinued = choice.hasContinued,
                       isFirst = true, given = isExpected ? 1u : 0u](uint32_t word) mutable {
    if (std::exchange(isFirst, false))
      hasContinued->store(__atomic_load_n(first, __ATOMIC_ACQUIRE) != 0, std::memory_order_relaxed);
    if (word == 0) return std::shared_ptr<const OperationList>();
    return lists[std::min<size_t>(given++ / shortLists, lists.size() - 1)];
  };
  Decision decision{isExpected ? choice.word : choice.firstWord,
                    node.kept,
                    choose,
                    /*isRepeated=*/true,
                    /*looksAhead=*/true,
                    nullptr};
  decision.laterWord = choice.word;
  out.emplace_back(std::move(decision));
}

Error gatherChoice(const PlannedNode& node, const PlannedNode::Choice& choice, Stream& stream, RecordedEvents& recorded,
                   std::vector<Operation>& out) {
  const bool isLoop = choice.node->kind == ConditionalKind::While;
  OperationLists lists;
  for (const auto& body : choice.bodies) {
    auto list = std::make_shared<OperationList>();
    TRY(gather(*body, stream, recorded, list->operations));
    if (isLoop && !choice.isRepeatable) list->operations.emplace_back(DeviceWork{choice.look});
    lists.push_back(std::move(list));
  }
  if (choice.isRepeatable) {
    gatherLoop(node, choice, std::move(lists), out);
    return Error::Success;
  }
  const auto choose = [lists = std::move(lists), kind = choice.node->kind](uint32_t word) {
    const uint32_t number = chosenBody(kind, word);
    return number < lists.size() ? lists[number] : nullptr;
  };
  out.emplace_back(Decision{choice.word, node.kept, choose, isLoop, false, nullptr});
  return Error::Success;
}

// What the steps of a plan are for a stream, from the given one on.
Error gather(const GraphPlan& plan, Stream& stream, RecordedEvents& recorded, std::vector<Operation>& out,
             size_t firstStep) {
  for (const PlannedStep& step : std::span(plan.steps()).subspan(firstStep)) {
    if (!step.isOnHost) {
      out.insert(out.end(), step.recorded.begin(), step.recorded.end());
      continue;
    }
    const PlannedNode& node = plan.nodes()[step.nodes.front()];
    if (!node.isEnabled) continue;
    Error error = Error::Success;
    if (const auto* host = std::get_if<PlannedNode::HostPart>(&node.work)) {
      const auto call = [function = host->function, kept = node.kept](Error status) {
        if (status == Error::Success) function();
      };
      out.emplace_back(HostCall{call, host->isCopy});
    } else if (const auto* record = std::get_if<EventRecordNode>(&node.work)) {
      error = gatherRecord(*record, stream, recorded, out);
    } else if (const auto* word = std::get_if<WaitForWord>(&node.work)) {
      out.emplace_back(*word);
    } else if (const auto* wait = std::get_if<EventWaitNode>(&node.work)) {
      gatherWait(*wait, stream, recorded, out);
    } else if (const auto* signal = std::get_if<SemaphoreSignalNode>(&node.work)) {
      error = signalOperations(stream.context(), *signal, out);
    } else if (const auto* semaphores = std::get_if<SemaphoreWaitNode>(&node.work)) {
      error = waitOperations(stream.context(), *semaphores, out);
    } else if (const auto* choice = std::get_if<PlannedNode::Choice>(&node.work)) {
      error = gatherChoice(node, *choice, stream, recorded, out);
    }
    if (error != Error::Success) return error;
  }
  return Error::Success;
}

}  // namespace

Error ExecutableGraph::launch(Stream& stream) {
  TRY(stream.context().error());
  TRY(stream.refuseInCapture());
  if (context_ && context_.get() != &stream.context()) {
    util::log().warn("a graph is launched into a stream of another context, which is not offered");
    return Error::NotSupported;
  }
  std::lock_guard lock(mutex_);
  bool inPieces = false;
  TRY(shouldRecordInPieces(stream, inPieces));
  if (!inPieces) TRY(prepare(stream));

  std::vector<Operation> operations;
  operations.reserve(plan_.steps().size() + 2);
  std::vector<MarkerRef> after;
  const vk::Device* const device = &stream.context().vulkan();
  if (last_ && device == lastDevice_) after.push_back(last_);
  else if (last_) operations.emplace_back(WaitForDevice{last_});  // it has no node that needs a context
  TRY(memory_.begin((flags_ & AutoFreeOnLaunch) != 0, after));
  for (const MarkerRef& marker : after) operations.emplace_back(WaitForMarker{marker});
  RecordedEvents recorded;
  const auto end = std::make_shared<Marker>();
  const auto gatherFrom = [&](size_t step) {
    TRY(gather(plan_, stream, recorded, operations, step));
    operations.emplace_back(ResolveMarker{end, Precision::Loose, nullptr});
    return Error::Success;
  };
  if (inPieces) {
    TRY(launchInPieces(stream, operations, [&] { return gatherFrom(1); }));
  } else {
    TRY(gatherFrom(0));
    TRY(stream.enqueue(std::move(operations)));
  }
  for (const auto& [event, marker] : recorded) event->setMarker(marker);
  memory_.launched(end, stream.id());
  last_ = end;
  lastDevice_ = device;
  lastContext_ = stream.context().weak_from_this();
  return Error::Success;
}

Error ExecutableGraph::shouldRecordInPieces(Stream& stream, bool& out) {
  out = context_ && isPlannedToFilter_ == context_->textures().needsFilter() &&
        blockCopies_ == context_->vulkan().blockCopies() && plan_.canRecordInPieces(stream.queueFamily());
  return out ? stream.isFree(out) : Error::Success;
}

// The device begins with the first piece while the others are recorded.
Error ExecutableGraph::launchInPieces(Stream& stream, std::vector<Operation>& operations,
                                      const std::function<Error()>& gatherRest) {
  size_t done = 0;
  const size_t all = plan_.steps().front().nodes.size();
  bool isGathered = false;
  const auto next = [&] {
    operations.clear();
    while (operations.empty() && done < all) {
      RecordedWorkRef piece;
      TRY(plan_.recordNextPiece(*context_, done, piece));
      if (piece) operations.emplace_back(std::move(piece));
    }
    if (!operations.empty() || isGathered) return Error::Success;
    isGathered = true;
    TRY(plan_.record(*context_));
    return gatherRest();
  };
  const Error error = stream.enqueue(operations, next);
  // Part of the graph may have run: what the program has given is no more what it will find.
  if (error != Error::Success && done != 0) context_->setError(error);
  return error;
}

namespace {

void takeUserObjects(Graph& graph, std::vector<UserReferences>& out) {
  if (!graph.userObjects().isEmpty()) out.push_back(std::exchange(graph.userObjects(), {}));
  for (const auto& node : graph.nodes())
    for (const GraphRef& child : node->graphs()) takeUserObjects(*child, out);
}

}  // namespace

// Command buffers live until they have run whatever becomes of the graph.
void ExecutableGraph::retire(std::shared_ptr<ExecutableGraph> graph) {
  graph->memory_.letGo();
  std::vector<UserReferences> objects;
  takeUserObjects(*graph->graph_, objects);
  graph->keepUntilEnd(objects);
}

void ExecutableGraph::keepUntilEnd(std::vector<UserReferences>& objects) {
  const ContextRef context = objects.empty() || !last_ ? nullptr : lastContext_.lock();
  if (!context) return;  // nothing runs any more where the context is gone
  if (!context->mayStartThreads()) (void)context->legacyStream()->waitFor(*last_);
  else context->worker().keep(last_, std::make_shared<std::vector<UserReferences>>(std::move(objects)));
}

}  // namespace mulciber::core
