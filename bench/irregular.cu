// Kernels whose work and addresses depend on data: graphs, sparse matrices, compaction, queues, recursion.
#include "bench.h"

__global__ void sparse(const int* rows, const int* columns, const float* values, const float* x, float* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int i = rows[row] + lane; i < rows[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (lane == 0) y[row] = sum;
}
__global__ void gather(const unsigned* in, const unsigned* where, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[where[i] % n];
}

// One level of a breadth-first search; levels[i] is ~0 for a vertex not seen yet.
__global__ void searchLevel(const int* rows, const int* columns, unsigned* levels, const int* frontier,
                            int* nextFrontier, const int* count, int* nextCount, unsigned level) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += gridDim.x * blockDim.x) {
    int vertex = frontier[i];
    for (int e = rows[vertex]; e < rows[vertex + 1]; ++e) {
      int to = columns[e];
      if (levels[to] == ~0u && atomicCAS(&levels[to], ~0u, level) == ~0u) nextFrontier[atomicAdd(nextCount, 1)] = to;
    }
  }
}

__global__ void compactVotes(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned votes = __ballot_sync(~0u, keep);
  int base = 0;
  if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}
// One atomic for each block: votes of each warp, and a prefix sum over the warps.
__global__ void compactBlocks(const int* in, int* out, int* count, int n) {
  __shared__ int offsets[33];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned votes = __ballot_sync(~0u, keep);
  if (lane == 0) offsets[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    int kept = lane < blockDim.x / 32 ? offsets[lane] : 0, sum = kept;
    for (int offset = 1; offset < 32; offset *= 2) {
      int below = __shfl_up_sync(~0u, sum, offset);
      if (lane >= offset) sum += below;
    }
    if (lane == 31) offsets[32] = atomicAdd(count, sum);
    __syncwarp();
    offsets[lane] = sum - kept;
  }
  __syncthreads();
  if (keep) out[offsets[32] + offsets[warp] + __popc(votes & ((1u << lane) - 1))] = in[i];
}

// Every block puts `each` items into one queue, under a lock.
struct Queue {
  int lock, length;
};
__global__ void pushLocked(Queue* queue, int* items, int each) {
  if (threadIdx.x) return;
  for (int i = 0; i < each; ++i) {
    while (atomicCAS(&queue->lock, 0, 1) != 0) __nanosleep(100);
    __threadfence();
    volatile int* length = &queue->length;
    items[*length] = blockIdx.x * each + i;
    *length = *length + 1;
    __threadfence();
    atomicExch(&queue->lock, 0);
  }
}

// Nodes of a search tree, visited by recursion until `depth`.
__device__ __noinline__ unsigned visit(unsigned node, int depth) {
  node = (node ^ node >> 15) * 0x85ebca6bu;
  if (depth == 0) return node;
  unsigned sum = visit(node * 2 + 1, depth - 1);
  if (node & 0x30) sum += visit(node * 2 + 2, depth - 1) ^ node;
  return sum;
}
__global__ void recurse(unsigned* out, int depth) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = visit(thread / 32, depth);
}

// Steps through lists in memory, each step waiting for the last.
__global__ void chase(const unsigned* links, unsigned* out, int steps, int n) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = thread;
  for (int i = 0; i < steps; ++i) at = (links[at % n] ^ thread) >> 1;
  out[thread] = at;
}

int main(int argc, char** argv) {
  Suite suite("irregular", argc, argv);
  const int n = suite.size(1 << 25, 1 << 18), vertices = suite.size(1 << 18, 1 << 12);
  unsigned *random = randomArray<unsigned>(n, 257, 1), *out = deviceArray<unsigned>(n);
  float *values = randomFloats(n), *x = randomFloats(vertices);
  CHECK(cudaMemset(out, 0, n * 4ull));

  std::vector<int> offsets{0}, columns;
  for (int i = 0; i < vertices; ++i) {
    for (unsigned k = 4 + next() % 40; k-- > 0;) columns.push_back(next() % vertices);
    offsets.push_back(int(columns.size()));
  }
  int *rows = deviceCopy(offsets), *edges = deviceCopy(columns);
  suite.run(
      "sparse matrix-vector", [&] { sparse<<<vertices / 8, 256>>>(rows, edges, values, x, (float*)out, vertices); },
      exactly(out, vertices));
  suite.run(
      "gather", [&] { gather<<<n / 2 / 256, 256>>>(random, random, out, n); }, exactly(out, n / 2));
  unsigned* levels = deviceArray<unsigned>(vertices);
  int *frontiers = deviceArray<int>(vertices * 2), *counts = deviceArray<int>(16);
  suite.run(
      "breadth-first search",
      [&] {
        const int one = 1;
        CHECK(cudaMemsetAsync(levels, 255, vertices * 4));
        CHECK(cudaMemsetAsync(levels, 0, 4));
        CHECK(cudaMemsetAsync(frontiers, 0, 4));
        CHECK(cudaMemsetAsync(counts, 0, 64));
        CHECK(cudaMemcpyAsync(counts, &one, 4, cudaMemcpyHostToDevice));
        for (int level = 1; level <= 8; ++level) {
          int *from = frontiers + (level % 2 ? 0 : vertices), *to = frontiers + (level % 2 ? vertices : 0);
          searchLevel<<<264, 256>>>(rows, edges, levels, from, to, counts + level - 1, counts + level, level);
        }
      },
      exactly(levels, vertices));
  int* count = counts;
  auto compaction = [&](auto kernel) {
    return [=] {
      CHECK(cudaMemsetAsync(count, 0, sizeof(int)));
      kernel<<<n / 2 / 256, 256>>>((int*)random, (int*)out, count, n / 2);
    };
  };
  suite.run("compaction by votes", compaction(compactVotes), exactly(out, n / 2, Unordered));
  suite.run("compaction by blocks", compaction(compactBlocks), exactly(out, n / 2, Unordered));
  Queue* queue = deviceArray<Queue>(1);
  const int blocks = suite.size(132, 4);
  suite.run(
      "queue with a lock",
      [&] {
        CHECK(cudaMemsetAsync(queue, 0, sizeof *queue));
        pushLocked<<<blocks, 32>>>(queue, (int*)out, 8);
      },
      exactly(out, blocks * 8, Unordered));
  suite.run(
      "recursion", [&] { recurse<<<blocks * 8, 128>>>(out, 8); }, exactly(out, blocks * 8 * 128));
  suite.run(
      "dependent loads", [&] { chase<<<blocks * 8, 256>>>(random, out, 100, n); }, exactly(out, blocks * 8 * 256));
}
