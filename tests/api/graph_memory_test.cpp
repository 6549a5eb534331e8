// Nodes that allocate and free memory, and nodes that wait for and write words of memory.
#include <atomic>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class GraphMemory : public WithDevice {
 protected:
  static constexpr size_t bytes = 4096;

  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&data, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
      if (graph) {
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuDeviceGraphMemTrim(device), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  CUgraphNode allocate(CUdeviceptr& address, const std::vector<CUgraphNode>& after = {}, size_t size = bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS p{};
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    p.bytesize = size;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &p), CUDA_SUCCESS);
    EXPECT_NE(p.dptr, 0u);
    address = p.dptr;
    return node;
  }
  CUgraphNode release(CUdeviceptr address, CUgraphNode after) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, &after, 1, address), CUDA_SUCCESS);
    return node;
  }
  CUgraphNode fill(CUdeviceptr address, unsigned value, CUgraphNode after) {
    const CUDA_MEMSET_NODE_PARAMS p{address, 0, value, 4, bytes / 4, 1};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, &after, 1, &p, context), CUDA_SUCCESS);
    return node;
  }
  CUgraphNode copyOut(CUdeviceptr from, CUgraphNode after) {
    CUDA_MEMCPY3D p{};
    p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = from;
    p.dstDevice = data;
    p.WidthInBytes = bytes;
    p.Height = p.Depth = 1;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, &after, 1, &p, context), CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiated(unsigned long long flags = 0) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&executable, graph, flags), CUDA_SUCCESS);
    return executable;
  }
  unsigned wordAt(CUdeviceptr address) {
    unsigned word = 0;
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&word, address, sizeof(word)), CUDA_SUCCESS);
    return word;
  }
  cuuint64_t told(CUgraphMem_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_EQ(cuDeviceGetGraphMemAttribute(device, attribute, &value), CUDA_SUCCESS);
    return value;
  }
  cuuint64_t used() { return told(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT); }

  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
};

TEST_F(GraphMemory, IsThereInEachLaunch) {
  CUdeviceptr scratch = 0;
  const CUgraphNode made = allocate(scratch), filled = fill(scratch, 77, made);
  release(scratch, copyOut(scratch, filled));
  const CUgraphExec executable = instantiated();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cuMemsetD32(data, 0, bytes / 4), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(wordAt(data), 77u);
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);

  CUDA_MEM_ALLOC_NODE_PARAMS told{};
  ASSERT_EQ(cuGraphMemAllocNodeGetParams(made, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.dptr, scratch);
  EXPECT_EQ(told.bytesize, bytes);
  EXPECT_EQ(told.poolProps.location.id, device);
  CUgraphNodeType type{};
  ASSERT_EQ(cuGraphNodeGetType(made, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  CUdeviceptr freed = 0;
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(made, &freed), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemory, TooMuchIsRefused) {
  CUDA_MEM_ALLOC_NODE_PARAMS p{};
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  p.bytesize = size_t{1} << 60;
  EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), CUDA_ERROR_OUT_OF_MEMORY);
  size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);
}

// What comes after a free in the graph gets its memory; what may run beside it does not.
TEST_F(GraphMemory, IsUsedAgainInsideAGraph) {
  CUdeviceptr first = 0, second = 0, third = 0, beside = 0, larger = 0;
  const CUgraphNode made = allocate(first);
  const CUgraphNode freed = release(first, fill(first, 1, made));
  allocate(larger, {freed}, 16 * bytes);
  allocate(second, {freed});
  allocate(third, {freed});
  allocate(beside, {made});
  EXPECT_EQ(second, first);
  for (const CUdeviceptr other : {third, beside, larger}) EXPECT_NE(other, first);
  EXPECT_NE(third, beside);
  EXPECT_NE(third, larger);
}

