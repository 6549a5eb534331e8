#include "engine/external_fixture.h"

namespace mulciber::test {

namespace {

class ExternalSemaphoreTest : public ExternalTest {
 protected:
  void SetUp() override {
    ExternalTest::SetUp();
    if (!IsSkipped() && !engine_->api.vkGetSemaphoreFdKHR)
      GTEST_SKIP() << "skipped: the driver shares no semaphores by file descriptors";
  }

  VkSemaphore make(bool isTimeline, CUexternalSemaphore& imported) {
    VkExportSemaphoreCreateInfo exported{};
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO;
    exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.pNext = &exported;
    type.semaphoreType = isTimeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY;
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(engine_->api.vkCreateSemaphore(engine_->device, &info, nullptr, &semaphore), VK_SUCCESS);
    VkSemaphoreGetFdInfoKHR getInfo{};
    getInfo.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
    getInfo.semaphore = semaphore;
    getInfo.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
    description.type = isTimeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                  : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    EXPECT_EQ(engine_->api.vkGetSemaphoreFdKHR(engine_->device, &getInfo, &description.handle.fd), VK_SUCCESS);
    EXPECT_EQ(CUDA(cuImportExternalSemaphore)(&imported, &description), CUDA_SUCCESS);
    return semaphore;
  }

  static CUresult signal(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters{};
    parameters.params.fence.value = value;
    return CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, &parameters, 1, stream);
  }
  static CUresult wait(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters{};
    parameters.params.fence.value = value;
    return CUDA(cuWaitExternalSemaphoresAsync)(&semaphore, &parameters, 1, stream);
  }
  static CUresult setWordsIn(CUstream stream, CUdeviceptr at, unsigned value, size_t count) {
    return CUDA(cuMemsetD32Async)(at, value, count, stream);
  }

