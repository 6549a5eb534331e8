// Copies of every shape: rows, boxes, symbols, device to device, peers in streams; fills of rows.
#include "program.h"

__constant__ int table[64];
__device__ int variable[64];

__global__ void gather(int* out) { out[threadIdx.x] = table[threadIdx.x] * 1000 + variable[63 - threadIdx.x]; }

int main() {
  Random random;
  std::vector<unsigned char> host(64 * 48), back(64 * 48);
  for (auto& value : host) value = random.next();
  unsigned char* pitched = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&pitched, &pitch, 50, 48));
  std::printf("pitch: %d\n", pitch >= 50 && pitch % 32 == 0);
  CHECK(cudaMemset2D(pitched, pitch, 0x5A, 50, 48));
  CHECK(cudaMemcpy2D(pitched + 3 * pitch + 7, pitch, host.data(), 64, 33, 40, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(back.data(), 64, pitched, pitch, 50, 48, cudaMemcpyDeviceToHost));
  show("rows", back);

  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, make_cudaExtent(20, 10, 8)));
  CHECK(cudaMemset3D(box, 0x11, make_cudaExtent(20, 10, 8)));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(host.data(), 16, 16, 12);
  copy.dstPtr = box;
  copy.dstPos = make_cudaPos(2, 1, 3);
  copy.extent = make_cudaExtent(15, 8, 4);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  std::vector<unsigned char> all(20 * 10 * 8);
  cudaMemcpy3DParms read{};
  read.srcPtr = box;
  read.dstPtr = make_cudaPitchedPtr(all.data(), 20, 20, 10);
  read.extent = make_cudaExtent(20, 10, 8);
  read.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&read));
  show("box", all);

  int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = i * i;
  CHECK(cudaMemcpyToSymbol(table, numbers, sizeof(numbers)));
  CHECK(cudaMemcpyToSymbol(variable, numbers, 32 * sizeof(int), 16 * sizeof(int)));
  void* address = nullptr;
  size_t size = 0;
  CHECK(cudaGetSymbolAddress(&address, variable));
  CHECK(cudaGetSymbolSize(&size, variable));
  CHECK(cudaMemset(static_cast<char*>(address) + 200, 0x7F, 8));
  DeviceArray<int> out(64), twice(64);
  gather<<<1, 64>>>(out.get());
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyAsync(twice.get(), out.get() + 10, 40 * sizeof(int), cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("symbol: %zu bytes\n", size);
  show("symbols", twice.host());
  int last = 0;
  CHECK(cudaMemcpyFromSymbol(&last, variable, 4, 200));
  std::printf("last: %x\n", last);
  CHECK(cudaFree(pitched));
  CHECK(cudaFree(box.ptr));
  CHECK(cudaStreamDestroy(stream));
}
