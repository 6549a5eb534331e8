// Captures: how streams join and leave them, how they end, and what is told about them.
#include <array>
#include <thread>

#include "capture_notes.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;
constexpr CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL, local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                              relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

void arguments() {
  sequence(D, "what streams and modes a capture takes", [](World& w) {
    Notes notes;
    for (const CUstream stream : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, w.stream, newStream(1)})
      for (const int mode : {0, 1, 2, 3, -1}) {
        notes << begin(stream, CUstreamCaptureMode(mode));
        noteStatus(notes, stream);
        noteEnd(notes, stream);
      }
    return notes;
  });
  sequence(R, "what streams and modes a capture of the runtime takes", [](World& w) {
    Notes notes;
    for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread, w.stream, newStream(1)})
      for (const int mode : {0, 1, 2, 3, -1}) {
        cudaGraph_t graph = nullptr;
        cudaStreamCaptureStatus status{};
        notes << FUNCTION(cudaStreamBeginCapture)(stream, cudaStreamCaptureMode(mode));
        notes << FUNCTION(cudaStreamIsCapturing)(stream, &status) << status;
        notes << FUNCTION(cudaStreamEndCapture)(stream, &graph) << (graph != nullptr) << FUNCTION(cudaGetLastError)();
      }
    return notes;
  });
  sequence(D, "wrong arguments around captures", [](World& w) {
    Notes notes;
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status{};
    notes << begin(w.stream) << begin(w.stream) << begin(w.stream, relaxed);
    noteStatus(notes, w.stream);
    notes << FUNCTION(cuStreamEndCapture)(w.stream, &graph) << (graph != nullptr);
    graph = reinterpret_cast<CUgraph>(1);
    notes << FUNCTION(cuStreamEndCapture)(w.stream, &graph) << (graph == nullptr);
    notes << FUNCTION(cuStreamIsCapturing)(nullptr, &status) << status;
    for (const int mode : {1, 2, 3, -1, 0}) {
      auto given = CUstreamCaptureMode(mode);
      notes << FUNCTION(cuThreadExchangeStreamCaptureMode)(&given) << given;
    }
    return notes;
  });
  sequence(D, "an empty capture gives an empty graph", [](World&) {
    const CUstream stream = newStream(0);
    Notes notes;
    notes << begin(stream);
    noteEnd(notes, stream);
    return notes;
  });
}

