// What a context takes of the process: threads and files, and neither where the engine asks for that.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/cuda_library.h"

namespace {

std::atomic<int> threads{0}, files{0};  // that Mulciber has started and opened

// Whether the caller's caller is Mulciber, but for the C++ library between the two.
bool isForMulciber() {
  static thread_local bool isLooking = false;  // looking opens files itself
  if (isLooking) return false;
  isLooking = true;
  void* frames[32];
  const int count = backtrace(frames, 32);
  bool isMulciber = false;
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) == 0) break;
    const char* const name = std::strrchr(info.dli_fname, '/') ? std::strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
    if (std::strcmp(name, "test_engine") == 0 || std::strncmp(name, "libstdc++", 9) == 0) continue;
    isMulciber = std::strncmp(name, "libmulciber", 11) == 0;
    break;
  }
  isLooking = false;
  return isMulciber;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// What all libraries of the process call.
#pragma GCC visibility push(default)
extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  if (isForMulciber()) ++threads;
  return real(thread, attributes, start, argument);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (isForMulciber()) ++files;
  return real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<decltype(fopen)>("fopen");
  if (isForMulciber()) ++files;
  return real(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<decltype(fopen)>("fopen64");
  if (isForMulciber()) ++files;
  return real(path, mode);
}

int mkdir(const char* path, mode_t mode) {
  static auto* const real = next<decltype(mkdir)>("mkdir");
  if (isForMulciber()) ++files;
  return real(path, mode);
}
}
#pragma GCC visibility pop

namespace mulciber::test {

namespace {

class ResourcesTest : public EngineTest {
 protected:
  // A context's life: it translates, compiles, launches in a stream and records. `last`: something more.
  static void run(uint32_t flags, const std::function<void(Engine&)>& last = nullptr) {
    static std::mutex queue;
    threads = files = 0;
    Engine::Changes changes;
    changes.context = [&](MulciberContextInfo& info) {
      static MulciberQueue locked;
      locked = info.queues[0];
      locked.lock = [](void*) { queue.lock(); };
      locked.unlock = [](void*) { queue.unlock(); };
      info.queues = &locked;
      info.flags = flags;
    };
    Engine engine(changes);
    ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
    const char ptx[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry put(.param .u64 out, .param .u32 value) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [value];
  st.global.b32 [%rd0], %r0;
  ret;
})";
    MulciberModule module = nullptr;
    MulciberKernel put = nullptr;
    ASSERT_OK(mulciberLoadModule(engine.context, ptx, sizeof(ptx), &module));
    ASSERT_OK(mulciberGetKernel(module, "put", &put));
    VkDeviceAddress data = 0;
    ASSERT_OK(mulciberAllocate(engine.context, 4096, &data));
    MulciberStream stream = nullptr;
    ASSERT_OK(mulciberCreateStream(engine.context, &stream));
    EXPECT_OK(launch(stream, put, 1, 1, data, 7u));
    int seen = 0;
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(&seen), data, sizeof(seen)));
    EXPECT_EQ(seen, 7);
    const VkCommandBuffer commands = engine.beginCommands();
    const MulciberRecording recording = engine.record(commands, 1, MULCIBER_RECORDING_BARRIER_BEFORE);
    EXPECT_OK(launch(recording, put, 1, 1, data, 8u));
    EXPECT_OK(mulciberEndRecording(recording));
    {
      const std::lock_guard lock(queue);
      engine.submit(commands);
    }
    engine.wait(1);
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(&seen), data, sizeof(seen)));
    EXPECT_EQ(seen, 8);
    if (last) last(engine);
  }
};

}  // namespace

TEST_F(ResourcesTest, WhatNeedsAThreadIsRefusedWhereThereIsToBeNone) {
  Engine engine;
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuCtxSetCurrent)(static_cast<CUcontext>(mulciberGetCudaContext(engine.context))), CUDA_SUCCESS);
  VkDeviceAddress data = 0;
  ASSERT_OK(mulciberAllocate(engine.context, 4, &data));
  CUstream stream = nullptr;
  ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const auto set = find<CUresult(CUdeviceptr, unsigned, size_t, CUstream)>("cuMemsetD32Async");
  threads = 0;
  int calls = 0;
  const CUhostFn count = [](void* counted) { ++*static_cast<int*>(counted); };
  EXPECT_EQ(set(data, 5, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuLaunchHostFunc)(stream, count, &calls), CUDA_ERROR_NOT_SUPPORTED);
  // In a graph too: nothing of it is done.
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(
      find<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  EXPECT_EQ(set(data, 6, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuLaunchHostFunc)(stream, count, &calls), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuGraphInstantiateWithFlags)(&executable, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphLaunch)(executable, stream), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(CUDA(cuStreamSynchronize)(stream), CUDA_SUCCESS);
  int seen = 0;
  EXPECT_EQ(find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")(&seen, data, 4), CUDA_SUCCESS);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(threads, 0);
  EXPECT_EQ(CUDA(cuGraphExecDestroy)(executable), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
}

TEST_F(ResourcesTest, AContextTakesNoThreadsAndNoFilesWhereTheEngineWantsNone) {
  run(MULCIBER_CONTEXT_NO_THREADS | MULCIBER_CONTEXT_NO_DISK);
  EXPECT_EQ(threads, 0);
  EXPECT_EQ(files, 0);
  // What is counted is there otherwise.
  run(0, [](Engine& engine) {
    ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuCtxSetCurrent)(static_cast<CUcontext>(mulciberGetCudaContext(engine.context))), CUDA_SUCCESS);
    int calls = 0;
    EXPECT_EQ(CUDA(cuLaunchHostFunc)(
                  nullptr, [](void* data) { ++*static_cast<int*>(data); }, &calls),
              CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuStreamSynchronize)(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(CUDA(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
  });
  EXPECT_GT(threads, 0);
  const char* const cache = std::getenv("MULCIBER_CACHE");
  if (!cache || std::strcmp(cache, "0") != 0) {
    EXPECT_GT(files, 0);
  }
}

}  // namespace mulciber::test
