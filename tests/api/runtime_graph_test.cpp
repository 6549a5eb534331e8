// Graphs as a program of the runtime API builds and runs them.
#include <cuda_runtime.h>

#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class RuntimeGraphs : public WithDevice {
 protected:
  static constexpr size_t count = 100, bytes = count * sizeof(int);

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cudaMalloc(&data, bytes), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      EXPECT_EQ(cudaFree(data), cudaSuccess);
    }
    WithDevice::TearDown();
  }
  cudaMemsetParams fillWith(unsigned value) const { return {data, 0, value, 4, count, 1}; }

  void* data = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
};

TEST_F(RuntimeGraphs, FillsAndCopiesRunInOrder) {
  std::vector<int> out(count);
  const cudaMemsetParams fill = fillWith(7);
  cudaGraphNode_t filled = nullptr, copied = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, out.data(), data, bytes, cudaMemcpyDeviceToHost),
            cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, std::vector<int>(count, 7));

  const cudaMemsetParams other = fillWith(9);
  ASSERT_EQ(cudaGraphExecMemsetNodeSetParams(executable, filled, &other), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, std::vector<int>(count, 9));
  cudaMemcpy3DParms told{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(copied, &told), cudaSuccess);
  EXPECT_EQ(told.dstPtr.ptr, out.data());
  EXPECT_EQ(told.kind, cudaMemcpyDeviceToHost);
  EXPECT_EQ(told.extent.width, bytes);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(RuntimeGraphs, TheFunctionForAllTypesAddsAndSets) {
  int seen = 0;
  cudaGraphNodeParams params = {cudaGraphNodeTypeMemset, {}, {{}}, 0};
  params.memset = {data, 0, 1, 4, count, 1};
  cudaGraphNode_t filled = nullptr, called = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&filled, graph, nullptr, nullptr, 0, &params), cudaSuccess);
  cudaGraphNodeParams host = {cudaGraphNodeTypeHost, {}, {{}}, 0};
  host.host = {[](void* number) { ++*static_cast<int*>(number); }, &seen};
  ASSERT_EQ(cudaGraphAddNode(&called, graph, &filled, nullptr, 1, &host), cudaSuccess);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  ASSERT_EQ(cudaGraphNodeGetType(called, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeHost);
  EXPECT_EQ(cudaGraphNodeSetParams(called, &params), cudaErrorInvalidValue) << "the type stays";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(RuntimeGraphs, KernelsThatAreNoneAreRefused) {
  cudaKernelNodeParams kernel{};
  kernel.func = &kernel;
  kernel.gridDim = kernel.blockDim = dim3(1);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, data, data, 4, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
  (void)cudaGetLastError();
  size_t nodes = 9;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 0u);
}

// Extents and positions count the array's elements.
TEST_F(RuntimeGraphs, CopiesReachArrays) {
  constexpr size_t width = 10, height = 6, part = 7;
  constexpr size_t rows = height - 1;
  const cudaChannelFormatDesc format{16, 16, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &format, width, height, 0), cudaSuccess);
  std::vector<int> in(part * rows), out(part * rows);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i) + 1;
  const auto inMemory = [](std::vector<int>& words) {
    return cudaPitchedPtr{words.data(), part * sizeof(int), part, rows};
  };
  cudaMemcpy3DParms write{}, read{};
  write.srcPtr = inMemory(in);
  write.dstArray = array;
  write.dstPos = {2, 1, 0};
  write.extent = {part, rows, 1};
  write.kind = cudaMemcpyHostToDevice;
  read.srcArray = array;
  read.srcPos = write.dstPos;
  read.dstPtr = inMemory(out);
  read.extent = write.extent;
  read.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t written = nullptr, copied = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&written, graph, nullptr, 0, &write), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode(&copied, graph, &written, 1, &read), cudaSuccess);
  ASSERT_EQ(cudaGraphMemcpyNodeSetParams(copied, &read), cudaSuccess);
  cudaMemcpy3DParms told{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(written, &told), cudaSuccess);
  EXPECT_EQ(told.srcPtr.ptr, in.data());
  EXPECT_EQ(told.dstArray, array);
  EXPECT_EQ(told.dstPtr.ptr, nullptr);
  EXPECT_EQ(told.dstPos.x, 2u);
  EXPECT_EQ(told.dstPos.y, 1u);
  EXPECT_EQ(told.extent.width, part);
  ASSERT_EQ(cudaGraphMemcpyNodeSetParams(written, &told), cudaSuccess) << "what is told can be given";
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

}  // namespace
}  // namespace mulciber::test
