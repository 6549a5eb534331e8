// Images made through textures and surfaces: a bilateral filter, a bicubic zoom, a marched volume, a cubemap, and a
// chain of mipmaps that surfaces write. Texels are bytes, whose filters are exact. With a folder as argument they are
// written there as PPM files.
#include "program.h"

#include <string>

constexpr int kSize = 64;

__device__ uchar4 pack(float4 c) {
  auto byte = [](float v) { return static_cast<unsigned char>(fminf(fmaxf(v, 0.0f), 1.0f) * 255.0f + 0.5f); };
  return make_uchar4(byte(c.x), byte(c.y), byte(c.z), 255);
}
__device__ int pixel(int& x, int& y) {
  x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  return y * kSize + x;
}

__global__ void bilateral(cudaTextureObject_t image, uchar4* out) {
  int x, y;
  const int i = pixel(x, y);
  const float4 middle = tex2D<float4>(image, x + 0.5f, y + 0.5f);
  float4 sum = make_float4(0, 0, 0, 0);
  float weights = 0;
#pragma unroll 1
  for (int dy = -3; dy <= 3; ++dy)
#pragma unroll 1
    for (int dx = -3; dx <= 3; ++dx) {
      const float4 c = tex2D<float4>(image, x + dx + 0.5f, y + dy + 0.5f);
      const float r = c.x - middle.x, g = c.y - middle.y, b = c.z - middle.z;
      const float distance = r * r + g * g + b * b,
                  weight = __frcp_rn(1.0f + (dx * dx + dy * dy) * 0.125f + distance * 40.0f);
      sum.x += c.x * weight, sum.y += c.y * weight, sum.z += c.z * weight;
      weights += weight;
    }
  const float scale = __frcp_rn(weights);
  out[i] = pack(make_float4(sum.x * scale, sum.y * scale, sum.z * scale, 1));
}

// A cubic B-spline of 16 texels by four filtered reads.
__global__ void bicubic(cudaTextureObject_t image, uchar4* out, float zoom) {
  int x, y;
  const int i = pixel(x, y);
  const float px = (x + 0.5f) * zoom + 9.0f, py = (y + 0.5f) * zoom + 17.0f;
  const float bx = floorf(px - 0.5f) + 0.5f, by = floorf(py - 0.5f) + 0.5f, fx = px - bx, fy = py - by;
  auto weights = [](float f, float* w) {
    const float g = 1.0f - f;
    w[0] = g * g * g * (1.0f / 6), w[3] = f * f * f * (1.0f / 6);
    w[1] = (2.0f / 3) - 0.5f * f * f * (2.0f - f), w[2] = 1.0f - w[0] - w[1] - w[3];
  };
  float wx[4], wy[4];
  weights(fx, wx), weights(fy, wy);
  const float gx[2] = {wx[0] + wx[1], wx[2] + wx[3]}, gy[2] = {wy[0] + wy[1], wy[2] + wy[3]};
  const float hx[2] = {bx - 1.0f + __fdiv_rn(wx[1], gx[0]), bx + 1.0f + __fdiv_rn(wx[3], gx[1])};
  const float hy[2] = {by - 1.0f + __fdiv_rn(wy[1], gy[0]), by + 1.0f + __fdiv_rn(wy[3], gy[1])};
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    const float4 c = tex2D<float4>(image, hx[k % 2], hy[k / 2]);
    const float weight = gx[k % 2] * gy[k / 2];
    sum.x += c.x * weight, sum.y += c.y * weight, sum.z += c.z * weight;
  }
  out[i] = pack(sum);
}

__global__ void march(cudaTextureObject_t volume, uchar4* out) {
  int x, y;
  const int i = pixel(x, y);
  float light = 1, colour = 0, depth = 0;
#pragma unroll 1
  for (int k = 0; k < 48; ++k) {
    const float z = (k + 0.5f) / 48, u = (x + 0.5f) / kSize + (z - 0.5f) * 0.25f, v = (y + 0.5f) / kSize;
    const float density = tex3D<float>(volume, u, v, z) * 0.125f;
    colour += light * density * z;
    depth += light * density;
    light *= 1.0f - density;
  }
  out[i] = pack(make_float4(colour, depth, light, 1));
}

// The sphere of directions, seen from without.
__global__ void lookUp(cudaTextureObject_t points, cudaTextureObject_t filtered, uchar4* out) {
  int x, y;
  const int i = pixel(x, y);
  const float u = (x + 0.5f) / (kSize / 2) - 1, v = (y + 0.5f) / (kSize / 2) - 1, w = 1.0f - u * u - v * v;
  const float4 c = w > 0 ? texCubemap<float4>(points, u, v, w) : texCubemap<float4>(filtered, u, v, w);
  out[i] = pack(c);
}

__global__ void halve(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  int x, y;
  pixel(x, y);
  int sum[3] = {};
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    const uchar4 c = surf2Dread<uchar4>(from, (2 * x + k % 2) * 4, 2 * y + k / 2);
    sum[0] += c.x, sum[1] += c.y, sum[2] += c.z;
  }
  surf2Dwrite(make_uchar4((sum[0] + 2) / 4, (sum[1] + 2) / 4, (sum[2] + 2) / 4, 255), to, x * 4, y);
}

