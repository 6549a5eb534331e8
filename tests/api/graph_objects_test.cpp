// Objects of the program's that graphs keep (GAP-04): what an executable graph keeps stays as long as a launch may use
// it, and goes then, whatever became of the graph and of the stream meanwhile.
#include <atomic>
#include <chrono>
#include <thread>

#include "api/api_test.h"
#include "api/held_stream.h"

namespace mulciber::test {
namespace {

class GraphObjects : public WithDevice {
 protected:
  static CUgraph newGraph() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    return graph;
  }
  // With a node that does nothing, and with an object that counts when it goes.
  static CUgraph graphWith(std::atomic<int>& gone) {
    const CUgraph graph = newGraph();
    const CUDA_HOST_NODE_PARAMS nothing{[](void*) {}, nullptr};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddHostNode(&node, graph, nullptr, 0, &nothing), CUDA_SUCCESS);
    keep(
        graph, [](void* number) { ++*static_cast<std::atomic<int>*>(number); }, &gone);
    return graph;
  }
  static void keep(CUgraph graph, void (*destructor)(void*), void* data) {
    CUuserObject object = nullptr;
    ASSERT_EQ(cuUserObjectCreate(&object, data, destructor, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  }
  // A graph whose only node is a copy of the other one, which goes.
  static CUgraph around(CUgraph child, CUgraphNode& node) {
    const CUgraph graph = newGraph();
    EXPECT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
    return graph;
  }
  static CUgraphExec instantiated(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }
  // An object that should be kept gets a moment to go all the same.
  static int soon(const std::atomic<int>& gone) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return gone;
  }
  static int later(const std::atomic<int>& gone) {
    for (int i = 0; i < 5000 && gone == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return gone;
  }
};

TEST_F(GraphObjects, AnUpdateTakesThoseOfTheNewGraph) {
  std::atomic<int> first = 0, second = 0;
  const CUgraph graph = graphWith(first), other = graphWith(second);
  const CUgraphExec executable = instantiated(graph);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(first, 0);
  CUgraphExecUpdateResultInfo info{};
  {
    HeldStream held;
    ASSERT_EQ(cuGraphLaunch(executable, held.stream), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphExecUpdate(executable, other, &info), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
    EXPECT_EQ(soon(first), 0) << "the launch has not ended";
  }
  EXPECT_EQ(later(first), 1);
  EXPECT_EQ(soon(second), 0) << "the executable graph keeps it";
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(later(second), 1);
}

TEST_F(GraphObjects, ANewChildGraphBringsItsOwn) {
  std::atomic<int> first = 0, second = 0;
  CUgraphNode node = nullptr;
  const CUgraph graph = around(graphWith(first), node), child = graphWith(second);
  const CUgraphExec executable = instantiated(graph);
  ASSERT_EQ(cuGraphExecChildGraphNodeSetParams(executable, node, child), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(later(first), 1);
  EXPECT_EQ(soon(second), 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(later(second), 1);
}

TEST_F(GraphObjects, AFailedUpdateLeavesThemAsTheyAre) {
  std::atomic<int> first = 0, second = 0;
  const CUgraph graph = graphWith(first), other = graphWith(second);
  CUgraphNode more = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&more, other, nullptr, 0), CUDA_SUCCESS);
  const CUgraphExec executable = instantiated(graph);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate(executable, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(later(second), 1);
  EXPECT_EQ(soon(first), 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(later(first), 1);
}

TEST_F(GraphObjects, ThoseOfChildGraphsOutliveLaunches) {
  std::atomic<int> gone = 0;
  CUgraphNode node = nullptr;
  const CUgraph graph = around(graphWith(gone), node);
  const CUgraphExec executable = instantiated(graph);
  {
    HeldStream held;
    ASSERT_EQ(cuGraphLaunch(executable, held.stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(soon(gone), 0);
  }
  EXPECT_EQ(later(gone), 1);
}

// Of the graph's last launch, the stream may be destroyed, captured, or none that takes work now.
TEST_F(GraphObjects, TheStreamOfTheLastLaunchNeedNotBeOfUse) {
  std::atomic<int> gone[3] = {};
  CUstream streams[3] = {};
  CUgraph captured = nullptr;
  {
    HeldStream held(cudaStreamNonBlocking);
    CUevent event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, held.stream), CUDA_SUCCESS);
    CUgraphExec executables[3] = {};
    ASSERT_EQ(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&streams[1], CU_STREAM_DEFAULT), CUDA_SUCCESS);
    streams[2] = CU_STREAM_LEGACY;
    for (int i = 0; i < 3; ++i) {
      const CUgraph graph = graphWith(gone[i]);
      executables[i] = instantiated(graph);
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
      ASSERT_EQ(cuStreamWaitEvent(streams[i], event, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuGraphLaunch(executables[i], streams[i]), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuStreamDestroy(streams[0]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(streams[1], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    for (const CUgraphExec executable : executables) EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(streams[1], &captured), CUDA_SUCCESS);
    for (const auto& one : gone) EXPECT_EQ(soon(one), 0);
    EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  }
  for (const auto& one : gone) EXPECT_EQ(later(one), 1);
  EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(streams[1]), CUDA_SUCCESS);
}

// A destructor may take a lock that is held by a thread in a call on the stream.
TEST_F(GraphObjects, DestructorsKeepNoStreamToThemselves) {
  struct Object {
    std::atomic<bool> hasBegun = false, isAsked = false, wasAsked = false;
    std::atomic<int> gone = 0;
  } object;
  const CUgraph graph = newGraph();
  const CUDA_HOST_NODE_PARAMS nothing{[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddHostNode(&node, graph, nullptr, 0, &nothing), CUDA_SUCCESS);
  const auto destructor = [](void* data) {
    auto& own = *static_cast<Object*>(data);
    own.hasBegun = true;
    for (int i = 0; i < 5000 && !own.isAsked; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    own.wasAsked = own.isAsked.load();
    ++own.gone;
  };
  keep(graph, destructor, &object);
  const CUgraphExec executable = instantiated(graph);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  HeldStream held;
  ASSERT_EQ(cuGraphLaunch(executable, held.stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  held.letGo();
  while (!object.hasBegun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  (void)cuStreamQuery(held.stream);
  object.isAsked = true;
  EXPECT_EQ(later(object.gone), 1);
  EXPECT_TRUE(object.wasAsked);
}

}  // namespace
}  // namespace mulciber::test
