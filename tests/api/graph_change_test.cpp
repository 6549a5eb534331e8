// Graphs whose nodes change while the memory of others comes and goes, and graphs inside graphs that change.
#include <sys/mman.h>

#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class GraphChanges : public WithDevice {
 protected:
  static constexpr size_t count = 64, bytes = count * sizeof(uint32_t);

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      for (const CUdeviceptr memory : memories) EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  CUdeviceptr filled(uint32_t value) {
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32(memory, value, count), CUDA_SUCCESS);
    memories.push_back(memory);
    return memory;
  }
  void free(CUdeviceptr memory) {
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    std::erase(memories, memory);
  }
  static CUDA_MEMCPY3D copyOf(CUdeviceptr to, CUdeviceptr from, size_t size = bytes,
                              CUmemorytype type = CU_MEMORYTYPE_DEVICE) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = type;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.srcHost = reinterpret_cast<const void*>(from);  // NOLINT: addresses are numbers here
    copy.dstDevice = to;
    copy.WidthInBytes = size;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  CUgraphNode addCopy(CUgraph to, const CUDA_MEMCPY3D& copy) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemcpyNode(&node, to, nullptr, 0, &copy, context), CUDA_SUCCESS);
    return node;
  }
  CUgraphNode addFill(CUgraph to, CUdeviceptr memory, uint32_t value) {
    const CUDA_MEMSET_NODE_PARAMS fill{memory, 0, value, 4, count, 1};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemsetNode(&node, to, nullptr, 0, &fill, context), CUDA_SUCCESS);
    return node;
  }
  void instantiate() { ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS); }
  uint32_t launched(CUdeviceptr memory) {
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    uint32_t value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, memory + bytes - sizeof(value), sizeof(value)), CUDA_SUCCESS);
    return value;
  }

  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  std::vector<CUdeviceptr> memories;
};

TEST_F(GraphChanges, OneNodeChangesAfterTheMemoryOfAnotherWent) {
  const CUdeviceptr to = filled(0), toOther = filled(0), first = filled(1), second = filled(2);
  const CUgraphNode one = addCopy(graph, copyOf(to, first)), other = addCopy(graph, copyOf(toOther, second));
  instantiate();
  EXPECT_EQ(launched(to), 1u);
  const CUdeviceptr third = filled(3), fourth = filled(4);
  free(first);
  free(second);
  const CUDA_MEMCPY3D next = copyOf(to, third), nextOther = copyOf(toOther, fourth);
  ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(executable, one, &next, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(executable, other, &nextOther, context), CUDA_SUCCESS);
  EXPECT_EQ(launched(to), 3u);
  EXPECT_EQ(launched(toOther), 4u);

  ASSERT_EQ(cuGraphNodeSetEnabled(executable, other, 0), CUDA_SUCCESS);
  free(fourth);
  const CUdeviceptr fifth = filled(5);
  const CUDA_MEMCPY3D last = copyOf(to, fifth);
  ASSERT_EQ(cuGraphExecMemcpyNodeSetParams(executable, one, &last, context), CUDA_SUCCESS);
  EXPECT_EQ(launched(to), 5u);
}

// The same address is another buffer once the program has registered it again.
TEST_F(GraphChanges, AnUpdateFindsMemoryThatWasRegisteredAgain) {
  constexpr size_t size = 2 << 20;
  void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const numbers = static_cast<uint32_t*>(pages);
  CUdeviceptr to = 0;
  ASSERT_EQ(cuMemAlloc(&to, size), CUDA_SUCCESS);
  memories.push_back(to);
  const CUDA_MEMCPY3D copy = copyOf(to, reinterpret_cast<CUdeviceptr>(pages), size, CU_MEMORYTYPE_HOST);

  ASSERT_EQ(cuMemHostRegister(pages, size, 0), CUDA_SUCCESS);
  addCopy(graph, copy);
  instantiate();
  numbers[count - 1] = 7;
  EXPECT_EQ(launched(to), 7u);
  for (uint32_t i = 8; i < 11; ++i) {
    ASSERT_EQ(cuMemHostUnregister(pages), CUDA_SUCCESS);
    const bool isPageable = i == 9;
    if (!isPageable) {
      ASSERT_EQ(cuMemHostRegister(pages, size, 0), CUDA_SUCCESS);
    }
    CUgraph again = nullptr;
    ASSERT_EQ(cuGraphCreate(&again, 0), CUDA_SUCCESS);
    addCopy(again, copy);
    CUgraphExecUpdateResultInfo told{};
    ASSERT_EQ(cuGraphExecUpdate(executable, again, &told), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(again), CUDA_SUCCESS);
    numbers[count - 1] = i;
    EXPECT_EQ(launched(to), i);
    if (isPageable) {
      ASSERT_EQ(cuMemHostRegister(pages, size, 0), CUDA_SUCCESS);
    }
  }
  ASSERT_EQ(cuMemHostUnregister(pages), CUDA_SUCCESS);
  munmap(pages, size);
}

TEST_F(GraphChanges, AChildGraphMayBeSetAnew) {
  const CUdeviceptr to = filled(0);
  CUgraph given = nullptr, child = nullptr;
  ASSERT_EQ(cuGraphCreate(&given, 0), CUDA_SUCCESS);
  const CUgraphNode fill = addFill(given, to, 1);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, given), CUDA_SUCCESS);
  const CUDA_MEMSET_NODE_PARAMS two{to, 0, 2, 4, count, 1}, three{to, 0, 3, 4, count, 1};
  ASSERT_EQ(cuGraphMemsetNodeSetParams(fill, &two), CUDA_SUCCESS);
  CUgraphNodeParams params = {CU_GRAPH_NODE_TYPE_GRAPH, {}, {{}}, 0};
  params.graph.graph = given;
  ASSERT_EQ(cuGraphNodeSetParams(node, &params), CUDA_SUCCESS);

  ASSERT_EQ(cuGraphChildGraphNodeGetGraph(node, &child), CUDA_SUCCESS);
  size_t nodes = 0;
  ASSERT_EQ(cuGraphGetNodes(child, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 1u);
  EXPECT_EQ(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE) << "it is its node's";
  instantiate();
  EXPECT_EQ(launched(to), 2u);

  ASSERT_EQ(cuGraphMemsetNodeSetParams(fill, &three), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecNodeSetParams(executable, node, &params), CUDA_SUCCESS);
  EXPECT_EQ(launched(to), 3u);
  addFill(given, to, 4);
  EXPECT_NE(cuGraphExecNodeSetParams(executable, node, &params), CUDA_SUCCESS) << "another shape";
  EXPECT_EQ(launched(to), 3u);

  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allocation.bytesize = bytes;
  CUgraphNode allocated = nullptr;
  EXPECT_EQ(cuGraphAddMemAllocNode(&allocated, child, nullptr, 0, &allocation), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphDestroy(given), CUDA_SUCCESS);
}

TEST_F(GraphChanges, FlagsAreToldWithoutTheUpload) {
  addFill(graph, filled(0), 1);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph,
                               CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
            CUDA_SUCCESS);
  cuuint64_t flags = 0;
  ASSERT_EQ(cuGraphExecGetFlags(executable, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH});
}

}  // namespace
}  // namespace mulciber::test
