// One step of a small transformer as programs for language models run it: its kernels are captured for each token, the
// executable graph is updated with what has changed, and replayed.
#include <vector>

#include "bench.h"

namespace {

constexpr int width = 512, heads = 8, headWidth = width / heads, hidden = 2048, words = 4096, positions = 256;
constexpr int layers = 16, steps = 200;

__device__ float warpSum(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

__global__ void embed(float* out, const float* table, int word) {
  out[threadIdx.x] = table[word * width + threadIdx.x];
}

// One block.
__global__ void normalize(float* out, const float* in, const float* scale) {
  __shared__ float sums[32];
  const float value = in[threadIdx.x];
  const float sum = warpSum(value * value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) sums[threadIdx.x] = warpSum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0);
  __syncthreads();
  out[threadIdx.x] = value * rsqrtf(sums[0] / width + 1e-5f) * scale[threadIdx.x];
}

// A warp for each row of the matrix.
__global__ void multiply(float* out, const float* matrix, const float* in, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += matrix[row * columns + i] * in[i];
  sum = warpSum(sum);
  if (threadIdx.x == 0) out[row] = sum;
}

// A block for each head.
__global__ void rotate(float* values, int position) {
  const int i = threadIdx.x;
  float* const pair = values + blockIdx.x * headWidth + 2 * i;
  const float angle = position * powf(10000.0f, -2.0f * i / headWidth);
  const float x = pair[0], y = pair[1];
  pair[0] = x * cosf(angle) - y * sinf(angle);
  pair[1] = x * sinf(angle) + y * cosf(angle);
}

__global__ void keep(float* keys, float* values, const float* key, const float* value, int position) {
  keys[position * width + threadIdx.x] = key[threadIdx.x];
  values[position * width + threadIdx.x] = value[threadIdx.x];
}

// A warp for each head and position.
__global__ void score(float* scores, const float* query, const float* keys) {
  const int head = blockIdx.y, position = blockIdx.x;
  float sum = 0;
  for (int i = threadIdx.x; i < headWidth; i += 32)
    sum += query[head * headWidth + i] * keys[position * width + head * headWidth + i];
  sum = warpSum(sum);
  if (threadIdx.x == 0) scores[head * positions + position] = sum * rsqrtf(headWidth);
}

// A warp for each head.
__global__ void soften(float* scores, int count) {
  float* const own = scores + blockIdx.x * positions;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < count; i += 32) most = fmaxf(most, own[i]);
  for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, lanes));
  for (int i = threadIdx.x; i < count; i += 32) sum += own[i] = expf(own[i] - most);
  sum = warpSum(sum);
  for (int i = threadIdx.x; i < count; i += 32) own[i] /= sum;
}

__global__ void attend(float* out, const float* scores, const float* values, int count) {
  const int head = blockIdx.x, i = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < count; ++p) sum += scores[head * positions + p] * values[p * width + head * headWidth + i];
  out[head * headWidth + i] = sum;
}

__global__ void addTo(float* out, const float* in) { out[threadIdx.x] += in[threadIdx.x]; }

__global__ void gate(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = out[i] / (1 + expf(-out[i])) * in[i];
}

struct Layer {
  float *query, *key, *value, *project, *up, *side, *down, *first, *second;  // weights
  float *keys, *values;                                                      // of earlier tokens
};

float* weights(size_t count) { return randomArray<float>(count, 0.04f / 16777216.0f, -0.02f); }
float* zeros(size_t count) {
  float* const data = deviceArray<float>(count);
  CHECK(cudaMemset(data, 0, count * sizeof(float)));
  return data;
}

struct Model {
  std::vector<Layer> layers;
  float *table = weights(size_t(words) * width), *last = randomFloats(width), *state = zeros(width),
        *normal = zeros(width), *query = zeros(width), *key = zeros(width), *value = zeros(width),
        *scores = zeros(heads * positions), *mixed = zeros(width), *up = zeros(hidden), *side = zeros(hidden),
        *logits = zeros(words);

