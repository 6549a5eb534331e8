// In which steps a graph runs in a stream: command buffers recorded once, and between them what only the host can do.
// Nodes of child graphs stand among those of their parents.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/core/graph.h"
#include "runtime/core/operation.h"

namespace mulciber::core {

// A node, or a part of one, as it is carried out.
struct PlannedNode {
  struct Nothing {};  // only orders others
  struct HostPart {
    std::function<void()> function;
  };
  using Work = std::variant<Nothing, DeviceWork, HostPart, EventRecordNode, EventWaitNode, WaitForWord>;

  const GraphNode* node = nullptr;
  Work work;
  std::shared_ptr<const void> kept;  // what the work needs as long as it may run
  std::vector<uint32_t> dependencies;
  bool isEnabled = true;

  bool isWait() const {
    return std::holds_alternative<EventWaitNode>(work) || std::holds_alternative<WaitForWord>(work);
  }
  bool isOnHost() const { return !std::holds_alternative<Nothing>(work) && !std::holds_alternative<DeviceWork>(work); }
};

// Nodes that run as one command buffer, or one step of the host's.
struct PlannedStep {
  std::vector<uint32_t> nodes;  // in an order that keeps all dependencies
  bool isOnHost = false;        // then it is one node
  RecordedWorkRef recorded;     // of the device's; null until it is recorded, and when it has nothing to do
  bool isRecorded = false;
};

class GraphPlan {
 public:
  // InvalidValue when the graph has a cycle. `failed` is the node that cannot be carried out.
  Error make(const Graph& graph, Context* context, const GraphNode*& failed);
  // Records what has not been recorded since it changed.
  Error record(Context& context);
  // Into somebody else's command buffer, behind what was recorded there up to that epoch. NotSupported when a node is
  // more than compute shaders can do: `refused` names the first, and nothing was recorded.
  Error record(vk::Commands& commands, uint64_t after, std::string& refused) const;

  const std::vector<PlannedNode>& nodes() const { return nodes_; }
  const std::vector<PlannedStep>& steps() const { return steps_; }
  // Takes the new parameters of kernel nodes: of all of them, or of none. The rest of the plan stays.
  Error update(const std::vector<const GraphNode*>& kernels, Context& context);
  void enable(const GraphNode& node, bool isEnabled);

 private:
  struct Ends {
    uint32_t first, last;
  };
  Error add(const Graph& graph, const std::vector<uint32_t>& before, Context* context, const GraphNode*& failed,
            std::vector<uint32_t>& ends);
  Error add(const GraphNode& node, std::vector<uint32_t> before, Context* context, const GraphNode*& failed, Ends& out);
  uint32_t append(const GraphNode& node, PlannedNode::Work work, std::vector<uint32_t> dependencies);
  void schedule();
  Error record(PlannedStep& step, Context& context);
  template <class RecordLaunch>
  vk::Status record(const PlannedStep& step, uint64_t after, vk::Commands& commands,
                    std::unordered_map<uint32_t, uint64_t>& epochs, RecordLaunch&& recordLaunch) const;

  std::vector<PlannedNode> nodes_;
  std::vector<PlannedStep> steps_;
  std::vector<uint32_t> stepOf_;  // of each node
  std::unordered_map<const GraphNode*, Ends> places_;
};

}  // namespace mulciber::core