  // Copies the words of the first half to the second, after `from` and before `to`.
  void copyOn(const Shared& shared, VkSemaphoreSubmitInfo from, VkSemaphoreSubmitInfo to) {
    const VkCommandBuffer commands = engine_->beginCommands();
    const VkBufferCopy region{0, 2048, 2048};
    engine_->api.vkCmdCopyBuffer(commands, shared.buffer, shared.buffer, 1, &region);
    EXPECT_EQ(engine_->api.vkEndCommandBuffer(commands), VK_SUCCESS);
    VkCommandBufferSubmitInfo buffer{};
    buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
    buffer.commandBuffer = commands;
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    info.waitSemaphoreInfoCount = 1;
    info.pWaitSemaphoreInfos = &from;
    info.commandBufferInfoCount = 1;
    info.pCommandBufferInfos = &buffer;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &to;
    EXPECT_EQ(engine_->api.vkQueueSubmit2(engine_->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  }

  // A stream writes, the engine copies, and the stream reads what it copied, again and again.
  void exchange(bool isTimeline) {
    const Shared shared = shareBuffer(4096);
    CUexternalMemory memory = nullptr;
    ASSERT_EQ(import(descriptorOf(shared), shared.size, 0, memory), CUDA_SUCCESS);
    CUdeviceptr words = 0;
    ASSERT_EQ(map(memory, 0, 4096, words), CUDA_SUCCESS);
    CUexternalSemaphore ours = nullptr, theirs = nullptr;
    const VkSemaphore toEngine = make(isTimeline, ours), toCuda = make(isTimeline, theirs);
    CUstream stream = nullptr;
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (unsigned round = 1; round <= 20; ++round) {
      ASSERT_EQ(setWordsIn(stream, words, round, 512), CUDA_SUCCESS);
      ASSERT_EQ(signal(ours, round, stream), CUDA_SUCCESS);
      copyOn(shared, Engine::at(toEngine, round), Engine::at(toCuda, round));
      ASSERT_EQ(wait(theirs, round, stream), CUDA_SUCCESS);
      uint32_t copied[512] = {};
      ASSERT_EQ(find<CUresult(void*, CUdeviceptr, size_t, CUstream)>("cuMemcpyDtoHAsync_v2")(copied, words + 2048,
                                                                                             sizeof(copied), stream),
                CUDA_SUCCESS);
      ASSERT_EQ(CUDA(cuStreamSynchronize)(stream), CUDA_SUCCESS);
      for (const uint32_t word : copied) ASSERT_EQ(word, round);
    }
    EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(ours), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(theirs), CUDA_SUCCESS);
    EXPECT_EQ(release(words), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
    engine_->api.vkDeviceWaitIdle(engine_->device);
    engine_->api.vkDestroySemaphore(engine_->device, toEngine, nullptr);
    engine_->api.vkDestroySemaphore(engine_->device, toCuda, nullptr);
    destroy(shared);
  }
};

}  // namespace

TEST_F(ExternalSemaphoreTest, BinarySemaphoresOrderBothSides) { exchange(false); }

TEST_F(ExternalSemaphoreTest, TimelinesOrderBothSides) { exchange(true); }

TEST_F(ExternalSemaphoreTest, AStreamThatWaitsHoldsUpNoOther) {
  CUexternalSemaphore imported = nullptr;
  const VkSemaphore timeline = make(true, imported);
  std::array<CUstream, 8> streams{};
  for (CUstream& stream : streams) {
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    // More streams than queues: each waits for what the next one signals, the last for the engine.
    const auto place = static_cast<uint64_t>(&stream - streams.data());
    ASSERT_EQ(wait(imported, streams.size() - place, stream), CUDA_SUCCESS);
    ASSERT_EQ(signal(imported, streams.size() - place + 1, stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(CUDA(cuStreamQuery)(streams.back()), CUDA_ERROR_NOT_READY);
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = timeline;
  info.value = 1;
  ASSERT_EQ(engine_->api.vkSignalSemaphore(engine_->device, &info), VK_SUCCESS);
  for (CUstream stream : streams) EXPECT_EQ(CUDA(cuStreamSynchronize)(stream), CUDA_SUCCESS);
  uint64_t value = 0;
  engine_->api.vkGetSemaphoreCounterValue(engine_->device, timeline, &value);
  EXPECT_EQ(value, streams.size() + 1);
  for (CUstream stream : streams) EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(imported), CUDA_SUCCESS);
  engine_->api.vkDestroySemaphore(engine_->device, timeline, nullptr);
}

namespace {

// A graph that sets the first half of the memory, signals a semaphore, waits for another, and copies the second half to
// memory of its own: what the engine copied there in between.
class ExternalSemaphoreGraphTest : public ExternalSemaphoreTest {
 protected:
  void SetUp() override {
    ExternalSemaphoreTest::SetUp();
    if (IsSkipped()) return;
    shared_ = shareBuffer(4096);
    ASSERT_EQ(import(descriptorOf(shared_), shared_.size, 0, memory_), CUDA_SUCCESS);
    ASSERT_EQ(map(memory_, 0, 4096, words_), CUDA_SUCCESS);
    ASSERT_EQ(find<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc_v2")(&copied_, 2048), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    toEngine_ = make(true, ours_);
    toCuda_ = make(true, theirs_);
  }
  void TearDown() override {
    if (stream_) {
      EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream_), CUDA_SUCCESS);
      EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(ours_), CUDA_SUCCESS);
      EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(theirs_), CUDA_SUCCESS);
      EXPECT_EQ(release(words_), CUDA_SUCCESS);
      EXPECT_EQ(release(copied_), CUDA_SUCCESS);
      EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory_), CUDA_SUCCESS);
      engine_->api.vkDeviceWaitIdle(engine_->device);
      engine_->api.vkDestroySemaphore(engine_->device, toEngine_, nullptr);
      engine_->api.vkDestroySemaphore(engine_->device, toCuda_, nullptr);
      destroy(shared_);
    }
    ExternalSemaphoreTest::TearDown();
  }

  struct Nodes {
    CUgraphNode fill = nullptr, signal = nullptr, wait = nullptr, copy = nullptr;
  };

