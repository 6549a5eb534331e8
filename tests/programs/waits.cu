// Threads of a block that wait for others by looking at memory: latches, semaphores, barriers with a function, atomics
// that are waited for, flags (ATOM-18, LANG-35, ASYNC-01).
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include "program.h"

#pragma nv_diag_suppress 20054  // what stands in shared memory is made by one thread

constexpr int kThreads = 128;

// Shared memory for an object that one thread makes.
template <class T>
struct Place {
  alignas(T) char bytes[sizeof(T)];
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};

// A latch is waited for once: by all, by those who do not arrive, and asked without waiting.
__global__ void latches(const int* in, int* out) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ Place<Latch> start, half;
  __shared__ int values[kThreads], later[kThreads];
  const int i = threadIdx.x;
  if (i == 0) new (&*start) Latch(kThreads), new (&*half) Latch(kThreads / 2);
  __syncthreads();
  values[i] = in[i];
  (*start).arrive_and_wait();
  int sum = values[(i + 37) % kThreads];
  if (i >= kThreads / 2) {
    later[i] = sum * 3;
    (*half).count_down();
  } else {
    (*half).wait();
    sum += later[i + kThreads / 2];
  }
  __syncthreads();
  out[i] = sum * 2 + (*half).try_wait();
}

// At most three warps are inside at any time; what they do there is counted.
__global__ void semaphores(int* out) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 3>;
  __shared__ Place<Semaphore> places;
  __shared__ int inside, most, total;
  const int i = threadIdx.x;
  if (i == 0) new (&*places) Semaphore(3), inside = most = total = 0;
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    if (i % 32 == 0) {
      (*places).acquire();
      atomicMax(&most, atomicAdd(&inside, 1) + 1);
      atomicAdd(&total, i + round);
      atomicSub(&inside, 1);
      (*places).release();
    }
    __syncwarp();
  }
  __syncthreads();
  out[i] = i == 0 ? total : i == 1 ? inside : i == 2 ? most <= 3 && most >= 1 : 7;
}

// Numbers handed from warp to warp through flags, there and back.
__global__ void handedOn(int* out, int rounds) {
  __shared__ volatile int turn;
  __shared__ int value;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x == 0) turn = 0, value = 1;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x % 32 == 0) {
      while (turn != round * warps + warp) {
      }
      __threadfence_block();
      value = value * 5 + warp + round;
      __threadfence_block();
      turn = turn + 1;
    }
    __syncwarp();
  }
  __syncthreads();
  out[threadIdx.x] = value;
}

// An atomic that is waited for and notified; and a message behind a flag, released and acquired.
__global__ void notified(const int* in, int* out) {
  using Flag = cuda::atomic<int, cuda::thread_scope_block>;
  __shared__ Place<Flag> ready, flag;
  __shared__ int message[kThreads];
  const int i = threadIdx.x;
  if (i == 0) new (&*ready) Flag(0), new (&*flag) Flag(0);
  __syncthreads();
  int sum = 0;
  if (i < 32) {
    for (int k = i; k < kThreads; k += 32) message[k] = in[k] * 3;
    __syncwarp();
    if (i == 0) (*ready).store(1, cuda::memory_order_release), (*ready).notify_all();
  } else {
    (*ready).wait(0, cuda::memory_order_acquire);
    for (int k = 0; k < 8; ++k) sum += message[(i * 3 + k) % kThreads];
    if (i % 32 == 5) (*flag).fetch_add(1, cuda::memory_order_acq_rel);
  }
  if (i < 32) {
    while ((*flag).load(cuda::memory_order_acquire) != kThreads / 32 - 1) {
    }
    sum = 1000 + i;
  }
  out[i] = sum;
}

// A function of the last to arrive, run before any other continues.
struct Rotate {
  int* values;
  __device__ void operator()() {
    const int first = values[0];
    for (int k = 0; k + 1 < kThreads; ++k) values[k] = values[k + 1] + k;
    values[kThreads - 1] = first;
  }
};
__global__ void completion(const int* in, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, Rotate>;
  __shared__ Place<Barrier> barrier;
  __shared__ int values[kThreads];
  const int i = threadIdx.x;
  values[i] = in[i];
  if (i == 0) new (&*barrier) Barrier(kThreads, Rotate{values});
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 6; ++round) {
    (*barrier).arrive_and_wait();
    sum = sum * 3 + values[(i + round) % kThreads];
    (*barrier).arrive_and_wait();
  }
  out[i] = sum;
}

int main() {
  Random random;
  std::vector<int> in(kThreads);
  for (auto& value : in) value = static_cast<int>(random.next() % 1000);
  DeviceArray<int> device(in), out(kThreads);
  const auto launched = [&](const char* name) {
    finish();
    show(name, out.host());
    std::fflush(stdout);
  };
  latches<<<1, kThreads>>>(device.get(), out.get());
  launched("latches");
  semaphores<<<1, kThreads>>>(out.get());
  launched("semaphores");
  handedOn<<<1, kThreads>>>(out.get(), 5);
  launched("handed on");
  notified<<<1, kThreads>>>(device.get(), out.get());
  launched("notified");
  completion<<<1, kThreads>>>(device.get(), out.get());
  launched("completion");
}
