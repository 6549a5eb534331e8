// Conditional nodes of graphs: what runs is decided by values that kernels set.
#include <tuple>

#include "program.h"

__global__ void set(cudaGraphConditionalHandle handle, unsigned value) { cudaGraphSetConditional(handle, value); }
__global__ void setTwice(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, 1 - value);
  cudaGraphSetConditional(handle, value);
}
__global__ void add(unsigned* counts, int place, unsigned by) { counts[place] += by; }
// Counts its runs, and repeats until `limit` of them have been.
__global__ void count(cudaGraphConditionalHandle handle, unsigned* counts, int place, unsigned limit) {
  const unsigned done = ++counts[place];
  cudaGraphSetConditional(handle, done % limit != 0);
}
__global__ void setFrom(cudaGraphConditionalHandle handle, const unsigned* values, unsigned* next) {
  cudaGraphSetConditional(handle, values[(*next)++]);
}
// One thread of many decides.
__global__ void reduce(cudaGraphConditionalHandle handle, unsigned* values, unsigned* sum) {
  atomicAdd(sum, values[threadIdx.x]);
  __syncthreads();
  values[threadIdx.x] /= 2;
  if (threadIdx.x == 0) cudaGraphSetConditional(handle, *sum > 100);
}

static unsigned* counts;  // eight of them
static cudaStream_t stream;

class Built {
 public:
  Built() { CHECK(cudaGraphCreate(&graph_, 0)); }
  explicit Built(cudaGraph_t body) : graph_(body) {}
  cudaGraph_t get() const { return graph_; }

  cudaGraphConditionalHandle handle(unsigned value = 0, unsigned flags = 0) {
    cudaGraphConditionalHandle made;
    CHECK(cudaGraphConditionalHandleCreate(&made, graph_, value, flags));
    return made;
  }
  // Each node comes after the one before.
  template <class... Parameters, class... Given>
  Built& kernel(void (*function)(Parameters...), unsigned threads, Given... given) {
    std::tuple<Parameters...> values(given...);
    std::apply(
        [&](Parameters&... each) {
          void* arguments[] = {&each...};
          cudaGraphNodeParams params{};
          params.type = cudaGraphNodeTypeKernel;
          params.kernel.func = reinterpret_cast<void*>(function);
          params.kernel.gridDim = dim3(1);
          params.kernel.blockDim = dim3(threads);
          params.kernel.kernelParams = arguments;
          append(params);
        },
        values);
    return *this;
  }
  Built& fill(void* to, unsigned value, size_t words) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = to;
    params.memset.value = value;
    params.memset.elementSize = 4;
    params.memset.width = words;
    params.memset.height = 1;
    append(params);
    return *this;
  }
  Built& copy(void* to, const void* from, size_t bytes) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemcpy;
    params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
    params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
    params.memcpy.copyParams.extent = make_cudaExtent(bytes, 1, 1);
    params.memcpy.copyParams.kind = cudaMemcpyDefault;
    append(params);
    return *this;
  }
  Built& child(const Built& graph) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = graph.get();
    append(params);
    return *this;
  }
  std::vector<Built> conditional(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    append(params);
    std::vector<Built> bodies;
    for (unsigned i = 0; i < size; ++i) bodies.emplace_back(params.conditional.phGraph_out[i]);
    return bodies;
  }

 private:
  void append(cudaGraphNodeParams& params) {
    cudaGraphNode_t made;
    CHECK(cudaGraphAddNode(&made, graph_, &last_, nullptr, last_ ? 1 : 0, &params));
    last_ = made;
  }
  cudaGraph_t graph_;
  cudaGraphNode_t last_ = nullptr;
};

static cudaGraphExec_t ready(const Built& built) {
  cudaGraphExec_t made;
  CHECK(cudaGraphInstantiate(&made, built.get(), 0));
  return made;
}

static void zero() { CHECK(cudaMemset(counts, 0, 8 * sizeof(unsigned))); }

static void showCounts(const char* name) {
  unsigned now[8];
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(now, counts, sizeof(now), cudaMemcpyDeviceToHost));
  std::printf("%s:", name);
  for (unsigned one : now) std::printf(" %u", one);
  std::printf("\n");
}