TEST_F(GraphMemory, LeftAllocatedIsFreedByTheProgram) {
  CUdeviceptr address = 0;
  const CUgraphNode made = allocate(address);
  fill(address, 5, made);
  const CUgraphExec executable = instantiated();
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(wordAt(address), 5u);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);

  // It outlives its graph, and another graph may free it.
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  CUgraph other = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec freeing = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&node, other, nullptr, 0, address), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, other, nullptr, 0, address), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphInstantiate(&freeing, other, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  graph = nullptr;
  EXPECT_EQ(wordAt(address), 5u);
  EXPECT_GE(used(), bytes);
  EXPECT_EQ(cuGraphLaunch(freeing, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(freeing, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecDestroy(freeing), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(used(), told(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)) << "until it is trimmed";
  EXPECT_EQ(told(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), told(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
  EXPECT_GE(used(), bytes);
  EXPECT_EQ(cuDeviceGraphMemTrim(device), CUDA_SUCCESS);
  EXPECT_EQ(used(), 0u);
}

TEST_F(GraphMemory, IsFreedByALaunchThatSaysSo) {
  CUdeviceptr left = 0;
  allocate(left);
  const CUgraphExec executable = instantiated(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(left), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(left), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(GraphMemory, FreesWhatAnotherStreamStillUses) {
  CUdeviceptr left = 0;
  allocate(left, {}, 1 << 20);
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  // The next launch comes after the free, whatever stream that was in.
  unsigned* const word = [] {
    void* pinned = nullptr;
    EXPECT_EQ(cuMemAllocHost(&pinned, 4), CUDA_SUCCESS);
    return static_cast<unsigned*>(pinned);
  }();
  *word = 0;
  ASSERT_EQ(cuStreamWaitValue32(other, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(left, other), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  std::atomic_ref(*word).store(1);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(left), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(word), CUDA_SUCCESS);
}

TEST_F(GraphMemory, IsCaptured) {
  CUdeviceptr scratch = 0;
  CUgraph captured = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocAsync(&scratch, bytes, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(scratch, 9, bytes / 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync(data, scratch, bytes, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(data, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemFreeAsync(scratch, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(scratch, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
  CUgraphExec executable = nullptr, second = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&executable, captured, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(wordAt(data), 9u);
  EXPECT_NE(cuGraphInstantiate(&second, captured, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, captured, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
}

TEST_F(GraphMemory, KeepsItsGraphAsItIs) {
  CUdeviceptr scratch = 0;
  const CUgraphNode made = allocate(scratch), freed = release(scratch, made);
  CUgraph clone = nullptr, outer = nullptr;
  CUgraphNode child = nullptr;
  EXPECT_NE(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&outer, 0), CUDA_SUCCESS);
  EXPECT_NE(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, graph), CUDA_SUCCESS);
  EXPECT_NE(cuGraphRemoveDependencies(graph, &made, &freed, nullptr, 1), CUDA_SUCCESS);
  EXPECT_NE(cuGraphDestroyNode(freed), CUDA_SUCCESS);
  CUgraphNodeParams changed{};
  changed.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  changed.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  changed.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  changed.alloc.bytesize = 64;
  EXPECT_NE(cuGraphNodeSetParams(made, &changed), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
  size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
}

TEST_F(GraphMemory, WordsAreWrittenAndAwaited) {
  ASSERT_EQ(cuMemsetD8(data, 0, bytes), CUDA_SUCCESS);
  CUstreamBatchMemOpParams operations[3]{};
  operations[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, data, {7}, 0, 0};
  operations[1].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, data + 8, {}, 0, 0};
  operations[1].writeValue.value64 = 0x100000009;
  operations[2].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, data, {7}, CU_STREAM_WAIT_VALUE_EQ, 0};
  CUDA_BATCH_MEM_OP_NODE_PARAMS p{context, 3, operations, 0}, told{};
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &p), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &told), CUDA_SUCCESS);
  ASSERT_EQ(told.count, 3u);
  EXPECT_EQ(told.ctx, context);
  EXPECT_EQ(told.paramArray[1].writeValue.value64, 0x100000009u);
  const CUgraphExec executable = instantiated();
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(wordAt(data), 7u);
  EXPECT_EQ(wordAt(data + 8), 9u);
  EXPECT_EQ(wordAt(data + 12), 1u);
  operations[0].writeValue.value = operations[2].waitValue.value = 8;
  ASSERT_EQ(cuGraphExecBatchMemOpNodeSetParams(executable, node, &p), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(wordAt(data), 8u);
  p.count = 2;
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(executable, node, &p), CUDA_ERROR_INVALID_VALUE);
  p.count = 3;
  operations[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(executable, node, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

// A launch waits for what the host writes later, and each launch waits anew.
TEST_F(GraphMemory, WordsAreAwaitedInEachLaunch) {
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 64), CUDA_SUCCESS);
  auto* const word = static_cast<volatile unsigned*>(pinned);
  const auto write = [&](unsigned value) { std::atomic_ref(*static_cast<unsigned*>(pinned)).store(value); };
  write(0);
  CUgraph captured = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(pinned), 1, CU_STREAM_WAIT_VALUE_EQ),
            CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(data, 3, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(pinned) + 4, 5, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
  size_t count = 0;
  ASSERT_EQ(cuGraphGetNodes(captured, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(cuGraphInstantiate(&executable, captured, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    write(0);
    word[1] = 0;
    ASSERT_EQ(cuMemsetD32(data, 0, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(word[1], 0u);
    write(1);  // while another thread polls it
    EXPECT_EQ(wordAt(data), 3u);
    EXPECT_EQ(word[1], 5u);
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
