// Compiled to kernels.ptx with: nvcc -ptx -arch=compute_75 kernels.cu
#include <cstdio>

struct Vertex {
  float4 position, colour;
};

// Two triangles over columns [8 * frame, 8 * frame + 8) of an image 64 wide.
extern "C" __global__ void quad(Vertex* vertices, int frame) {
  const int i = threadIdx.x;
  const int right = i == 1 || i == 2 || i == 4, bottom = i == 2 || i == 4 || i == 5;
  const float x = (8 * frame + 8 * right) / 32.0f - 1.0f;
  vertices[i].position = make_float4(x, bottom ? 1.0f : -1.0f, 0.0f, 1.0f);
  vertices[i].colour = make_float4(frame / 255.0f, 1.0f, 0.0f, 1.0f);
}

extern "C" __global__ void add(int* data, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += value;
}

// Each element becomes the sum of its neighbours' squares: wrong when not after what wrote them.
extern "C" __global__ void squares(int* out, const int* in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * in[i] + in[(i + 1) % count] * in[(i + 1) % count];
}

struct Table {
  int values[128];
};

extern "C" __global__ void addTable(int* data, Table table) { data[threadIdx.x] += table.values[threadIdx.x % 128]; }

__device__ int offset = 7;
extern "C" __global__ void addOffset(int* data) { data[threadIdx.x] += offset; }

extern "C" __global__ void print(int value) { printf("%d\n", value); }
extern "C" __global__ void allocate(int** out) { *out = static_cast<int*>(malloc(64)); }
extern "C" __global__ void fail() { __trap(); }

// Doubles the red of what the texture has, mirrored from left to right, and writes it into the surface.
extern "C" __global__ void mirror(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float4 texel = tex2D<float4>(from, (width - 1 - x + 0.5f) / width, (y + 0.5f) / height);
  const uchar4 out = make_uchar4(static_cast<unsigned char>(texel.x * 255.0f * 2.0f + 0.5f),
                                 static_cast<unsigned char>(texel.y * 255.0f + 0.5f), x, y);
  surf2Dwrite(out, to, x * 4, y);
}
