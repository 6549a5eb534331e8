// An engine's context beside the CUDA libraries, and in them.
#include "engine/cuda_library.h"

namespace mulciber::test {

namespace {
class CudaTest : public EngineTest {};
}  // namespace

TEST_F(CudaTest, TheLibrariesUseAnEnginesContext) {
  Engine engine;
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
  // A context of CUDA's own, with memory of its own.
  CUcontext own = nullptr;
  CUdeviceptr ownMemory = 0;
  ASSERT_EQ(CUDA(cuDevicePrimaryCtxRetain)(&own, 0), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuCtxSetCurrent)(own), CUDA_SUCCESS);
  ASSERT_EQ(find<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc_v2")(&ownMemory, 64), CUDA_SUCCESS);

  const auto handle = static_cast<CUcontext>(mulciberGetCudaContext(engine.context));
  ASSERT_EQ(CUDA(cuCtxSetCurrent)(handle), CUDA_SUCCESS);
  VkDeviceAddress memory = 0;
  ASSERT_OK(mulciberAllocate(engine.context, 64, &memory));
  const auto set = find<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32_v2");
  const auto read = find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2");
  ASSERT_EQ(set(memory, 41, 16), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
  MulciberStream stream = nullptr;
  ASSERT_OK(mulciberCreateStream(engine.context, &stream));
  EXPECT_OK(launch(stream, engine.kernel("add"), 1, 16, memory, 16, 1));
  EXPECT_OK(mulciberSynchronizeStream(stream));
  int out[16] = {};
  ASSERT_EQ(read(out, memory, sizeof(out)), CUDA_SUCCESS);
  EXPECT_EQ(out[15], 42);
  EXPECT_EQ(find<CUresult(CUcontext)>("cuCtxDestroy_v2")(handle), CUDA_ERROR_INVALID_CONTEXT);

  // Addresses are unique in one Vulkan device, so each knows its own alone.
  const auto attribute = find<CUresult(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
  const auto ask = [&](CUdeviceptr address) {
    unsigned type = 0;
    return attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  };
  EXPECT_EQ(ask(memory), CUDA_SUCCESS);
  EXPECT_EQ(ask(ownMemory), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(CUDA(cuCtxSetCurrent)(own), CUDA_SUCCESS);
  EXPECT_EQ(ask(ownMemory), CUDA_SUCCESS);
  EXPECT_EQ(ask(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find<CUresult(CUdeviceptr)>("cuMemFree_v2")(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(mulciberFree(engine.context, memory));

  ASSERT_EQ(set(ownMemory, 7, 16), CUDA_SUCCESS);
  ASSERT_EQ(read(out, ownMemory, sizeof(out)), CUDA_SUCCESS);
  EXPECT_EQ(out[15], 7);
  EXPECT_EQ(find<CUresult(CUdeviceptr)>("cuMemFree_v2")(ownMemory), CUDA_SUCCESS);
  EXPECT_EQ(find<CUresult(CUdevice)>("cuDevicePrimaryCtxRelease_v2")(0), CUDA_SUCCESS);
}

// api/two_devices.py runs this where the machine has one device.
TEST_F(CudaTest, OneContextOnEachOfTwoDevicesBesideTheLibraries) {
  if (Instance::get().devices.size() < 2) GTEST_SKIP() << "skipped: there is one device";
  Engine::Changes onSecond;
  onSecond.number = 1;
  Engine first, second(onSecond);
  Engine* const engines[] = {&first, &second};
  ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
  CUcontext own[2] = {};
  CUdeviceptr ownMemory[2] = {};
  VkDeviceAddress memory[2] = {};
  MulciberStream streams[2] = {};
  const auto set = find<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32_v2");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(engines[i]->result, MULCIBER_SUCCESS) << engines[i]->message;
    ASSERT_OK(mulciberAllocate(engines[i]->context, 4096, &memory[i]));
    ASSERT_OK(mulciberCreateStream(engines[i]->context, &streams[i]));
    ASSERT_EQ(CUDA(cuDevicePrimaryCtxRetain)(&own[i], i), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuCtxSetCurrent)(own[i]), CUDA_SUCCESS);
    ASSERT_EQ(find<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc_v2")(&ownMemory[i], 4096), CUDA_SUCCESS);
  }
  // The four work in turns.
  for (int round = 1; round <= 3; ++round)
    for (int i = 0; i < 2; ++i) {
      EXPECT_OK(mulciberFill(streams[i], memory[i], static_cast<uint32_t>(10 * i + round), 4, 64));
      EXPECT_OK(launch(streams[i], engines[i]->kernel("add"), 1, 64, memory[i], 64, 100));
      ASSERT_EQ(CUDA(cuCtxSetCurrent)(own[i]), CUDA_SUCCESS);
      EXPECT_EQ(set(ownMemory[i], static_cast<unsigned>(1000 * i + round), 64), CUDA_SUCCESS);
    }
  for (int i = 0; i < 2; ++i) {
    int out[64] = {};
    EXPECT_OK(mulciberCopy(streams[i], reinterpret_cast<uint64_t>(out), memory[i], sizeof(out)));
    EXPECT_EQ(out[63], 10 * i + 103);
    ASSERT_EQ(CUDA(cuCtxSetCurrent)(own[i]), CUDA_SUCCESS);
    EXPECT_EQ(find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")(out, ownMemory[i], sizeof(out)),
              CUDA_SUCCESS);
    EXPECT_EQ(out[63], 1000 * i + 3);
    EXPECT_EQ(find<CUresult(CUdeviceptr)>("cuMemFree_v2")(ownMemory[i]), CUDA_SUCCESS);
    EXPECT_EQ(find<CUresult(CUdevice)>("cuDevicePrimaryCtxRelease_v2")(i), CUDA_SUCCESS);
  }
  EXPECT_EQ(CUDA(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
}

}  // namespace mulciber::test
