// The steps in which a graph runs in a stream: command buffers recorded once, and between them what only the host can
// do. Nodes of child graphs stand among those of their parents.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/core/graph.h"
#include "runtime/core/operation.h"
#include "runtime/vk/conditions.h"

namespace mulciber::core {

class GraphPlan;

// A node, or a part of one, as it is carried out.
struct PlannedNode {
  struct Nothing {};  // only orders others
  struct HostPart {
    std::function<void()> function;
    bool isCopy = false;  // and no function of the program's
  };
  // Which of the plans comes next depends on a word that the device wrote before.
  struct Choice {
    const ConditionalNode* node;
    std::vector<std::shared_ptr<GraphPlan>> bodies;  // of a loop that is repeatable: a few runs and a look, and more
    DeviceCopy look;                                 // writes the word for the host
    const uint32_t* word;
    bool isRepeatable;  // a loop's runs after its end are left out: more of them may be given before a look
    // Of a loop that is repeatable: the value after its first runs, and whether it was not 0 in the last launch.
    const uint32_t* firstWord = nullptr;
    std::shared_ptr<std::atomic<bool>> hasContinued = {};
  };
  // The device writes which of the nodes behind it are done.
  using Decide = vk::Condition;
  using Work = std::variant<Nothing, DeviceWork, HostPart, EventRecordNode, EventWaitNode, SemaphoreSignalNode,
                            SemaphoreWaitNode, WaitForWord, Choice, Decide>;

  // The word that says whether the node is done.
  struct Guard {
    vk::Memory words;
    uint32_t number;
    bool isValue = false;  // it is the condition itself
    uint64_t address() const { return words.address + uint64_t{number} * sizeof(uint32_t); }
  };

  const GraphNode* node = nullptr;
  Work work;
  std::shared_ptr<const void> kept;  // what the work needs as long as it may run
  std::vector<uint32_t> dependencies;
  bool isEnabled = true;
  std::optional<Guard> guard;

  bool isWait() const {
    return std::holds_alternative<EventWaitNode>(work) || std::holds_alternative<SemaphoreWaitNode>(work) ||
           std::holds_alternative<WaitForWord>(work);
  }
  bool isOnHost() const {
    return !std::holds_alternative<Nothing>(work) && !std::holds_alternative<DeviceWork>(work) &&
           !std::holds_alternative<Decide>(work);
  }
};

// Nodes that run as one command buffer, or one step of the host's.
struct PlannedStep {
  std::vector<uint32_t> nodes;  // in an order that keeps all dependencies
  bool isOnHost = false;        // then it is one node
  // Of the device's: one, or pieces that the device began with while the rest was recorded. None when there is nothing
  // to do.
  std::vector<RecordedWorkRef> recorded;
  bool isRecorded = false;
  bool wasChanged = false;  // since it was recorded the last time
};

class GraphPlan {
 public:
  using Nodes = std::unordered_set<const GraphNode*>;
  // A plan of the same graph that was made before: but for the nodes that have changed since, copies and fills stay as
  // they were prepared, whatever became of their memory.
  struct Earlier {
    const GraphPlan& plan;
    const Nodes& changed;
  };
  // InvalidValue when the graph has a cycle. `failed` is the node that cannot be carried out.
  Error make(const Graph& graph, Context* context, const Earlier* earlier, const GraphNode*& failed);
  // Copies and fills at whose addresses there is other memory now than they were prepared for.
  void gatherOutdated(Nodes& out) const;
  // Command buffers are recorded for queues of one family. All are recorded anew for another.
  void recordFor(uint32_t family);
  // Records what has not been recorded since it changed.
  Error record(Context& context);
  // Whether the first step is worth recording in pieces, which are given one by one: it is long and has changed, and a
  // device with nothing else to do would wait until all of it is recorded. `done`: how many nodes of it are recorded.
  bool canRecordInPieces(uint32_t family) const;
  Error recordNextPiece(Context& context, size_t& done, RecordedWorkRef& piece);
  // Pieces take the device longer than one command buffer: what does not change is recorded as one again.
  void joinPieces();
  // Into somebody else's command buffer, behind what was recorded there up to that epoch. NotSupported when a node is
  // more than compute shaders can do: `refused` names the first, and nothing was recorded.
  Error record(vk::Commands& commands, uint64_t after, std::string& refused) const;

