// Copies to, from and between arrays in captures.
#include <algorithm>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

constexpr size_t width = 60, height = 20, bytes = width * height;

class ArrayCaptures : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    for (cudaArray_t* array : {&array_, &other_})
      ASSERT_EQ(cudaMallocArray(array, &format, width / 4, height), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device_, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned_, bytes), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }
  void TearDown() override {
    if (stream_) {
      EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
      EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
      EXPECT_EQ(cudaFree(device_), cudaSuccess);
      for (cudaArray_t array : {array_, other_}) EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
    }
    WithDevice::TearDown();
  }

  void fill(void* memory, char value) {
    std::vector<char> all(bytes, value);
    ASSERT_EQ(cudaMemcpy(memory, all.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  static size_t count(const void* memory, char value) {
    std::vector<char> all(bytes);
    EXPECT_EQ(cudaMemcpy(all.data(), memory, bytes, cudaMemcpyDefault), cudaSuccess);
    return static_cast<size_t>(std::ranges::count(all, value));
  }
  CUgraph capture(size_t nodes, const std::function<void()>& give) {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    give();
    EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
    size_t made = 0;
    EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &made), CUDA_SUCCESS);
    EXPECT_EQ(made, nodes);
    return graph;
  }
  cudaError_t copyBetweenArrays() {
    cudaMemcpy3DParms p{};
    p.srcArray = array_;
    p.dstArray = other_;
    p.extent = {width / 4, height, 1};
    p.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3DAsync(&p, stream_);
  }

  cudaArray_t array_ = nullptr, other_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void *device_ = nullptr, *pinned_ = nullptr;
  std::vector<char> pageable_ = std::vector<char>(bytes);
};

// From memory of each kind through two arrays to memory of each kind.
TEST_F(ArrayCaptures, RunWithTheGraph) {  // MEM-06, CS-015
  for (void* const from : {device_, pinned_, static_cast<void*>(pageable_.data())})
    for (void* const to : {device_, pinned_, static_cast<void*>(pageable_.data())}) {
      fill(from, 1);
      const CUgraph graph = capture(3, [&] {
        EXPECT_EQ(cudaMemcpy2DToArrayAsync(array_, 0, 0, from, width, width, height, cudaMemcpyDefault, stream_),
                  cudaSuccess);
        EXPECT_EQ(copyBetweenArrays(), cudaSuccess);
        EXPECT_EQ(cudaMemcpy2DFromArrayAsync(to, width, other_, 0, 0, width, height, cudaMemcpyDefault, stream_),
                  cudaSuccess);
      });
      CUgraphExec executable = nullptr;
      ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
      for (const char value : {char{2}, char{3}}) {
        fill(from, value);
        if (to != from) fill(to, 0);
        ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
        ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
        EXPECT_EQ(count(to, value), bytes);
      }
      EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    }
}

TEST_F(ArrayCaptures, BecomeNodesThatNameTheArrays) {
  const CUgraph graph = capture(1, [&] { EXPECT_EQ(copyBetweenArrays(), cudaSuccess); });
  CUgraphNode node = nullptr;
  size_t one = 1;
  ASSERT_EQ(cuGraphGetNodes(graph, &node, &one), CUDA_SUCCESS);
  CUDA_MEMCPY3D told{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.srcMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(told.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(told.srcArray, reinterpret_cast<CUarray>(array_));
  EXPECT_EQ(told.dstArray, reinterpret_cast<CUarray>(other_));
  EXPECT_EQ(told.WidthInBytes, width);
  EXPECT_EQ(told.Height, height);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// The runtime's own structure counts elements.
TEST_F(ArrayCaptures, AreToldByTheRuntimeAsWell) {
  const CUgraph graph = capture(1, [&] {
    EXPECT_EQ(cudaMemcpy2DToArrayAsync(array_, 8, 2, device_, width, 16, 3, cudaMemcpyDefault, stream_), cudaSuccess);
  });
  cudaGraphNode_t node = nullptr;
  size_t one = 1;
  ASSERT_EQ(cudaGraphGetNodes(graph, &node, &one), cudaSuccess);
  cudaMemcpy3DParms told{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(node, &told), cudaSuccess);
  EXPECT_EQ(told.dstArray, array_);
  EXPECT_EQ(told.srcArray, nullptr);
  EXPECT_EQ(told.dstPos.x, 2u);
  EXPECT_EQ(told.dstPos.y, 2u);
  EXPECT_EQ(told.srcPtr.ptr, device_);
  EXPECT_EQ(told.extent.width, 4u);
  EXPECT_EQ(told.extent.height, 3u);
  // What is told can be given back.
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams(node, &told), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// As everywhere, what is wrong is said at once, and the capture continues.
TEST_F(ArrayCaptures, OutsideOfTheArrayAreRefused) {
  const CUgraph graph = capture(0, [&] {
    EXPECT_EQ(cudaMemcpy2DToArrayAsync(array_, 4, 0, device_, width, width, height, cudaMemcpyDefault, stream_),
              cudaErrorInvalidValue);
  });
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
