#include "runtime/core/capture.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/stream.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

std::atomic<uint64_t> nextCaptureId{1};

// Captures that are going on and forbid something to someone: all but the relaxed ones.
struct Strict {
  std::atomic<size_t> count{0};
  std::mutex mutex;
  std::vector<Capture*> captures;
};
Strict& strict() {
  static auto* const one = new Strict;  // threads may capture until the very end of the process
  return *one;
}

constexpr EdgeData programmatic{1, 0, 1};  // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, of that type

thread_local CaptureMode threadMode = CaptureMode::Global;

}  // namespace

CaptureMode exchangeCaptureMode(CaptureMode mode) { return std::exchange(threadMode, mode); }

Error unsafeDuringCapture() {
  if (strict().count.load(std::memory_order_relaxed) == 0 || threadMode == CaptureMode::Relaxed) return Error::Success;
  Error error = Error::Success;
  std::lock_guard lock(strict().mutex);
  for (Capture* const capture : strict().captures) {
    const bool isOwn = capture->thread_ == std::this_thread::get_id();
    if (!isOwn && (threadMode != CaptureMode::Global || capture->mode_ != CaptureMode::Global)) continue;
    capture->invalidate();
    error = Error::StreamCaptureUnsupported;
  }
  return error;
}

void CapturePlace::join(const CapturePlace& other) {
  for (size_t i = 0; i < other.nodes.size(); ++i) {
    if (std::ranges::find(nodes, other.nodes[i]) != nodes.end()) continue;
    nodes.push_back(other.nodes[i]);
    edges.push_back(other.edges[i]);
  }
}

Capture::Capture(const Stream& origin, CaptureMode mode, GraphRef graph, bool isOwnGraph)
    : id_(nextCaptureId.fetch_add(1)),
      origin_(origin.id()),
      mode_(mode),
      thread_(std::this_thread::get_id()),
      isOwnGraph_(isOwnGraph),
      graph_(std::move(graph)) {}

Capture::~Capture() {
  forget();
  if (graph_ && isOwnGraph_) graphs().remove(graph_.get());  // its context has ended before it
}

void Capture::forget() {
  if (mode_ == CaptureMode::Relaxed) return;
  std::lock_guard lock(strict().mutex);
  if (std::erase(strict().captures, this) != 0) strict().count.fetch_sub(1, std::memory_order_relaxed);
}

GraphRef Capture::graph() const {
  std::lock_guard lock(mutex_);
  return graph_;
}

Error Capture::begin(Stream& stream, CaptureMode mode, GraphRef graph, const CapturePlace& place) {
  TRY(stream.context().error());
  if (stream.isLegacy()) return Error::StreamCaptureUnsupported;
  const bool isOwnGraph = !graph;
  if (isOwnGraph) graph = Graph::create();
  else if (graph->isCaptured()) return Error::IllegalState;
  const CaptureRef capture(new Capture(stream, mode, std::move(graph), isOwnGraph));
  if (!capture->areOfGraph(place)) return Error::InvalidValue;
  if (!stream.enterCapture(capture)) return Error::IllegalState;
  if (isOwnGraph) graphs().add(capture->graph_);
  {
    std::lock_guard lock(capture->mutex_);
    capture->graph_->setCaptured(true);
    Member& member = capture->members_[stream.id()];
    member.stream = stream.weak_from_this();
    member.place = place;
  }
  if (mode == CaptureMode::Relaxed) return Error::Success;
  std::lock_guard lock(strict().mutex);
  strict().captures.push_back(capture.get());
  strict().count.fetch_add(1, std::memory_order_relaxed);
  return Error::Success;
}

Error Capture::end(Stream& stream, GraphRef* out) {
  const CaptureRef capture = stream.capture();
  if (!capture) return Error::IllegalState;
  if (capture->origin_ != stream.id()) {
    capture->invalidate();
    return Error::StreamCaptureUnmatched;
  }
  Error error = Error::Success;
  if (capture->isInvalid()) error = Error::StreamCaptureInvalidated;
  else if (capture->mode_ != CaptureMode::Relaxed && capture->thread_ != std::this_thread::get_id())
    error = Error::StreamCaptureWrongThread;
  else if (!capture->isJoined()) error = Error::StreamCaptureUnjoined;
  GraphRef graph = capture->leave();
  if (error == Error::Success && out) *out = std::move(graph);
  else if (capture->isOwnGraph_) graphs().remove(graph.get());
  return error;
}

void Capture::abandon(Stream& stream) {
  const CaptureRef capture = stream.capture();
  if (!capture) return;
  if (capture->origin_ != stream.id()) {
    stream.leaveCapture();
    return;
  }
  const GraphRef graph = capture->leave();
  if (capture->isOwnGraph_) graphs().remove(graph.get());
}

// All its streams are free again. Events keep the capture, but not its graph.
GraphRef Capture::leave() {
  forget();
  std::unordered_map<uint64_t, Member> members;
  GraphRef graph;
  {
    std::lock_guard lock(mutex_);
    members.swap(members_);
    graph.swap(graph_);
    graph->setCaptured(false);
    invalidate();
  }
  for (const auto& [id, member] : members)
    if (const StreamRef stream = member.stream.lock()) stream->leaveCapture();
  return graph;
}

