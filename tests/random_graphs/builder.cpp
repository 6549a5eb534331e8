#include "builder.h"

#include <algorithm>
#include <tuple>

namespace mulciber::random_graphs {

namespace {

CUgraphNode addConditional(Device& device, const Node& node, const Instance::Member& member, CUgraph graph,
                           const std::vector<CUgraphNode>& after, CUgraphNode& begin);

// With a graph that goes, or becomes the node's.
CUgraphNode addChild(CUgraph child, bool isMoved, CUgraph graph, const std::vector<CUgraphNode>& after) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_GRAPH;
  p.graph.graph = child;
  p.graph.ownership = isMoved ? CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE : CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
  CUgraphNode made = nullptr;
  SUCCEED(cuGraphAddNode(&made, graph, after.data(), nullptr, after.size(), &p));
  if (!isMoved) SUCCEED(cuGraphDestroy(child));
  return made;
}

// A node of an instance, with the dependencies of it that are there already. What it becomes begins with `begin`, which
// is the node itself but for scratch works.
CUgraphNode add(Device& device, const Instance& instance, unsigned index, CUgraph graph,
                const std::vector<CUgraphNode>& after, CUgraphNode& begin, Built& moved) {
  const Node& node = instance.graph->nodes[index];
  const Work& work = instance.members[index].work;
  CUgraphNode made = nullptr;
  const CUgraphNode* const first = after.data();
  const size_t count = after.size();
  switch (work.kind) {
    case Kind::Kernel: {
      const auto p = device.kernelNode(work);
      SUCCEED(cuGraphAddKernelNode(&made, graph, first, count, &p));
      break;
    }
    case Kind::Copy: {
      const auto p = device.copyNode(work, node.isUnified);
      SUCCEED(cuGraphAddMemcpyNode(&made, graph, first, count, &p, device.context()));
      break;
    }
    case Kind::Fill: {
      const auto p = device.fillNode(work);
      SUCCEED(cuGraphAddMemsetNode(&made, graph, first, count, &p, device.context()));
      break;
    }
    case Kind::Host: {
      const auto p = device.hostNode(work);
      SUCCEED(cuGraphAddHostNode(&made, graph, first, count, &p));
      device.giveHostCall(graph);
      break;
    }
    case Kind::Scratch: std::tie(begin, made) = device.addScratch(work, graph, after); return made;
    case Kind::Empty: SUCCEED(cuGraphAddEmptyNode(&made, graph, first, count)); break;
    case Kind::Child: {
      Built child = build(device, instance.members[index].child[0]);
      made = addChild(child.graph, node.isMoved, graph, after);
      if (node.isMoved) moved = std::move(child);
      break;
    }
    case Kind::Record: SUCCEED(cuGraphAddEventRecordNode(&made, graph, first, count, device.event(node.event))); break;
    case Kind::Wait: SUCCEED(cuGraphAddEventWaitNode(&made, graph, first, count, device.event(node.event))); break;
    case Kind::Conditional: return addConditional(device, node, instance.members[index], graph, after, begin);
  }
  begin = made;
  return made;
}

Built buildExplicitly(Device& device, const Instance& instance, CUgraph graph = nullptr) {
  Built built;
  built.graph = graph;
  if (!graph) SUCCEED(cuGraphCreate(&built.graph, 0));
  built.nodes.resize(instance.members.size());
  built.children.resize(instance.members.size());
  std::vector<CUgraphNode> from, to, begins(instance.members.size());
  for (const unsigned i : instance.graph->order) {
    std::vector<CUgraphNode> after;
    for (const unsigned j : instance.graph->nodes[i].after)
      if (built.nodes[j]) after.push_back(built.nodes[j]);
    built.nodes[i] = add(device, instance, i, built.graph, after, begins[i], built.children[i]);
    for (unsigned k = 0; k < instance.members.size(); ++k) {
      const auto& edges = instance.graph->nodes[k].after;
      if (!built.nodes[k] || std::find(edges.begin(), edges.end(), i) == edges.end()) continue;
      from.push_back(built.nodes[i]);
      to.push_back(begins[k]);
    }
  }
  SUCCEED(cuGraphAddDependencies(built.graph, from.data(), to.data(), nullptr, from.size()));
  return built;
}

CUgraphNode addConditional(Device& device, const Node& node, const Instance::Member& member, CUgraph graph,
                           const std::vector<CUgraphNode>& after, CUgraphNode& begin) {
  const CUdeviceptr counter = device.nextCounter();
  CUgraphConditionalHandle handle = 0;
  SUCCEED(cuGraphConditionalHandleCreate(&handle, graph, device.context(), 0, 0));
  const auto decide = device.decideNode(member.work, handle, limitOf(node), counter);
  SUCCEED(cuGraphAddKernelNode(&begin, graph, after.data(), after.size(), &decide));
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = static_cast<CUgraphConditionalNodeType>(node.flow);
  p.conditional.size = static_cast<unsigned>(member.child.size());
  p.conditional.ctx = device.context();
  CUgraphNode made = nullptr, last = nullptr;
  SUCCEED(cuGraphAddNode(&made, graph, &begin, nullptr, 1, &p));
  for (size_t i = 0; i < member.child.size(); ++i) {
    const CUgraph body = p.conditional.phGraph_out[i];
    const Built built = buildExplicitly(device, member.child[i], body);
    if (node.flow != Flow::While) continue;
    const auto step = device.stepNode(handle, counter);
    SUCCEED(cuGraphAddKernelNode(&last, body, built.nodes.data(), built.nodes.size(), &step));
  }
  return made;
}

// A capture: the nodes of each lane are captured in one stream, and come after those of other lanes by events.
class Capturing {
 public:
  Capturing(Device& device, const Instance& instance) : device_(device), instance_(instance) {}

