// Child graphs that are not cloned but moved into their node: the program's graph is the node's from then on.
#include <cuda_runtime.h>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class MovedGraphs : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    parent = newGraph();
    child = newGraph();
    node = addStep(child);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  static CUgraph newGraph() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    return graph;
  }
  CUDA_HOST_NODE_PARAMS step() {
    return {[](void* number) { ++*static_cast<int*>(number); }, &steps};
  }
  CUgraphNode addStep(CUgraph graph) {
    const auto host = step();
    CUgraphNode added = nullptr;
    EXPECT_EQ(cuGraphAddHostNode(&added, graph, nullptr, 0, &host), CUDA_SUCCESS);
    return added;
  }
  static CUresult move(CUgraph from, CUgraph into, CUgraphNode& made, int ownership = 1) {
    CUgraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_GRAPH;
    p.graph.graph = from;
    p.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(ownership);
    return cuGraphAddNode(&made, into, nullptr, nullptr, 0, &p);
  }
  int stepsOfALaunch(CUgraphExec executable) {
    steps = 0;
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    return steps;
  }

  CUstream stream = nullptr;
  CUgraph parent = nullptr, child = nullptr;
  CUgraphNode node = nullptr, made = nullptr;
  int steps = 0;
};

TEST_F(MovedGraphs, TheNodeHasTheGraphItself) {
  ASSERT_EQ(move(child, parent, made), CUDA_SUCCESS);
  CUgraph told = nullptr;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(made, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, child);
  addStep(child);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&executable, parent, 0), CUDA_SUCCESS);
  EXPECT_EQ(stepsOfALaunch(executable), 2);
  const CUDA_HOST_NODE_PARAMS threeSteps{[](void* number) { *static_cast<int*>(number) += 3; }, &steps};
  EXPECT_EQ(cuGraphExecHostNodeSetParams(executable, node, &threeSteps), CUDA_SUCCESS);
  EXPECT_EQ(stepsOfALaunch(executable), 4);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
  size_t nodes = 0;
  EXPECT_EQ(cuGraphGetNodes(child, nullptr, &nodes), CUDA_ERROR_INVALID_VALUE) << "it went with its node";
}

TEST_F(MovedGraphs, AMovedGraphIsNoGraphOfItsOwn) {
  ASSERT_EQ(move(child, parent, made), CUDA_SUCCESS);
  CUgraphExec executable = nullptr, other = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&executable, parent, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiate(&other, child, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate(executable, child, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR);
  const CUgraph third = newGraph();
  CUgraphNode again = nullptr;
  EXPECT_EQ(move(child, third, again), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddChildGraphNode(&again, third, nullptr, 0, child), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(stepsOfALaunch(executable), 1);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(third), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
}

TEST_F(MovedGraphs, ANodeTakesAnotherGraphInsteadOfItsOwn) {
  ASSERT_EQ(move(child, parent, made), CUDA_SUCCESS);
  const CUgraph other = newGraph();
  addStep(other);
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_GRAPH;
  p.graph.graph = other;
  p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  ASSERT_EQ(cuGraphNodeSetParams(made, &p), CUDA_SUCCESS);
  CUgraph told = nullptr;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(made, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, other);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_ERROR_INVALID_VALUE);
  size_t nodes = 0;
  EXPECT_EQ(cuGraphGetNodes(child, nullptr, &nodes), CUDA_ERROR_INVALID_VALUE) << "nobody has it any more";
  addStep(other);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&executable, parent, 0), CUDA_SUCCESS);
  EXPECT_EQ(stepsOfALaunch(executable), 2);
  p.graph.graph = parent;
  EXPECT_EQ(cuGraphNodeSetParams(made, &p), CUDA_ERROR_INVALID_VALUE) << "into itself";
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
}

TEST_F(MovedGraphs, WhatCannotBeMovedStaysAsItIs) {
  EXPECT_EQ(move(child, parent, made, 7), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(move(child, parent, made, -1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(move(parent, parent, made), CUDA_ERROR_INVALID_VALUE) << "into itself";
  EXPECT_EQ(cuStreamBeginCaptureToGraph(stream, child, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(move(child, parent, made), CUDA_ERROR_ILLEGAL_STATE) << "a stream is captured to it";
  EXPECT_EQ(cuStreamEndCapture(stream, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(move(child, parent, made), CUDA_SUCCESS);
  EXPECT_EQ(move(parent, child, made), CUDA_ERROR_INVALID_VALUE) << "into a graph inside it";
  const CUgraph withMemory = newGraph();
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allocation.bytesize = 64;
  CUgraphNode added = nullptr;
  ASSERT_EQ(cuGraphAddMemAllocNode(&added, withMemory, nullptr, 0, &allocation), CUDA_SUCCESS);
  EXPECT_EQ(move(withMemory, parent, made), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphDestroy(withMemory), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
}

TEST_F(MovedGraphs, TheRuntimeMovesThemToo) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeGraph;
  p.graph.graph = child;
  p.graph.ownership = cudaGraphChildGraphOwnershipMove;
  ASSERT_EQ(cudaGraphAddNode(&made, parent, nullptr, nullptr, 0, &p), cudaSuccess);
  cudaGraph_t told = nullptr;
  EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(made, &told), cudaSuccess);
  EXPECT_EQ(told, child);
  EXPECT_EQ(cudaGraphDestroy(parent), cudaSuccess);
}

}  // namespace
}  // namespace mulciber::test
