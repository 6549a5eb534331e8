// Graphs in the engine's own command buffers.
#include <functional>
#include <random>

#include "engine/cuda_library.h"
#include "engine/recording_fixture.h"

namespace mulciber::test {

namespace {

class GraphTest : public RecordingTest {
 protected:
  MulciberGraph capture(const std::function<void(MulciberStream)>& body) {
    MulciberGraph graph = nullptr;
    EXPECT_OK(mulciberBeginCapture(stream));
    body(stream);
    EXPECT_OK(mulciberEndCapture(stream, &graph));
    return graph;
  }
  void refuses(MulciberGraph graph, const std::string& why) {
    const VkCommandBuffer commands = engine->beginCommands();
    const MulciberRecording recording = engine->record(commands, ++frame);
    EXPECT_EQ(mulciberRecordGraph(recording, graph), MULCIBER_ERROR_NEEDS_HOST);
    EXPECT_NE(std::string(mulciberGetErrorMessage()).find("the graph has " + why), std::string::npos)
        << mulciberGetErrorMessage();
    EXPECT_OK(launch(recording, engine->kernel("add"), 4, 256, data, count, 1));  // nothing is lost
    EXPECT_OK(mulciberEndRecording(recording));
    engine->wait(engine->submit(commands));
  }
};

// The context as the CUDA libraries have it, while this is there.
class Current {
 public:
  explicit Current(MulciberContext context) {
    EXPECT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuCtxSetCurrent)(static_cast<CUcontext>(mulciberGetCudaContext(context))), CUDA_SUCCESS);
  }
  ~Current() { EXPECT_EQ(CUDA(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS); }
};

}  // namespace

TEST_F(GraphTest, IsRecordedInOrderWithWhatIsAroundIt) {
  const MulciberKernel add = engine->kernel("add"), squares = engine->kernel("squares");
  const MulciberGraph graph = capture([&](MulciberStream captured) {
    EXPECT_OK(launch(captured, squares, 4, 256, other, data, count));
    EXPECT_OK(launch(captured, add, 4, 256, other, count, 1));
    EXPECT_OK(mulciberCopy(captured, data, other, count * sizeof(int)));
    EXPECT_OK(mulciberFill(captured, other, 5, 4, count / 2));
  });
  EXPECT_EQ(read(data).front(), 1);  // nothing of it was done
  Calls::get().clear();
  run(0, [&](MulciberRecording recording) {
    EXPECT_OK(launch(recording, add, 4, 256, data, count, 1));  // 2
    EXPECT_OK(mulciberRecordGraph(recording, graph));           // 9
    EXPECT_OK(launch(recording, add, 4, 256, data, count, 1));  // 10
    EXPECT_OK(mulciberRecordGraph(recording, graph));           // 201
  });
  EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 10);
  EXPECT_EQ(Calls::get().of("vkQueueSubmit2"), 0);
  EXPECT_EQ(Calls::get().ofTransfers(), 0);
  EXPECT_EQ(read(data).front(), 201);
  EXPECT_EQ(read(data).back(), 201);
  EXPECT_EQ(read(other).front(), 5);
  EXPECT_EQ(read(other).back(), 201);
  // It is a graph for streams as well, and may go before its frame has run.
  EXPECT_OK(mulciberLaunchGraph(stream, graph));
  EXPECT_EQ(read(data).front(), 201 * 201 * 2 + 1);
  const VkCommandBuffer commands = engine->beginCommands();
  const MulciberRecording recording = engine->record(commands, ++frame);
  EXPECT_OK(mulciberFill(stream, data, 3, 4, count));
  EXPECT_OK(mulciberSynchronizeStream(stream));
  EXPECT_OK(mulciberRecordGraph(recording, graph));
  EXPECT_OK(mulciberDestroyGraph(graph));
  EXPECT_OK(mulciberEndRecording(recording));
  engine->wait(engine->submit(commands));
  EXPECT_EQ(read(data).front(), 19);
}

