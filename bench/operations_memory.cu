// Each kernel repeats one kind of memory access or atomic operation.
#include <cuda_fp16.h>

#include "operations.h"

using operations::bits;
using operations::Sweep;

constexpr unsigned bufferBytes = 16 << 20;

// The place of round i of a thread in an array: threads side by side.
template <class T>
__device__ unsigned place(unsigned thread, int i) {
  return (thread + i * 270336u) & (bufferBytes / unsigned(sizeof(T)) - 1);
}

struct Triple {
  float x, y, z;
};
struct Pixel {
  unsigned char red, green, blue;
};
struct Mixed {
  char tag;
  short kind;
  int key;
  double value;
  float weights[4];
};
struct __attribute__((packed)) Packed {
  char tag;
  unsigned key;
};
struct Parameters {
  float scale, offset, bounds[6];
};
template <int Words>
struct Table {
  unsigned values[Words];
};

__constant__ unsigned constantWords[1024];
__constant__ uint2 constantPairs[512];
__constant__ float4 constantQuads[256];
__constant__ unsigned char constantBytes[1024];
__constant__ double constantDoubles[128];
__constant__ float taps[65];
__constant__ Parameters parameters[16];
__device__ unsigned globalTable[1024];
__device__ unsigned globalCounter;

template <class T>
void loadsAndStores(Sweep& sweep, const std::string& type, int cost, void* buffer) {
  T* data = static_cast<T*>(buffer);
  auto name = [&](const char* what) { return what + type; };
  sweep.repeat(
      name("load ").c_str(), cost, ROUND { sum += bits(data[place<T>(thread, i)]); });
  sweep.repeat(
      name("load, stride of 17, ").c_str(), cost * 3, ROUND { sum += bits(data[place<T>(thread * 17, i)]); });
  sweep.repeat(
      name("store ").c_str(), cost,
      ROUND {
        T value;
        memset(&value, (thread & 15) * 16 + 7, sizeof value);
        data[place<T>(thread, i)] = value;
      },
      data, bufferBytes / sizeof(T));
  sweep.repeat(
      name("copy ").c_str(), cost * 2,
      ROUND { data[place<T>(thread, i)] = data[place<T>(thread, i) ^ bufferBytes / sizeof(T) / 2]; }, data,
      bufferBytes / sizeof(T));
}

