// Arrays in local memory: sorting networks, dynamic indices, escaping addresses, mixed widths of one array.
#include "program.h"

__device__ __noinline__ void insertionSort(int* values, int n) {
  for (int i = 1; i < n; ++i) {
    int value = values[i], j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}

__global__ void sortEach(const int* in, int* out) {
  int values[12];
  for (int i = 0; i < 12; ++i) values[i] = in[threadIdx.x * 12 + i];
  insertionSort(values, 12);
  for (int i = 0; i < 12; ++i) out[threadIdx.x * 12 + i] = values[i];
}

__global__ void mixed(const unsigned* in, unsigned* out) {
  union {
    unsigned words[8];
    unsigned short halves[16];
    unsigned char bytes[32];
    unsigned long long longs[4];
  } u;
  for (int i = 0; i < 8; ++i) u.words[i] = in[threadIdx.x + i];
  unsigned index = in[threadIdx.x];
  u.bytes[index % 32] = 0xAB;
  u.halves[(index >> 5) % 16] ^= 0x1234;
  u.longs[(index >> 9) % 4] += 0x100000001ull;
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) sum = sum * 33 + u.bytes[(i * 7 + index) % 32];
  out[threadIdx.x] = sum ^ u.words[index % 8];
}

__device__ const unsigned* choose(const unsigned* a, const unsigned* b, bool first) { return first ? a : b; }

__global__ void generic(const unsigned* in, unsigned* out) {
  __shared__ unsigned shared[64];
  unsigned local[4] = {in[0], in[1], in[2], in[3]};
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const unsigned* p = choose(local, shared, threadIdx.x % 2);
  const unsigned* q = threadIdx.x % 3 ? p : in;
  out[threadIdx.x] = q[threadIdx.x % 4] + q[3];
}

// More private memory than drivers may take.
template <int words>
__global__ void large(unsigned* out) {
  unsigned values[words];
  unsigned place = threadIdx.x + blockIdx.x * blockDim.x;
  for (unsigned i = 0; i < words; ++i) values[i] = i * 3 + place;
  for (unsigned round = 0; round < 50; ++round) {
    const unsigned at = (place * 31 + round * 17) % words;
    values[at] += round;
    place += values[(at + 3) % words];
  }
  unsigned sum = 0;
  for (unsigned value : values) sum = sum * 3 + value;
  out[threadIdx.x + blockIdx.x * blockDim.x] = sum ^ place;
}

template <int words>
void showLarge(const char* name) {
  DeviceArray<unsigned> out(256);
  large<words><<<4, 64>>>(out.get());
  finish();
  show(name, out.host());
}

int main() {
  Random random;
  std::vector<int> in(64 * 12);
  std::vector<unsigned> numbers(128);
  for (auto& value : in) value = static_cast<int>(random.next());
  for (auto& value : numbers) value = random.next();
  DeviceArray<int> a(in), b(in.size());
  DeviceArray<unsigned> c(numbers), d(64), e(64);
  sortEach<<<1, 64>>>(a.get(), b.get());
  mixed<<<1, 64>>>(c.get(), d.get());
  generic<<<1, 64>>>(c.get(), e.get());
  finish();
  show("sorted", b.host(), 12);
  show("mixed", d.host());
  show("generic", e.host());
  showLarge<2000>("8,000 bytes");
  showLarge<3600>("14,400 bytes");
  showLarge<3960>("15,840 bytes");
  showLarge<5000>("20,000 bytes");
}