  // With nodes for these semaphores and values.
  CUgraph build(CUexternalSemaphore signalled, uint64_t signalValue, CUexternalSemaphore awaited, uint64_t waitValue,
                unsigned word, Nodes& nodes) {
    CUgraph graph = nullptr;
    EXPECT_EQ(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CUDA_MEMSET_NODE_PARAMS fill{words_, 0, word, 4, 512, 1};
    EXPECT_EQ(CUDA(cuGraphAddMemsetNode)(&nodes.fill, graph, nullptr, 0, &fill, cuda_), CUDA_SUCCESS);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signalled_{};
    signalled_.params.fence.value = signalValue;
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal{&signalled, &signalled_, 1};
    EXPECT_EQ(CUDA(cuGraphAddExternalSemaphoresSignalNode)(&nodes.signal, graph, &nodes.fill, 1, &signal),
              CUDA_SUCCESS);
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS awaited_{};
    awaited_.params.fence.value = waitValue;
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait{&awaited, &awaited_, 1};
    EXPECT_EQ(CUDA(cuGraphAddExternalSemaphoresWaitNode)(&nodes.wait, graph, &nodes.signal, 1, &wait), CUDA_SUCCESS);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = words_ + 2048;
    copy.dstDevice = copied_;
    copy.WidthInBytes = 2048;
    copy.Height = copy.Depth = 1;
    EXPECT_EQ(CUDA(cuGraphAddMemcpyNode)(&nodes.copy, graph, &nodes.wait, 1, &copy, cuda_), CUDA_SUCCESS);
    return graph;
  }

  static CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec made = nullptr;
    EXPECT_EQ(CUDA(cuGraphInstantiateWithFlags)(&made, graph, 0), CUDA_SUCCESS);
    return made;
  }

  // Launches, lets the engine do its part once the graph waits for it, and looks at what came back.
  void run(CUgraphExec graph, uint64_t signalled, uint64_t awaited, unsigned word) {
    ASSERT_EQ(setWordsIn(stream_, copied_, 0, 512), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuGraphLaunch)(graph, stream_), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuStreamQuery)(stream_), CUDA_ERROR_NOT_READY);
    copyOn(shared_, Engine::at(toEngine_, signalled), Engine::at(toCuda_, awaited));
    ASSERT_EQ(CUDA(cuStreamSynchronize)(stream_), CUDA_SUCCESS);
    uint32_t words[512] = {};
    ASSERT_EQ(readBytes(words, copied_, sizeof(words)), CUDA_SUCCESS);
    for (const uint32_t one : words) ASSERT_EQ(one, word);
  }

  Shared shared_;
  CUexternalMemory memory_ = nullptr;
  CUdeviceptr words_ = 0, copied_ = 0;
  CUexternalSemaphore ours_ = nullptr, theirs_ = nullptr;
  VkSemaphore toEngine_ = VK_NULL_HANDLE, toCuda_ = VK_NULL_HANDLE;
  CUstream stream_ = nullptr;
};

}  // namespace

TEST_F(ExternalSemaphoreGraphTest, ALaunchSignalsAndWaitsAndNewValuesTakeEffect) {
  Nodes nodes;
  const CUgraph graph = build(ours_, 1, theirs_, 1, 11, nodes);
  const CUgraphExec executable = instantiate(graph);
  run(executable, 1, 1, 11);

  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signalled{};
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS awaited{};
  signalled.params.fence.value = awaited.params.fence.value = 2;
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal{&ours_, &signalled, 1};
  const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait{&theirs_, &awaited, 1};
  ASSERT_EQ(CUDA(cuGraphExecExternalSemaphoresSignalNodeSetParams)(executable, nodes.signal, &signal), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuGraphExecExternalSemaphoresWaitNodeSetParams)(executable, nodes.wait, &wait), CUDA_SUCCESS);
  run(executable, 2, 2, 11);

  Nodes others;
  const CUgraph next = build(ours_, 3, theirs_, 3, 33, others);
  CUgraphExecUpdateResultInfo told{};
  ASSERT_EQ(find<CUresult(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*)>("cuGraphExecUpdate_v2")(executable, next,
                                                                                                       &told),
            CUDA_SUCCESS);
  run(executable, 3, 3, 33);
  for (const CUgraph one : {graph, next}) EXPECT_EQ(CUDA(cuGraphDestroy)(one), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphExecDestroy)(executable), CUDA_SUCCESS);
}

