// The two tables of undocumented functions that cuBLAS asks for, beside the documented functions that tell the same.
#include <cuda_runtime.h>

#include <cstring>
#include <thread>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

constexpr cudaUUID_t threadTable = {{0x42, char(0xd8), 0x5a, char(0x81), 0x23, char(0xf6), char(0xcb), 0x47, char(0x82),
                                     char(0x98), char(0xf6), char(0xe7), char(0x8a), 0x3a, char(0xec), char(0xdc)}};
constexpr cudaUUID_t contextTable = {{0x21, 0x31, char(0x8c), 0x60, char(0x97), 0x14, 0x32, 0x48, char(0x8c),
                                      char(0xa6), 0x41, char(0xff), 0x73, 0x24, char(0xc8), char(0xf2)}};

class ContextTables : public WithDevice {
 protected:
  template <class Function>
  static Function* function(const cudaUUID_t& id, size_t place) {
    const void* table = nullptr;
    EXPECT_EQ(cudaGetExportTable(&table, &id), cudaSuccess);
    if (!table) return nullptr;
    EXPECT_LT(place * sizeof(void*), *static_cast<const size_t*>(table));
    return reinterpret_cast<Function*>(static_cast<void* const*>(table)[place]);
  }

  CUresult currentContext(CUcontext* out) { return function<CUresult(CUcontext*)>(threadTable, 2)(out); }
  CUresult contextId(CUcontext which, unsigned long long* out) {
    return function<CUresult(CUcontext, unsigned long long*)>(contextTable, 4)(which, out);
  }
  CUresult streamOf(CUstream stream, void** out, int perThread) {
    return function<CUresult(CUcontext, CUstream, void**, int)>(contextTable, 51)(context, stream, out, perThread);
  }
  CUresult streamId(void* stream, unsigned long long* out) {
    return function<CUresult(CUcontext, void*, unsigned long long*)>(contextTable, 39)(context, stream, out);
  }
};

TEST_F(ContextTables, TellTheContextAndItsId) {
  CUcontext current = nullptr;
  ASSERT_EQ(currentContext(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  std::thread([&] {
    EXPECT_EQ(currentContext(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr) << "a new thread has none";
  }).join();
  unsigned long long id = 0, documented = 1;
  ASSERT_EQ(contextId(context, &id), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetId(context, &documented), CUDA_SUCCESS);
  EXPECT_EQ(id, documented);
  EXPECT_EQ(contextId(reinterpret_cast<CUcontext>(this), &id), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTables, TellTheIdsOfStreams) {
  CUstream own = nullptr;
  ASSERT_EQ(cuStreamCreate(&own, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  struct {
    CUstream stream;
    int perThread;
    CUstream documented;
  } const cases[] = {{nullptr, 0, CU_STREAM_LEGACY},
                     {nullptr, 1, CU_STREAM_PER_THREAD},
                     {CU_STREAM_LEGACY, 1, CU_STREAM_LEGACY},
                     {CU_STREAM_PER_THREAD, 0, CU_STREAM_PER_THREAD},
                     {own, 0, own},
                     {own, 1, own}};
  for (const auto& one : cases) {
    void* inner = nullptr;
    unsigned long long id = 0, documented = 1;
    ASSERT_EQ(streamOf(one.stream, &inner, one.perThread), CUDA_SUCCESS);
    ASSERT_EQ(streamId(inner, &id), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetId(one.documented, &documented), CUDA_SUCCESS);
    EXPECT_EQ(id, documented);
  }
  ASSERT_EQ(cuStreamDestroy(own), CUDA_SUCCESS);
  void* inner = nullptr;
  EXPECT_EQ(streamOf(own, &inner, 0), CUDA_ERROR_INVALID_HANDLE) << "it was destroyed";
}

TEST_F(ContextTables, RefuseTheirOtherFunctions) {
  EXPECT_EQ(function<CUresult()>(threadTable, 1)(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(function<CUresult()>(contextTable, 50)(), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(ContextTables, AreTheOnlyOnes) {
  cudaUUID_t other = contextTable;
  other.bytes[15] = 0;
  const void* table = this;
  EXPECT_EQ(cudaGetExportTable(&table, &other), cudaErrorInvalidValue);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  table = this;
  EXPECT_EQ(cuGetExportTable(&table, &contextTable), CUDA_ERROR_INVALID_VALUE) << "the driver library has none";
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace mulciber::test
