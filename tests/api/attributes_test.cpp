// Attributes of launches and streams, and sharing between processes, which is refused. tests/replay goes through every
// attribute there is.
#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "api_test.h"

namespace mulciber::test {
namespace {

class AttributesTest : public WithScale {
 protected:
  void SetUp() override {
    WithScale::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&data, 4 * count), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(data, 3, count), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
    }
    WithScale::TearDown();
  }

  CUresult launch(std::vector<CUlaunchAttribute> attributes, unsigned blocks = count / 64) {
    unsigned factor = 2, elements = count;
    void* parameters[] = {&data, &factor, &elements};
    const CUlaunchConfig config{
        blocks, 1, 1, 64, 1, 1, 0, stream, attributes.data(), static_cast<unsigned>(attributes.size())};
    return cuLaunchKernelEx(&config, scale, parameters, nullptr);
  }
  unsigned first() {
    unsigned value = 0;
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&value, data, sizeof(value)), CUDA_SUCCESS);
    return value;
  }
  static CUlaunchAttribute attribute(int id) {
    CUlaunchAttribute made{};
    made.id = static_cast<CUlaunchAttributeID>(id);
    return made;
  }

  static constexpr unsigned count = 256;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
};

TEST_F(AttributesTest, SynchronyOfMemoryIsToldAsSet) {
  constexpr CUpointer_attribute synchrony = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
  CUdeviceptr managed = 0;
  if (cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
    GTEST_SKIP() << "skipped: no managed memory";
  const auto told = [](CUdeviceptr address) {
    unsigned value = 2;
    EXPECT_EQ(cuPointerGetAttribute(&value, synchrony, address), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(told(data), 0u);
  EXPECT_EQ(told(managed), 1u) << "before it is set";
  for (const CUdeviceptr address : {data, managed})
    for (const unsigned value : {1u, 0u}) {
      EXPECT_EQ(cuPointerSetAttribute(&value, synchrony, address), CUDA_SUCCESS);
      EXPECT_EQ(told(address), value);
    }
  EXPECT_EQ(cuMemFree(managed), CUDA_SUCCESS);
}

TEST_F(AttributesTest, ALaunchRecordsTheEventsItIsGiven) {
  CUevent event = nullptr, timed = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&timed, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  for (const int id : {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}) {
    CUlaunchAttribute records = attribute(id);
    records.value.launchCompletionEvent.event = event;
    const unsigned before = first();
    ASSERT_EQ(launch({records}), CUDA_SUCCESS);
    // Another stream that waits for the event comes after the kernel.
    unsigned seen = 0;
    CUstream other = nullptr;
    ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoHAsync(&seen, data, sizeof(seen), other), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(seen, before * 2 + 7);
    ASSERT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
    records.value.launchCompletionEvent.event = timed;
    EXPECT_EQ(launch({records}), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(first(), before * 2 + 7);  // nothing was launched
  }
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(timed), CUDA_SUCCESS);
}

TEST_F(AttributesTest, ClustersAreRefused) {
  CUlaunchAttribute cluster = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  cluster.value.clusterDim = {2, 1, 1};
  EXPECT_EQ(launch({cluster}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(first(), 3u);
  cluster.value.clusterDim = {1, 1, 1};
  EXPECT_EQ(launch({cluster}), CUDA_SUCCESS);
  EXPECT_EQ(first(), 13u);
}

TEST_F(AttributesTest, CooperativeLaunchesHaveToFit) {
  CUlaunchAttribute cooperative = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  cooperative.value.cooperative = 1;
  EXPECT_EQ(launch({cooperative}, 1 << 20), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(first(), 3u);
  EXPECT_EQ(launch({cooperative}, 1), CUDA_SUCCESS);
  EXPECT_EQ(first(), 13u);
}

TEST_F(AttributesTest, StreamsTellBackWhatTheyWereGiven) {
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  CUstreamAttrValue value{}, got{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  ASSERT_EQ(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCopyAttributes(other, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got), CUDA_SUCCESS);
  EXPECT_EQ(got.syncPolicy, CU_SYNC_POLICY_YIELD);
  EXPECT_EQ(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamCopyAttributes(stream, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
}

// Memory of another process cannot be reached (docs/runtime.md): no handle is made, and the device says so.
TEST_F(AttributesTest, SharingBetweenProcessesIsRefused) {  // MDEV-07, MDEV-08, VMM-06
  for (const char* name : {"cuIpcGetMemHandle", "cuIpcGetEventHandle", "cuIpcOpenMemHandle_v2", "cuIpcOpenEventHandle",
                           "cuIpcCloseMemHandle", "cuMemExportToShareableHandle"}) {
    using Refuses = CUresult (*)(void*, CUdeviceptr, unsigned, unsigned);
    const auto function = reinterpret_cast<Refuses>(dlsym(RTLD_DEFAULT, name));
    ASSERT_NE(function, nullptr) << name;
    char handle[64] = {};
    EXPECT_EQ(function(handle, data, 1, 0), CUDA_ERROR_NOT_SUPPORTED) << name;
    EXPECT_EQ(std::count(handle, handle + sizeof(handle), 0), 64) << name;
  }
  for (const auto which :
       {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED}) {
    int value = 1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, device), CUDA_SUCCESS);
    EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace mulciber::test