void information() {
  sequence(D, "what is told about a capture", [](World& w) {
    const CUstream stream = newStream(0), other = newStream(0);
    const CUevent event = newEvent();
    Notes notes;
    unsigned long long ids[3]{};
    const auto told = [&](CUstream of, unsigned long long& id) {
      CUstreamCaptureStatus status{};
      CUgraph graph = nullptr;
      const CUgraphNode* nodes = nullptr;
      const CUgraphEdgeData* data = nullptr;
      size_t count = 99;
      cuuint64_t number = 0;
      notes << FUNCTION(cuStreamGetCaptureInfo)(of, &status, &number, &graph, &nodes, nullptr, &count);
      notes << status << (graph != nullptr) << (nodes != nullptr) << static_cast<long long>(count);
      const CUgraphNode* again = nullptr;
      notes << FUNCTION(cuStreamGetCaptureInfo)(of, &status, nullptr, nullptr, &again, &data, &count);
      notes << (again == nodes) << (data != nullptr) << static_cast<long long>(count);
      id = number;
    };
    told(stream, ids[0]);
    notes << (ids[0] == 0) << begin(stream);
    told(stream, ids[0]);
    notes << fill(w, stream);
    told(stream, ids[1]);
    notes << (ids[0] == ids[1]) << record(event, stream) << wait(other, event);
    told(other, ids[1]);
    notes << (ids[0] == ids[1]) << fill(w, other) << record(event, other) << wait(stream, event);
    told(stream, ids[1]);
    notes << fill(w, stream);
    told(stream, ids[1]);
    noteEnd(notes, stream);
    told(other, ids[1]);
    notes << begin(stream);
    told(stream, ids[2]);
    notes << (ids[2] != ids[0]);
    noteEnd(notes, stream);
    CUstreamCaptureStatus status{};
    return notes << FUNCTION(cuStreamGetCaptureInfo)(CUstream{}, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
  sequence(D, "no place for the state of a stream",
           [](World& w) { return Notes() << FUNCTION(cuStreamIsCapturing)(w.stream, nullptr); });
  sequence(D, "no place for what is told", [](World& w) {
    return Notes() << FUNCTION(cuStreamGetCaptureInfo)(w.stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
  sequence(D, "no place for the graph", [](World& w) {
    Notes notes;
    notes << begin(w.stream) << FUNCTION(cuStreamEndCapture)(w.stream, nullptr);
    noteStatus(notes, w.stream);
    return notes;
  });
  sequence(D, "no place for a mode",
           [](World&) { return Notes() << FUNCTION(cuThreadExchangeStreamCaptureMode)(nullptr); });
  sequence(D, "a capture to no graph", [](World& w) {
    return Notes() << FUNCTION(cuStreamBeginCaptureToGraph)(w.stream, nullptr, nullptr, nullptr, size_t{0}, global);
  });
  sequence(D, "a capture to a graph after nodes that are not given", [](World& w) {
    CUgraph graph = nullptr;
    Notes notes;
    notes << FUNCTION(cuGraphCreate)(&graph, 0u);
    notes << FUNCTION(cuStreamBeginCaptureToGraph)(w.stream, graph, nullptr, nullptr, size_t{1}, global);
    noteStatus(notes, w.stream);
    return notes;
  });
  sequence(D, "a capture to a graph after nodes of another", [](World& w) {
    CUgraph graph = nullptr, foreign = nullptr;
    CUgraphNode strange = nullptr;
    Notes notes;
    notes << FUNCTION(cuGraphCreate)(&graph, 0u) << FUNCTION(cuGraphCreate)(&foreign, 0u);
    notes << FUNCTION(cuGraphAddEmptyNode)(&strange, foreign, nullptr, size_t{0});
    notes << FUNCTION(cuStreamBeginCaptureToGraph)(w.stream, graph, &strange, nullptr, size_t{1}, global);
    noteStatus(notes, w.stream);
    return notes;
  });
  sequence(D, "the default streams are asked while another is captured", [](World& w) {
    Notes notes;
    for (const unsigned flags : {0u, 1u}) {
      const CUstream stream = newStream(flags);
      notes << begin(stream);
      for (const CUstream one : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, w.stream}) noteStatus(notes, one);
      CUstreamCaptureStatus status{};
      notes << FUNCTION(cuStreamGetCaptureInfo)(CUstream{}, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
      notes << status;
      noteEnd(notes, stream);
    }
    return notes;
  });
  sequence(D, "dependencies given by hand", [](World& w) {
    const CUstream stream = newStream(0);
    CUgraph graph = nullptr, foreign = nullptr;
    CUgraphNode empty = nullptr, strange = nullptr, second = nullptr;
    CUstreamCaptureStatus status{};
    size_t count = 0;
    Notes notes;
    notes << FUNCTION(cuGraphCreate)(&foreign, 0u)
          << FUNCTION(cuGraphAddEmptyNode)(&strange, foreign, nullptr, size_t{0});
    notes << FUNCTION(cuStreamUpdateCaptureDependencies)(stream, nullptr, nullptr, size_t{0}, 0u);
    notes << begin(stream) << fill(w, stream);
    notes << FUNCTION(cuStreamGetCaptureInfo)(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr);
    notes << FUNCTION(cuGraphAddEmptyNode)(&empty, graph, nullptr, size_t{0});
    const auto update = [&](CUgraphNode* nodes, size_t number, unsigned flags) {
      notes << FUNCTION(cuStreamUpdateCaptureDependencies)(stream, nodes, nullptr, number, flags);
      notes << FUNCTION(cuStreamGetCaptureInfo)(stream, &status, nullptr, nullptr, nullptr, nullptr, &count) << status;
      notes << static_cast<long long>(count);
    };
    update(&empty, 1, 0);
    update(&empty, 1, 0);
    update(nullptr, 1, 0);
    update(nullptr, 0, 2);
    update(&empty, 1, 7);
    update(&strange, 1, 0);
    notes << fill(w, stream);
    update(&empty, 1, 1);
    notes << fill(w, stream);
    update(nullptr, 0, 1);
    notes << fill(w, stream) << FUNCTION(cuGraphAddEmptyNode)(&second, graph, nullptr, size_t{0});
    std::array<CUgraphNode, 2> both{empty, second};
    update(both.data(), 2, 1);
    std::array<CUgraphNode, 2> same{empty, empty};
    update(same.data(), 2, 1);
    notes << fill(w, stream);
    noteEnd(notes, stream);
    return notes << FUNCTION(cuGraphDestroy)(foreign);
  });
  sequence(D, "work that is not in the origin's dependencies is not unjoined when it was added by hand", [](World& w) {
    const CUstream stream = newStream(0);
    Notes notes;
    notes << begin(stream) << fill(w, stream);
    notes << FUNCTION(cuStreamUpdateCaptureDependencies)(stream, nullptr, nullptr, size_t{0}, 1u) << fill(w, stream);
    noteEnd(notes, stream);
    return notes;
  });
}

void joining() {
  sequence(D, "fork and join", [](World& w) {
    Notes notes;
    for (const unsigned flags : {0u, 1u}) {
      const CUstream a = newStream(flags), b = newStream(flags), c = newStream(flags);
      const CUevent fork = newEvent(), one = newEvent(), two = newEvent();
      notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork) << wait(c, fork);
      notes << fill(w, a) << fill(w, b) << fill(w, b) << fill(w, c) << record(one, b) << record(two, c);
      notes << wait(a, one) << wait(a, two) << fill(w, a);
      noteStatus(notes, b);
      noteEnd(notes, a);
      for (const CUstream stream : {a, b, c}) noteStatus(notes, stream);
      notes << fill(w, b) << FUNCTION(cuStreamSynchronize)(b) << FUNCTION(cuEventQuery)(fork);
    }
    return notes;
  });
  sequence(D, "a fork that is not joined", [](World& w) {
    Notes notes;
    for (const bool hasWork : {false, true})
      for (const bool isJoinedBefore : {false, true}) {
        const CUstream a = newStream(1), b = newStream(1);
        const CUevent fork = newEvent(), join = newEvent();
        notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork);
        if (isJoinedBefore) notes << fill(w, b) << record(join, b) << wait(a, join);
        if (hasWork) notes << fill(w, b);
        noteEnd(notes, a);
        noteStatus(notes, a);
        noteStatus(notes, b);
        notes << fill(w, b) << FUNCTION(cuStreamSynchronize)(b);
      }
    return notes;
  });
  sequence(D, "joined through a third stream, and without work in the origin", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1), c = newStream(1);
    const CUevent first = newEvent(), second = newEvent(), third = newEvent();
    Notes notes;
    notes << begin(a) << record(first, a) << wait(b, first) << fill(w, b) << record(second, b) << wait(c, second);
    notes << fill(w, c) << record(third, c) << wait(a, third);
    noteEnd(notes, a);
    return notes;
  });
  sequence(D, "a capture ended in a stream that joined it", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent fork = newEvent();
    Notes notes;
    notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork) << fill(w, b);
    noteEnd(notes, b);
    noteStatus(notes, a);
    noteStatus(notes, b);
    noteEnd(notes, a);
    noteStatus(notes, b);
    return notes;
  });
  sequence(D, "two captures cannot merge", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent event = newEvent();
    Notes notes;
    notes << begin(a) << begin(b) << fill(w, a) << record(event, a) << wait(b, event);
    noteStatus(notes, a);
    noteStatus(notes, b);
    notes << fill(w, a) << fill(w, b);
    noteEnd(notes, a);
    noteEnd(notes, b);
    return notes;
  });
  sequence(D, "waiting for what is known to be over", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent first = newEvent(), second = newEvent(), other = newEvent();
    Notes notes;
    notes << begin(a) << fill(w, a) << record(first, a) << fill(w, a) << record(second, a) << wait(a, first);
    notes << fill(w, a) << wait(b, first) << fill(w, b) << record(other, b) << wait(a, other) << wait(a, second);
    notes << fill(w, a);
    noteEnd(notes, a);
    return notes;
  });
  sequence(D, "an event of a capture that is over", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent event = newEvent();
    Notes notes;
    notes << begin(a) << fill(w, a) << record(event, a);
    noteEnd(notes, a);
    notes << FUNCTION(cuEventQuery)(event) << FUNCTION(cuEventSynchronize)(event) << wait(b, event);
    noteStatus(notes, b);
    notes << begin(a) << wait(a, event);
    noteStatus(notes, a);
    noteEnd(notes, a);
    return notes << record(event, a) << FUNCTION(cuEventSynchronize)(event) << FUNCTION(cuEventQuery)(event);
  });
  sequence(D, "an event of a captured stream recorded again elsewhere", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1), c = newStream(1);
    const CUevent event = newEvent();
    Notes notes;
    notes << begin(a) << fill(w, a) << record(event, a) << record(event, b) << FUNCTION(cuEventSynchronize)(event);
    notes << wait(c, event);
    noteStatus(notes, c);
    notes << wait(a, event);
    noteEnd(notes, a);
    return notes;
  });
  sequence(D, "two captures one after the other by one event", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent event = newEvent();
    Notes notes;
    for (int i = 0; i < 2; ++i) {
      notes << begin(a) << record(event, a) << wait(b, event) << fill(w, b) << record(event, b) << wait(a, event);
      noteEnd(notes, a);
    }
    return notes;
  });
  sequence(D, "an invalidated capture", [](World& w) {
    const CUstream a = newStream(1), b = newStream(1), c = newStream(1);
    const CUevent fork = newEvent(), join = newEvent();
    CUgraph graph = nullptr;
    CUdeviceptr memory = 0;
    Notes notes;
    notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork) << fill(w, b);
    notes << FUNCTION(cuStreamSynchronize)(a);
    noteStatus(notes, a);
    noteStatus(notes, b);
    notes << fill(w, a) << fill(w, b) << record(join, b) << wait(a, join) << wait(c, fork);
    noteStatus(notes, c);
    notes << FUNCTION(cuStreamSynchronize)(b) << FUNCTION(cuStreamQuery)(b) << FUNCTION(cuEventQuery)(fork);
    notes << FUNCTION(cuMemAllocAsync)(&memory, size_t{64}, a) << FUNCTION(cuStreamSynchronize)(c);
    notes << FUNCTION(cuMemAlloc)(&memory, size_t{64}) << begin(a) << begin(b);
    notes << FUNCTION(cuLaunchKernel)(w.function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, a, w.kernelParameters, nullptr);
    CUstreamCaptureStatus status{};
    size_t count = 99;
    cuuint64_t id = 99;
    notes << FUNCTION(cuStreamGetCaptureInfo)(a, &status, &id, &graph, nullptr, nullptr, &count) << status;
    notes << (graph != nullptr) << static_cast<long long>(count) << (id == 99);
    notes << FUNCTION(cuStreamUpdateCaptureDependencies)(a, nullptr, nullptr, size_t{0}, 1u);
    graph = reinterpret_cast<CUgraph>(1);
    notes << FUNCTION(cuStreamEndCapture)(b, &graph) << (graph == nullptr);
    graph = reinterpret_cast<CUgraph>(1);
    notes << FUNCTION(cuStreamEndCapture)(a, &graph) << (graph == nullptr);
    for (const CUstream stream : {a, b, c}) noteStatus(notes, stream);
    notes << fill(w, a) << fill(w, b) << FUNCTION(cuEventQuery)(fork) << record(fork, a)
          << FUNCTION(cuEventSynchronize)(fork);
    return notes << FUNCTION(cuCtxSynchronize)();
  });
}

