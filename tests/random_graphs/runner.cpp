#include "runner.h"

#include <algorithm>

#include "builder.h"
#include "order.h"

namespace mulciber::random_graphs {

namespace {

class Run {
 public:
  Run(Device& device, const Program& program)
      : device_(device),
        program_(program),
        order_([this](unsigned stream, unsigned other) { waitFor(stream, other); }),
        graphs_(program.graphs.size()),
        executables_(program.executables.size()) {}

  std::string run() {
    try {
      model_ = initialMemory(1);
      device_.write(model_);
      std::string wrong;
      for (size_t i = 0; i < program_.steps.size() && wrong.empty(); ++i) wrong = carryOut(program_.steps[i]);
      if (wrong.empty()) wrong = check();
      return wrong;
    } catch (const Failure& failure) {
      return failure.what();
    }
  }

  ~Run() {
    (void)cuCtxSynchronize();
    for (const auto& one : executables_) {
      if (one.handle) (void)cuGraphExecDestroy(one.handle);
      if (one.clone) (void)cuGraphDestroy(one.clone);
    }
    for (const auto& one : graphs_)
      if (one.built.graph) (void)cuGraphDestroy(one.built.graph);
  }

 private:
  struct MadeGraph {
    Built built;
    Instance instance{};  // what its nodes do
    bool isDropped = false;
  };
  struct MadeExecutable {
    CUgraphExec handle = nullptr;
    CUgraph clone = nullptr;
    Built from;  // the graph that it was made of
    Instance instance{};
  };

  // The node that a step names; where its graph was moved into it, one of that graph's.
  struct Named {
    CUgraphNode handle;
    const Node& node;
    Instance::Member& member;
  };
  static Named find(const Built& built, Instance& instance, unsigned index, uint64_t seed) {
    const Built& child = built.children[index];
    Instance::Member& member = instance.members[index];
    if (!child.graph) return {built.nodes[index], instance.graph->nodes[index], member};
    const auto inner = static_cast<unsigned>(seed % child.nodes.size());
    return find(child, member.child[0], inner, seed / child.nodes.size());
  }

  void waitFor(unsigned stream, unsigned other) {
    const CUevent event = device_.nextEvent();
    SUCCEED(cuEventRecord(event, device_.stream(other)));
    SUCCEED(cuStreamWaitEvent(device_.stream(stream), event, 0));
  }

  // Null when the program has destroyed it.
  MadeGraph* graph(unsigned index) {
    MadeGraph& one = graphs_[index];
    if (one.isDropped) return nullptr;
    if (one.built.graph) return &one;
    one.instance = instanceOf(program_, index);
    one.built = build(device_, one.instance);
    return &one;
  }

  MadeExecutable* executable(unsigned index) {
    MadeExecutable& one = executables_[index];
    if (one.handle) return &one;
    MadeGraph* const from = graph(program_.executables[index].graph);
    if (!from) return nullptr;
    one.from = from->built;
    if (program_.executables[index].isOfClone) {
      SUCCEED(cuGraphClone(&one.clone, one.from.graph));
      one.from.graph = one.clone;
      for (CUgraphNode& node : one.from.nodes) SUCCEED(cuGraphNodeFindInClone(&node, node, one.clone));
      one.from.children.assign(one.from.nodes.size(), {});
    }
    SUCCEED(cuGraphInstantiate(&one.handle, one.from.graph, 0));
    one.instance = from->instance;
    return &one;
  }

  // Whether the nodes that it was made of are there to name its own by.
  bool hasNodes(const Step& step) const {
    return executables_[step.executable].clone || !graphs_[program_.executables[step.executable].graph].isDropped;
  }

  std::string carryOut(const Step& step) {
    using Kind = Step::Kind;
    if (step.kind == Kind::Check) return check();
    if (step.kind == Kind::Work) {
      order_.giveWork(step.stream, nodeOf(step.work));
      device_.give(step.work, device_.stream(step.stream));
      apply(step.work, model_);
      return {};
    }
    if (step.kind == Kind::Now) return carryOutNow(step.work);
    if (step.kind == Kind::SetGraph) setGraph(step);
    else if (step.kind == Kind::Drop) drop(step);
    else if (MadeExecutable* const one = executable(step.executable)) changeOrLaunch(step, *one);
    return {};
  }

  const Node& nodeOf(const Work& work) {
    Node& node = works_.emplace_back();
    node.work = work;
    node.writes = {work.to};
    if (work.kind != random_graphs::Kind::Fill) node.reads = {work.from};
    return node;
  }