  Model() {
    for (int i = 0; i < ::layers; ++i)
      layers.push_back({weights(width * width), weights(width * width), weights(width * width), weights(width * width),
                        weights(width * hidden), weights(width * hidden), weights(hidden * width), randomFloats(width),
                        randomFloats(width), zeros(positions * width), zeros(positions * width)});
  }

  void product(cudaStream_t stream, float* out, const float* matrix, const float* in, int rows, int columns) {
    multiply<<<rows / 8, dim3(32, 8), 0, stream>>>(out, matrix, in, columns);
  }

  void step(cudaStream_t stream, int word, int position) {
    const int count = position + 1;
    embed<<<1, width, 0, stream>>>(state, table, word);
    for (const Layer& layer : layers) {
      normalize<<<1, width, 0, stream>>>(normal, state, layer.first);
      product(stream, query, layer.query, normal, width, width);
      product(stream, key, layer.key, normal, width, width);
      product(stream, value, layer.value, normal, width, width);
      rotate<<<heads, headWidth / 2, 0, stream>>>(query, position);
      rotate<<<heads, headWidth / 2, 0, stream>>>(key, position);
      keep<<<1, width, 0, stream>>>(layer.keys, layer.values, key, value, position);
      score<<<dim3(count, heads), 32, 0, stream>>>(scores, query, layer.keys);
      soften<<<heads, 32, 0, stream>>>(scores, count);
      attend<<<heads, headWidth, 0, stream>>>(mixed, scores, layer.values, count);
      product(stream, normal, layer.project, mixed, width, width);
      addTo<<<1, width, 0, stream>>>(state, normal);
      normalize<<<1, width, 0, stream>>>(normal, state, layer.second);
      product(stream, up, layer.up, normal, hidden, width);
      product(stream, side, layer.side, normal, hidden, width);
      gate<<<hidden / 256, 256, 0, stream>>>(up, side);
      product(stream, normal, layer.down, up, width, hidden);
      addTo<<<1, width, 0, stream>>>(state, normal);
    }
    normalize<<<1, width, 0, stream>>>(normal, state, last);
    product(stream, logits, table, normal, words, width);
    CHECK(cudaGetLastError());
  }
};

}  // namespace

int main() {
  Model model;
  cudaStream_t stream, other;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  const auto capture = [&](int position) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
    model.step(other, position * 7 % words, position);
    CHECK(cudaStreamEndCapture(other, &graph));
    return graph;
  };
  cudaGraph_t graph = capture(0);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  const auto check = about(model.logits, words);

  double captured = 0, updated = 0, launched = 0;
  const auto replay = [&](int position) {
    const double begin = microseconds();
    graph = capture(position);
    const double isCaptured = microseconds();
    cudaGraphExecUpdateResultInfo told;
    CHECK(cudaGraphExecUpdate(executable, graph, &told));
    const double isUpdated = microseconds();
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaGraphDestroy(graph));
    launched += microseconds() - isUpdated;
    updated += isUpdated - isCaptured;
    captured += isCaptured - begin;
  };
  // The best of three rounds; in the second way a program waits for each token.
  const auto round = [&](const char* name, const std::function<void(int)>& step, bool waits) {
    double least = 1e30;
    for (int i = 0; i < 4; ++i) {
      captured = updated = launched = 0;
      const double begin = microseconds();
      for (int position = 0; position < steps; ++position) {
        step(position);
        if (waits) CHECK(cudaStreamSynchronize(stream));
      }
      CHECK(cudaStreamSynchronize(stream));
      if (i != 0) least = std::min(least, microseconds() - begin);
    }
    report("graphs", name, least / steps, "us", check());
  };
  round("step of a transformer, updated and replayed", replay, false);
  report("graphs", "  capture, host", captured / steps, "us");
  report("graphs", "  update, host", updated / steps, "us");
  report("graphs", "  launch, host", launched / steps, "us");
  round("step of a transformer, replayed and awaited", replay, true);
  round(
      "step of a transformer, replayed as it is", [&](int) { CHECK(cudaGraphLaunch(executable, stream)); }, false);
  round(
      "step of a transformer, launches", [&](int position) { model.step(stream, position * 7 % words, position); },
      false);
  report("graphs", "kernels of a step", double(nodes), "");
  return 0;
}