void threads() {
  const auto elsewhere = [](World& w, const std::function<void()>& body) {
    std::thread([&] {
      FUNCTION(cuCtxSetCurrent)(w.context);
      body();
    }).join();
  };
  sequence(D, "a capture ended by another thread", [=](World& w) {
    Notes notes;
    for (const CUstreamCaptureMode mode : {global, local, relaxed}) {
      const CUstream stream = newStream(1);
      notes << begin(stream, mode) << fill(w, stream);
      elsewhere(w, [&] {
        notes << fill(w, stream);
        noteEnd(notes, stream);
      });
      noteStatus(notes, stream);
      noteEnd(notes, stream);
    }
    return notes;
  });
  sequence(D, "a capture begun by a thread that has ended", [=](World& w) {
    Notes notes;
    for (const CUstreamCaptureMode mode : {global, local, relaxed}) {
      const CUstream stream = newStream(1);
      elsewhere(w, [&] { notes << begin(stream, mode); });
      CUdeviceptr memory = 0;
      notes << fill(w, stream) << FUNCTION(cuMemAlloc)(&memory, size_t{64});
      noteEnd(notes, stream);
      noteStatus(notes, stream);
    }
    return notes;
  });
  sequence(D, "the per-thread stream captured", [=](World& w) {
    Notes notes;
    notes << begin(CU_STREAM_PER_THREAD) << fill(w, CU_STREAM_PER_THREAD);
    noteStatus(notes, CU_STREAM_PER_THREAD);
    elsewhere(w, [&] {
      noteStatus(notes, CU_STREAM_PER_THREAD);
      notes << fill(w, CU_STREAM_PER_THREAD) << FUNCTION(cuStreamSynchronize)(CU_STREAM_PER_THREAD);
    });
    notes << fill(w, nullptr);
    noteEnd(notes, CU_STREAM_PER_THREAD);
    return notes;
  });
  sequence(D, "a mode exchanged while capturing", [=](World& w) {
    Notes notes;
    for (const CUstreamCaptureMode mine : {global, local, relaxed}) {
      const CUstream stream = newStream(1);
      CUdeviceptr memory = 0;
      notes << begin(stream, global) << fill(w, stream);
      CUstreamCaptureMode exchanged = mine;
      notes << FUNCTION(cuThreadExchangeStreamCaptureMode)(&exchanged) << exchanged;
      notes << FUNCTION(cuMemAlloc)(&memory, size_t{64});
      notes << FUNCTION(cuThreadExchangeStreamCaptureMode)(&exchanged) << exchanged;
      noteEnd(notes, stream);
    }
    return notes;
  });
  sequence(D, "unsafe calls by threads of each mode in captures of each mode of another", [=](World& w) {
    Notes notes;
    for (const CUstreamCaptureMode mine : {global, local, relaxed})
      for (const CUstreamCaptureMode mode : {global, local, relaxed})
        for (const bool isOwn : {false, true}) {
          const CUstream stream = newStream(1);
          CUdeviceptr memory = 0;
          CUstreamCaptureMode exchanged = mine;
          const auto call = [&] {
            exchanged = mine;
            FUNCTION(cuThreadExchangeStreamCaptureMode)(&exchanged);
            notes << FUNCTION(cuMemAlloc)(&memory, size_t{64});
            FUNCTION(cuThreadExchangeStreamCaptureMode)(&exchanged);
          };
          notes << begin(stream, mode) << fill(w, stream);
          if (isOwn) call();
          else elsewhere(w, call);
          noteEnd(notes, stream);
        }
    return notes;
  });
}

