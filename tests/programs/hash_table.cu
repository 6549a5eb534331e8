// Insertion into an open hash table by compare and swap of 64 bits, then lookups.
#include <algorithm>

#include "program.h"

constexpr unsigned long long kEmpty = ~0ull;
constexpr unsigned kSlots = 8192;

__device__ unsigned slotOf(unsigned key) { return key * 2654435769u >> 19; }

__global__ void insert(const unsigned* keys, int n, unsigned long long* table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long entry = static_cast<unsigned long long>(keys[i]) << 32 | 1;
  for (unsigned slot = slotOf(keys[i]);; slot = (slot + 1) % kSlots) {
    const unsigned long long old = atomicCAS(&table[slot], kEmpty, entry);
    if (old == kEmpty) return;
    if (old >> 32 == keys[i]) {
      atomicAdd(&table[slot], 1ull);
      return;
    }
  }
}
__global__ void lookup(const unsigned* keys, int n, const unsigned long long* table, unsigned* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = slotOf(keys[i]);
  while (table[slot] != kEmpty && table[slot] >> 32 != keys[i]) slot = (slot + 1) % kSlots;
  counts[i] = table[slot] == kEmpty ? 0 : static_cast<unsigned>(table[slot]);
}

int main() {
  Random random;
  std::vector<unsigned> keys(6000);
  for (auto& key : keys) key = random.next() % 3000;
  DeviceArray<unsigned> device(keys), counts(6000);
  DeviceArray<unsigned long long> table(kSlots);
  CHECK(cudaMemset(table.get(), 0xFF, kSlots * 8));
  insert<<<24, 256>>>(device.get(), 6000, table.get());
  lookup<<<24, 256>>>(device.get(), 6000, table.get(), counts.get());
  finish();
  show("counts", counts.host(), 8);
  std::vector<unsigned long long> entries = table.host();
  std::sort(entries.begin(), entries.end());
  show("entries", entries);
}