static void launch(const char* name, cudaGraphExec_t exec, int times = 1) {
  zero();
  for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream));
  showCounts(name);
}

static void ifs() {
  for (unsigned size : {1u, 2u})
    for (unsigned value : {0u, 1u, 2u, 0xFFFFFFFFu}) {
      Built graph;
      const auto handle = graph.handle();
      graph.kernel(set, 1, handle, value).kernel(add, 1, counts, 0, 1u);
      auto bodies = graph.conditional(handle, cudaGraphCondTypeIf, size);
      for (unsigned i = 0; i < size; ++i) bodies[i].kernel(add, 1, counts, int(i + 1), 1u);
      graph.kernel(add, 1, counts, 7, 1u);
      std::printf("size %u, value %u ", size, value);
      launch("if", ready(graph), 3);
    }
  for (unsigned value : {0u, 1u})
    for (unsigned flags : {0u, unsigned(cudaGraphCondAssignDefault)}) {
      Built graph;
      const auto handle = graph.handle(value, flags);
      auto bodies = graph.conditional(handle, cudaGraphCondTypeIf, 2);
      bodies[0].kernel(add, 1, counts, 1, 1u).kernel(set, 1, handle, 0u);
      bodies[1].kernel(add, 1, counts, 2, 1u).kernel(set, 1, handle, 1u);
      const auto exec = ready(graph);
      std::printf("default %u, flags %u: ", value, flags);
      launch("if", exec, 3);
    }
  Built graph;
  const auto handle = graph.handle();
  graph.kernel(setTwice, 1, handle, 1u);
  graph.conditional(handle, cudaGraphCondTypeIf, 1)[0]
      .kernel(add, 1, counts, 0, 1u)
      .kernel(set, 1, handle, 0u)
      .kernel(add, 1, counts, 1, 1u);
  launch("set twice, and again in the body", ready(graph), 2);
}

static void switches() {
  for (unsigned value : {0u, 1u, 2u, 3u, 4u, 0xFFFFFFFFu}) {
    Built graph;
    const auto handle = graph.handle();
    graph.kernel(set, 1, handle, value);
    auto bodies = graph.conditional(handle, cudaGraphCondTypeSwitch, 4);
    for (int i = 0; i < 4; ++i)
      if (i != 2) bodies[i].kernel(add, 1, counts, i, 1u);  // one has nothing in it
    graph.kernel(add, 1, counts, 7, 1u);
    std::printf("%u ", value);
    launch("switch", ready(graph));
  }
}

static void whiles() {
  for (unsigned limit : {1u, 2u, 7u, 64u, 100u, 1000u}) {
    Built graph;
    const auto handle = graph.handle(1, cudaGraphCondAssignDefault);
    graph.conditional(handle, cudaGraphCondTypeWhile, 1)[0].kernel(count, 1, handle, counts, 0, limit);
    graph.kernel(add, 1, counts, 7, 1u);
    std::printf("%u times ", limit);
    launch("while", ready(graph), 3);
  }
  Built never;
  const auto none = never.handle(0, cudaGraphCondAssignDefault);
  never.conditional(none, cudaGraphCondTypeWhile, 1)[0].kernel(add, 1, counts, 0, 1u);
  launch("while that does not begin", ready(never));

  Built nested;
  const auto outer = nested.handle(1, cudaGraphCondAssignDefault);
  Built body = nested.conditional(outer, cudaGraphCondTypeWhile, 1)[0];
  const auto inner = nested.handle();
  body.kernel(set, 1, inner, 1u);
  body.conditional(inner, cudaGraphCondTypeWhile, 1)[0].kernel(count, 1, inner, counts, 0, 5u);
  const auto odd = nested.handle();
  body.kernel(add, 1, counts, 1, 1u).kernel(set, 1, odd, 1u);
  auto sides = body.conditional(odd, cudaGraphCondTypeIf, 2);
  sides[0].kernel(add, 1, counts, 2, 10u);
  sides[1].kernel(add, 1, counts, 3, 10u);
  body.kernel(count, 1, outer, counts, 4, 6u);
  launch("nested", ready(nested), 2);

  DeviceArray<unsigned> values(std::vector<unsigned>(32, 1000)), sum(1), copied(32);
  Built mixed;
  const auto handle = mixed.handle(1, cudaGraphCondAssignDefault);
  Built loop = mixed.conditional(handle, cudaGraphCondTypeWhile, 1)[0];
  Built child;
  child.kernel(add, 1, counts, 0, 1u).fill(counts + 1, 9, 1);
  loop.fill(sum.get(), 0, 1).kernel(reduce, 32, handle, values.get(), sum.get());
  loop.copy(copied.get(), values.get(), 128).child(child);
  launch("copies, fills and a child graph", ready(mixed));
  show("copied", copied.host());
  show("sum", sum.host());
}

