// The driver API as a program sees it.
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

// DRV-01: before main, so before any test has called cuInit.
const CUresult beforeInit = [] {
  int count = 0;
  return cuDeviceGetCount(&count);
}();

TEST(DriverErrors, NothingWorksBeforeInit) { EXPECT_EQ(beforeInit, CUDA_ERROR_NOT_INITIALIZED); }

TEST(DriverErrors, Texts) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverProcedures, VersionDecides) {  // DRV-22
  void *old = nullptr, *current = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &current, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(current, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &old, 2000, 0, &status), CUDA_SUCCESS);
  EXPECT_NE(old, current);
  void *legacy = nullptr, *perThread = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuStreamQuery", &legacy, 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(
      cuGetProcAddress("cuStreamQuery", &perThread, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(legacy, reinterpret_cast<void*>(&cuStreamQuery));
  EXPECT_NE(legacy, perThread);
  void* missing = &status;
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &missing, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(missing, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &missing, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
}

using Driver = WithDevice;

TEST_F(Driver, DeviceQueries) {  // DRV-03
  int count = 0, value = 0, major = 0, minor = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  ASSERT_GE(count, 1);
  CUdevice none;
  EXPECT_EQ(cuDeviceGet(&none, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&none, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), CUDA_SUCCESS);
  EXPECT_EQ(value, major);
  char name[4];
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), device), CUDA_SUCCESS);
  EXPECT_EQ(std::strlen(name), sizeof(name) - 1) << "cut and terminated";
}

TEST_F(Driver, ContextStack) {  // DRV-04
  CUcontext own = nullptr, current = nullptr, popped = nullptr;
  ASSERT_EQ(cuCtxCreate_v4(&own, nullptr, 0, device), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, own);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, own);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(own), CUDA_ERROR_INVALID_CONTEXT);
  std::thread([] {
    CUdeviceptr address;
    EXPECT_EQ(cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT) << "a new thread has no context";
  }).join();
}

