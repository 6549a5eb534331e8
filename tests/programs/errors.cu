// What the runtime answers to misuse.
#include "program.h"

__global__ void kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

static void report(const char* what, cudaError_t status) {
  std::printf("%s: %d %s (%s)\n", what, status, cudaGetErrorName(status), cudaGetErrorString(status));
}

int main() {
  int* pointer = nullptr;
  report("malloc of nothing", cudaMalloc(&pointer, 0));
  report("malloc too large", cudaMalloc(&pointer, size_t(1) << 60));
  report("last error", cudaGetLastError());
  report("and again", cudaGetLastError());
  report("null destination", cudaMemcpy(nullptr, &pointer, 4, cudaMemcpyHostToDevice));
  report("bad kind", cudaMemcpy(&pointer, &pointer, 4, static_cast<cudaMemcpyKind>(77)));
  int local = 0;
  report("free of a host pointer", cudaFree(&local));
  report("free of null", cudaFree(nullptr));
  cudaGetLastError();
  kernel<<<1, 2000>>>(nullptr);
  report("too many threads", cudaGetLastError());
  kernel<<<0, 1>>>(nullptr);
  report("no blocks", cudaGetLastError());
  kernel<<<1, 1, 1 << 24>>>(nullptr);
  report("too much shared memory", cudaGetLastError());
  int* nothing = nullptr;
  void* arguments[] = {&nothing};
  report("too many threads, called",
         cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(2000), arguments, 0, nullptr));
  cudaGetLastError();
  report("bad device", cudaSetDevice(1000));
  cudaEvent_t a, b;
  float time;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  report("elapsed before record", cudaEventElapsedTime(&time, a, b));
  report("query of a new event", cudaEventQuery(a));
  report("attribute", cudaDeviceGetAttribute(&local, static_cast<cudaDeviceAttr>(100000), 0));
  report("peek", cudaPeekAtLastError());
  report("last", cudaGetLastError());
}
