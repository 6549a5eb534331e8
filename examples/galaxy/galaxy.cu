// Two galaxies that meet: every star attracts every other. An ordinary CUDA program, built by nvcc with its static
// runtime, that knows nothing of Vulkan: mulciber run galaxy
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "common/options.h"
#include "common/png.h"

namespace {

constexpr unsigned tile = 256;  // stars that a block keeps in shared memory
constexpr float softening = 0.06f, duration = 2.5f;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "galaxy: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Positions have the mass in w. Each thread moves one star by half a step of the old and half of the new velocity.
__global__ void move(const float4* before, float4* after, float4* velocities, unsigned count, float seconds) {
  __shared__ float4 others[tile];
  const unsigned i = blockIdx.x * tile + threadIdx.x;
  const float4 own = before[i];
  float3 pull = make_float3(0, 0, 0);
  for (unsigned first = 0; first < count; first += tile) {
    others[threadIdx.x] = before[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (unsigned j = 0; j < tile; ++j) {
      const float4 other = others[j];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + softening * softening);
      const float strength = other.w * inverse * inverse * inverse;
      pull.x += x * strength;
      pull.y += y * strength;
      pull.z += z * strength;
    }
    __syncthreads();
  }
  float4 velocity = velocities[i];
  velocity.x += pull.x * seconds;
  velocity.y += pull.y * seconds;
  velocity.z += pull.z * seconds;
  velocities[i] = velocity;
  after[i] =
      make_float4(own.x + velocity.x * seconds, own.y + velocity.y * seconds, own.z + velocity.z * seconds, own.w);
}

struct View {
  float cosine, sine, tilt;  // around the vertical axis, and from above
  float scale;               // pixels for a length of 1
  int width, height;
  float light;  // of each star
};

// Adds a star's light to the pixels around it.
__global__ void shine(const float4* positions, const float4* velocities, float3* image, unsigned count, View view) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = positions[i], v = velocities[i];
  const float x = p.x * view.cosine - p.z * view.sine, depth = p.x * view.sine + p.z * view.cosine;
  const float y = p.y * sqrtf(1 - view.tilt * view.tilt) - depth * view.tilt;
  const float column = 0.5f * view.width + x * view.scale, row = 0.5f * view.height + y * view.scale;
  // The first galaxy's stars are blue, the second's golden; fast ones are whiter.
  const float fast = fminf(0.05f * (v.x * v.x + v.y * v.y + v.z * v.z), 1.0f);
  const float3 colour = v.w < 0.5f ? make_float3(0.28f + 0.6f * fast, 0.45f + 0.4f * fast, 1.0f)
                                   : make_float3(1.0f, 0.55f + 0.3f * fast, 0.22f + 0.55f * fast);
  constexpr int reach = 3;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx) {
      const int at = static_cast<int>(floorf(column)) + dx, line = static_cast<int>(floorf(row)) + dy;
      if (at < 0 || at >= view.width || line < 0 || line >= view.height) continue;
      const float away = (at + 0.5f - column) * (at + 0.5f - column) + (line + 0.5f - row) * (line + 0.5f - row);
      const float light = view.light * (expf(-1.6f * away) + 0.035f * expf(-0.25f * away));
      float3* const pixel = image + line * view.width + at;
      atomicAdd(&pixel->x, colour.x * light);
      atomicAdd(&pixel->y, colour.y * light);
      atomicAdd(&pixel->z, colour.z * light);
    }
}

__device__ unsigned char tone(float light) {
  return static_cast<unsigned char>(255 * powf(1 - expf(-light), 1 / 2.2f) + 0.5f);
}

__global__ void develop(const float3* image, uchar3* bytes, unsigned pixels) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) bytes[i] = make_uchar3(tone(image[i].x), tone(image[i].y), tone(image[i].z));
}

struct Galaxy {
  float3 middle, motion;
  float tilt, mass, radius;
};