TEST_F(Driver, Memory) {  // DRV-15, DRV-17
  CUdeviceptr address = 0, start = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemAlloc(&address, 1024), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange(&start, &bytes, address + 100), CUDA_SUCCESS);
  EXPECT_EQ(start, address);
  EXPECT_EQ(bytes, 1024u);
  EXPECT_EQ(cuMemsetD8(address, 0xAB, 1024), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16(address + 2, 0x1234, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(address + 16, 0xDEADBEEF, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE) << "not aligned";
  EXPECT_EQ(cuMemsetD2D8(address + 512, 64, 0x11, 3, 4), CUDA_SUCCESS);
  std::vector<unsigned char> host(1024);
  ASSERT_EQ(cuMemcpyDtoH(host.data(), address, host.size()), CUDA_SUCCESS);
  EXPECT_EQ(host[1], 0xAB);
  EXPECT_EQ(host[2], 0x34);
  EXPECT_EQ(host[7], 0x12);
  EXPECT_EQ(host[8], 0xAB);
  EXPECT_EQ(host[16], 0xEF);
  EXPECT_EQ(host[23], 0xDE);
  EXPECT_EQ(host[24], 0xAB);
  for (int row = 0; row < 4; ++row) {
    EXPECT_EQ(host[512 + 64 * row + 2], 0x11);
    EXPECT_EQ(host[512 + 64 * row + 3], 0xAB);
  }
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<uintptr_t>(&type)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(address + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
}

TEST_F(Driver, RectangleCopies) {  // DRV-16
  CUdeviceptr address = 0;
  size_t pitch = 0;
  EXPECT_EQ(cuMemAllocPitch(&address, &pitch, 40, 5, 3), CUDA_ERROR_INVALID_VALUE) << "elements of 3 bytes";
  ASSERT_EQ(cuMemAllocPitch(&address, &pitch, 40, 5, 4), CUDA_SUCCESS);
  EXPECT_GE(pitch, 40u);
  std::vector<unsigned char> from(50 * 5), to(200, 0);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 50;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = address;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 40;
  copy.Height = 5;
  ASSERT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = address;
  back.srcPitch = pitch;
  back.srcXInBytes = 3;
  back.srcY = 1;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = to.data();
  back.dstPitch = 10;
  back.WidthInBytes = 7;
  back.Height = 4;
  ASSERT_EQ(cuMemcpy2D(&back), CUDA_SUCCESS);
  for (size_t row = 0; row < 4; ++row) {
    for (size_t x = 0; x < 10; ++x) {
      EXPECT_EQ(to[row * 10 + x], x < 7 ? static_cast<unsigned char>((row + 1) * 50 + 3 + x) : 0);
    }
  }
  back.WidthInBytes = 11;
  EXPECT_EQ(cuMemcpy2D(&back), CUDA_ERROR_INVALID_VALUE) << "wider than its pitch";
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(Driver, ModuleAndLaunch) {  // DRV-08, DRV-09, DRV-12, DRV-13
  CUmodule module = nullptr;
  CUfunction scale = nullptr, missing = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&missing, module, "missing"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuModuleGetGlobal(&counter, &bytes, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  unsigned value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, counter, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 41u);
  EXPECT_EQ(cuModuleGetGlobal(&counter, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);

  constexpr unsigned count = 1000;
  std::vector<unsigned> host(count);
  for (unsigned i = 0; i < count; ++i) host[i] = i;
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, count * 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(data, host.data(), count * 4), CUDA_SUCCESS);
  unsigned factor = 3, n = count;
  void* parameters[] = {&data, &factor, &n};
  EXPECT_EQ(cuLaunchKernel(scale, 0, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuLaunchKernel(scale, (count + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  struct {
    CUdeviceptr data;
    unsigned factor, count;
  } packed = {data, 5, count / 2};
  size_t packedBytes = sizeof(packed);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packedBytes,
                   CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(scale, (count + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(host.data(), data, count * 4), CUDA_SUCCESS);
  for (unsigned i = 0; i < count; ++i) EXPECT_EQ(host[i], i < count / 2 ? (i * 3 + 7) * 5 + 7 : i * 3 + 7) << i;

  int threads = 0;
  EXPECT_EQ(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale), CUDA_SUCCESS);
  EXPECT_GE(threads, 32);
  size_t offset = 0, size = 0;
  EXPECT_EQ(cuFuncGetParamInfo(scale, 1, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(scale, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, SyntaxErrorReachesTheLog) {  // DRV-10
  char log[512] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log)), nullptr};
  CUmodule module = nullptr;
  EXPECT_EQ(
      cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { frobnicate.u32; }\n", 3,
                         options, values),
      CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("frobnicate"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), std::strlen(log)) << "the length is written back";
}

TEST_F(Driver, PtxMayBeginWithAByteOrderMark) {
  const std::string text = "\xEF\xBB\xBF.version 7.0\n.target sm_70\n.address_size 64\n.entry k() { ret; }\n";
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "part", 0, nullptr,
                          nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(Driver, NewerPtxHasAnErrorOfItsOwn) {  // DRV-10
  const char* const known = ".version 9.5\n.target sm_120\n.address_size 64\n.entry k() { ret; }\n";
  CUmodule taken = nullptr;
  EXPECT_EQ(cuModuleLoadData(&taken, known), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(taken), CUDA_SUCCESS);

  const char* const text = ".version 9.1\n.target sm_90\n.address_size 64\n.entry k() { frobnicate.u32; }\n";
  char log[512] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, text, 2, options, values), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_NE(std::string(log).find("PTX ISA version 9.1 is newer than 9.0"), std::string::npos) << log;

  CUlinkState state = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  EXPECT_EQ(
      cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text), "k", 0, nullptr, nullptr),
      CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);

  CUlibrary library = nullptr;
  CUresult result = cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  unsigned count = 0;
  if (result == CUDA_SUCCESS) result = cuLibraryGetKernelCount(&count, library);
  EXPECT_EQ(result, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}

// As an H200's driver has it: without optimisation, and with what a debugger needs, no product and sum are fused.
TEST_F(Driver, OptionsOfTheJitSayWhetherProductsAndSumsAreRoundedOnce) {
  constexpr const char* text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .f32 %f<5>; .reg .b64 "
      "%p;\n"
      "ld.param.u64 %p, [p]; ld.global.v2.f32 {%f0, %f1}, [%p]; ld.global.f32 %f2, [%p+8];\n"
      "mul.f32 %f3, %f0, %f1; add.f32 %f4, %f3, %f2; st.global.f32 [%p+12], %f4; ret; }\n";
  struct Case {
    CUjit_option option;
    uintptr_t value;
    bool isFused;
  };
  for (const auto& [option, value, isFused] :
       {Case{CU_JIT_OPTIMIZATION_LEVEL, 4, true}, Case{CU_JIT_OPTIMIZATION_LEVEL, 1, true},
        Case{CU_JIT_OPTIMIZATION_LEVEL, 0, false}, Case{CU_JIT_GENERATE_DEBUG_INFO, 1, false},
        Case{CU_JIT_GENERATE_DEBUG_INFO, 0, true}, Case{CU_JIT_GENERATE_LINE_INFO, 1, true}}) {
    CUjit_option options[] = {option};
    void* values[] = {reinterpret_cast<void*>(value)};
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleLoadDataEx(&module, text, 1, options, values), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    // The square of 1 + 2^-12 less what is left of it when it is rounded: 2^-24 if it never was.
    float numbers[] = {1 + 0x1p-12f, 1 + 0x1p-12f, -(1 + 0x1p-11f), 1};
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAlloc(&memory, sizeof(numbers)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(memory, numbers, sizeof(numbers)), CUDA_SUCCESS);
    void* arguments[] = {&memory};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(numbers, memory, sizeof(numbers)), CUDA_SUCCESS);
    EXPECT_EQ(numbers[3], isFused ? 0x1p-24f : 0) << option << ' ' << value;
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
}

// What a program calls and nobody defines is named when it is linked or loaded, not when a kernel is launched.
TEST_F(Driver, MissingFunctionsAreNamed) {
  constexpr const char* text =
      ".version 8.0\n.target sm_70\n.address_size 64\n.extern .func elsewhere();\n"
      ".visible .entry k() { call elsewhere; ret; }\n";
  char log[512] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUlinkState link = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate(2, options, values, &link), CUDA_SUCCESS);
  ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "part", 0, nullptr,
                          nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_SOURCE);
  EXPECT_NE(std::string(log).find("undefined reference to 'elsewhere'"), std::string::npos) << log;
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);

  log[0] = 0;
  values[1] = reinterpret_cast<void*>(sizeof(log));
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, text, 2, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("unresolved extern function 'elsewhere'"), std::string::npos) << log;
}

TEST_F(Driver, LibraryKernels) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  unsigned count = 0;
  ASSERT_EQ(cuLibraryLoadData(&library, scalePtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "missing"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
  const char* name = nullptr;
  EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  EXPECT_STREQ(name, "scale");
  // A kernel stands where a function does.
  CUdeviceptr data = 0;
  unsigned value = 10, factor = 2, n = 1;
  ASSERT_EQ(cuMemAlloc(&data, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(data, &value, 4), CUDA_SUCCESS);
  void* parameters[] = {&data, &factor, &n};
  ASSERT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, data, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 27u);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(Driver, LinksModules) {  // DRV-11
  constexpr const char* caller = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 21;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    ld.param.b32 %r2, [b]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  constexpr const char* callee = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
}
)";
  CUlinkState link = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (const char* text : {caller, callee}) {
    ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "part", 0, nullptr,
                            nullptr),
              CUDA_SUCCESS);
  }
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  CUdeviceptr out = 0;
  unsigned value = 0;
  ASSERT_EQ(cuMemAlloc(&out, 4), CUDA_SUCCESS);
  void* parameters[] = {&out};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, out, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Driver, StreamsAndEvents) {  // DRV-20, STR-11
  CUstream stream = nullptr;
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, 77), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100), CUDA_SUCCESS);
  int priority = 0, least = 0, greatest = 0;
  unsigned flags = 0;
  EXPECT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, greatest) << "clamped to the range";
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  ASSERT_EQ(cuEventCreate(&start, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(start), CUDA_SUCCESS) << "never recorded";
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  CUdeviceptr data = 0;
  ASSERT_EQ(cuMemAlloc(&data, 1 << 20), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(start, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(data, 1, 1 << 20, stream), CUDA_SUCCESS);
  int called = 0;
  EXPECT_EQ(cuLaunchHostFunc(
                stream, [](void* at) { ++*static_cast<int*>(at); }, &called),
            CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(nullptr, end, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
  for (CUevent event : {start, end, untimed}) EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
}

// The legacy stream's work comes after all that blocking streams of other queues were given, and is done all the same.
TEST_F(Driver, LegacyWorkGetsThroughWhileThreadsLaunch) {  // STR-04
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr data = 0;
  ASSERT_EQ(cuModuleLoadData(&module, scalePtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&data, 5 * 4096), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(data, 0, 5 * 4096), CUDA_SUCCESS);
  const auto launch = [&](CUdeviceptr where, CUstream stream) {
    unsigned factor = 1, count = 32;
    void* parameters[] = {&where, &factor, &count};
    return cuLaunchKernel(scale, 1, 1, 1, count, 1, 1, 0, stream, parameters, nullptr);
  };
  std::atomic<bool> goOn{true};
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (int i = 0; i < 20000 && goOn; ++i) EXPECT_EQ(launch(data + t * 4096, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    });
  for (unsigned round = 1; round <= 20; ++round) {
    unsigned seen = 0;
    EXPECT_EQ(launch(data, CU_STREAM_LEGACY), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&seen, data, sizeof(seen)), CUDA_SUCCESS);
    EXPECT_EQ(seen, round * 7);
  }
  goOn = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cuMemFree(data), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Driver, WhatIsMissingSaysSo) {
  void* entry = nullptr;
  ASSERT_EQ(cuGetProcAddress("cuIpcGetMemHandle", &entry, 13000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(entry)(), CUDA_ERROR_NOT_SUPPORTED);
}

// Programs give up when one of these names is not found, though they never call it.
TEST_F(Driver, FunctionsForOtherInterfacesAreThere) {  // DRV-22
  for (const char* name : {"cuEGLStreamConsumerConnect", "cuGraphicsEGLRegisterImage", "cuVDPAUGetDevice",
                           "cuGraphicsVDPAURegisterVideoSurface"}) {
    void* entry = nullptr;
    ASSERT_EQ(cuGetProcAddress(name, &entry, 13000, 0, nullptr), CUDA_SUCCESS) << name;
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(reinterpret_cast<CUresult (*)()>(entry)(), CUDA_ERROR_NOT_SUPPORTED) << name;
  }
}

}  // namespace
}  // namespace mulciber::test