  const std::vector<PlannedNode>& nodes() const { return nodes_; }
  const std::vector<PlannedStep>& steps() const { return steps_; }
  // Takes the new parameters of kernel nodes: of all of them, or of none. The rest of the plan stays. NotSupported
  // where it cannot stay.
  Error update(const std::vector<const GraphNode*>& kernels, Context& context);
  // The same for another grid and other arguments of one node, where the recorded launch needs nothing else for them.
  bool canRelaunch(const GraphNode& node, const KernelNode& next) const;
  void relaunch(const GraphNode& node, const KernelNode& next);
  void enable(const GraphNode& node, bool isEnabled);

 private:
  struct Ends {
    uint32_t first, last;
  };
  // Records a conditional's graph that the host chooses.
  Error makeBody(const Graph& body, Context* context, const GraphNode*& failed,
                 const std::vector<std::shared_ptr<const void>>& kept);
  // Records runs of a loop of which the device decides each one, and a look behind them.
  Error makeRuns(const ConditionalNode& node, uint32_t runs, const DeviceCopy& look, Context& context,
                 const GraphNode*& failed, const std::vector<std::shared_ptr<const void>>& kept);
  std::vector<uint32_t> assignValues(const Graph& graph);
  // A conditional node by what the device decides, by what the host decides, or the one and then the other.
  Error addConditional(const GraphNode& node, std::vector<uint32_t> before, Context* context, const GraphNode*& failed,
                       Ends& out);
  Error addGuarded(const ConditionalNode& node, const std::vector<uint32_t>& before, Context& context,
                   const GraphNode*& failed, std::vector<uint32_t>& ends);
  Error addRuns(const ConditionalNode& node, uint32_t count, std::vector<uint32_t> before, Context& context,
                const GraphNode*& failed, std::vector<uint32_t>& ends);
  Error addChoice(const GraphNode& node, std::vector<uint32_t> before, Context& context, const GraphNode*& failed,
                  uint32_t& out);
  Error add(const Graph& graph, const std::vector<uint32_t>& before, Context* context, const GraphNode*& failed,
            std::vector<uint32_t>& ends);
  Error add(const GraphNode& node, std::vector<uint32_t> before, Context* context, const GraphNode*& failed, Ends& out);
  template <class Node>
  Error prepareParts(const GraphNode& node, const Node& copy, std::vector<PlannedNode::Work>& parts,
                     std::shared_ptr<const void>& kept);
  bool takeEarlier(const GraphNode& node, std::vector<PlannedNode::Work>& parts, std::shared_ptr<const void>& kept);
  uint32_t append(const GraphNode& node, PlannedNode::Work work, std::vector<uint32_t> dependencies);
  bool isGuardedByValue(const GraphNode& node) const;
  void replace(const GraphNode& node, const DeviceWork& work);
  template <class Plan, class Body>
  static void forEachBody(Plan& plan, Body&& body);
  void schedule();
  using Epochs = std::vector<uint64_t>;  // in which each node was recorded; 0 for those that were not
  template <class RecordLaunch>
  vk::Status record(std::span<const uint32_t> nodes, uint64_t after, vk::Commands& commands, Epochs& epochs,
                    RecordLaunch&& recordLaunch) const;
  // `out` stays null where there is nothing to do.
  Error record(std::span<const uint32_t> nodes, Context& context, Epochs& epochs, RecordedWorkRef& out);
  void setChanged(uint32_t node);

  // Command buffers that were recorded before and have run: what one takes of the driver is dear to get anew.
  struct Spares {
    std::mutex mutex;
    std::vector<std::unique_ptr<vk::Commands>> commands;
  };
  Error takeCommands(vk::Device& device, std::shared_ptr<vk::Commands>& out);

  uint32_t family_ = 0;
  std::shared_ptr<Spares> spares_ = std::make_shared<Spares>();
  std::vector<PlannedNode> nodes_;
  std::vector<PlannedStep> steps_;
  std::vector<uint32_t> stepOf_;                                    // of each node
  std::unordered_map<const GraphNode*, std::vector<Ends>> places_;  // several in a loop
  std::unordered_map<const GraphNode*, CopyMemory> memory_;         // of copies and fills
  const Earlier* earlier_ = nullptr;                                // while this one is made
  bool hasChoices_ = false;
  std::optional<PlannedNode::Guard> guard_;        // of the nodes that are being added
  std::vector<std::shared_ptr<const void>> kept_;  // what conditions need: kernels set values, and nodes read words
};

}  // namespace mulciber::core
