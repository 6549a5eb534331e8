// Hundreds of thousands of texture objects that live at once: the table behind their handles grows while kernels that
// got handles before it grew still read.
#include <thread>
#include <unordered_set>
#include <vector>

#include "api/api_test.h"
#include "api/held_stream.h"

namespace mulciber::test {
namespace {

constexpr unsigned distinct = 256, objects = 300000;
constexpr size_t stride = 512;  // bytes, as textures are aligned

// Each thread reads the first texel of the texture whose handle stands in its place.
constexpr const char* kernelText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 handles, .param .u64 out, .param .u32 count) {
  .reg .b32 %t, %n, %c, %zero; .reg .b64 %p, %o, %h; .reg .f32 %r<4>; .reg .pred %q;
  ld.param.u64 %p, [handles]; ld.param.u64 %o, [out]; ld.param.u32 %n, [count];
  mov.u32 %t, %ctaid.x; mov.u32 %c, %ntid.x; mul.lo.u32 %t, %t, %c; mov.u32 %c, %tid.x; add.u32 %t, %t, %c;
  setp.ge.u32 %q, %t, %n; @%q ret;
  mad.wide.u32 %p, %t, 8, %p; mad.wide.u32 %o, %t, 4, %o; mov.u32 %zero, 0;
  ld.global.u64 %h, [%p];
  tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%zero}];
  st.global.f32 [%o], %r0;
  ret;
}
)";

class ManyTextures : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(cuMemAlloc(&texels_, distinct * stride), CUDA_SUCCESS);
    std::vector<float> values(distinct * stride / sizeof(float), -1);
    for (unsigned i = 0; i < distinct; ++i) values[i * stride / sizeof(float)] = static_cast<float>(i);
    ASSERT_EQ(cuMemcpyHtoD(texels_, values.data(), values.size() * sizeof(float)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&handles_, objects * sizeof(CUtexObject)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out_, objects * sizeof(float)), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kernelText), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function_, module_, "k"), CUDA_SUCCESS);
  }
  CUtexObject make(unsigned which) const {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = texels_ + which % distinct * stride;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = stride;
    const CUDA_TEXTURE_DESC how{};
    CUtexObject made = 0;
    EXPECT_EQ(cuTexObjectCreate(&made, &resource, &how, nullptr), CUDA_SUCCESS);
    return made;
  }
  void launch(const std::vector<CUtexObject>& all, CUstream stream = nullptr) {
    ASSERT_EQ(cuMemcpyHtoD(handles_, all.data(), all.size() * sizeof(CUtexObject)), CUDA_SUCCESS);
    launch(handles_, out_, static_cast<unsigned>(all.size()), stream);
  }
  void launch(CUdeviceptr handles, CUdeviceptr out, unsigned count, CUstream stream) {
    void* parameters[] = {&handles, &out, &count};
    ASSERT_EQ(cuLaunchKernel(function_, (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr),
              CUDA_SUCCESS);
  }
  // How many of the texels read are not those of their textures.
  size_t wrong(size_t count) {
    std::vector<float> seen(count);
    EXPECT_EQ(cuMemcpyDtoH(seen.data(), out_, count * sizeof(float)), CUDA_SUCCESS);
    size_t result = 0;
    for (size_t i = 0; i < count; ++i) result += seen[i] != static_cast<float>(i % distinct);
    return result;
  }
  void TearDown() override {
    if (module_) {
      EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
      for (const CUdeviceptr memory : {texels_, handles_, out_}) EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  CUdeviceptr texels_ = 0, handles_ = 0, out_ = 0;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

TEST_F(ManyTextures, LiveAtOnce) {
  std::vector<CUtexObject> all;
  for (unsigned i = 0; i < 500; ++i) all.push_back(make(i));
  launch(all);  // while it runs the table grows
  for (unsigned i = 500; i < objects; ++i) all.push_back(make(i));
  EXPECT_EQ(wrong(500), 0u);
  EXPECT_EQ(std::unordered_set<CUtexObject>(all.begin(), all.end()).size(), all.size());
  launch(all);
  EXPECT_EQ(wrong(all.size()), 0u);

  // Records that are used again belong to new handles.
  std::vector<CUtexObject> gone;
  for (unsigned i = 0; i < objects; i += 2) {
    EXPECT_EQ(cuTexObjectDestroy(all[i]), CUDA_SUCCESS);
    gone.push_back(all[i]);
    all[i] = make(i);
  }
  launch(all);
  EXPECT_EQ(wrong(all.size()), 0u);
  CUDA_RESOURCE_DESC resource{};
  EXPECT_EQ(cuTexObjectGetResourceDesc(&resource, gone[0]), CUDA_ERROR_INVALID_VALUE);
  for (const CUtexObject texture : all) EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

// Work that was given before keeps what it reads, however many objects come after it.
TEST_F(ManyTextures, DestroyedOnesStayForTheWorkBefore) {
  std::vector<CUtexObject> all, later;
  for (unsigned i = 0; i < 500; ++i) all.push_back(make(i));
  {
    HeldStream held(cudaStreamNonBlocking);
    launch(all, held.stream);
    for (const CUtexObject texture : all) EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
    for (unsigned i = 0; i < 5000; ++i) later.push_back(make(i + 7));
  }
  EXPECT_EQ(wrong(all.size()), 0u);
  for (const CUtexObject texture : later) EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

// Each thread makes objects, reads by them and destroys them, at once with all others.
TEST_F(ManyTextures, OfManyThreads) {
  constexpr unsigned threads = 8, rounds = 40, ofRound = 50;
  std::vector<size_t> wrongOfThread(threads, ofRound);
  const auto work = [&](unsigned thread) {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    CUstream stream = nullptr;
    CUdeviceptr handles = 0, out = 0;
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&handles, ofRound * sizeof(CUtexObject)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&out, ofRound * sizeof(float)), CUDA_SUCCESS);
    size_t wrong = 0;
    for (unsigned round = 0; round < rounds; ++round) {
      std::vector<CUtexObject> own;
      for (unsigned i = 0; i < ofRound; ++i) own.push_back(make(thread * 31 + round + i));
      EXPECT_EQ(cuMemcpyHtoDAsync(handles, own.data(), ofRound * sizeof(CUtexObject), stream), CUDA_SUCCESS);
      launch(handles, out, ofRound, stream);
      // Some before the kernel has read by them.
      for (unsigned i = 0; i < ofRound; i += 3) EXPECT_EQ(cuTexObjectDestroy(own[i]), CUDA_SUCCESS);
      std::vector<float> seen(ofRound);
      EXPECT_EQ(cuMemcpyDtoHAsync(seen.data(), out, ofRound * sizeof(float), stream), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      for (unsigned i = 0; i < ofRound; ++i) {
        wrong += seen[i] != static_cast<float>((thread * 31 + round + i) % distinct);
        if (i % 3 == 0) continue;
        EXPECT_EQ(cuTexObjectDestroy(own[i]), CUDA_SUCCESS);
      }
    }
    EXPECT_EQ(cuMemFree(handles), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    wrongOfThread[thread] = wrong;
  };
  std::vector<std::thread> all;
  for (unsigned thread = 0; thread < threads; ++thread) all.emplace_back(work, thread);
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(wrongOfThread, std::vector<size_t>(threads, 0));
}

}  // namespace
}  // namespace mulciber::test