// A list of values, one for each question.
static void sequences() {
  Random random;
  std::vector<unsigned> list;
  for (int i = 0; i < 400; ++i) list.push_back(random.next() % 4);
  DeviceArray<unsigned> values(list), next(1);
  Built graph;
  graph.fill(next.get(), 0, 1);
  for (int i = 0; i < 20; ++i) {
    const auto handle = graph.handle(), inner = graph.handle();
    graph.kernel(setFrom, 1, handle, values.get(), next.get());
    auto bodies = graph.conditional(handle, cudaGraphCondTypeSwitch, 3);
    bodies[0].kernel(add, 1, counts, 0, 1u);
    bodies[1].kernel(setFrom, 1, inner, values.get(), next.get());
    auto loop = bodies[1].conditional(inner, cudaGraphCondTypeWhile, 1);
    loop[0].kernel(add, 1, counts, 1, 1u).kernel(setFrom, 1, inner, values.get(), next.get());
    bodies[2].kernel(add, 1, counts, 2, 3u);
  }
  graph.copy(counts + 4, next.get(), 4);
  launch("a list of values", ready(graph), 2);
}

// Launches of one graph in two streams: each comes after the one before.
static void inTwoStreams() {
  Built graph;
  const auto handle = graph.handle(1, cudaGraphCondAssignDefault);
  graph.conditional(handle, cudaGraphCondTypeWhile, 1)[0].kernel(count, 1, handle, counts, 0, 10u);
  graph.kernel(add, 1, counts, 4, 1u);
  const auto exec = ready(graph);
  cudaStream_t other;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  zero();
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(exec, i % 2 ? other : stream));
  CHECK(cudaStreamSynchronize(other));
  showCounts("in two streams");
}

static void captured() {
  cudaGraph_t graph;
  const cudaGraphNode_t* nodes;
  size_t many;
  cudaStreamCaptureStatus isCapturing;
  cudaStream_t inside;
  CHECK(cudaStreamCreate(&inside));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, stream>>>(counts, 0, 1);
  CHECK(cudaStreamGetCaptureInfo(stream, &isCapturing, nullptr, &graph, &nodes, nullptr, &many));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nodes, nullptr, many, &params));
  CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  CHECK(cudaStreamBeginCaptureToGraph(inside, params.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, inside>>>(counts, 1, 2);
  count<<<1, 1, 0, inside>>>(handle, counts, 2, 4);
  CHECK(cudaStreamEndCapture(inside, nullptr));
  add<<<1, 1, 0, stream>>>(counts, 3, 1);
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  launch("captured", exec, 3);
}

// What was given before a change of parameters keeps the old ones.
static void changed() {
  const auto build = [](unsigned by, unsigned limit) {
    Built graph;
    const auto handle = graph.handle(1, cudaGraphCondAssignDefault);
    graph.conditional(handle, cudaGraphCondTypeWhile, 1)[0]
        .kernel(add, 1, counts, 0, by)
        .kernel(count, 1, handle, counts, 1, limit);
    return graph;
  };
  const auto exec = ready(build(1, 3));
  zero();
  CHECK(cudaGraphLaunch(exec, stream));
  cudaGraphExecUpdateResultInfo told;
  CHECK(cudaGraphExecUpdate(exec, build(100, 5).get(), &told));
  CHECK(cudaGraphLaunch(exec, stream));
  showCounts("updated");
}

int main() {
  CHECK(cudaMalloc(&counts, 8 * sizeof(unsigned)));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ifs();
  switches();
  whiles();
  sequences();
  inTwoStreams();
  captured();
  changed();
  finish();
}