  Built run() {
    fork_ = device_.nextEvent();
    const Graph& graph = *instance_.graph;
    for (unsigned lane = 0; lane < Device::lanes; ++lane) {
      lanes_[lane] = device_.lane(lane);
      if (lane != 0 && graph.hasOwnLanes) SUCCEED(cuStreamCreate(&lanes_[lane], CU_STREAM_DEFAULT));
    }
    if (graph.isThereBefore) {
      SUCCEED(cuGraphCreate(&built_.graph, 0));
      SUCCEED(cuStreamBeginCaptureToGraph(lanes_[0], built_.graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    } else {
      SUCCEED(cuStreamBeginCapture(lanes_[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    }
    SUCCEED(cuEventRecord(fork_, lanes_[0]));
    for (unsigned i = 0; i < instance_.members.size(); ++i) capture(i);
    for (unsigned lane = 1; lane < Device::lanes; ++lane) {
      if (hasJoined_[lane]) {
        const CUevent end = device_.nextEvent();
        SUCCEED(cuEventRecord(end, lanes_[lane]));
        SUCCEED(cuStreamWaitEvent(lanes_[0], end, 0));
      }
      if (graph.hasOwnLanes) SUCCEED(cuStreamDestroy(lanes_[lane]));
    }
    SUCCEED(cuStreamEndCapture(lanes_[0], graph.isThereBefore ? nullptr : &built_.graph));
    return std::move(built_);
  }

 private:
  void capture(unsigned index) {
    const Node& node = instance_.graph->nodes[index];
    const CUstream lane = lanes_[node.lane];
    if (node.lane != 0 && !hasJoined_[node.lane]) {
      SUCCEED(cuStreamWaitEvent(lane, fork_, 0));
      hasJoined_[node.lane] = true;
    }
    for (const unsigned before : node.after)
      if (instance_.graph->nodes[before].lane != node.lane) SUCCEED(cuStreamWaitEvent(lane, ends_[before], 0));
    switch (node.work.kind) {
      case Kind::Child:
      case Kind::Conditional:
      case Kind::Empty: addByHand(index, lane); break;
      case Kind::Record:
        SUCCEED(cuEventRecordWithFlags(device_.event(node.event), lane, CU_EVENT_RECORD_EXTERNAL));
        break;
      case Kind::Wait: SUCCEED(cuStreamWaitEvent(lane, device_.event(node.event), CU_EVENT_WAIT_EXTERNAL)); break;
      default: device_.give(instance_.members[index].work, lane);
    }
    CUgraph graph = nullptr;
    built_.nodes.push_back(dependencies(lane, graph).front());
    if (node.work.kind == Kind::Host) device_.giveHostCall(graph);
    ends_.push_back(device_.nextEvent());
    SUCCEED(cuEventRecord(ends_.back(), lane));
  }

  static std::vector<CUgraphNode> dependencies(CUstream lane, CUgraph& graph) {
    CUstreamCaptureStatus status{};
    const CUgraphNode* nodes = nullptr;
    size_t count = 0;
    SUCCEED(cuStreamGetCaptureInfo(lane, &status, nullptr, &graph, &nodes, nullptr, &count));
    return {nodes, nodes + count};
  }

  // A child graph is made by another capture, which cannot be in the same streams: so it is made before.
  void addByHand(unsigned index, CUstream lane) {
    CUgraph graph = nullptr;
    const std::vector<CUgraphNode> after = dependencies(lane, graph);
    CUgraphNode node = nullptr, begin = nullptr;
    const Instance::Member& member = instance_.members[index];
    if (member.work.kind == Kind::Conditional)
      node = addConditional(device_, instance_.graph->nodes[index], member, graph, after, begin);
    else if (member.work.kind == Kind::Empty) SUCCEED(cuGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    else node = addChild(children_.at(index), instance_.graph->nodes[index].isMoved, graph, after);
    SUCCEED(cuStreamUpdateCaptureDependencies(lane, &node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  }

 public:
  void makeChildren() {
    children_.resize(instance_.members.size());
    built_.children.resize(instance_.members.size());
    for (size_t i = 0; i < children_.size(); ++i) {
      if (instance_.members[i].work.kind != Kind::Child) continue;
      Built child = build(device_, instance_.members[i].child[0]);
      children_[i] = child.graph;
      if (instance_.graph->nodes[i].isMoved) built_.children[i] = std::move(child);
    }
  }

 private:
  Device& device_;
  const Instance& instance_;
  Built built_;
  CUevent fork_ = nullptr;
  std::array<CUstream, Device::lanes> lanes_{};
  std::vector<CUevent> ends_;
  std::array<bool, Device::lanes> hasJoined_{};
  std::vector<CUgraph> children_;
};

template <class Set>
void setBy(Device& device, const Work& work, bool isUnified, Set&& set) {
  switch (work.kind) {
    case Kind::Kernel: return set(device.kernelNode(work));
    case Kind::Copy: return set(device.copyNode(work, isUnified));
    case Kind::Fill: return set(device.fillNode(work));
    case Kind::Host: return set(device.hostNode(work));
    default: return;
  }
}

struct SetInGraph {
  CUgraphNode node;
  void operator()(const CUDA_KERNEL_NODE_PARAMS& p) const { SUCCEED(cuGraphKernelNodeSetParams(node, &p)); }
  void operator()(const CUDA_MEMCPY3D& p) const { SUCCEED(cuGraphMemcpyNodeSetParams(node, &p)); }
  void operator()(const CUDA_MEMSET_NODE_PARAMS& p) const { SUCCEED(cuGraphMemsetNodeSetParams(node, &p)); }
  void operator()(const CUDA_HOST_NODE_PARAMS& p) const { SUCCEED(cuGraphHostNodeSetParams(node, &p)); }
};

struct SetInExecutable {
  CUgraphExec graph;
  CUgraphNode node;
  CUcontext context;
  void operator()(const CUDA_KERNEL_NODE_PARAMS& p) const { SUCCEED(cuGraphExecKernelNodeSetParams(graph, node, &p)); }
  void operator()(const CUDA_MEMCPY3D& p) const { SUCCEED(cuGraphExecMemcpyNodeSetParams(graph, node, &p, context)); }
  void operator()(const CUDA_MEMSET_NODE_PARAMS& p) const {
    SUCCEED(cuGraphExecMemsetNodeSetParams(graph, node, &p, context));
  }
  void operator()(const CUDA_HOST_NODE_PARAMS& p) const { SUCCEED(cuGraphExecHostNodeSetParams(graph, node, &p)); }
};

}  // namespace

Built build(Device& device, const Instance& instance) {
  if (!instance.graph->isCaptured) return buildExplicitly(device, instance);
  Capturing capturing(device, instance);
  capturing.makeChildren();
  return capturing.run();
}

void setNode(Device& device, CUgraphNode node, const Work& work, bool isUnified) {
  setBy(device, work, isUnified, SetInGraph{node});
}

void setNode(Device& device, CUgraphExec executable, CUgraphNode node, const Work& work, bool isUnified) {
  setBy(device, work, isUnified, SetInExecutable{executable, node, device.context()});
}

}  // namespace mulciber::random_graphs