  std::string carryOutNow(const Work& work) {
    // On the way to the device pageable memory is read by the call, whatever its stream still has to do.
    const bool isReadAtOnce = work.kind == random_graphs::Kind::Copy && placeOf(work.from.buffer) == Place::Pageable &&
                              !isReachedByHost(work.to.buffer);
    if (isReadAtOnce) waitForStreams();
    order_.giveWork(Program::streams - 1, nodeOf(work));
    device_.giveNow(work);
    apply(work, model_);
    if (!isReachedByHost(work.to.buffer)) return {};
    const uint8_t* const right = &model_[work.to.buffer][work.to.begin * size_t{4}];
    const bool isRight = std::equal(right, right + work.to.words * size_t{4}, device_.hostOf(work.to));
    return isRight ? "" : "buffer " + std::to_string(work.to.buffer) + " differs behind a synchronous call";
  }

  void waitForStreams() {
    for (unsigned i = 0; i < Program::streams; ++i) SUCCEED(cuStreamSynchronize(device_.stream(i)));
    order_.forget();
  }

  void changeOrLaunch(const Step& step, MadeExecutable& one) {
    using Kind = Step::Kind;
    Instance::Member& member = one.instance.members[step.node];
    const Node& node = one.instance.graph->nodes[step.node];
    const Named named = find(one.from, one.instance, step.node, step.seed);
    const auto kind = named.member.work.kind;
    switch (step.kind) {
      case Kind::Launch:
        order_.launch(step.stream, step.executable, program_);
        SUCCEED(cuGraphLaunch(one.handle, device_.stream(step.stream)));
        one.instance.run(model_);
        break;
      case Kind::Upload: SUCCEED(cuGraphUpload(one.handle, device_.stream(step.stream))); break;
      case Kind::Set:
        // CUDA changes copies of one row only.
        if (!hasNodes(step) || (kind == random_graphs::Kind::Copy && named.member.work.rows > 1)) break;
        named.member.work = variantOf(named.node, step.seed);
        setNode(device_, one.handle, named.handle, named.member.work, named.node.isUnified);
        break;
      case Kind::SetChild: {
        if (!hasNodes(step) || member.work.kind != random_graphs::Kind::Child) break;
        const Instance child = instanceOf(program_, node.child, step.seed);
        const Built built = build(device_, child);
        SUCCEED(cuGraphExecChildGraphNodeSetParams(one.handle, one.from.nodes[step.node], built.graph));
        SUCCEED(cuGraphDestroy(built.graph));
        replaceWorks(member.child[0], child);
        break;
      }
      case Kind::Update: {
        if (one.instance.graph->hasMemory) break;  // another graph has other memory
        const Instance next = instanceOf(program_, program_.executables[step.executable].graph, step.seed);
        const Built built = build(device_, next);
        CUgraphExecUpdateResultInfo info{};
        const CUresult updated = cuGraphExecUpdate(one.handle, built.graph, &info);
        succeed(updated, ("cuGraphExecUpdate, result " + std::to_string(info.result)).c_str());
        SUCCEED(cuGraphDestroy(built.graph));
        replaceWorks(one.instance, next);
        break;
      }
      case Kind::Enable:
        if (!hasNodes(step) || kind > random_graphs::Kind::Fill) break;
        SUCCEED(cuGraphNodeSetEnabled(one.handle, named.handle, step.isEnabled));
        named.member.isEnabled = step.isEnabled;
        break;
      case Kind::Again:
        if (graphs_[program_.executables[step.executable].graph].isDropped) break;
        SUCCEED(cuGraphExecDestroy(one.handle));
        if (one.clone) SUCCEED(cuGraphDestroy(one.clone));
        one = {};
        order_.replace(step.executable);
        executable(step.executable);
        break;
      default: break;
    }
  }

  void setGraph(const Step& step) {
    MadeGraph* const one = graph(step.graph);
    if (!one) return;
    const Named named = find(one->built, one->instance, step.node, step.seed);
    named.member.work = variantOf(named.node, step.seed);
    setNode(device_, named.handle, named.member.work, named.node.isUnified);
  }

  void drop(const Step& step) {
    MadeGraph& one = graphs_[step.graph];
    if (!one.built.graph) return;
    SUCCEED(cuGraphDestroy(one.built.graph));
    one.built = {};
    one.isDropped = true;
  }

  std::string check() {
    waitForStreams();
    const Memory memory = device_.read();
    for (unsigned buffer = 0; buffer < buffers; ++buffer)
      for (size_t i = 0; i < bytesOfBuffer; ++i)
        if (memory[buffer][i] != model_[buffer][i])
          return "buffer " + std::to_string(buffer) + " differs from word " + std::to_string(i / 4) + " on";
    return {};
  }

  Device& device_;
  const Program& program_;
  Order order_;
  Memory model_;
  std::vector<MadeGraph> graphs_;
  std::vector<MadeExecutable> executables_;
  std::deque<Node> works_;  // given to streams
};

}  // namespace

std::string run(Device& device, const Program& program) {
  const std::string wrong = Run(device, program).run();
  const std::string kept = device.endHostCalls();
  return wrong.empty() ? kept : wrong;
}

}  // namespace mulciber::random_graphs