void global(Sweep& sweep, void* buffer, void* other) {
  loadsAndStores<unsigned char>(sweep, "1 byte", 3, other);
  loadsAndStores<unsigned short>(sweep, "2 bytes", 4, other);
  loadsAndStores<unsigned>(sweep, "4 bytes", 5, other);
  loadsAndStores<uint2>(sweep, "8 bytes", 8, other);
  loadsAndStores<uint4>(sweep, "16 bytes", 20, other);

  auto* words = static_cast<const unsigned*>(buffer);
  auto* quads = static_cast<const uint4*>(buffer);
  sweep.repeat(
      "load 8-byte integers", 5, ROUND {
        auto value = reinterpret_cast<const unsigned long long*>(words)[place<double>(thread, i)];
        sum += unsigned(value * 3 >> 32);
      });
  sweep.repeat(
      "load signed bytes", 2, ROUND { sum += reinterpret_cast<const signed char*>(words)[place<char>(thread, i)]; });
  sweep.repeat(
      "load signed shorts", 3, ROUND { sum += reinterpret_cast<const short*>(words)[place<short>(thread, i)]; });
  sweep.repeat(
      "load halves", 2,
      ROUND { sum += bits(__half2float(reinterpret_cast<const __half*>(words)[place<short>(thread, i)])); });
  sweep.repeat(
      "load 4 bytes, not aligned", 7, ROUND {
        unsigned value;
        memcpy(&value, reinterpret_cast<const char*>(words) + place<unsigned>(thread, i) + thread * 3 % 1024, 4);
        sum += value;
      });
  sweep.repeat(
      "load structs of 3 floats", 9, ROUND {
        Triple t = reinterpret_cast<const Triple*>(words)[place<uint4>(thread, i)];
        sum += bits(t);
      });
  sweep.repeat(
      "load pixels of 3 bytes", 6, ROUND {
        Pixel p = reinterpret_cast<const Pixel*>(words)[place<unsigned>(thread, i)];
        sum += p.red + p.green * 3 + p.blue * 5;
      });
  sweep.repeat(
      "load structs of mixed types", 30, ROUND {
        const Mixed& m = reinterpret_cast<const Mixed*>(words)[place<uint4>(thread, i) / 4];
        sum += m.tag + m.kind + m.key + bits(m.value) + bits(m.weights[i & 3]);
      });
  sweep.repeat(
      "load packed structs", 10, ROUND {
        const Packed& p = reinterpret_cast<const Packed*>(words)[place<unsigned long long>(thread, i)];
        sum += p.tag + p.key;
      });
  sweep.repeat(
      "ldg", 3, ROUND { sum += __ldg(words + place<unsigned>(thread, i)); });
  sweep.repeat(
      "ldg of 16 bytes", 11, ROUND { sum += bits(__ldg(quads + place<uint4>(thread, i))); });
  sweep.repeat(
      "ldcs", 3, ROUND { sum += __ldcs(words + place<unsigned>(thread, i)); });
  sweep.repeat(
      "ldcg", 3, ROUND { sum += __ldcg(words + place<unsigned>(thread, i)); });
  sweep.repeat(
      "ldcv", 3, ROUND { sum += __ldcv(words + place<unsigned>(thread, i)); });
  sweep.repeat(
      "volatile load", 3, ROUND { sum += *const_cast<const volatile unsigned*>(words + place<unsigned>(thread, i)); });
  auto* out = static_cast<unsigned*>(other);
  const size_t count = bufferBytes / 4;
  sweep.repeat(
      "stcs", 6, ROUND { __stcs(out + place<unsigned>(thread, i), thread & 15); }, out, count);
  sweep.repeat(
      "volatile store", 2, ROUND { const_cast<volatile unsigned*>(out)[place<unsigned>(thread, 0)] = i; }, out, count);
  sweep.repeat(
      "load, the same for all", 4, ROUND { sum += words[i & 1023]; });
  sweep.repeat(
      "load, the same for a warp", 4, ROUND { sum += words[i + thread / 32 & 1023]; });
  sweep.repeat(
      "load of a table of 4 KB", 2, ROUND { sum += words[sum + i & 1023]; });
  sweep.repeat(
      "load of a __device__ table", 2, ROUND { sum += globalTable[thread * 7 + i & 1023]; });
  sweep.repeat(
      "load of random words", 60, ROUND { sum += words[thread * 0x9e3779b1u + i * 0x85ebca6bu & count - 1]; });
  sweep.repeat(
      "load through a generic pointer", 4, ROUND {
        __shared__ unsigned local[256];
        local[threadIdx.x] = thread;
        const unsigned* from = i & 8 ? local + threadIdx.x : words + place<unsigned>(thread, i);
        sum += *from;
      });
  sweep.repeat(
      "load, compared and stored", 11,
      ROUND {
        unsigned value = words[place<unsigned>(thread, i)];
        if (value & 1 << (i & 31)) out[thread] = value;
      },
      out, count);
}

template <class T>
void sharedAccesses(Sweep& sweep, const std::string& type, int cost) {
  constexpr int count = operations::sharedBytes / sizeof(T);
  auto name = [&](const char* what) { return what + type; };
  sweep.shared<T>(
      name("shared load ").c_str(), cost, SHARED_ROUND { sum += bits(shared[thread + i * 32 & count - 1]); });
  sweep.shared<T>(
      name("shared store ").c_str(), cost, SHARED_ROUND {
        T value;
        memset(&value, 1, sizeof value);
        shared[thread + i * 256 & count - 1] = value;
      });
  sweep.shared<T>(
      name("shared update ").c_str(), cost * 3, SHARED_ROUND {
        T value = shared[thread + i * 256 & count - 1];
        *reinterpret_cast<unsigned char*>(&value) += i;
        shared[thread + i * 256 & count - 1] = value;
      });
}