bool Capture::areOfGraph(const CapturePlace& place) const {
  return std::ranges::all_of(place.nodes, [&](GraphNode* node) {
    const auto found = graphNodes().find(node);
    return found && &found->graph() == graph_.get();
  });
}

Error Capture::refuse(const char* what) {
  if (isInvalid()) return Error::StreamCaptureInvalidated;
  util::log().warn("{} is not offered in a captured stream", what);
  invalidate();
  return Error::NotSupported;
}

Error Capture::add(const Stream& stream, NodeParameters parameters, Overlap overlap) {
  if (isInvalid()) return Error::StreamCaptureInvalidated;
  std::lock_guard lock(mutex_);
  const auto member = members_.find(stream.id());
  if (member == members_.end()) return Error::IllegalState;  // another thread has ended the capture meanwhile
  CapturePlace& place = member->second.place;
  dependencies_.clear();
  for (size_t i = 0; i < place.nodes.size(); ++i) {
    const bool overlaps = overlap == Overlap::WithKernels && place.nodes[i]->type() == NodeType::Kernel;
    dependencies_.push_back({place.nodes[i], overlaps ? programmatic : place.edges[i]});
  }
  GraphNode* node = nullptr;
  TRY(graph_->add(std::move(parameters), dependencies_, node));
  place.nodes.assign(1, node);
  place.edges.assign(1, EdgeData{});
  return Error::Success;
}

const CapturePlace& Capture::tell(const Stream& stream) {
  static const CapturePlace nowhere;
  std::lock_guard lock(mutex_);
  const auto member = members_.find(stream.id());
  if (member == members_.end()) return nowhere;
  member->second.told = member->second.place;
  return member->second.told;
}

Error Capture::update(const Stream& stream, const CapturePlace& place, bool isReplaced) {
  if (isInvalid()) return Error::StreamCaptureInvalidated;
  std::lock_guard lock(mutex_);
  if (!areOfGraph(place)) return Error::InvalidValue;
  const auto member = members_.find(stream.id());
  if (member == members_.end()) return Error::IllegalState;
  if (isReplaced) member->second.place = {};
  member->second.place.join(place);
  return Error::Success;
}

Error Capture::record(const Stream& stream, Event& event) {
  if (isInvalid()) return Error::StreamCaptureInvalidated;
  auto captured = std::make_shared<CapturedEvent>();
  {
    std::lock_guard lock(mutex_);
    const auto member = members_.find(stream.id());
    if (member == members_.end()) return Error::IllegalState;
    captured->place = member->second.place;
  }
  captured->capture = shared_from_this();
  event.setCaptured(std::move(captured));
  return Error::Success;
}

Error Capture::wait(const StreamRef& stream, const Event& event) {
  const CaptureRef own = stream->capture();
  if (own && own->isInvalid()) return Error::StreamCaptureInvalidated;
  const auto captured = event.captured();
  if (!captured) {
    if (!own || !event.marker()) return Error::Success;
    own->invalidate();
    return Error::StreamCaptureIsolation;
  }
  if (own == captured->capture || !own) return captured->capture->join(stream, captured->place);
  own->invalidate();
  if (captured->capture->isInvalid()) return Error::InvalidValue;
  captured->capture->invalidate();
  return Error::StreamCaptureMerge;
}

Error CapturedEvent::refuse() const {
  if (capture->isInvalid()) return Error::InvalidValue;
  capture->invalidate();
  return Error::CapturedEvent;
}

Error Capture::join(const StreamRef& stream, const CapturePlace& after) {
  if (isInvalid()) return Error::InvalidValue;
  if (stream->isLegacy()) {
    invalidate();
    return Error::StreamCaptureImplicit;
  }
  // Only an end takes streams out again, the capture's or their own. So a stream that is in the capture is among its
  // members.
  if (!stream->enterCapture(shared_from_this()) && stream->capture().get() != this) return Error::StreamCaptureMerge;
  {
    std::lock_guard lock(mutex_);
    if (graph_) {
      Member& member = members_[stream->id()];
      member.stream = stream;
      member.place.join(after);
      return Error::Success;
    }
  }
  stream->leaveCapture();  // another thread has ended the capture meanwhile
  return Error::InvalidValue;
}

// Whether the origin comes after all that the other streams did.
bool Capture::isJoined() const {
  std::lock_guard lock(mutex_);
  std::unordered_set<const GraphNode*> seen;
  std::vector<const GraphNode*> open;
  const auto see = [&](const GraphNode* node) {
    if (seen.insert(node).second) open.push_back(node);
  };
  for (const GraphNode* node : members_.at(origin_).place.nodes) see(node);
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    for (const Edge& edge : node->dependencies()) see(edge.node);
  }
  return std::ranges::all_of(members_, [&](const auto& member) {
    return std::ranges::all_of(member.second.place.nodes, [&](const GraphNode* node) { return seen.contains(node); });
  });
}

}  // namespace mulciber::core