__global__ void showLevels(cudaTextureObject_t chain, uchar4* out) {
  int x, y;
  const int i = pixel(x, y);
  out[i] = pack(tex2DLod<float4>(chain, (x + 0.5f) / kSize, (y + 0.5f) / kSize, x / 13));
}

cudaTextureObject_t textureOf(const cudaResourceDesc& resource, bool isFiltered, bool isNormalized) {
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = isFiltered ? cudaFilterModeLinear : cudaFilterModePoint;
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = isNormalized;
  how.maxMipmapLevelClamp = 10;
  cudaTextureObject_t made = 0;
  CHECK(cudaCreateTextureObject(&made, &resource, &how, nullptr));
  return made;
}
cudaResourceDesc resourceOf(cudaArray_t array) {
  cudaResourceDesc made{};
  made.resType = cudaResourceTypeArray;
  made.res.array.array = array;
  return made;
}
cudaSurfaceObject_t surfaceOf(cudaArray_t array) {
  const cudaResourceDesc resource = resourceOf(array);
  cudaSurfaceObject_t made = 0;
  CHECK(cudaCreateSurfaceObject(&made, &resource));
  return made;
}
void fill(cudaArray_t array, const void* texels, size_t texelBytes, cudaExtent extent) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(texels), extent.width * texelBytes, extent.width, extent.height);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
}

int main(int count, char** arguments) {
  Random random;
  // Circles of colours, with noise.
  std::vector<uchar4> picture(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    const int x = i % kSize - 20, y = i / kSize - 28, ring = (x * x + y * y) / 90 % 4;
    auto noisy = [&](int value) { return static_cast<unsigned char>(value * 3 / 4 + random.next() % 64); };
    picture[i].w = 255, picture[i].z = noisy(x > 0 ? 200 : 20);
    picture[i].y = noisy(ring == 1 ? 255 : 30), picture[i].x = noisy(ring * 80);
  }
  std::vector<unsigned char> density(32 * 32 * 32);
  for (int i = 0; i < 32 * 32 * 32; ++i) {
    const int x = i % 32 - 16, y = i / 32 % 32 - 16, z = i / 1024 - 16, r = x * x + y * y + z * z;
    density[i] = static_cast<unsigned char>(r < 160 ? 255 - r + random.next() % 16 : 0);
  }
  const dim3 block(16, 16), grid(kSize / 16, kSize / 16);
  const auto colours = cudaCreateChannelDesc<uchar4>(), bytes = cudaCreateChannelDesc<unsigned char>();
  DeviceArray<uchar4> out(picture.size());
  auto finishImage = [&](const char* name) {
    finish();
    show(name, out.host());
    if (count < 2) return;
    FILE* file = std::fopen((std::string(arguments[1]) + "/" + name + ".ppm").c_str(), "wb");
    if (!file) return;
    std::fprintf(file, "P6 %d %d 255\n", kSize, kSize);
    for (const uchar4 c : out.host()) std::fwrite(&c, 1, 3, file);
    std::fclose(file);
  };

  cudaArray_t image, volume, cube, levels[4];
  CHECK(cudaMallocArray(&image, &colours, kSize, kSize));
  fill(image, picture.data(), 4, make_cudaExtent(kSize, kSize, 1));
  bilateral<<<grid, block>>>(textureOf(resourceOf(image), false, false), out.get());
  finishImage("bilateral");
  bicubic<<<grid, block>>>(textureOf(resourceOf(image), true, false), out.get(), 0.3f);
  finishImage("bicubic");

  CHECK(cudaMalloc3DArray(&volume, &bytes, make_cudaExtent(32, 32, 32)));
  fill(volume, density.data(), 1, make_cudaExtent(32, 32, 32));
  march<<<grid, block>>>(textureOf(resourceOf(volume), true, true), out.get());
  finishImage("volume");

  CHECK(cudaMalloc3DArray(&cube, &colours, make_cudaExtent(16, 16, 6), cudaArrayCubemap));
  fill(cube, picture.data(), 4, make_cudaExtent(16, 16, 6));
  lookUp<<<grid, block>>>(textureOf(resourceOf(cube), false, true), textureOf(resourceOf(cube), true, true), out.get());
  finishImage("cubemap");

  cudaMipmappedArray_t chain;
  CHECK(cudaMallocMipmappedArray(&chain, &colours, make_cudaExtent(kSize, kSize, 0), 4, cudaArraySurfaceLoadStore));
  for (int level = 0; level < 4; ++level) CHECK(cudaGetMipmappedArrayLevel(&levels[level], chain, level));
  fill(levels[0], picture.data(), 4, make_cudaExtent(kSize, kSize, 1));
  for (int level = 1; level < 4; ++level) {
    const int size = kSize >> level, side = size < 16 ? size : 16;
    halve<<<dim3(size / side, size / side), dim3(side, side)>>>(surfaceOf(levels[level - 1]), surfaceOf(levels[level]));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = chain;
  showLevels<<<grid, block>>>(textureOf(resource, true, true), out.get());
  finishImage("mipmaps");
}
