// Stream capture as a program of the driver API uses it. Which calls are refused, and with what, is recorded from real
// hardware: tests/replay.
#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

class Capture : public WithScale {
 protected:
  static constexpr size_t count = 64, bytes = count * sizeof(unsigned);

  void SetUp() override {
    WithScale::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&data, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(data, 0, count), CUDA_SUCCESS);
    stream = newStream();
    other = newStream();
  }
  void TearDown() override {
    if (data) {
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
    }
    WithScale::TearDown();
  }

  static CUstream newStream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  static CUevent newEvent() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return made;
  }
  static CUresult begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    return cuStreamBeginCapture(stream, mode);
  }
  static CUstreamCaptureStatus statusOf(CUstream stream) {
    CUstreamCaptureStatus status{};
    EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
    return status;
  }
  static CUgraph end(CUstream stream, CUresult expected = CUDA_SUCCESS) {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), expected);
    EXPECT_EQ(graph != nullptr, expected == CUDA_SUCCESS);
    return graph;
  }
  static size_t nodeCount(CUgraph graph) {
    size_t nodes = 0;
    EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
    return nodes;
  }

  // data[i] = data[i] * by + 7
  CUresult scaleIn(CUstream where, unsigned by) {
    unsigned factor = by, all = count;
    void* arguments[] = {&data, &factor, &all};
    return cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, where, arguments, nullptr);
  }
  unsigned first() {
    std::vector<unsigned> all(count);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(all.data(), data, bytes), CUDA_SUCCESS);
    for (const unsigned value : all) EXPECT_EQ(value, all.front());
    return all.front();
  }
  static void forkTo(CUstream to, CUstream from) {
    const CUevent event = newEvent();
    EXPECT_EQ(cuEventRecord(event, from), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(to, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  }
  void run(CUgraph graph, int times) {
    CUgraphExec executable = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; ++i) ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  }
  void elsewhere(const std::function<void()>& body) const {
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      body();
    }).join();
  }

  CUdeviceptr data = 0;
  CUstream stream = nullptr, other = nullptr;
};