void sharedMemory(Sweep& sweep) {
  sharedAccesses<unsigned char>(sweep, "1 byte", 2);
  sharedAccesses<unsigned short>(sweep, "2 bytes", 2);
  sharedAccesses<unsigned>(sweep, "4 bytes", 2);
  sharedAccesses<uint2>(sweep, "8 bytes", 3);
  sharedAccesses<uint4>(sweep, "16 bytes", 6);
  sweep.shared<double>(
      "shared load doubles", 2, SHARED_ROUND { sum += bits(shared[thread + i * 32 & 2047] * 2); });
  sweep.shared<unsigned>(
      "shared load, 2 conflicts", 2, SHARED_ROUND { sum += shared[thread * 2 + i & 4095]; });
  sweep.shared<unsigned>(
      "shared load, 8 conflicts", 7, SHARED_ROUND { sum += shared[thread * 8 + i & 4095]; });
  sweep.shared<unsigned>(
      "shared load, 32 conflicts", 30, SHARED_ROUND { sum += shared[thread * 32 + i & 4095]; });
  sweep.shared<unsigned>(
      "shared store, 8 conflicts", 7, SHARED_ROUND { shared[thread * 8 + (i & 7)] = i; });
  sweep.shared<unsigned>(
      "shared load, the same for all", 1, SHARED_ROUND { sum += shared[i & 4095]; });
  sweep.shared<unsigned>(
      "shared table by data", 3, SHARED_ROUND { sum += shared[sum + i & 4095]; });
  sweep.shared<unsigned char>(
      "shared table of bytes by data", 3, SHARED_ROUND { sum = sum * 5 + shared[sum >> 3 & 16383]; });
  sweep.shared<Triple>(
      "shared structs of 3 floats", 4, SHARED_ROUND {
        sum += bits(shared[thread + (i & 3) * 256]);
        shared[thread].y = i;
      });
  sweep.shared<Mixed>(
      "shared structs of mixed types", 5, SHARED_ROUND {
        Mixed& m = shared[thread];
        m.key += m.kind, m.tag ^= i, m.value += 1, sum += bits(m.weights[i & 3]);
      });
  sweep.shared<unsigned>(
      "shared, words read as bytes", 2,
      SHARED_ROUND { sum += reinterpret_cast<unsigned char*>(shared)[thread * 5 + i & 16383]; });
  sweep.shared<unsigned>(
      "shared, words read by fours", 4,
      SHARED_ROUND { sum += bits(reinterpret_cast<uint4*>(shared)[thread + i & 1023]); });
  sweep.shared<unsigned>(
      "shared, volatile", 2, SHARED_ROUND {
        volatile unsigned* v = shared;
        v[thread] = sum, sum += v[thread ^ 0] + i;
      });
  sweep.shared<float>(
      "shared tile with padding", 5, SHARED_ROUND {
        int row = thread / 32, column = thread % 32;
        shared[row * 33 + column] = i;
        __syncthreads();
        sum += bits(shared[column / 4 * 33 + row + column % 4 * 8]);
        __syncthreads();
      });
  sweep.latency<unsigned>(
      "latency, shared load", 30, STEP {
        __shared__ unsigned links[128];
        links[threadIdx.x] = threadIdx.x ^ 5;
        x = links[x & 127];
      });
}

