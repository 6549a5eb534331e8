// What graphs cost: launching, running, instantiating and updating them.
#include <string>
#include <vector>

#include "bench.h"

__global__ void empty() {}
__global__ void add(float* data, float by) { data[threadIdx.x] += by; }
__global__ void count(cudaGraphConditionalHandle handle, unsigned* done, unsigned limit) {
  cudaGraphSetConditional(handle, ++*done % limit != 0);
}

static const char* group = "graphs";

struct Built {
  cudaGraph_t graph;
  std::vector<cudaGraphNode_t> nodes;
};

static Built build(void* kernel, int count, bool isChain, void** arguments) {
  Built built;
  CHECK(cudaGraphCreate(&built.graph, 0));
  cudaKernelNodeParams params{};
  params.func = kernel;
  params.gridDim = dim3(1);
  params.blockDim = dim3(32);
  params.kernelParams = arguments;
  for (int i = 0; i < count; ++i) {
    cudaGraphNode_t node;
    const bool follows = isChain && i != 0;
    CHECK(
        cudaGraphAddKernelNode(&node, built.graph, follows ? &built.nodes.back() : nullptr, follows ? 1 : 0, &params));
    built.nodes.push_back(node);
  }
  return built;
}

static double best(int rounds, const std::function<void()>& prepare, const std::function<void()>& work) {
  double least = 1e30;
  for (int i = 0; i < rounds; ++i) {
    prepare();
    const double begin = microseconds();
    work();
    least = std::min(least, microseconds() - begin);
  }
  return least;
}

// A chain of conditional nodes, each with one kernel in it.
static cudaGraphExec_t conditionals(
    int count, cudaGraphConditionalNodeType type, bool isTaken,
    const std::function<void(cudaKernelNodeParams&, cudaGraphConditionalHandle&)>& fill) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t last = nullptr, inside;
  for (int i = 0; i < count; ++i) {
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, isTaken, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    CHECK(cudaGraphAddNode(&last, graph, &last, nullptr, i != 0, &params));
    cudaKernelNodeParams kernel{};
    kernel.gridDim = kernel.blockDim = dim3(1);
    fill(kernel, handle);
    CHECK(cudaGraphAddKernelNode(&inside, params.conditional.phGraph_out[0], nullptr, 0, &kernel));
  }
  cudaGraphExec_t made;
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  return made;
}

static void conditionals(cudaStream_t stream) {
  const auto time = [&](cudaGraphExec_t graph) {
    CHECK(cudaGraphLaunch(graph, stream));
    return best(
        10, [&] { CHECK(cudaStreamSynchronize(stream)); },
        [&] {
          CHECK(cudaGraphLaunch(graph, stream));
          CHECK(cudaStreamSynchronize(stream));
        });
  };
  for (const bool isTaken : {false, true})
    report(group, isTaken ? "if of 100, taken" : "if of 100, not taken",
           time(conditionals(100, cudaGraphCondTypeIf, isTaken,
                             [](cudaKernelNodeParams& kernel, cudaGraphConditionalHandle&) {
                               kernel.func = reinterpret_cast<void*>(empty);
                             })) /
               100,
           "us");
  unsigned* done = deviceArray<unsigned>(1);
  CHECK(cudaMemset(done, 0, sizeof(unsigned)));
  // Mulciber looks at a loop after 12, 24, 56 and 120 runs.
  for (unsigned limit : {2u, 10u, 12u, 13u, 24u, 25u, 56u, 57u, 200u, 1000u})
    report(group, ("while, one of " + std::to_string(limit) + " iterations").c_str(),
           time(conditionals(1, cudaGraphCondTypeWhile, true,
                             [&](cudaKernelNodeParams& kernel, cudaGraphConditionalHandle& handle) {
                               static void* arguments[3];
                               arguments[0] = &handle, arguments[1] = &done, arguments[2] = &limit;
                               kernel.func = reinterpret_cast<void*>(count);
                               kernel.kernelParams = arguments;
                             })) /
               limit,
           "us");
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto wait = [&] { CHECK(cudaStreamSynchronize(stream)); };

  const Built chain = build(reinterpret_cast<void*>(empty), 1000, true, nullptr);
  const Built apart = build(reinterpret_cast<void*>(empty), 1000, false, nullptr);
  cudaGraphExec_t chained, free;
  CHECK(cudaGraphInstantiate(&chained, chain.graph, 0));
  CHECK(cudaGraphInstantiate(&free, apart.graph, 0));
  for (const auto& [name, graph] :
       {std::pair{"chain of 1000, a node", chained}, std::pair{"1000 apart, a node", free}}) {
    const auto launch = [&, graph = graph] { CHECK(cudaGraphLaunch(graph, stream)); };
    launch();
    report(group, name,
           best(20, wait,
                [&] {
                  launch();
                  wait();
                }) /
               1000,
           "us");
    report(group, name,
           best(5, wait,
                [&] {
                  for (int i = 0; i < 10; ++i) launch();
                  wait();
                }) /
               10000,
           "us");
  }
  report(group, "launch of 1000 nodes, host", best(20, wait, [&] { CHECK(cudaGraphLaunch(chained, stream)); }), "us");
  report(group, "one of 20 launches, host",
         best(20, wait,
              [&] {
                for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(free, stream));
              }) /
             20,
         "us");

  const Built large = build(reinterpret_cast<void*>(empty), 10000, true, nullptr);
  report(group, "instantiate 10000",
         best(3, wait,
              [&] {
                cudaGraphExec_t made;
                CHECK(cudaGraphInstantiate(&made, large.graph, 0));
                CHECK(cudaGraphUpload(made, stream));
                wait();
                CHECK(cudaGraphExecDestroy(made));
              }) /
             1000,
         "ms");

  float* data = deviceArray<float>(32);
  float by = 1;
  void* arguments[] = {&data, &by};
  const Built adds = build(reinterpret_cast<void*>(add), 1000, true, arguments);
  cudaGraphExec_t adding;
  CHECK(cudaGraphInstantiate(&adding, adds.graph, 0));
  CHECK(cudaGraphLaunch(adding, stream));
  cudaKernelNodeParams params{};
  CHECK(cudaGraphKernelNodeGetParams(adds.nodes[0], &params));
  params.kernelParams = arguments;
  const auto change = [&] {
    by += 1;
    for (cudaGraphNode_t node : adds.nodes) CHECK(cudaGraphExecKernelNodeSetParams(adding, node, &params));
  };
  report(group, "set parameters of 1000", best(10, wait, change) / 1000, "ms");
  report(group, "set parameters and launch",
         best(10, wait,
              [&] {
                change();
                CHECK(cudaGraphLaunch(adding, stream));
              }) /
             1000,
         "ms");
  const auto changeGraph = [&] {
    wait();
    by += 1;
    for (cudaGraphNode_t node : adds.nodes) CHECK(cudaGraphKernelNodeSetParams(node, &params));
  };
  report(group, "update of 1000",
         best(10, changeGraph,
              [&] {
                cudaGraphExecUpdateResultInfo told;
                CHECK(cudaGraphExecUpdate(adding, adds.graph, &told));
              }) /
             1000,
         "ms");
  conditionals(stream);
  return 0;
}
