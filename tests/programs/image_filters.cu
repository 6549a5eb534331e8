// A blur in two passes with borders, a median, an edge filter and a bilinear resize of bytes and floats.
#include "program.h"

constexpr int kWidth = 96, kHeight = 64;
__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__device__ int clampTo(int v, int size) { return min(max(v, 0), size - 1); }

__global__ void blur(const float* in, float* out, bool vertical) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = -2; k <= 2; ++k)
    sum += weights[k + 2] *
           in[clampTo(y + (vertical ? k : 0), kHeight) * kWidth + clampTo(x + (vertical ? 0 : k), kWidth)];
  out[y * kWidth + x] = sum;
}
__global__ void median(const unsigned char* in, unsigned char* out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  unsigned char v[9];
  for (int k = 0; k < 9; ++k) v[k] = in[clampTo(y + k / 3 - 1, kHeight) * kWidth + clampTo(x + k % 3 - 1, kWidth)];
  for (int i = 1; i < 9; ++i)
    for (int j = i; j > 0 && v[j - 1] > v[j]; --j) {
      const unsigned char t = v[j];
      v[j] = v[j - 1], v[j - 1] = t;
    }
  out[y * kWidth + x] = v[4];
}
__global__ void edges(const unsigned char* in, unsigned short* out) {
  __shared__ unsigned char tile[18][18];
  const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256)
    tile[i / 18][i % 18] = in[clampTo(y0 + i / 18, kHeight) * kWidth + clampTo(x0 + i % 18, kWidth)];
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  const int h = tile[y - 1][x + 1] + 2 * tile[y][x + 1] + tile[y + 1][x + 1] - tile[y - 1][x - 1] - 2 * tile[y][x - 1] -
                tile[y + 1][x - 1];
  const int v = tile[y + 1][x - 1] + 2 * tile[y + 1][x] + tile[y + 1][x + 1] - tile[y - 1][x - 1] - 2 * tile[y - 1][x] -
                tile[y - 1][x + 1];
  out[(y0 + y) * kWidth + x0 + x] = abs(h) + abs(v);
}
__global__ void resize(const uchar4* in, uchar4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % 60, y = i / 60;
  const float sx = x * (23.0f / 59), sy = y * (15.0f / 39);
  const int x0 = static_cast<int>(sx), y0 = static_cast<int>(sy);
  const float fx = sx - x0, fy = sy - y0;
  const uchar4 a = in[y0 * 24 + x0], b = in[y0 * 24 + min(x0 + 1, 23)], c = in[min(y0 + 1, 15) * 24 + x0],
               d = in[min(y0 + 1, 15) * 24 + min(x0 + 1, 23)];
  auto mix = [&](int p, int q, int r, int s) {
    return static_cast<unsigned char>((p * (1 - fx) + q * fx) * (1 - fy) + (r * (1 - fx) + s * fx) * fy + 0.5f);
  };
  out[i] =
      make_uchar4(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y), mix(a.z, b.z, c.z, d.z), mix(a.w, b.w, c.w, d.w));
}

int main() {
  Random random;
  std::vector<float> f(kWidth * kHeight);
  std::vector<unsigned char> bytes(kWidth * kHeight);
  for (auto& value : f) value = random.unit();
  for (auto& value : bytes) value = random.next();
  DeviceArray<float> a(f), b(f.size());
  DeviceArray<unsigned char> c(bytes), d(bytes.size());
  DeviceArray<unsigned short> e(bytes.size());
  DeviceArray<uchar4> g(60 * 40);
  const dim3 grid(kWidth / 16, kHeight / 16), block(16, 16);
  blur<<<grid, block>>>(a.get(), b.get(), false);
  blur<<<grid, block>>>(b.get(), a.get(), true);
  median<<<grid, block>>>(c.get(), d.get());
  edges<<<grid, block>>>(c.get(), e.get());
  resize<<<25, 96>>>(reinterpret_cast<const uchar4*>(c.get()), g.get());
  finish();
  show("blur", a.host());
  show("median", d.host());
  show("edges", e.host());
  show("resize", g.host());
}
