// Breadth-first search with a frontier grown by atomics; distances do not depend on order.
#include "program.h"

__global__ void expand(const int* offsets, const int* edges, int* distance, const int* frontier, int size, int* next,
                       int* nextSize, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int node = frontier[i];
  for (int e = offsets[node]; e < offsets[node + 1]; ++e) {
    int target = edges[e];
    if (atomicCAS(&distance[target], -1, level) == -1) next[atomicAdd(nextSize, 1)] = target;
  }
}

int main() {
  const int nodes = 3000;
  Random random;
  std::vector<int> offsets{0}, edges;
  for (int i = 0; i < nodes; ++i) {
    for (unsigned k = random.next() % 4; k-- > 0;) edges.push_back(random.next() % nodes);
    offsets.push_back(static_cast<int>(edges.size()));
  }
  std::vector<int> distance(nodes, -1);
  distance[0] = 0;
  DeviceArray<int> o(offsets), e(edges), d(distance), a(nodes), b(nodes), count(1);
  int size = 1, zero = 0, *current = a.get(), *next = b.get();
  CHECK(cudaMemcpy(current, &zero, sizeof(int), cudaMemcpyHostToDevice));
  int level = 1;
  for (; size > 0; ++level) {
    CHECK(cudaMemset(count.get(), 0, sizeof(int)));
    expand<<<(size + 127) / 128, 128>>>(o.get(), e.get(), d.get(), current, size, next, count.get(), level);
    CHECK(cudaMemcpy(&size, count.get(), sizeof(int), cudaMemcpyDeviceToHost));
    std::swap(current, next);
  }
  show("distance", d.host(), 8);
  std::printf("levels %d\n", level);
}
