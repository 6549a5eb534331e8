// Conditional nodes with one kernel in them, which the device leaves out by the value itself.
#include <array>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

// `step` counts its blocks in *done, and repeats until there were `limit` of them.
constexpr const char* loopPtx = R"(
.version 8.3
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry step(.param .u64 handle, .param .u64 done, .param .u32 limit) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [done];
  ld.param.u32 %r1, [limit];
  cvta.to.global.u64 %rd2, %rd2;
  atom.global.add.u32 %r2, [%rd2], 1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mov.u32 %r3, 0;
  {
    .param .b64 a;
    st.param.b64 [a], %rd1;
    .param .b32 b;
    st.param.b32 [b], %r3;
    call.uni cudaGraphSetConditional, (a, b);
  }
DONE:
  ret;
}
)";

class ConditionalGraphs : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuModuleLoadData(&module, loopPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&step, module, "step"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&done, 4), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(done), CUDA_SUCCESS);
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  // A conditional node with the one kernel; the parameters of that point to members.
  void build(CUgraphConditionalNodeType type, unsigned first) {
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphConditionalHandleCreate(&handle, graph, context, first, CU_GRAPH_COND_ASSIGN_DEFAULT),
              CUDA_SUCCESS);
    CUgraphNodeParams conditional{};
    conditional.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    conditional.conditional.handle = handle;
    conditional.conditional.type = type;
    conditional.conditional.size = 1;
    conditional.conditional.ctx = context;
    CUgraphNode outer = nullptr;
    ASSERT_EQ(cuGraphAddNode(&outer, graph, nullptr, nullptr, 0, &conditional), CUDA_SUCCESS);
    kernel.func = step;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = arguments.data();
    ASSERT_EQ(cuGraphAddKernelNode(&node, conditional.conditional.phGraph_out[0], nullptr, 0, &kernel), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  }
  void destroy() {
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  // How many blocks a launch ran.
  unsigned run() {
    unsigned blocks = 0;
    EXPECT_EQ(cuMemsetD32(done, 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&blocks, done, 4), CUDA_SUCCESS);
    return blocks;
  }

  CUmodule module = nullptr;
  CUfunction step = nullptr;
  CUdeviceptr done = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  CUgraphConditionalHandle handle = 0;
  unsigned limit = 1;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  std::array<void*, 3> arguments{&handle, &done, &limit};
};

TEST_F(ConditionalGraphs, ALoopRunsAsOftenAsItSays) {
  build(CU_GRAPH_COND_TYPE_WHILE, 1);
  // Around the numbers of runs after which the host looks.
  for (const unsigned runs :
       {1u, 2u, 11u, 12u, 13u, 24u, 25u, 36u, 37u, 48u, 49u, 60u, 108u, 109u, 140u, 141u, 172u, 173u, 489u, 1000u}) {
    limit = runs;
    ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &kernel), CUDA_SUCCESS);
    EXPECT_EQ(run(), runs);
    EXPECT_EQ(run(), runs) << "and again, as often as was to be expected";
    // Each of these adds one, while the host may not have seen the end of the loop before.
    for (int more = 0; more < 3; ++more) ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    unsigned blocks = 0;
    ASSERT_EQ(cuMemcpyDtoH(&blocks, done, 4), CUDA_SUCCESS);
    EXPECT_EQ(blocks, runs + 3);
  }
  // Launches in a row that run more or less often than the one before: what the last one did is taken for likely.
  limit = 90;
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &kernel), CUDA_SUCCESS);
  for (const unsigned runs : {90u, 5u, 20u, 20u, 13u, 12u, 24u, 1u, 25u, 36u, 37u, 2u}) {
    ASSERT_EQ(cuMemsetD32(done, limit - runs, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    unsigned blocks = 0;
    ASSERT_EQ(cuMemcpyDtoH(&blocks, done, 4), CUDA_SUCCESS);
    EXPECT_EQ(blocks, limit) << runs;
  }
  destroy();
  build(CU_GRAPH_COND_TYPE_WHILE, 0);
  EXPECT_EQ(run(), 0u);
  destroy();
}

TEST_F(ConditionalGraphs, AllBlocksOfAWideGridRun) {
  build(CU_GRAPH_COND_TYPE_WHILE, 1);
  for (const unsigned blocks : {3u, 200'000u, 70'000u, 5u}) {
    kernel.gridDimX = blocks;
    ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &kernel), CUDA_SUCCESS);
    EXPECT_EQ(run(), blocks) << "the first block ends the loop";
  }
  destroy();
  kernel.gridDimX = 1;
  build(CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT_EQ(run(), 1u);
  destroy();
  build(CU_GRAPH_COND_TYPE_IF, 0);
  EXPECT_EQ(run(), 0u);
  destroy();
}

}  // namespace
}  // namespace mulciber::test
