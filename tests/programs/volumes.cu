// Kernels that walk what pitched and 3-D allocations gave, and symbols of each kind. CS-004, CS-005, CS-006.
#include "program.h"

__constant__ float constants[256];
__device__ float single;
__device__ float* pointer;

__global__ void walkRows(char* base, size_t pitch, int width, int height) {
  for (int row = 0; row < height; ++row) {
    float* elements = reinterpret_cast<float*>(base + row * pitch);
    for (int column = threadIdx.x; column < width; column += blockDim.x) elements[column] = row * 100 + column;
  }
}

__global__ void walkSlices(cudaPitchedPtr volume, cudaExtent extent) {
  const size_t slicePitch = volume.pitch * extent.height;
  for (size_t z = blockIdx.x; z < extent.depth; z += gridDim.x)
    for (size_t y = 0; y < extent.height; ++y) {
      auto* row = reinterpret_cast<float*>(static_cast<char*>(volume.ptr) + z * slicePitch + y * volume.pitch);
      for (size_t x = threadIdx.x; x < extent.width / sizeof(float); x += blockDim.x) row[x] = z * 10000 + y * 100 + x;
    }
}

__global__ void useSymbols(float* out) {
  const int i = threadIdx.x;
  out[i] = constants[255 - i] * single + pointer[i];
  __syncthreads();
  if (i == 0) single = 3.0f;
}

int main() {
  const int width = 64, height = 64;
  char* base = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&base, &pitch, width * sizeof(float), height));
  walkRows<<<1, 24>>>(base, pitch, width, height);
  std::vector<float> rows(width * height);
  CHECK(
      cudaMemcpy2D(rows.data(), width * sizeof(float), base, pitch, width * sizeof(float), height, cudaMemcpyDefault));
  std::printf("the pitch is a multiple of 256: %d\n", pitch % 256 == 0);
  show("rows", rows);

  cudaExtent extent = make_cudaExtent(64 * sizeof(float), 64, 64);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, extent));
  std::printf("told back: %zu %zu\n", volume.xsize, volume.ysize);
  walkSlices<<<5, 48>>>(volume, extent);
  std::vector<float> all(64 * 64 * 64);
  cudaMemcpy3DParms read{};
  read.srcPtr = volume;
  read.dstPtr = make_cudaPitchedPtr(all.data(), 64 * sizeof(float), 64, 64);
  read.extent = extent;
  read.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&read));
  show("slices", all);

  float table[256], back[256], value = 4.0f, *memory = nullptr;
  for (int i = 0; i < 256; ++i) table[i] = i * 0.5f;
  CHECK(cudaMemcpyToSymbol(constants, table, sizeof(table)));
  CHECK(cudaMemcpyFromSymbol(back, constants, sizeof(back)));
  CHECK(cudaMemcpyToSymbol(single, &value, sizeof(value)));
  CHECK(cudaMalloc(&memory, sizeof(table)));
  CHECK(cudaMemcpy(memory, table, sizeof(table), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(pointer, &memory, sizeof(memory)));
  DeviceArray<float> out(256);
  useSymbols<<<1, 256>>>(out.get());
  show("symbols", out.host());
  show("constants", std::vector<float>(back, back + 256));
  CHECK(cudaMemcpyFromSymbol(&value, single, sizeof(value)));
  size_t sizes[3];
  void* address = nullptr;
  CHECK(cudaGetSymbolSize(&sizes[0], constants));
  CHECK(cudaGetSymbolSize(&sizes[1], single));
  CHECK(cudaGetSymbolSize(&sizes[2], pointer));
  CHECK(cudaGetSymbolAddress(&address, single));
  float through = 0;
  CHECK(cudaMemcpy(&through, address, sizeof(through), cudaMemcpyDeviceToHost));
  std::printf("%g %g, sizes %zu %zu %zu\n", value, through, sizes[0], sizes[1], sizes[2]);
  CHECK(cudaFree(memory));
  CHECK(cudaFree(volume.ptr));
  CHECK(cudaFree(base));
  finish();
}