void constants(Sweep& sweep, const void* table) {
  CHECK(cudaMemcpyToSymbol(constantWords, table, sizeof constantWords));
  CHECK(cudaMemcpyToSymbol(constantPairs, table, sizeof constantPairs));
  CHECK(cudaMemcpyToSymbol(constantQuads, table, sizeof constantQuads));
  CHECK(cudaMemcpyToSymbol(constantBytes, table, sizeof constantBytes));
  CHECK(cudaMemcpyToSymbol(constantDoubles, table, sizeof constantDoubles));
  CHECK(cudaMemcpyToSymbol(taps, table, sizeof taps));
  CHECK(cudaMemcpyToSymbol(parameters, table, sizeof parameters));
  CHECK(cudaMemcpyToSymbol(globalTable, table, sizeof globalTable));
  sweep.repeat(
      "constant, 4 bytes in a loop", 1, ROUND { sum += constantWords[i & 1023] ^ thread; });
  sweep.repeat(
      "constant, 8 bytes in a loop", 2, ROUND {
        uint2 pair = constantPairs[i & 511];
        sum = sum * pair.x + pair.y;
      });
  sweep.repeat(
      "constant, 16 bytes in a loop", 10, ROUND {
        float4 quad = constantQuads[i & 255];
        sum += bits(quad) ^ thread;
      });
  sweep.repeat(
      "constant, bytes in a loop", 2, ROUND { sum = sum * 5 + constantBytes[i & 1023]; });
  sweep.repeat(
      "constant, doubles in a loop", 10, ROUND { sum += bits(constantDoubles[i & 127] * thread); });
  sweep.repeat(
      "constant, fixed index", 1, ROUND { sum = sum * constantWords[5] + constantWords[700]; });
  sweep.repeat(
      "constant, index of the warp", 2, ROUND { sum += constantWords[thread / 32 + i & 1023]; });
  sweep.repeat(
      "constant, index of each thread", 90, ROUND { sum += constantWords[thread * 7 + i & 1023]; });
  sweep.repeat(
      "constant, 4 indices in a warp", 7, ROUND { sum += constantWords[(thread & 3) * 64 + i & 1023]; });
  sweep.repeat(
      "constant, bytes by data", 4, ROUND { sum = sum * 5 + constantBytes[sum >> 4 & 1023]; });
  sweep.repeat(
      "constant, filter of 65 taps", 4, ROUND {
        float result = 0, x = float(thread & 255);
#pragma unroll
        for (int tap = 0; tap < 65; ++tap) result = fmaf(result, taps[tap], x + tap);
        sum += bits(result) + i;
      });
  sweep.repeat(
      "constant, structs of parameters", 4, ROUND {
        const Parameters& p = parameters[i & 15];
        float value = fmaf(float(thread), p.scale, p.offset);
        sum += bits(fminf(fmaxf(value, p.bounds[0]), p.bounds[5]));
      });

  Table<16> small;
  Table<256> medium;
  Table<768> large;
  for (unsigned& value : small.values) value = next();
  for (unsigned& value : medium.values) value = next();
  for (unsigned& value : large.values) value = next();
  sweep.repeat(
      "parameter of 64 bytes in a loop", 2, ROUND { sum += small.values[i & 15] ^ thread; });
  sweep.repeat(
      "parameter of 1 KB in a loop", 4, ROUND { sum += medium.values[i & 255] ^ thread; });
  sweep.repeat(
      "parameter of 3 KB in a loop", 11, ROUND { sum += large.values[i % 768] ^ thread; });
  sweep.repeat(
      "parameter of 1 KB, fixed index", 1,
      ROUND { sum = sum * medium.values[17] + medium.values[200] * thread + medium.values[64]; });
  sweep.repeat(
      "parameter of 1 KB, index of each thread", 90, ROUND { sum += medium.values[thread * 7 + i & 255]; });
}

// An array of each thread whose indices are data.
template <class T, int Count>
__global__ void __launch_bounds__(operations::blockSize) localArray(unsigned* out, int rounds) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, x = thread * 0x9e3779b1u;
  T array[Count];
  for (int i = 0; i < Count; ++i) array[i] = T(i * 7);
  for (int i = 0; i < rounds; ++i) {
    array[(x >> 8) % Count] += T(i);
    x = x * 5 + unsigned(array[(x >> 12) % Count]);
  }
  unsigned sum = x;
  for (int i = 0; i < Count; ++i) sum += unsigned(array[i]);
  out[thread] = sum;
}
// The same index in all threads.
template <int Count>
__global__ void __launch_bounds__(operations::blockSize) localStack(unsigned* out, int rounds) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = thread;
  unsigned stack[Count];
  for (int i = 0; i < Count; ++i) stack[i] = thread + i;
  for (int i = 0; i < rounds; ++i) {
    stack[i % Count] += sum;
    sum = sum * 5 + stack[(i * 3 + 1) % Count];
  }
  out[thread] = sum;
}

template <class T, int Count>
void local(Sweep& sweep, const char* name, int cost) {
  sweep.run(name, sweep.out(),
            [&] { localArray<T, Count><<<sweep.blocks(), operations::blockSize>>>(sweep.out(), sweep.rounds(cost)); });
}

void locals(Sweep& sweep) {
  local<unsigned, 8>(sweep, "local array of 8 words", 40);
  local<unsigned, 64>(sweep, "local array of 64 words", 60);
  local<unsigned char, 16>(sweep, "local array of 16 bytes", 50);
  local<unsigned char, 256>(sweep, "local array of 256 bytes", 90);
  local<short, 64>(sweep, "local array of 64 shorts", 60);
  local<double, 32>(sweep, "local array of 32 doubles", 80);
  sweep.run("local array, uniform index", sweep.out(),
            [&] { localStack<32><<<sweep.blocks(), operations::blockSize>>>(sweep.out(), sweep.rounds(40)); });
}

