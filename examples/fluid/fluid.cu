// Smoke in an upright wind tunnel. CUDA kernels sample the flow through textures and write it through surfaces, after
// Stam's "Stable Fluids" and Fedkiw's vorticity confinement. Then comes the light through the smoke, and its glow.
// Compiled to fluid.ptx with: nvcc -ptx -arch=compute_75 fluid.cu
//
// Velocities are in heights of the picture per second. Texture coordinates run from 0 to 1. Textures called
// `smooth` are filtered between texels; the others are read texel by texel.
#include <cuda_fp16.h>

using Texture = cudaTextureObject_t;
using Surface = cudaSurfaceObject_t;

// The ball in the way: its middle, of a picture that is 1 high, and its radius. fluid.frag draws it.
constexpr float ballX = 0.5f, ballY = 0.45f, ballRadius = 0.11f;

struct Cell {
  int x, y, width, height;
  __device__ Cell(int w, int h)
      : x(blockIdx.x * blockDim.x + threadIdx.x), y(blockIdx.y * blockDim.y + threadIdx.y), width(w), height(h) {}
  __device__ bool isOutside() const { return x >= width || y >= height; }
  __device__ float u(float cells = 0) const { return (x + 0.5f + cells) / width; }
  __device__ float v(float cells = 0) const { return (y + 0.5f + cells) / height; }
  __device__ float aspect() const { return static_cast<float>(width) / height; }
  // From the middle of the ball, which is in the middle of the picture's width; below zero inside.
  __device__ float distanceToBall() const { return hypotf((u() - ballX) * aspect(), v() - ballY) - ballRadius; }
};

template <class Value>
__device__ Value at(Texture field, const Cell& cell, float x = 0, float y = 0) {
  return tex2D<Value>(field, cell.u(x), cell.v(y));
}

// A field of colours is made of half floats.
__device__ void store(Surface field, const Cell& cell, float4 value) {
  const __half2 low = __floats2half2_rn(value.x, value.y), high = __floats2half2_rn(value.z, value.w);
  surf2Dwrite(make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high)), field,
              cell.x * 8, cell.y);
}

__device__ float bump(float distance, float width) { return expf(-distance * distance / (width * width)); }

// Carries velocities and smoke along with the flow. Three nozzles at the lower edge let smoke in; what is hot rises.
extern "C" __global__ void carry(Texture smoothVelocity, Texture smoothSmoke, Surface newVelocity, Surface newSmoke,
                                 int width, int height, float seconds, float time) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  const float2 flow = at<float2>(smoothVelocity, cell);
  const float u = cell.u() - flow.x * seconds / cell.aspect(), v = cell.v() - flow.y * seconds;
  float2 speed = tex2D<float2>(smoothVelocity, u, v);
  float4 colour = tex2D<float4>(smoothSmoke, u, v);
  const float fading = expf(-0.12f * seconds);
  colour = make_float4(colour.x * fading, colour.y * fading, colour.z * fading, colour.w * expf(-0.5f * seconds));
  const float3 colours[] = {{1.0f, 0.32f, 0.06f}, {0.95f, 0.85f, 0.65f}, {0.08f, 0.35f, 1.0f}};
  for (int i = 0; i < 3; ++i) {
    const float swing = 0.05f * sinf(time * (0.9f + 0.23f * i) + 2 * i);
    const float x = (cell.u() - 0.5f) * cell.aspect() - 0.23f * (i - 1) - swing;
    const float amount = bump(x, 0.030f) * bump(cell.v() - 0.97f, 0.035f) * fminf(12 * seconds, 1.0f);
    colour.x += (colours[i].x - colour.x) * amount;
    colour.y += (colours[i].y - colour.y) * amount;
    colour.z += (colours[i].z - colour.z) * amount;
    colour.w += (1 - colour.w) * amount;
    speed.y += (-0.55f - speed.y) * amount;
  }
  speed.y -= 0.45f * colour.w * seconds;  // up is towards row 0
  if (cell.distanceToBall() < 0) {
    speed = make_float2(0, 0);
    colour = make_float4(0, 0, 0, 0);
  }
  surf2Dwrite(speed, newVelocity, cell.x * 8, cell.y);
  store(newSmoke, cell, colour);
}

__device__ float curl(Texture velocity, const Cell& cell, float x, float y) {
  return (at<float2>(velocity, cell, x + 1, y).y - at<float2>(velocity, cell, x - 1, y).y -
          at<float2>(velocity, cell, x, y + 1).x + at<float2>(velocity, cell, x, y - 1).x) *
         0.5f * cell.height;
}