TEST_F(ExternalSemaphoreGraphTest, ACapturedStreamGetsNodes) {
  ASSERT_EQ(
      find<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(stream_, CU_STREAM_CAPTURE_MODE_RELAXED),
      CUDA_SUCCESS);
  ASSERT_EQ(setWordsIn(stream_, words_, 5, 512), CUDA_SUCCESS);
  ASSERT_EQ(signal(ours_, 7, stream_), CUDA_SUCCESS);
  ASSERT_EQ(wait(theirs_, 8, stream_), CUDA_SUCCESS);
  ASSERT_EQ(find<CUresult(CUdeviceptr, CUdeviceptr, size_t, CUstream)>("cuMemcpyDtoDAsync_v2")(copied_, words_ + 2048,
                                                                                               2048, stream_),
            CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(CUDA(cuStreamEndCapture)(stream_, &graph), CUDA_SUCCESS);
  std::array<CUgraphNode, 4> nodes{};
  size_t count = nodes.size();
  ASSERT_EQ(CUDA(cuGraphGetNodes)(graph, nodes.data(), &count), CUDA_SUCCESS);
  ASSERT_EQ(count, nodes.size());
  CUgraphNodeType type{};
  EXPECT_EQ(CUDA(cuGraphNodeGetType)(nodes[1], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  EXPECT_EQ(CUDA(cuGraphNodeGetType)(nodes[2], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signalled{};
  ASSERT_EQ(CUDA(cuGraphExternalSemaphoresSignalNodeGetParams)(nodes[1], &signalled), CUDA_SUCCESS);
  ASSERT_EQ(signalled.numExtSems, 1u);
  EXPECT_EQ(signalled.extSemArray[0], ours_);
  EXPECT_EQ(signalled.paramsArray[0].params.fence.value, 7u);
  CUDA_EXT_SEM_WAIT_NODE_PARAMS awaited{};
  ASSERT_EQ(CUDA(cuGraphExternalSemaphoresWaitNodeGetParams)(nodes[2], &awaited), CUDA_SUCCESS);
  ASSERT_EQ(awaited.numExtSems, 1u);
  EXPECT_EQ(awaited.extSemArray[0], theirs_);
  EXPECT_EQ(awaited.paramsArray[0].params.fence.value, 8u);
  const CUgraphExec executable = instantiate(graph);
  run(executable, 7, 8, 5);
  EXPECT_EQ(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphExecDestroy)(executable), CUDA_SUCCESS);
}

TEST_F(ExternalSemaphoreGraphTest, WrongParametersChangeNothing) {
  Nodes nodes;
  const CUgraph graph = build(ours_, 1, theirs_, 1, 11, nodes);
  const CUgraphExec executable = instantiate(graph);
  std::array<CUexternalSemaphore, 2> two{ours_, theirs_};
  std::array<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, 2> parameters{};
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS both{two.data(), parameters.data(), 2}, none{two.data(), nullptr, 1},
      nowhere{nullptr, parameters.data(), 1}, one{two.data(), parameters.data(), 1};
  CUgraphNode node = nullptr;
  const auto add = [&](const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* given) {
    return CUDA(cuGraphAddExternalSemaphoresSignalNode)(&node, graph, nullptr, 0, given);
  };
  for (const auto* given : {&none, &nowhere}) EXPECT_EQ(add(given), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add(nullptr), CUDA_ERROR_INVALID_VALUE);
  parameters[0].flags = 1;
  EXPECT_EQ(add(&one), CUDA_ERROR_INVALID_VALUE);
  parameters[0].flags = 0;
  auto* noSemaphore = reinterpret_cast<CUexternalSemaphore>(stream_);
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS foreign{&noSemaphore, parameters.data(), 1};
  EXPECT_EQ(add(&foreign), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CUDA(cuGraphExternalSemaphoresSignalNodeSetParams)(nodes.wait, &one), CUDA_ERROR_INVALID_VALUE);
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS told{};
  EXPECT_EQ(CUDA(cuGraphExternalSemaphoresSignalNodeGetParams)(nodes.wait, &told), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CUDA(cuGraphExecExternalSemaphoresSignalNodeSetParams)(executable, nodes.signal, &both),
            CUDA_ERROR_INVALID_VALUE);

  Nodes others;
  const CUgraph next = build(ours_, 5, theirs_, 5, 55, others);
  ASSERT_EQ(CUDA(cuGraphExternalSemaphoresSignalNodeSetParams)(others.signal, &both), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo result{};
  EXPECT_EQ(find<CUresult(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*)>("cuGraphExecUpdate_v2")(executable, next,
                                                                                                       &result),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  run(executable, 1, 1, 11);
  for (const CUgraph made : {graph, next}) EXPECT_EQ(CUDA(cuGraphDestroy)(made), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphExecDestroy)(executable), CUDA_SUCCESS);
}

}  // namespace mulciber::test
