// What consumers translate ahead of time: parameters of several types, and a variable of the module.
struct Wave {
  float height;
  int length;
};

__device__ int launches = 3;

__global__ void wave(float* out, int count, const Wave shape, float offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = shape.height * static_cast<float>(i % shape.length) + offset;
}

extern "C" __global__ void __launch_bounds__(32) total(const float* in, float* out, int count) {
  __shared__ float sums[32];
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 32) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 32; ++i) sum += sums[i];
  *out = sum + static_cast<float>(launches);
}
