// Vector addition with the CUDA driver API and PTX text: no CUDA toolkit is needed to build this.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const char* const ptx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 count) {
  .reg .pred %p;
  .reg .b32 %block, %size, %thread, %i, %n;
  .reg .f32 %x, %y, %z;
  .reg .b64 %pa, %pb, %pc, %offset;

  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.s32 %i, %block, %size, %thread;
  ld.param.u32 %n, [count];
  setp.ge.s32 %p, %i, %n;
  @%p bra done;

  ld.param.u64 %pa, [a];
  ld.param.u64 %pb, [b];
  ld.param.u64 %pc, [c];
  cvta.to.global.u64 %pa, %pa;
  cvta.to.global.u64 %pb, %pb;
  cvta.to.global.u64 %pc, %pc;
  mul.wide.s32 %offset, %i, 4;
  add.s64 %pa, %pa, %offset;
  add.s64 %pb, %pb, %offset;
  add.s64 %pc, %pc, %offset;
  ld.global.f32 %x, [%pa];
  ld.global.f32 %y, [%pb];
  add.rn.f32 %z, %x, %y;
  st.global.f32 [%pc], %z;
done:
  ret;
}
)";

static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
  std::exit(1);
}

int main(int argc, char** argv) {
  unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000000;
  std::vector<float> a(count), b(count), c(count);
  for (unsigned i = 0; i < count; ++i) {
    a[i] = std::sin(static_cast<float>(i));
    b[i] = 0.5f * static_cast<float>(i);
  }

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction add;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
  check(cuModuleGetFunction(&add, module, "add"), "cuModuleGetFunction");

  const size_t bytes = count * sizeof(float);
  CUdeviceptr deviceA, deviceB, deviceC;
  check(cuMemAlloc(&deviceA, bytes), "cuMemAlloc");
  check(cuMemAlloc(&deviceB, bytes), "cuMemAlloc");
  check(cuMemAlloc(&deviceC, bytes), "cuMemAlloc");
  check(cuMemcpyHtoD(deviceA, a.data(), bytes), "cuMemcpyHtoD");
  check(cuMemcpyHtoD(deviceB, b.data(), bytes), "cuMemcpyHtoD");

  void* arguments[] = {&deviceA, &deviceB, &deviceC, &count};
  check(cuLaunchKernel(add, (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");

  check(cuMemcpyDtoH(c.data(), deviceC, bytes), "cuMemcpyDtoH");
  for (unsigned i = 0; i < count; ++i) {
    const float expected = a[i] + b[i];
    if (!(c[i] >= expected && c[i] <= expected)) {
      std::fprintf(stderr, "wrong at %u: %g and not %g\n", i, static_cast<double>(c[i]), static_cast<double>(expected));
      return 1;
    }
  }
  char name[128];
  check(cuDeviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  std::printf("%u sums right on %s\n", count, name);
  check(cuMemFree(deviceA), "cuMemFree");
  check(cuMemFree(deviceB), "cuMemFree");
  check(cuMemFree(deviceC), "cuMemFree");
  check(cuModuleUnload(module), "cuModuleUnload");
  check(cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
}