// Adds of one type: all threads at one place, at 64, each at its own, the same for a warp; with the old value used.
template <class T>
void atomicAdds(Sweep& sweep, const std::string& type, int cost, void* buffer) {
  T* cells = static_cast<T*>(buffer);
  CHECK(cudaMemset(cells, 0, bufferBytes));
  auto run = [&](const std::string& where, int factor, auto function) {
    sweep.repeat(("atomicAdd " + type + ", " + where).c_str(), cost * factor, function, cells, 1 << 19);
  };
  run(
      "one place", 1000, ROUND { atomicAdd(cells, T(1)); });
  run(
      "64 places", 250, ROUND { atomicAdd(cells + thread % 64 * 32, T(1)); });
  run(
      "own places", 20, ROUND { atomicAdd(cells + thread, T(i & 3)); });
  run(
      "own places, result used", 20, ROUND { sum += bits(atomicAdd(cells + thread, T(1))); });
  run(
      "one for a warp", 200, ROUND { atomicAdd(cells + thread / 32, T(1)); });
  run(
      "one place, result used", 1000, ROUND { sum += bits(atomicAdd(cells, T(1))); });
}

void atomics(Sweep& sweep, void* buffer) {
  using u64 = unsigned long long;
  atomicAdds<unsigned>(sweep, "u32", 1, buffer);
  atomicAdds<u64>(sweep, "u64", 1, buffer);
  atomicAdds<float>(sweep, "f32", 1, buffer);
  atomicAdds<double>(sweep, "f64", 2, buffer);
  auto* words = static_cast<unsigned*>(buffer);
  auto* longs = static_cast<u64*>(buffer);
  auto run = [&](const char* name, int cost, auto function) {
    CHECK(cudaMemset(buffer, 0, bufferBytes));
    sweep.repeat(name, cost, function, words, 1 << 20);
  };
  run(
      "atomicAdd half2", 16, ROUND { atomicAdd(reinterpret_cast<__half2*>(words) + thread, __half2half2(__half(1))); });
  run(
      "atomicAdd half", 90, ROUND { atomicAdd(reinterpret_cast<__half*>(words) + thread, __half(1)); });
  run(
      "atomicSub", 20, ROUND { atomicSub(words + thread, 3); });
  run(
      "atomicMin", 20, ROUND { atomicMin(reinterpret_cast<int*>(words) + thread, -i); });
  run(
      "atomicMax, one place", 60, ROUND { atomicMax(words, thread); });
  run(
      "atomicMax, 64 bits", 20, ROUND { atomicMax(longs + thread, u64(i) << 30); });
  run(
      "atomicMax, 64 bits, one place", 74280, ROUND { atomicMax(longs, u64(thread) << 20); });
  run(
      "atomicAnd and atomicOr", 40, ROUND { atomicAnd(words + thread, ~i), atomicOr(words + thread, i * 2); });
  run(
      "atomicXor", 20, ROUND { sum += atomicXor(words + thread, i + sum); });
  run(
      "atomicOr, one place", 60, ROUND { atomicOr(words, 1u << (thread & 31)); });
  run(
      "atomicExch", 20, ROUND { sum += atomicExch(words + thread, sum + i); });
  run(
      "atomicExch, 64 bits", 20, ROUND { sum += unsigned(atomicExch(longs + thread, u64(sum + i) << 10)); });
  run(
      "atomicCAS", 20, ROUND { sum += atomicCAS(words + thread, sum, sum + 1); });
  run(
      "atomicCAS, 16 bits", 60, ROUND {
        auto* shorts = reinterpret_cast<unsigned short*>(words);
        sum += atomicCAS(shorts + thread, (unsigned short)sum, (unsigned short)(sum + 1));
      });
  run(
      "atomicCAS, 64 bits", 20, ROUND { sum += unsigned(atomicCAS(longs + thread, u64(sum), u64(sum) + 1)); });
  run(
      "atomicInc and atomicDec", 40,
      ROUND { atomicInc(words + thread, 1000), atomicDec(words + thread + 300000, 1000); });
  run(
      "atomicInc, one place, one lane of a warp", 2700, ROUND {
        if (thread % 32 == 0) atomicInc(words, 999);
      });
  run(
      "addition of floats by CAS", 120, ROUND {
        unsigned *cell = words + thread % 32768, old = *cell, seen;
        do {
          seen = old;
          old = atomicCAS(cell, seen, __float_as_uint(__uint_as_float(seen) + 1));
        } while (old != seen);
      });
  run(
      "atomicAdd of a block", 20, ROUND { atomicAdd_block(words + thread, 1); });
  run(
      "atomicAdd of the system", 20, ROUND { atomicAdd_system(words + thread, 1); });
  void* counter;
  CHECK(cudaGetSymbolAddress(&counter, globalCounter));
  sweep.repeat(
      "atomicAdd of a __device__ counter", 60, ROUND { atomicAdd(&globalCounter, 1); }, static_cast<unsigned*>(counter),
      1);
  run(
      "atomicAdd of a few threads", 30, ROUND {
        if ((thread + i) % 32 < 3) atomicAdd(words + (thread & 1023), 1);
      });

  sweep.shared<unsigned>(
      "shared atomicAdd", 2, SHARED_ROUND { atomicAdd(shared + (thread * 5 + i & 4095), i); });
  sweep.shared<unsigned>(
      "shared atomicAdd, one place", 4, SHARED_ROUND { atomicAdd(shared, 1); });
  sweep.shared<unsigned>(
      "shared atomicAdd, 8 places", 5, SHARED_ROUND { atomicAdd(shared + (thread & 7), 1); });
  sweep.shared<unsigned>(
      "shared atomicAdd, result used", 2, SHARED_ROUND { sum += atomicAdd(shared + thread, i); });
  sweep.shared<u64>(
      "shared atomicAdd, 64 bits", 7, SHARED_ROUND { atomicAdd(shared + (thread & 2047), u64(i)); });
  sweep.shared<float>(
      "shared atomicAdd of floats", 5, SHARED_ROUND { atomicAdd(shared + 3 * 256 + thread, 0.5f); });
  sweep.shared<double>(
      "shared atomicAdd of doubles", 8, SHARED_ROUND { atomicAdd(shared + thread, 0.5); });
  sweep.shared<__half2>(
      "shared atomicAdd of half2", 7, SHARED_ROUND { atomicAdd(shared + thread, __half2half2(__half(1))); });
  sweep.shared<int>(
      "shared atomicMin", 2, SHARED_ROUND { atomicMin(shared + thread, -i); });
  sweep.shared<u64>(
      "shared atomicMax, 64 bits", 7, SHARED_ROUND { atomicMax(shared + thread, u64(thread * i) << 49); });
  sweep.shared<unsigned>(
      "shared atomicXor", 2, SHARED_ROUND { atomicXor(shared + thread, i * i); });
  sweep.shared<unsigned>(
      "shared atomicExch", 2, SHARED_ROUND { sum += atomicExch(shared + thread, i); });
  sweep.shared<unsigned>(
      "shared atomicCAS", 3, SHARED_ROUND { sum += atomicCAS(shared + thread, sum, i); });
  sweep.shared<unsigned>(
      "shared atomicInc", 4, SHARED_ROUND { atomicInc(shared + thread, 100); });
  sweep.latency<unsigned>(
      "latency, atomicAdd", 700, STEP { x = atomicAdd(&globalTable[x & 1023], 0); });
}

void hostMemory(Sweep& sweep) {
  unsigned *managed, *pinned;
  const unsigned count = 1 << 16;
  CHECK(cudaMallocManaged(&managed, count * 4));
  CHECK(cudaMallocHost(&pinned, count * 4));
  for (unsigned i = 0; i < count; ++i) managed[i] = pinned[i] = i * 3;
  sweep.repeat(
      "load of managed memory", 3, ROUND { sum += managed[thread + i * 256 & count - 1]; });
  sweep.repeat(
      "load of pinned memory", 2700, ROUND { sum += pinned[thread * 4 + i & count - 1]; });
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(pinned));
}

int main(int argc, char** argv) {
  Sweep sweep("memory operations", argc, argv);
  unsigned* table = randomArray<unsigned>(bufferBytes / 4, 257, 1);
  unsigned* other = randomArray<unsigned>(bufferBytes / 4, 257, 1);
  std::vector<unsigned> words(4096);
  for (unsigned& word : words) word = 0x3f000000 | next() >> 9;
  constants(sweep, words.data());
  global(sweep, table, other);
  sharedMemory(sweep);
  locals(sweep);
  atomics(sweep, other);
  hostMemory(sweep);
}