// Barriers stand along edges alone: two rows of nodes side by side share them.
TEST_F(GraphTest, HasBarriersAlongItsEdges) {
  const Current current(engine->context);
  CUgraph graph = nullptr;
  ASSERT_EQ(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  const auto addFill =
      find<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_MEMSET_NODE_PARAMS*, CUcontext)>(
          "cuGraphAddMemsetNode");
  const auto handle = static_cast<CUcontext>(mulciberGetCudaContext(engine->context));
  CUgraphNode nodes[6] = {};
  for (int i = 0; i < 6; ++i) {
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = (i % 2 == 0 ? data : other) + static_cast<VkDeviceAddress>(i / 2) * 64;
    fill.value = static_cast<unsigned>(10 + i);
    fill.elementSize = 4;
    fill.width = 32;
    fill.height = 1;
    ASSERT_EQ(addFill(&nodes[i], graph, i < 2 ? nullptr : &nodes[i - 2], i < 2 ? 0 : 1, &fill, handle), CUDA_SUCCESS);
  }
  CUgraphExec executable = nullptr;
  ASSERT_EQ(
      find<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0),
      CUDA_SUCCESS);
  MulciberGraph recorded = nullptr;
  ASSERT_OK(mulciberGetGraph(engine->context, executable, &recorded));
  const auto barriers = [&](uint32_t flags, int times) {
    Calls::get().clear();
    run(flags, [&](MulciberRecording recording) {
      for (int i = 0; i < times; ++i) EXPECT_OK(mulciberRecordGraph(recording, recorded));
    });
    EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 6 * times);
    return Calls::get().of("vkCmdPipelineBarrier2");
  };
  const int one = barriers(0, 1);
  EXPECT_GE(one, 2);
  EXPECT_LE(one, 3);  // with the host's reads
  EXPECT_EQ(barriers(0, 2), one + 3);
  EXPECT_EQ(barriers(MULCIBER_RECORDING_UNORDERED, 1), one);
  const std::vector<int> found = read(data);
  EXPECT_EQ(found[0], 10);
  EXPECT_EQ(found[16], 12);
  EXPECT_EQ(found[32], 14);
  EXPECT_EQ(found[63], 14);
  EXPECT_EQ(find<CUresult(CUgraphExec)>("cuGraphExecDestroy")(executable), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(barriers(0, 1), one);  // the engine's handle keeps it
  EXPECT_EQ(mulciberGetGraph(engine->context, executable, &recorded), MULCIBER_ERROR_INVALID_ARGUMENT);
}

TEST_F(GraphTest, ComesAfterABarrierOfAnUnorderedRecording) {
  const MulciberGraph graph =
      capture([&](MulciberStream captured) { EXPECT_OK(mulciberFill(captured, data, 5, 4, count)); });
  const auto barriers = [&](bool asks) {
    Calls::get().clear();
    run(MULCIBER_RECORDING_UNORDERED, [&](MulciberRecording recording) {
      EXPECT_OK(mulciberRecordFill(recording, data, 4, 4, count));
      if (asks) {
        EXPECT_OK(mulciberRecordBarrier(recording));
      }
      EXPECT_OK(mulciberRecordGraph(recording, graph));
    });
    return Calls::get().of("vkCmdPipelineBarrier2");
  };
  EXPECT_EQ(barriers(true), barriers(false) + 1);
}

