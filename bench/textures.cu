// Textures, surfaces and arrays: images of 2,048 x 2,048 texels, volumes of 128 x 128 x 128.
#include "bench.h"

namespace {

enum Memory { Array, Pitched };

// What lies in it is random, the same natively and here.
template <class T>
cudaResourceDesc image(Memory memory, int width, int height, T* texels) {
  cudaResourceDesc resource{};
  const auto channels = cudaCreateChannelDesc<T>();
  if (memory == Pitched) {
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = texels;
    resource.res.pitch2D.desc = channels;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = width * sizeof(T);
    return resource;
  }
  resource.resType = cudaResourceTypeArray;
  CHECK(cudaMallocArray(&resource.res.array.array, &channels, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, texels, width * sizeof(T), width * sizeof(T), height,
                            cudaMemcpyDeviceToDevice));
  return resource;
}

cudaResourceDesc volume(int width, int height, int depth, float* texels, unsigned flags) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  const auto channels = cudaCreateChannelDesc<float>();
  const auto extent = make_cudaExtent(width, height, depth);
  CHECK(cudaMalloc3DArray(&resource.res.array.array, &channels, extent, flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels, width * sizeof(float), width, height);
  copy.dstArray = resource.res.array.array;
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return resource;
}

enum How { Texels = 0, Normalized = 1, Linear = 2, Wrap = 4, Fractions = 8 };

cudaTextureObject_t texture(const cudaResourceDesc& resource, int how) {
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = how & Wrap ? cudaAddressModeWrap : cudaAddressModeClamp;
  description.filterMode = how & Linear ? cudaFilterModeLinear : cudaFilterModePoint;
  description.normalizedCoords = how & Normalized ? 1 : 0;
  description.readMode = how & Fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &description, nullptr));
  return object;
}

__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

template <class T>
__global__ void scale(cudaTextureObject_t source, T* out, int width, int height, float stepX, float stepY) {
  const int x = column(), y = row();
  if (x < width && y < height) out[y * width + x] = tex2D<T>(source, (x + 0.25f) * stepX, (y + 0.75f) * stepY);
}

__constant__ float taps[17];
template <bool isRow>
__global__ void convolve(cudaTextureObject_t source, float* out, int width, int height) {
  const int x = column(), y = row();
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int i = -8; i <= 8; ++i)
    sum += taps[i + 8] * tex2D<float>(source, x + 0.5f + (isRow ? i : 0), y + 0.5f + (isRow ? 0 : i));
  out[y * width + x] = sum;
}

__global__ void march(cudaTextureObject_t source, float* out, int width, int height, float extent) {
  const int x = column(), y = row();
  if (x >= width || y >= height) return;
  float u = x * extent / width, v = y * extent / height, sum = 0;
  for (int i = 0; i < 64; ++i) {
    const float w = (i + 0.3f) * extent / 64;
    sum += tex3D<float>(source, u, v, w);
    u += extent / 1024, v += extent / 2048;
  }
  out[y * width + x] = sum;
}

__global__ void readLayers(cudaTextureObject_t source, float* out, int width, int height, int layers) {
  const int x = column(), y = row();
  if (x >= width || y >= height) return;
  for (int layer = 0; layer < layers; ++layer)
    out[(layer * height + y) * width + x] = tex2DLayered<float>(source, x + 0.3f, y + 0.8f, layer);
}

__global__ void gather(cudaTextureObject_t source, const int* indices, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<float>(source, indices[i]);
}
__global__ void makeIndices(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = int(bench::mix(i) % count);
}

template <class T>
__global__ void writeSurface(cudaSurfaceObject_t surface, const T* in, int width, int height) {
  const int x = column(), y = row();
  if (x < width && y < height) surf2Dwrite(in[y * width + x], surface, x * int(sizeof(T)), y);
}
template <class T>
__global__ void readSurface(cudaSurfaceObject_t surface, T* out, int width, int height) {
  const int x = column(), y = row();
  if (x < width && y < height) out[y * width + x] = surf2Dread<T>(surface, x * int(sizeof(T)), y);
}