void ends() {
  sequence(D, "a captured stream destroyed", [](World& w) {
    Notes notes;
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent fork = newEvent(), join = newEvent();
    notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork) << fill(w, b) << record(join, b)
          << wait(a, join);
    notes << FUNCTION(cuStreamDestroy)(b);
    noteStatus(notes, a);
    noteEnd(notes, a);
    const CUstream c = newStream(1);
    notes << begin(c) << fill(w, c) << FUNCTION(cuStreamDestroy)(c);
    CUdeviceptr memory = 0;
    return notes << FUNCTION(cuMemAlloc)(&memory, size_t{64}) << FUNCTION(cuCtxSynchronize)();
  });
  sequence(D, "the origin of a capture destroyed while another stream has joined", [](World& w) {
    Notes notes;
    const CUstream a = newStream(1), b = newStream(1);
    const CUevent fork = newEvent();
    notes << begin(a) << fill(w, a) << record(fork, a) << wait(b, fork) << fill(w, b) << FUNCTION(cuStreamDestroy)(a);
    noteStatus(notes, b);
    notes << fill(w, b);
    noteEnd(notes, b);
    noteStatus(notes, b);
    return notes << FUNCTION(cuStreamSynchronize)(b);
  });
  sequence(R, "cudaDeviceReset while a stream is captured", [](World&) {
    Notes notes;
    notes << begin(newStream(1)) << FUNCTION(cudaDeviceReset)();
    void* made = nullptr;
    return notes << FUNCTION(cudaMalloc)(&made, size_t{64});
  });
}

}  // namespace

void addCaptures() {
  arguments();
  information();
  joining();
  threads();
  ends();
}

}  // namespace mulciber::replay
