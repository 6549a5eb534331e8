// Dynamic programming: common subsequences along diagonals, shortest paths, a knapsack, Conway's life.
#include "program.h"

__global__ void subsequence(const char* a, const char* b, int n, int* lengths) {
  __shared__ int rows[3][257];
  int* row[3] = {rows[0], rows[1], rows[2]};
  const int i = threadIdx.x;
  for (int k = 0; k < 3; ++k) rows[k][i] = 0;
  __syncthreads();
  for (int d = 2; d <= 2 * n; ++d) {
    const int j = d - i;
    if (i >= 1 && i <= n && j >= 1 && j <= n)
      row[2][i] = a[i - 1] == b[j - 1] ? row[0][i - 1] + 1 : max(row[1][i - 1], row[1][i]);
    else if (i <= n) row[2][i] = 0;
    if (j == n && i >= 1 && i <= n) lengths[i - 1] = row[2][i];
    __syncthreads();
    int* oldest = row[0];
    row[0] = row[1], row[1] = row[2], row[2] = oldest;
  }
}
__global__ void relax(int* distance, int n, int k) {
  const int i = blockIdx.x, j = threadIdx.x;
  const int through = distance[i * n + k] + distance[k * n + j];
  if (through < distance[i * n + j]) distance[i * n + j] = through;
}
__global__ void knapsack(const int* weights, const int* values, int items, int* best) {
  extern __shared__ int table[];
  const int w = threadIdx.x, size = blockDim.x;
  table[w] = 0;
  __syncthreads();
  for (int i = 0; i < items; ++i) {
    const int* from = table + (i & 1) * size;
    int* to = table + (1 - (i & 1)) * size;
    to[w] = w >= weights[i] ? max(from[w], from[w - weights[i]] + values[i]) : from[w];
    __syncthreads();
  }
  best[w] = table[(items & 1) * size + w];
}
__global__ void life(const unsigned char* in, unsigned char* out, int size) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) count += in[(y + dy + size) % size * size + (x + dx + size) % size];
  out[y * size + x] = count == 3 || (count == 2 && in[y * size + x]);
}

int main() {
  Random random;
  std::vector<char> a(256), b(256);
  for (auto& c : a) c = 'a' + random.next() % 4;
  for (auto& c : b) c = 'a' + random.next() % 4;
  std::vector<int> distance(128 * 128), weights(40), values(40);
  for (auto& d : distance) d = 1 + random.next() % 1000;
  for (auto& w : weights) w = 1 + random.next() % 60;
  for (auto& v : values) v = 1 + random.next() % 100;
  std::vector<unsigned char> cells(64 * 64);
  for (auto& c : cells) c = random.next() % 3 == 0;
  DeviceArray<char> da(a), db(b);
  DeviceArray<int> lengths(256), paths(distance), dw(weights), dv(values), best(512);
  DeviceArray<unsigned char> one(cells), two(cells.size());
  subsequence<<<1, 257>>>(da.get(), db.get(), 256, lengths.get());
  for (int k = 0; k < 128; ++k) relax<<<128, 128>>>(paths.get(), 128, k);
  knapsack<<<1, 512, 4096>>>(dw.get(), dv.get(), 40, best.get());
  for (int i = 0; i < 10; ++i) {
    life<<<dim3(4, 4), dim3(16, 16)>>>(one.get(), two.get(), 64);
    life<<<dim3(4, 4), dim3(16, 16)>>>(two.get(), one.get(), 64);
  }
  finish();
  show("subsequence", lengths.host());
  show("paths", paths.host());
  show("knapsack", best.host());
  show("life", one.host());
}