// A node that the host would take part in does nothing while it is disabled, and still orders others.
TEST_F(GraphTest, ComesThroughADisabledCopyInOrder) {
  const Current current(engine->context);
  const auto handle = static_cast<CUcontext>(mulciberGetCudaContext(engine->context));
  CUgraph graph = nullptr;
  ASSERT_EQ(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  const auto addFill =
      find<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_MEMSET_NODE_PARAMS*, CUcontext)>(
          "cuGraphAddMemsetNode");
  const auto addCopy =
      find<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_MEMCPY3D*, CUcontext)>(
          "cuGraphAddMemcpyNode");
  const std::vector<int> pageable(count);
  CUgraphNode nodes[3] = {};
  CUDA_MEMSET_NODE_PARAMS fill{data, 0, 5, 4, count, 1};
  ASSERT_EQ(addFill(&nodes[0], graph, nullptr, 0, &fill, handle), CUDA_SUCCESS);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = pageable.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = data;
  copy.WidthInBytes = count * sizeof(int);
  copy.Height = copy.Depth = 1;
  ASSERT_EQ(addCopy(&nodes[1], graph, &nodes[0], 1, &copy, handle), CUDA_SUCCESS);
  fill.value = 6;
  ASSERT_EQ(addFill(&nodes[2], graph, &nodes[1], 1, &fill, handle), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(
      find<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(find<CUresult(CUgraphExec, CUgraphNode, unsigned)>("cuGraphNodeSetEnabled")(executable, nodes[1], 0),
            CUDA_SUCCESS);
  MulciberGraph recorded = nullptr;
  ASSERT_OK(mulciberGetGraph(engine->context, executable, &recorded));
  const auto barriersOf = [&](MulciberGraph one) {
    Calls::get().clear();
    run(0, [&](MulciberRecording recording) { EXPECT_OK(mulciberRecordGraph(recording, one)); });
    EXPECT_EQ(Calls::get().of("vkCmdDispatch"), 2);
    return Calls::get().of("vkCmdPipelineBarrier2");
  };
  const int barriers = barriersOf(recorded);
  EXPECT_EQ(read(data), std::vector<int>(count, 6));
  EXPECT_EQ(barriers, barriersOf(capture([&](MulciberStream captured) {
              EXPECT_OK(mulciberFill(captured, data, 5, 4, count));
              EXPECT_OK(mulciberFill(captured, data, 6, 4, count));
            })));
  EXPECT_EQ(find<CUresult(CUgraphExec)>("cuGraphExecDestroy")(executable), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

TEST_F(GraphTest, RefusesWhatNeedsTheHost) {
  std::vector<int> host(count);
  refuses(capture([&](MulciberStream captured) {
            EXPECT_OK(launch(captured, engine->kernel("add"), 4, 256, data, count, 1));
            EXPECT_OK(launch(captured, engine->kernel("print"), 1, 1, 5));
          }),
          "the kernel print, which calls printf");
  refuses(
      capture([&](MulciberStream captured) { EXPECT_OK(launch(captured, engine->kernel("allocate"), 1, 1, data)); }),
      "the kernel allocate, which calls malloc");
  refuses(capture([&](MulciberStream captured) {
            EXPECT_OK(mulciberCopy(captured, reinterpret_cast<uint64_t>(host.data()), data, count * sizeof(int)));
          }),
          "a copy");

  const Current current(engine->context);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  MulciberGraph held = nullptr;
  ASSERT_EQ(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS call{};
  call.fn = [](void*) {};
  ASSERT_EQ(find<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_HOST_NODE_PARAMS*)>(
                "cuGraphAddHostNode")(&node, graph, nullptr, 0, &call),
            CUDA_SUCCESS);
  ASSERT_EQ(
      find<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0),
      CUDA_SUCCESS);
  ASSERT_OK(mulciberGetGraph(engine->context, executable, &held));
  refuses(held, "a function of the host");
  EXPECT_OK(mulciberDestroyGraph(held));
  EXPECT_EQ(find<CUresult(CUgraphExec)>("cuGraphExecDestroy")(executable), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(read(data).back(), 1 + 4);
}

TEST_F(GraphTest, RefusesBadCalls) {
  MulciberGraph graph = nullptr;
  EXPECT_NE(mulciberEndCapture(stream, &graph), MULCIBER_SUCCESS);
  EXPECT_EQ(mulciberGetGraph(engine->context, nullptr, &graph), MULCIBER_ERROR_INVALID_ARGUMENT);
  graph = capture(
      [&](MulciberStream captured) { EXPECT_OK(launch(captured, engine->kernel("add"), 4, 256, data, count, 1)); });
  Engine another;
  ASSERT_EQ(another.result, MULCIBER_SUCCESS) << another.message;
  const VkCommandBuffer commands = another.beginCommands();
  const MulciberRecording recording = another.record(commands, 1);
  EXPECT_EQ(mulciberRecordGraph(recording, graph), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(mulciberRecordGraph(recording, nullptr), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_OK(mulciberEndRecording(recording));
  EXPECT_EQ(mulciberRecordGraph(recording, graph), MULCIBER_ERROR_WRONG_STATE);
  another.wait(another.submit(commands));
}

// The same nodes in a graph's own order by a stream and by a recording, many times.
TEST_F(GraphTest, GivesWhatStreamsGive) {
  std::mt19937 random(20);
  struct {
    int values[128];
  } table;  // more than push constants hold
  for (int i = 0; i < 128; ++i) table.values[i] = i * i;
  for (int round = 0; round < 10; ++round) {
    const MulciberGraph graph = capture([&](MulciberStream captured) {
      for (int i = 0; i < 12; ++i) {
        const bool isSwapped = random() % 2 == 0;
        const VkDeviceAddress to = isSwapped ? data : other, from = isSwapped ? other : data;
        switch (random() % 5) {
          case 0: EXPECT_OK(launch(captured, engine->kernel("squares"), 4, 256, to, from, count)); break;
          case 1:
            EXPECT_OK(launch(captured, engine->kernel("add"), 4, 256, to, count, static_cast<int>(random() % 9)));
            break;
          case 2: EXPECT_OK(mulciberCopy(captured, to, from, count * sizeof(int))); break;
          case 3: EXPECT_OK(launch(captured, engine->kernel("addTable"), 1, 128, to, table)); break;
          default: EXPECT_OK(mulciberFill(captured, to + 64, random() % 100, 4, 100));
        }
      }
    });
    const auto begin = [&] {
      EXPECT_OK(mulciberFill(stream, data, 1, 4, count));
      EXPECT_OK(mulciberFill(stream, other, 2, 4, count));
      EXPECT_OK(mulciberSynchronizeStream(stream));
    };
    begin();
    EXPECT_OK(mulciberLaunchGraph(stream, graph));
    const std::vector<int> wanted = read(data), wantedOther = read(other);
    begin();
    run(0, [&](MulciberRecording recording) { EXPECT_OK(mulciberRecordGraph(recording, graph)); });
    ASSERT_EQ(read(data), wanted) << round;
    ASSERT_EQ(read(other), wantedOther) << round;
    EXPECT_OK(mulciberDestroyGraph(graph));
  }
}

}  // namespace mulciber::test