void perCall(const char* name, const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < 9; ++round) {
    const double start = microseconds();
    for (int i = 0; i < 10; ++i) work();
    times.push_back((microseconds() - start) / 10);
  }
  report("overhead", name, median(times), "us");
}

}  // namespace

int main(int argc, char** argv) {
  const Suite suite("textures", argc, argv);
  const int size = suite.size(2048, 64), edge = suite.size(128, 16), layers = suite.size(4, 2);
  const size_t texels = size_t(size) * size;
  const dim3 block(32, 8), grid((size + 31) / 32, (size + 7) / 8);
  float* const floats = randomFloats(texels);
  auto* const bytes = reinterpret_cast<uchar4*>(randomArray<unsigned>(texels, 251, 77));
  auto* const out = deviceArray<float>(texels);
  auto* const wide = deviceArray<float4>(texels);
  float weights[17];
  for (int i = 0; i < 17; ++i) weights[i] = 1.0f / (1 + abs(i - 8));
  CHECK(cudaMemcpyToSymbol(taps, weights, sizeof weights));
  const auto check = exactly(out, texels), checkWide = exactly(wide, texels);

  for (const Memory memory : {Array, Pitched}) {
    const auto name = [&](const char* what) {
      return *new std::string(std::string(what) + (memory == Array ? ", array" : ", pitched"));
    };
    const cudaResourceDesc ofFloats = image(memory, size, size, floats), ofBytes = image(memory, size, size, bytes);
    const auto inTexels = texture(ofFloats, Linear), normalized = texture(ofFloats, Linear | Normalized | Wrap);
    const auto fractions = texture(ofBytes, Linear | Fractions), point = texture(ofFloats, 0);
    const auto integers = texture(ofBytes, 0);
    suite.run(
        name("scaling floats, texel coordinates").c_str(),
        [=] { scale<<<grid, block>>>(inTexels, out, size, size, 0.77f, 0.61f); }, check);
    suite.run(
        name("scaling floats, normalized, wrap").c_str(),
        [=] { scale<<<grid, block>>>(normalized, out, size, size, 1.3f / size, 0.61f / size); }, check);
    suite.run(
        name("scaling 4 bytes as fractions").c_str(),
        [=] { scale<<<grid, block>>>(fractions, wide, size, size, 0.77f, 0.61f); }, checkWide);
    suite.run(
        name("point reads").c_str(), [=] { scale<<<grid, block>>>(point, out, size, size, 0.77f, 0.61f); }, check);
    suite.run(
        name("point reads of 4 bytes").c_str(),
        [=] { scale<<<grid, block>>>(integers, reinterpret_cast<uchar4*>(out), size, size, 0.77f, 0.61f); }, check);
    suite.run(
        name("convolution of rows, point").c_str(), [=] { convolve<true><<<grid, block>>>(point, out, size, size); },
        check);
    suite.run(
        name("convolution of columns, point").c_str(),
        [=] { convolve<false><<<grid, block>>>(point, out, size, size); }, check);
  }

  const cudaResourceDesc ofVolume = volume(edge, edge, edge, floats, 0);
  const auto marched = texture(ofVolume, Linear | Normalized), marchedInTexels = texture(ofVolume, Linear);
  suite.run(
      "ray marching, 64 steps, normalized", [=] { march<<<grid, block>>>(marched, out, size, size, 1); }, check);
  suite.run(
      "ray marching, 64 steps, texel coordinates",
      [=] { march<<<grid, block>>>(marchedInTexels, out, size, size, float(edge)); }, check);
  const int side = size / 2;
  const cudaResourceDesc ofLayers = volume(side, side, layers, floats, cudaArrayLayered);
  const auto layersLinear = texture(ofLayers, Linear), layersPoint = texture(ofLayers, 0);
  const dim3 smallGrid((side + 31) / 32, (side + 7) / 8);
  suite.run(
      "layered reads, linear, texel coordinates",
      [=] { readLayers<<<smallGrid, block>>>(layersLinear, out, side, side, layers); }, check);
  suite.run(
      "layered reads, point", [=] { readLayers<<<smallGrid, block>>>(layersPoint, out, side, side, layers); }, check);

  cudaResourceDesc row{};
  row.resType = cudaResourceTypeLinear;
  row.res.linear.devPtr = floats;
  row.res.linear.desc = cudaCreateChannelDesc<float>();
  row.res.linear.sizeInBytes = texels * sizeof(float);
  const auto line = texture(row, 0);
  auto* const indices = deviceArray<int>(texels);
  makeIndices<<<unsigned(texels + 255) / 256, 256>>>(indices, int(texels));
  suite.run(
      "tex1Dfetch gather", [=] { gather<<<unsigned(texels + 255) / 256, 256>>>(line, indices, out, int(texels)); },
      check);

  const cudaResourceDesc written = image(Array, size, size, floats), writtenBytes = image(Array, size, size, bytes);
  cudaSurfaceObject_t surface, surfaceOfBytes;
  CHECK(cudaCreateSurfaceObject(&surface, &written));
  CHECK(cudaCreateSurfaceObject(&surfaceOfBytes, &writtenBytes));
  const auto checkArray = [&](const cudaResourceDesc& resource) {
    return [=] {
      CHECK(cudaMemcpy2DFromArray(out, size * 4, resource.res.array.array, 0, 0, size * 4, size,
                                  cudaMemcpyDeviceToDevice));
      return check();
    };
  };
  suite.run(
      "surface writes of floats", [=] { writeSurface<<<grid, block>>>(surface, floats, size, size); },
      checkArray(written));
  suite.run(
      "surface reads of floats", [=] { readSurface<<<grid, block>>>(surface, out, size, size); }, check);
  suite.run(
      "surface writes of 4 bytes", [=] { writeSurface<<<grid, block>>>(surfaceOfBytes, bytes, size, size); },
      checkArray(writtenBytes));

  const size_t rowBytes = size * sizeof(float);
  float* pinned;
  CHECK(cudaMallocHost(&pinned, texels * sizeof(float)));
  std::memset(pinned, 1, texels * sizeof(float));
  std::vector<float> pageable(texels, 2.0f);
  const cudaArray_t array = written.res.array.array;
  perCall("upload of 16 MiB, pinned", [=] {
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pinned, rowBytes, rowBytes, size, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
  });
  perCall("download of 16 MiB, pinned",
          [=] { CHECK(cudaMemcpy2DFromArray(pinned, rowBytes, array, 0, 0, rowBytes, size, cudaMemcpyDeviceToHost)); });
  perCall("upload of 16 MiB, pageable", [&] {
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pageable.data(), rowBytes, rowBytes, size, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
  });
  perCall("device memory to array, 16 MiB", [=] {
    CHECK(cudaMemcpy2DToArray(array, 0, 0, floats, rowBytes, rowBytes, size, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
  });

  const cudaResourceDesc pitched = image(Pitched, size, size, floats);
  perCall("creating and destroying a texture, array",
          [&] { CHECK(cudaDestroyTextureObject(texture(written, Linear))); });
  perCall("creating and destroying a texture, pitched",
          [&] { CHECK(cudaDestroyTextureObject(texture(pitched, Linear))); });
  perCall("creating and destroying a surface", [&] {
    cudaSurfaceObject_t made;
    CHECK(cudaCreateSurfaceObject(&made, &written));
    CHECK(cudaDestroySurfaceObject(made));
  });
  perCall("creating and destroying an array", [=] {
    cudaArray_t made;
    const auto channels = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&made, &channels, size, size));
    CHECK(cudaFreeArray(made));
  });
}
