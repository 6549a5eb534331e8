// A graph made ready to run: a copy of the nodes as they were, and the steps they run in. One launch costs the host the
// same whatever the number of nodes, as long as nothing changed since the last one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/core/graph.h"
#include "runtime/core/graph_plan.h"
#include "runtime/core/handle_table.h"

namespace mulciber::core {

class Stream;

enum class InstantiateResult : int {  // as CUgraphInstantiateResult numbers them
  Success = 0,
  Failed = 1,
  InvalidStructure = 2,
  NodeNotSupported = 3,
  ContextsNotSupported = 4,
  ConditionalUnused = 5,
};

enum class UpdateResult : int {  // as CUgraphExecUpdateResult numbers them
  Success = 0,
  Failed = 1,
  TopologyChanged = 2,
  NodeTypeChanged = 3,
  FunctionChanged = 4,
  ParametersChanged = 5,
  NotSupported = 6,
  UnsupportedFunctionChange = 7,
  AttributesChanged = 8,
};

class ExecutableGraph {
 public:
  enum Flags : uint64_t { AutoFreeOnLaunch = 1, UploadNow = 2, DeviceLaunch = 4, UseNodePriority = 8 };

  struct Instantiation {
    InstantiateResult result = InstantiateResult::Success;
    const GraphNode* failed = nullptr;  // of the graph that was given
  };
  static Error create(const Graph& graph, uint64_t flags, std::shared_ptr<ExecutableGraph>& out,
                      Instantiation& instantiation);
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;

  // After all that the stream was given before, and after this graph's last launch, wherever that was.
  Error launch(Stream& stream);
  Error upload(Stream& stream);  // does what the first launch would have to do
  // Into somebody else's command buffer, behind what was recorded there up to that epoch. NotSupported, with nothing
  // recorded, when a node needs more than compute shaders: `refused` names it.
  Error record(vk::Commands& commands, uint64_t after, std::string& refused);
  bool isOf(const Context& context) const { return !context_ || context_.get() == &context; }
  uint64_t flags() const { return flags_ & ~uint64_t{UploadNow}; }  // that one CUDA does not tell
  // Once no launch of it runs any more, the objects of the program's that it keeps may go.
  static void retire(std::shared_ptr<ExecutableGraph> graph);

  // Of nodes of the graph it was made from. Launches that were given keep what they had.
  Error set(const GraphNode& node, NodeParameters&& parameters);
  Error setChild(const GraphNode& node, const Graph& graph);  // of a graph of the same shape
  // Kernels, copies and fills only: a node that is not enabled does nothing, and still orders others.
  Error enable(const GraphNode& node, bool isEnabled);
  Error isEnabled(const GraphNode& node, bool& out) const;

  struct Update {
    UpdateResult result = UpdateResult::Success;
    const GraphNode* node = nullptr;  // of the given graph: where it differs
    const GraphNode* from = nullptr;  // an edge's other end, when an edge differs
  };
  // Takes the parameters of a graph of the same shape; all of them, or none.
  Error update(const Graph& graph, Update& out);
  struct Changes {
    std::vector<std::pair<GraphNode*, NodeParameters>> nodes;
    std::vector<std::pair<GraphNode*, const KernelNode*>> relaunches;  // other arguments and other grids at most
    std::vector<std::pair<Graph*, const Graph*>> graphs;               // whose objects come with the parameters
  };

 private:
  ExecutableGraph(GraphRef graph, uint64_t flags) : graph_(std::move(graph)), flags_(flags) {}
  static bool canBeDisabled(const GraphNode& node) {
    return node.type() == NodeType::Kernel || node.type() == NodeType::Copy || node.type() == NodeType::Fill;
  }

  Error renewPlan();
  Error prepare(const Stream& stream);
  Error shouldRecordInPieces(Stream& stream, bool& out);
  Error launchInPieces(Stream& stream, std::vector<Operation>& operations, const std::function<Error()>& gatherRest);
  // All of a graph, and the program's objects that it keeps. What was kept before is in `objects` where no launch needs
  // it; the caller lets go of it with the mutex released, since destructors are the program's.
  Error take(Changes changes, std::vector<UserReferences>& objects);
  void keepUntilEnd(std::vector<UserReferences>& objects);  // of the last launch, unless that has ended
  Error apply(Changes changes);
  Error apply(std::vector<std::pair<GraphNode*, NodeParameters>>& changes);
  Error takeChild(GraphNode& child, const Graph& graph, std::vector<UserReferences>& objects);
  Error plan(const GraphPlan::Nodes& changed, const GraphNode*& failed);
  GraphNode* nodeOf(const GraphNode& original) const;
  void gatherNodes(const Graph& graph);

  const GraphRef graph_;  // its own copy
  const uint64_t flags_;
  std::shared_ptr<const void> valuesUse_;           // of its conditional nodes
  std::shared_ptr<Context> context_;                // null when no node needs one
  std::unordered_map<uint64_t, GraphNode*> nodes_;  // of the copy, by the ids of the originals
  std::unordered_set<const GraphNode*> disabled_;   // of the copy

  mutable std::mutex mutex_;
  GraphPlan plan_;
  bool isPlannedToFilter_ = false;  // its kernels are translated for all textures
  uint64_t blockCopies_ = 0;        // of the device, as it was planned
  MarkerRef last_;                  // the end of the last launch
  const vk::Device* lastDevice_ = nullptr;
  std::weak_ptr<Context> lastContext_;
  GraphMemoryUse memory_;
};
using ExecutableGraphRef = std::shared_ptr<ExecutableGraph>;

HandleTable<ExecutableGraph>& executableGraphs();

}  // namespace mulciber::core