// CS-015
TEST_F(Capture, CapturedWorkRunsWhenTheGraphIsLaunched) {
  int called = 0;
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(data, 1, count, stream), CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 10), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(
                stream, [](void* at) { ++*static_cast<int*>(at); }, &called),
            CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  EXPECT_EQ(nodeCount(graph), 3u);
  EXPECT_EQ(first(), 0u);
  EXPECT_EQ(called, 0);
  run(graph, 3);
  EXPECT_EQ(called, 3);
  EXPECT_EQ(first(), 17u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(Capture, CopiesOfArraysAreCaptured) {
  const CUDA_ARRAY_DESCRIPTOR shape{count, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
  CUarray array = nullptr;
  ASSERT_EQ(cuArrayCreate(&array, &shape), CUDA_SUCCESS);
  CUdeviceptr out = 0;
  ASSERT_EQ(cuMemAlloc(&out, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(out, 0, count), CUDA_SUCCESS);
  CUDA_MEMCPY3D in{};
  in.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  in.srcDevice = data;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.WidthInBytes = bytes;
  in.Height = in.Depth = 1;
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy3DAsync(&in, stream), CUDA_SUCCESS);
  std::swap(in.srcMemoryType, in.dstMemoryType);
  std::swap(in.srcArray, in.dstArray);
  in.srcDevice = 0;
  in.dstDevice = out;
  EXPECT_EQ(cuMemcpy3DAsync(&in, stream), CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  EXPECT_EQ(nodeCount(graph), 2u);
  std::vector<unsigned> got(count);
  for (const unsigned value : {5u, 6u}) {
    ASSERT_EQ(cuMemsetD32(data, value, count), CUDA_SUCCESS);
    run(graph, 1);
    ASSERT_EQ(cuMemcpyDtoH(got.data(), out, bytes), CUDA_SUCCESS);
    EXPECT_EQ(got, std::vector<unsigned>(count, value));
  }
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

// CS-016: work in both streams of a fork, in an order that only the edges make.
TEST_F(Capture, ForksAndJoinsBecomeEdges) {
  for (const unsigned flags : {CU_STREAM_NON_BLOCKING, CU_STREAM_DEFAULT}) {
    const CUstream a = newStream(flags), b = newStream(flags);
    ASSERT_EQ(begin(a), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(data, 1, count, a), CUDA_SUCCESS);
    forkTo(b, a);
    EXPECT_EQ(statusOf(b), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_EQ(scaleIn(b, 2), CUDA_SUCCESS);
    forkTo(a, b);
    EXPECT_EQ(scaleIn(a, 3), CUDA_SUCCESS);
    const CUgraph graph = end(a);
    EXPECT_EQ(statusOf(b), CU_STREAM_CAPTURE_STATUS_NONE);
    size_t edges = 0;
    EXPECT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), CUDA_SUCCESS);
    EXPECT_EQ(edges, 3u);
    run(graph, 1);
    EXPECT_EQ(first(), 34u);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(b), CUDA_SUCCESS);
  }
}

// CS-017
TEST_F(Capture, StepsAreCapturedUpdatedAndReplayed) {
  CUgraphExec executable = nullptr;
  unsigned expected = 0;
  for (unsigned step = 1; step <= 10; ++step) {
    ASSERT_EQ(begin(stream), CUDA_SUCCESS);
    EXPECT_EQ(scaleIn(stream, step), CUDA_SUCCESS);
    EXPECT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
    const CUgraph graph = end(stream);
    CUgraphExecUpdateResultInfo info{};
    if (!executable) ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    else ASSERT_EQ(cuGraphExecUpdate(executable, graph, &info), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    expected = expected * step + 14;
  }
  EXPECT_EQ(first(), expected);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(Capture, PageableMemoryIsReadAndWrittenByEachLaunch) {
  std::vector<unsigned> from(count), to(count);
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(data, from.data(), bytes, stream), CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(to.data(), data, bytes, stream), CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  for (const unsigned start : {0u, 100u}) {
    std::iota(from.begin(), from.end(), start);
    run(graph, 1);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(to[i], 2 * from[i] + 7);
  }
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// The first work after a capture does not come after what was captured, and is not captured.
TEST_F(Capture, AStreamWorksOnAfterItsCapture) {
  ASSERT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 5), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(end(stream)), CUDA_SUCCESS);
  ASSERT_EQ(scaleIn(stream, 2), CUDA_SUCCESS);
  EXPECT_EQ(first(), 21u);
}

// An event node is carried out with each launch; who waits for the event outside waits for that.
TEST_F(Capture, ExternalEventsAreNodes) {
  const CUevent event = newEvent();
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  EXPECT_EQ(nodeCount(graph), 2u);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);  // nobody has recorded it yet
  run(graph, 1);
  EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(statusOf(other), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(scaleIn(other, 2), CUDA_SUCCESS);
  EXPECT_EQ(first(), 21u);
  EXPECT_EQ(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(Capture, DependenciesAreToldAndGivenByHand) {
  CUgraph graph = nullptr;
  CUgraphNode empty = nullptr;
  const CUgraphNode* nodes = nullptr;
  size_t number = 0;
  cuuint64_t id = 0, again = 0;
  CUstreamCaptureStatus status{};
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, nullptr, &number), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(number, 1u);
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, nodes, number), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(stream, &empty, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 2), CUDA_SUCCESS);
  // The graph is the capture's.
  EXPECT_EQ(cuGraphDestroyNode(empty), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(end(stream), graph);
  run(graph, 1);
  EXPECT_EQ(first(), 21u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetCaptureInfo(stream, &status, &again, nullptr, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_NE(id, again);
  EXPECT_EQ(cuGraphDestroy(end(stream)), CUDA_SUCCESS);
}

TEST_F(Capture, AGraphThatIsThereGrows) {
  CUgraph graph = nullptr, ended = nullptr;
  CUgraphNode empty = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph, &empty, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, &ended), CUDA_SUCCESS);
  EXPECT_EQ(ended, graph);
  EXPECT_EQ(nodeCount(graph), 2u);
  // A capture that fails leaves the graph to the program.
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  run(graph, 1);
  EXPECT_EQ(first(), 7u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// GRF-09: what a thread of each mode may do while this one or another captures in each mode.
// Its end need not give it: the program has it.
TEST_F(Capture, AGraphThatIsThereStaysWhenTheEndDoesNotGiveIt) {
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, size_t{0}, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  EXPECT_EQ(scaleIn(stream, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(nodeCount(graph), 1u);
  run(graph, 2);
  EXPECT_EQ(first(), 14u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(Capture, UnsafeCallsAreRefusedAsTheModesSay) {
  constexpr CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                           CU_STREAM_CAPTURE_MODE_RELAXED};
  for (const CUstreamCaptureMode mine : modes)
    for (const CUstreamCaptureMode mode : modes)
      for (const bool isOwn : {false, true}) {
        CUresult allocated = CUDA_ERROR_UNKNOWN;
        const auto allocate = [&] {
          CUdeviceptr memory = 0;
          CUstreamCaptureMode exchanged = mine;
          EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&exchanged), CUDA_SUCCESS);
          allocated = cuMemAlloc(&memory, 64);
          EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&exchanged), CUDA_SUCCESS);
          EXPECT_EQ(exchanged, mine);
          if (allocated == CUDA_SUCCESS) {
            CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
            EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&relaxed), CUDA_SUCCESS);
            EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
            EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&relaxed), CUDA_SUCCESS);
          }
        };
        ASSERT_EQ(begin(stream, mode), CUDA_SUCCESS);
        if (isOwn) allocate();
        else elsewhere(allocate);
        const bool isRefused = mine != CU_STREAM_CAPTURE_MODE_RELAXED &&
                               (isOwn ? mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                      : mine == CU_STREAM_CAPTURE_MODE_GLOBAL && mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
        EXPECT_EQ(allocated, isRefused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS) << mine << mode << isOwn;
        const CUgraph graph = end(stream, isRefused ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
        if (graph) {
          EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        }
      }
}

TEST_F(Capture, EachWayOfFailingHasItsCode) {
  const CUevent event = newEvent(), outside = newEvent();
  ASSERT_EQ(cuEventRecord(outside, other), CUDA_SUCCESS);
  // Work in another stream that nobody waits for.
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  forkTo(other, stream);
  EXPECT_EQ(scaleIn(other, 1), CUDA_SUCCESS);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(statusOf(other), CU_STREAM_CAPTURE_STATUS_NONE);
  // Ended where it was not begun.
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  forkTo(other, stream);
  end(other, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  end(stream, CUDA_ERROR_ILLEGAL_STATE);
  // Two captures that would become one.
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  ASSERT_EQ(begin(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  end(other, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Work that was not captured.
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(scaleIn(stream, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // An event that will not happen.
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_VALUE);
  // Another thread.
  ASSERT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  elsewhere([&] { end(stream, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD); });
  EXPECT_EQ(statusOf(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  // The legacy stream, which would come after a blocking one.
  const CUstream blocking = newStream(CU_STREAM_DEFAULT);
  ASSERT_EQ(begin(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(data, 1, count), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  end(blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(begin(nullptr), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(outside), CUDA_SUCCESS);
  // Nothing of all that has run.
  EXPECT_EQ(first(), 0u);
}

TEST_F(Capture, AGraphIsNotLaunchedIntoACapture) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// A kernel is loaded when it is first launched, which writes its module's variables: no call that a capture forbids.
TEST_F(Capture, LoadsWhatItCapturesFirst) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const CUstream blocking = newStream(CU_STREAM_DEFAULT);
  ASSERT_EQ(cuLibraryLoadData(&library, scalePtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(begin(blocking), CUDA_SUCCESS);
  unsigned factor = 1, all = count;
  void* arguments[] = {&data, &factor, &all};
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, count, 1, 1, 0, blocking, arguments, nullptr),
            CUDA_SUCCESS);
  const CUgraph graph = end(blocking);
  run(graph, 1);
  EXPECT_EQ(first(), 7u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

// As PyTorch does: each thread captures its steps with modes that let it allocate, while the others work.
TEST_F(Capture, ThreadsCaptureBesideEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      const CUstream mine = newStream(), joined = newStream();
      for (int i = 0; i < 10; ++i) {
        CUdeviceptr memory = 0;
        unsigned seen = 0;
        EXPECT_EQ(begin(mine, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
        forkTo(joined, mine);
        EXPECT_EQ(cuMemsetD32Async(memory, static_cast<unsigned>(100 * t + i), 16, joined), CUDA_SUCCESS);
        forkTo(mine, joined);
        EXPECT_EQ(cuMemcpyDtoHAsync(&seen, memory, sizeof(seen), mine), CUDA_SUCCESS);
        const CUgraph graph = end(mine);
        CUgraphExec executable = nullptr;
        EXPECT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(executable, joined), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(joined), CUDA_SUCCESS);
        EXPECT_EQ(seen, static_cast<unsigned>(100 * t + i));
        EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuStreamDestroy(mine), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy(joined), CUDA_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
}

// A stream that goes takes its capture along, and an event keeps no graph alive.
TEST_F(Capture, StreamsOfCapturesCanBeDestroyed) {
  const CUstream gone = newStream();
  ASSERT_EQ(begin(gone), CUDA_SUCCESS);
  forkTo(other, gone);
  EXPECT_EQ(scaleIn(other, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(gone), CUDA_SUCCESS);
  EXPECT_EQ(statusOf(other), CU_STREAM_CAPTURE_STATUS_NONE);
  const CUstream joined = newStream();
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  forkTo(joined, stream);
  EXPECT_EQ(scaleIn(joined, 1), CUDA_SUCCESS);
  forkTo(stream, joined);
  EXPECT_EQ(cuStreamDestroy(joined), CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  EXPECT_EQ(nodeCount(graph), 1u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// A blocking stream keeps the legacy one from its work only as long as it is there.
TEST_F(Capture, TheLegacyStreamIsFreeWhenJoinedStreamsAreGone) {
  ASSERT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  const CUstream gone = newStream(CU_STREAM_DEFAULT);
  const auto forkAndJoin = [&](CUstream joined) {
    forkTo(joined, stream);
    EXPECT_EQ(scaleIn(joined, 1), CUDA_SUCCESS);
    forkTo(stream, joined);
  };
  forkAndJoin(gone);
  EXPECT_EQ(cuStreamDestroy(gone), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    forkAndJoin(CU_STREAM_PER_THREAD);
  }).join();
  const CUgraph graph = end(stream);
  EXPECT_EQ(nodeCount(graph), 2u);
  EXPECT_EQ(scaleIn(CU_STREAM_LEGACY, 1), CUDA_SUCCESS);
  EXPECT_EQ(first(), 7u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

// What it did is still to be joined.
TEST_F(Capture, AStreamThatIsGoneLeavesItsWorkInTheCapture) {
  const CUstream gone = newStream(CU_STREAM_DEFAULT);
  ASSERT_EQ(begin(stream), CUDA_SUCCESS);
  forkTo(gone, stream);
  EXPECT_EQ(scaleIn(gone, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(gone), CUDA_SUCCESS);
  end(stream, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

}  // namespace
}  // namespace mulciber::test