// Small whirls are lost between texels: what remains of them is turned a little faster.
extern "C" __global__ void whirl(Texture velocity, Surface newVelocity, int width, int height, float seconds,
                                 float strength) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  const float turn = curl(velocity, cell, 0, 0);
  const float towardsX = fabsf(curl(velocity, cell, 1, 0)) - fabsf(curl(velocity, cell, -1, 0));
  const float towardsY = fabsf(curl(velocity, cell, 0, 1)) - fabsf(curl(velocity, cell, 0, -1));
  const float scale = strength * seconds * rsqrtf(towardsX * towardsX + towardsY * towardsY + 1e-6f) / cell.height;
  const float2 speed = at<float2>(velocity, cell);
  surf2Dwrite(make_float2(speed.x + towardsY * turn * scale, speed.y - towardsX * turn * scale), newVelocity,
              cell.x * 8, cell.y);
}

// How much flows out of each cell. Nothing flows through the edges but the upper and the lower one.
extern "C" __global__ void diverge(Texture velocity, Surface divergence, int width, int height) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  const float left = cell.x == 0 ? 0 : at<float2>(velocity, cell, -1, 0).x;
  const float right = cell.x == width - 1 ? 0 : at<float2>(velocity, cell, 1, 0).x;
  const float above = at<float2>(velocity, cell, 0, -1).y, below = at<float2>(velocity, cell, 0, 1).y;
  surf2Dwrite(0.5f * (right - left + below - above), divergence, cell.x * 4, cell.y);
}

// One of Jacobi's steps towards the pressure that undoes it.
extern "C" __global__ void relax(Texture pressure, Texture divergence, Surface newPressure, int width, int height) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  const float around = at<float>(pressure, cell, -1, 0) + at<float>(pressure, cell, 1, 0) +
                       at<float>(pressure, cell, 0, -1) + at<float>(pressure, cell, 0, 1);
  surf2Dwrite(0.25f * (around - at<float>(divergence, cell)), newPressure, cell.x * 4, cell.y);
}

extern "C" __global__ void project(Texture velocity, Texture pressure, Surface newVelocity, int width, int height) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  float2 speed = at<float2>(velocity, cell);
  speed.x -= 0.5f * (at<float>(pressure, cell, 1, 0) - at<float>(pressure, cell, -1, 0));
  speed.y -= 0.5f * (at<float>(pressure, cell, 0, 1) - at<float>(pressure, cell, 0, -1));
  if (cell.distanceToBall() < 0) speed = make_float2(0, 0);
  surf2Dwrite(speed, newVelocity, cell.x * 8, cell.y);
}

// The sun's light, from above on the left, which smoke on its way has taken part of.
extern "C" __global__ void light(Texture smoothSmoke, Surface lit, int width, int height) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  const float4 here = at<float4>(smoothSmoke, cell);
  constexpr int steps = 40;
  constexpr float step = 0.012f;  // of the picture's height
  const float2 toSun = make_float2(-0.55f, -0.835f);
  float passed = 0;
#pragma unroll 1
  for (int i = 1; i <= steps; ++i) {
    const float4 there =
        tex2D<float4>(smoothSmoke, cell.u() + i * step * toSun.x / cell.aspect(), cell.v() + i * step * toSun.y);
    passed += there.x + there.y + there.z;
  }
  const float sun = expf(-5.5f * step * passed);
  const float sky = 0.16f;
  const float3 shine = make_float3(sky * 0.75f + 2.1f * sun, sky * 0.9f + 1.85f * sun, sky * 1.25f + 1.45f * sun);
  // Hot smoke glows by itself.
  const float heat = here.w * here.w * 1.1f;
  store(lit, cell, make_float4(here.x * (shine.x + heat), here.y * (shine.y + heat), here.z * (shine.z + heat), sun));
}

// Along one direction: a glow is this done along both.
extern "C" __global__ void blur(Texture smoothSource, Surface target, int width, int height, float x, float y) {
  const Cell cell(width, height);
  if (cell.isOutside()) return;
  float4 sum = make_float4(0, 0, 0, 0);
  float weights = 0;
#pragma unroll 1
  for (int i = -8; i <= 8; ++i) {
    const float weight = bump(static_cast<float>(i), 4.5f);
    const float4 there = tex2D<float4>(smoothSource, cell.u() + i * x / cell.aspect(), cell.v() + i * y);
    sum = make_float4(sum.x + weight * there.x, sum.y + weight * there.y, sum.z + weight * there.z, 0);
    weights += weight;
  }
  store(target, cell, make_float4(sum.x / weights, sum.y / weights, sum.z / weights, 1));
}