// A heavy middle and a disc of stars on circles around it, denser towards the middle.
void place(const Galaxy& galaxy, unsigned first, unsigned count, float which, std::vector<float4>& positions,
           std::vector<float4>& velocities) {
  std::mt19937 random(first + 1);
  const auto uniform = [&] { return static_cast<float>(random() % 1000003) / 1000003.0f; };
  constexpr float pi = 3.14159265f, discShare = 0.25f;
  const float cosine = std::cos(galaxy.tilt), sine = std::sin(galaxy.tilt);
  for (unsigned i = 0; i < count; ++i) {
    const bool isMiddle = i == 0;
    const float share = uniform(), radius = isMiddle ? 0 : galaxy.radius * (0.06f + 0.94f * share * std::sqrt(share));
    const float angle = 2 * pi * uniform();
    const float inside = galaxy.mass * ((1 - discShare) + discShare * share);
    const float speed = isMiddle ? 0 : std::sqrt(inside * radius * radius / std::pow(radius * radius + 0.02f, 1.5f));
    const float x = radius * std::cos(angle), z = radius * std::sin(angle);
    const float y = isMiddle ? 0 : 0.05f * (uniform() + uniform() - 1);
    const float vx = -speed * std::sin(angle), vz = speed * std::cos(angle);
    positions[first + i] = make_float4(
        galaxy.middle.x + x * cosine - y * sine, galaxy.middle.y + x * sine + y * cosine, galaxy.middle.z + z,
        galaxy.mass * (isMiddle ? 1 - discShare : discShare / static_cast<float>(count)));
    velocities[first + i] =
        make_float4(galaxy.motion.x + vx * cosine, galaxy.motion.y + vx * sine, galaxy.motion.z + vz, which);
  }
}

template <class T>
T* allocate(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Options options(
      argc, argv, "galaxy [--stars 65536] [--steps 400] [--width 1280] [--height 720] [--output galaxy.png]",
      {{"stars", "65536"}, {"steps", "400"}, {"width", "1280"}, {"height", "720"}, {"output", "galaxy.png"}});
  const unsigned count = (options.number("stars") + 2 * tile - 1) / (2 * tile) * (2 * tile);  // whole tiles for both
  const unsigned steps = options.number("steps");
  std::vector<float4> positions(count), velocities(count);
  const Galaxy first{{-1.25f, 0.1f, 0.35f}, {0.42f, -0.05f, -0.18f}, 0.35f, 1.0f, 1.15f};
  const Galaxy second{{1.35f, -0.1f, -0.4f}, {-0.46f, 0.05f, 0.2f}, -0.6f, 0.9f, 0.95f};
  place(first, 0, count / 2, 0, positions, velocities);
  place(second, count / 2, count / 2, 1, positions, velocities);

  const size_t bytes = count * sizeof(float4);
  auto *before = allocate<float4>(count), *after = allocate<float4>(count), *motion = allocate<float4>(count);
  check(cudaMemcpy(before, positions.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(motion, velocities.data(), bytes, cudaMemcpyHostToDevice));
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (unsigned step = 0; step < steps; ++step) {
    if (step == 1) check(cudaEventRecord(begin));  // the first step compiles
    move<<<count / tile, tile>>>(before, after, motion, count, duration / static_cast<float>(steps));
    std::swap(before, after);
  }
  check(cudaEventRecord(end));

  const View view{0.94f,
                  0.34f,
                  0.78f,
                  0.21f * static_cast<float>(options.height()),
                  static_cast<int>(options.width()),
                  static_cast<int>(options.height()),
                  0.45f * static_cast<float>(options.width()) * static_cast<float>(options.height()) / 921600 * 65536 /
                      static_cast<float>(count)};
  const unsigned pixels = options.width() * options.height();
  auto* const image = allocate<float3>(pixels);
  auto* const developed = allocate<uchar3>(pixels);
  check(cudaMemset(image, 0, pixels * sizeof(float3)));
  shine<<<count / tile, tile>>>(before, motion, image, count, view);
  develop<<<(pixels + 255) / 256, 256>>>(image, developed, pixels);
  std::vector<uint8_t> rgb(pixels * 3);
  check(cudaMemcpy(rgb.data(), developed, rgb.size(), cudaMemcpyDeviceToHost));
  example::writePng(options.text("output"), options.width(), options.height(), rgb);

  float milliseconds = 0;
  if (steps > 1) check(cudaEventElapsedTime(&milliseconds, begin, end));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  std::printf("%u stars on %s: %.3f ms a step; %s\n", count, properties.name,
              steps > 1 ? milliseconds / static_cast<float>(steps - 1) : 0, options.text("output").c_str());
  return 0;
}
