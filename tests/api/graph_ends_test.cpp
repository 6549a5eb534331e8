// Graphs that go late, and what goes with them.
#include <atomic>
#include <chrono>
#include <thread>

#include "api_test.h"

namespace mulciber::test {
namespace {

class GraphEnds : public WithScale {
 protected:
  CUgraph withScale(CUfunction function) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = 64;
    parameters.blockDimY = parameters.blockDimZ = 1;
    CUdeviceptr data = 0;
    unsigned factor = 2, count = 0;
    void* arguments[] = {&data, &factor, &count};
    parameters.kernelParams = arguments;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
    return graph;
  }
};

TEST_F(GraphEnds, TheContextOfItsKernelsIsNoMore) {
  for (const bool isInstantiated : {false, true}) {
    CUcontext own = nullptr;
    CUmodule ownModule = nullptr;
    CUfunction ownScale = nullptr;
    ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, device), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&ownModule, scalePtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&ownScale, ownModule, "scale"), CUDA_SUCCESS);
    const CUgraph graph = withScale(ownScale);
    CUgraphExec executable = nullptr;
    if (isInstantiated) {
      EXPECT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
    if (!isInstantiated) {
      CUDA_GRAPH_INSTANTIATE_PARAMS told{};
      EXPECT_NE(cuGraphInstantiateWithParams(&executable, graph, &told), CUDA_SUCCESS);
      EXPECT_EQ(told.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    }
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    if (isInstantiated) {
      EXPECT_NE(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
      EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    }
  }
}

// A destructor may wait for another thread of the program's, which may be in a call of CUDA's.
TEST_F(GraphEnds, ObjectsGoWhileThreadsUseTheStream) {  // GAP-04
  struct Object {
    CUcontext context;
    CUstream stream = nullptr;
    std::thread asking{};
    std::atomic<bool> isAnswered{false}, wasInTime{false}, isGone{false};
  } given{context};
  const auto destructor = [](void* data) {
    Object& self = *static_cast<Object*>(data);
    self.asking = std::thread([&self] {
      EXPECT_EQ(cuCtxSetCurrent(self.context), CUDA_SUCCESS);
      EXPECT_NE(cuStreamQuery(self.stream), CUDA_ERROR_INVALID_HANDLE);
      self.isAnswered = true;
    });
    for (int i = 0; i < 5000 && !self.isAnswered; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    self.wasInTime = self.isAnswered.load();
    self.isGone = true;
  };
  ASSERT_EQ(cuStreamCreate(&given.stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUuserObject object = nullptr;
  ASSERT_EQ(cuUserObjectCreate(&object, &given, destructor, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
  const CUgraph graph = withScale(scale);
  ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, given.stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  for (int i = 0; i < 10000 && !given.isGone; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(given.isGone);
  given.asking.join();
  EXPECT_TRUE(given.wasInTime);
  EXPECT_EQ(cuStreamSynchronize(given.stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(given.stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
