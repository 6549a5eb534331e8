// State spaces in CUDA C++: where a pointer leads, addresses of each space and back, inline PTX that takes them
// (CS-103, LANG-22, LANG-23), and hints to the compiler, which change nothing (CS-109, LANG-39).
#include "program.h"

__constant__ int constant[64];
__device__ int global[64];
constexpr int kThreads = 64, kFields = 12;

struct Parameter {
  int values[8];
};

__device__ int spaceOf(const void* pointer) {
  return __isGlobal(pointer) | __isShared(pointer) << 1 | __isConstant(pointer) << 2 | __isLocal(pointer) << 3 |
         __isGridConstant(pointer) << 4;
}

__global__ void spaces(const int* in, int* out, const __grid_constant__ Parameter parameter) {
  __shared__ __align__(8) int shared[kThreads];
  extern __shared__ int dynamic[];
  int local[8];
  const int i = threadIdx.x;
  shared[i] = in[i], dynamic[i] = in[i] * 2, global[i] = in[i] * 3;
  for (int k = 0; k < 8; ++k) local[(i + k) % 8] = in[(i + k) % kThreads] * 5;
  __syncthreads();
  const int* pointers[] = {&shared[i ^ 1], &dynamic[i ^ 3],          &global[i], &constant[i ^ 5],
                           &local[i % 8],  &parameter.values[i % 8], in + i};
  int sum = 0, kinds = 0;
  for (int k = 0; k < 7; ++k) {
    const int* pointer = pointers[(k + i) % 7];
    sum = sum * 3 + *pointer;
    kinds = kinds * 5 + spaceOf(pointer);
  }
  int* row = out + i * kFields;
  row[0] = sum, row[1] = kinds;
  // To the space's own address and back.
  const bool isSame = __cvta_shared_to_generic(__cvta_generic_to_shared(&shared[i])) == &shared[i] &&
                      __cvta_global_to_generic(__cvta_generic_to_global(&global[i])) == &global[i] &&
                      __cvta_constant_to_generic(__cvta_generic_to_constant(&constant[i])) == &constant[i] &&
                      __cvta_local_to_generic(__cvta_generic_to_local(&local[i % 8])) == &local[i % 8];
  row[2] = isSame;
  // Addresses of shared memory fit into 32 bits, also those of what was given at the launch.
  const auto narrow = static_cast<unsigned>(__cvta_generic_to_shared(&shared[(i + 7) % kThreads]));
  const auto further = static_cast<unsigned>(__cvta_generic_to_shared(&dynamic[(i + 9) % kThreads]));
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(row[3]) : "r"(narrow) : "memory");
  asm volatile("ld.shared.u32 %0, [%1+0];" : "=r"(row[4]) : "r"(further) : "memory");
  asm volatile("{ .reg .b32 t; ld.shared.b32 t, [%1]; add.s32 %0, t, %2; }"
               : "=r"(row[5])
               : "r"(narrow), "n"(42)
               : "memory");
  row[6] = *static_cast<int*>(__cvta_shared_to_generic(static_cast<size_t>(narrow)));
  __syncthreads();
  asm volatile(
      "st.shared.v2.u32 [%0], {%1, %2};" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&shared[i & ~1]))),
      "r"(i & ~1), "r"(77)
      : "memory");
  __syncthreads();
  row[7] = shared[i];
  asm("ld.const.u32 %0, [%1];" : "=r"(row[8]) : "l"(__cvta_generic_to_constant(&constant[i])));
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(row[9]) : "l"(__cvta_generic_to_global(in + i)));
  asm volatile("atom.shared.add.u32 %0, [%1], %2;"
               : "=r"(row[10])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&dynamic[i]))), "r"(i)
               : "memory");
  row[11] = dynamic[i];
}

__device__ int assumed(int x, int divisor) {
  __builtin_assume(divisor == 8);
  __builtin_assume(x >= 0);
  return x / divisor * 100 + x % divisor;
}
__device__ int expected(int x) {
  if (__builtin_expect(x % 16 == 3, 0)) return -x;
  if (__builtin_expect(x > 1000, 1)) return x * 2;
  return x + 1;
}
__device__ int unreachable(int x) {
  switch (x & 3) {
    case 0: return x + 10;
    case 1: return x * 10;
    case 2: return x - 10;
    case 3: return x ^ 10;
  }
  __builtin_unreachable();
}
__device__ int aligned(const void* data, int i) {
  const auto* quads = static_cast<const int4*>(__builtin_assume_aligned(data, 16));
  const int4 quad = quads[i];
  return quad.x + quad.y * 3 + quad.z * 5 + quad.w * 7;
}
__device__ __noinline__ __attribute__((pure)) int pure(int x) { return x * x - 3; }

__global__ void hints(const int* in, int* out) {
  const int i = threadIdx.x, value = in[i] & 0xFFFF;
  int* row = out + i * kFields;
  row[0] = assumed(value, 8), row[1] = expected(value), row[2] = unreachable(value), row[3] = aligned(in, i % 16);
  row[4] = pure(value) + pure(value);
  int sum = 0;
#pragma unroll 3
  for (int k = 0; k < i % 11; ++k) sum += in[k] * k;
  row[5] = sum, sum = 1;
#pragma unroll 1
  for (int k = i; k < kThreads; k += 5) sum = sum * 3 + in[k];
  row[6] = sum;
#pragma unroll
  for (int k = 0; k < 6; ++k) sum ^= in[(i + k) % kThreads] >> k;
  row[7] = sum;
  for (int k = 8; k < kFields; ++k) row[k] = k;
}

int main() {
  Random random;
  std::vector<int> in(kThreads), table(64);
  for (auto& value : in) value = static_cast<int>(random.next() >> 4);
  for (auto& value : table) value = static_cast<int>(random.next() >> 4);
  CHECK(cudaMemcpyToSymbol(constant, table.data(), sizeof(int) * table.size()));
  Parameter parameter;
  for (int k = 0; k < 8; ++k) parameter.values[k] = k * 1000 + 1;
  DeviceArray<int> device(in), out(kThreads * kFields);
  spaces<<<1, kThreads, kThreads * sizeof(int)>>>(device.get(), out.get(), parameter);
  finish();
  show("spaces", out.host(), kFields);
  hints<<<1, kThreads>>>(device.get(), out.get());
  finish();
  const std::vector<int> got = out.host();
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    const int value = in[i] & 0xFFFF, *row = got.data() + i * kFields;
    const int byCase[] = {value + 10, value * 10, value - 10, value ^ 10};
    wrong += row[0] != value / 8 * 100 + value % 8 || row[2] != byCase[value & 3];
    wrong += row[1] != (value % 16 == 3 ? -value : value > 1000 ? value * 2 : value + 1);
  }
  std::printf("%d wrong ", wrong);
  show("hints", got, kFields);
}
