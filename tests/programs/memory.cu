// Pitched and 3-D copies, pinned, mapped, registered and managed memory, pointer attributes.
#include "program.h"

__global__ void fill(char* base, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) reinterpret_cast<int*>(base + y * pitch)[x] = y * 1000 + x;
}
__global__ void increment(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i]++;
}
__global__ void follow(int** pointers, int n) {
  int i = threadIdx.x;
  if (i < n) *pointers[i] += 100;
}
__managed__ int managedVariable = 5;
__global__ void touch() { managedVariable *= 3; }

int main() {
  const int width = 77, height = 20;
  char* base;
  size_t pitch;
  CHECK(cudaMallocPitch(&base, &pitch, width * sizeof(int), height));
  fill<<<dim3(3, height), 32>>>(base, pitch, width, height);
  std::vector<int> host(width * height);
  CHECK(
      cudaMemcpy2D(host.data(), width * sizeof(int), base, pitch, width * sizeof(int), height, cudaMemcpyDeviceToHost));
  show("2-D", host);
  CHECK(cudaMemset2D(base, pitch, 0x7F, 10, height));
  CHECK(
      cudaMemcpy2D(host.data(), width * sizeof(int), base, pitch, width * sizeof(int), height, cudaMemcpyDeviceToHost));
  show("2-D set", host);

  int* mapped;
  CHECK(cudaHostAlloc(&mapped, 1000 * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < 1000; ++i) mapped[i] = i;
  int* alias;
  CHECK(cudaHostGetDevicePointer(&alias, mapped, 0));
  increment<<<4, 256>>>(alias, 1000);
  CHECK(cudaDeviceSynchronize());
  show("mapped", std::vector<int>(mapped, mapped + 1000));

  int* managed;
  CHECK(cudaMallocManaged(&managed, 1000 * sizeof(int)));
  for (int i = 0; i < 1000; ++i) managed[i] = i * 2;
  increment<<<4, 256>>>(managed, 1000);
  CHECK(cudaDeviceSynchronize());
  show("managed", std::vector<int>(managed, managed + 1000));

  int** pointers;
  CHECK(cudaMallocManaged(&pointers, 3 * sizeof(int*)));
  pointers[0] = managed, pointers[1] = managed + 10, pointers[2] = alias;
  follow<<<1, 3>>>(pointers, 3);
  touch<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d %d %d\n", managed[0], managed[10], mapped[0], managedVariable);

  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  std::printf("managed is %d", attributes.type);
  CHECK(cudaPointerGetAttributes(&attributes, mapped));
  std::printf(", mapped is %d", attributes.type);
  CHECK(cudaPointerGetAttributes(&attributes, base + 100));
  std::printf(", device is %d", attributes.type);
  CHECK(cudaPointerGetAttributes(&attributes, host.data()));
  std::printf(", host is %d\n", attributes.type);

  cudaExtent extent = make_cudaExtent(40, 6, 5);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, extent));
  CHECK(cudaMemset3D(volume, 0x21, extent));
  std::vector<char> bytes(40 * 6 * 5);
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = volume;
  parameters.dstPtr = make_cudaPitchedPtr(bytes.data(), 40, 40, 6);
  parameters.extent = extent;
  parameters.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&parameters));
  show("3-D", bytes);
  for (void* pointer :
       {static_cast<void*>(base), static_cast<void*>(managed), static_cast<void*>(pointers), volume.ptr})
    CHECK(cudaFree(pointer));
  CHECK(cudaFreeHost(mapped));
}
