// What a program makes, given back in any order, with work under way: calls may refuse, and no memory is left.
#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "api_test.h"

namespace mulciber::test {
namespace {

class AnyOrder : public WithDevice {
 protected:
  static constexpr unsigned count = 64;
  static constexpr size_t bytes = 4 << 20;

  // What gives each thing back that was made. Things that hold others are made of those others.
  std::vector<std::function<void()>> ends;
  template <class Call>
  void end(Call call) {
    ends.emplace_back([call] { (void)call(); });
  }

  void makeScene() {
    CUcontext own = nullptr;
    ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, device), CUDA_SUCCESS);
    end([=] { return cuCtxDestroy(own); });
    ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
    end([module = module] { return cuModuleUnload(module); });
    ASSERT_EQ(cuMemAlloc(&data, bytes), CUDA_SUCCESS);
    end([data = data] { return cuMemFree(data); });
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    end([stream = stream] { return cuStreamDestroy(stream); });
    CUevent event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    end([=] { return cuEventDestroy(event); });
    makePool();
    makeTextures();
    makeGraphs();
    // The graph's launches and the frees are still to come.
    ASSERT_EQ(cuLaunchHostFunc(
                  stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }, nullptr),
              CUDA_SUCCESS);
    void* arguments[] = {&data, &factor, &words};
    ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
  }

  void makePool() {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemoryPool pool = nullptr;
    CUdeviceptr pooled = 0;
    ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    end([=] { return cuMemPoolDestroy(pool); });
    ASSERT_EQ(cuMemAllocFromPoolAsync(&pooled, bytes, pool, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(pooled, 1, bytes / 4, stream), CUDA_SUCCESS);
    end([=, stream = stream] {
      return cuMemFreeAsync(pooled, stream) == CUDA_SUCCESS || cuMemFree(pooled) == CUDA_SUCCESS;
    });
  }

  void makeTextures() {
    const CUDA_ARRAY3D_DESCRIPTOR shape{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array = nullptr;
    ASSERT_EQ(cuArray3DCreate(&array, &shape), CUDA_SUCCESS);
    end([=] { return cuArrayDestroy(array); });
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    const CUDA_TEXTURE_DESC reading{};
    CUtexObject texture = 0;
    CUsurfObject surface = 0;
    if (cuTexObjectCreate(&texture, &resource, &reading, nullptr) != CUDA_SUCCESS) return;  // the device has none
    end([=] { return cuTexObjectDestroy(texture); });
    if (cuSurfObjectCreate(&surface, &resource) != CUDA_SUCCESS) return;
    end([=] { return cuSurfObjectDestroy(surface); });
  }

  void makeGraphs() {
    CUgraph graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    end([=] { return cuGraphDestroy(graph); });
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    allocation.bytesize = bytes;
    CUgraphNode made = nullptr, scaled = nullptr, freed = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&made, graph, nullptr, 0, &allocation), CUDA_SUCCESS);
    void* arguments[] = {&allocation.dptr, &factor, &words};
    CUDA_KERNEL_NODE_PARAMS kernel{};
    kernel.func = scale;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.blockDimX = count;
    kernel.kernelParams = arguments;
    ASSERT_EQ(cuGraphAddKernelNode(&scaled, graph, &made, 1, &kernel), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemFreeNode(&freed, graph, &scaled, 1, allocation.dptr), CUDA_SUCCESS);
    CUuserObject object = nullptr;
    ASSERT_EQ(cuUserObjectCreate(
                  &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    CUgraphExec executable = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
    end([=] { return cuGraphExecDestroy(executable); });
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  }

  size_t available() {
    size_t now = 0, total = 0;
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceGraphMemTrim(device), CUDA_SUCCESS);
    EXPECT_EQ(cuMemGetInfo(&now, &total), CUDA_SUCCESS);
    return now;
  }

  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr data = 0;
  unsigned factor = 2, words = count;
};

TEST_F(AnyOrder, LeavesNothingBehind) {
  constexpr unsigned rounds = 60;
  size_t before = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    makeScene();
    if (HasFatalFailure()) return;
    std::mt19937 random(round);
    std::ranges::shuffle(ends, random);
    for (const auto& end : ends) end();
    ends.clear();
    if (round == 0) before = available();
    // The queue's batches keep a little for the next ones.
    ASSERT_GE(available() + bytes, before);
  }
}

}  // namespace
}  // namespace mulciber::test
