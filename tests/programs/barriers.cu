// Barriers whose two halves stand apart: cuda::barrier and its primitives (CS-049 to CS-052, ASYNC-01 to ASYNC-10).
#include <cuda_awbarrier_primitives.h>
#include <cuda/barrier>
#include <cuda/std/utility>

#include "program.h"

#pragma nv_diag_suppress 20054  // barriers in shared memory are not constructed, but made by init()

using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kThreads = 128;

// What others wrote before they arrived is seen after the wait; other work stands between.
__global__ void apart(const int* in, int* out, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int values[2][kThreads];
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, kThreads);
  __syncthreads();
  int sum = in[i];
  for (int round = 0; round < rounds; ++round) {
    values[round % 2][i] = sum;
    Barrier::arrival_token token = barrier.arrive();
    int work = round;
    for (int k = 0; k < i % 7; ++k) work = work * 5 + in[(i + k) % kThreads];
    barrier.wait(cuda::std::move(token));
    sum = sum * 3 + values[round % 2][(i * 11 + round) % kThreads] + work;
  }
  out[i] = sum;
}

// One arrival more than warps: who leaves two arrivals missing is the last, works for all and arrives once more. Lanes
// that arrive together may be told the same count: one of each warp arrives.
__global__ void countdown(const int* in, int* out, int rounds) {
  __shared__ __mbarrier_t barrier;
  __shared__ int values[kThreads], total, elected;
  const int i = threadIdx.x;
  if (i == 0) __mbarrier_init(&barrier, kThreads / 32 + 1), elected = 0, total = 0;
  __syncthreads();
  int value = in[i];
  for (int round = 0; round < rounds; ++round) {
    values[i] = value;
    __syncwarp();
    if (i % 32 == 0) {
      const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
      if (__mbarrier_token_pending_count(token) == 2) {  // this thread's own, counted before, and the one more
        int sum = 0;
        for (int k = 0; k < kThreads; ++k) sum = sum * 7 + values[k];
        total = sum, ++elected;
        (void)__mbarrier_arrive(&barrier);
      }
      while (!__mbarrier_test_wait(&barrier, token)) {
      }
    }
    __syncwarp();
    value = (value ^ total) + round;
    __syncthreads();
  }
  out[i] = value;
  if (i == 0) out[kThreads] = elected, __mbarrier_inval(&barrier);
}

// Two warps fill two buffers, two others take them out, in order, by four barriers of all threads.
__global__ void producers(const int* in, int* out, int steps) {
  constexpr int kHalf = kThreads / 2;
  __shared__ Barrier ready[2], filled[2];
  __shared__ int buffer[2][kHalf];
  if (threadIdx.x < 4) init(threadIdx.x < 2 ? &ready[threadIdx.x] : &filled[threadIdx.x - 2], kThreads);
  __syncthreads();
  const int i = threadIdx.x % kHalf;
  if (threadIdx.x < kHalf) {
    for (int step = 0; step < steps; ++step) {
      ready[step % 2].arrive_and_wait();
      buffer[step % 2][i] = in[step * kHalf + i] * (step + 1);
      (void)filled[step % 2].arrive();
    }
  } else {
    (void)ready[0].arrive(), (void)ready[1].arrive();
    int sum = 0;
    for (int step = 0; step < steps; ++step) {
      filled[step % 2].arrive_and_wait();
      sum = sum * 3 + buffer[step % 2][(i + step) % kHalf];
      (void)ready[step % 2].arrive();
    }
    out[i] = sum;
  }
}

// Threads leave one after the other; the others' barrier expects one less. Both ways to say so.
__global__ void leaving(const int* in, int* out, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int total[2];
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, kThreads), total[0] = total[1] = 0;
  __syncthreads();
  int seen = 0;
  for (int round = 0; round < rounds; ++round) {
    atomicAdd(&total[round % 2], in[i]);
    if ((i * 7 + 3) % 31 == round) {
      barrier.arrive_and_drop();
      out[i] = -round - seen;
      return;
    }
    barrier.arrive_and_wait();
    seen = seen * 5 + total[round % 2];
    barrier.arrive_and_wait();
    if (i == kThreads - 1) total[(round + 1) % 2] = 0;  // who never leaves
    barrier.arrive_and_wait();
  }
  out[i] = seen;
}
__global__ void leavingByPrimitives(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ unsigned long long seen;
  const int i = threadIdx.x;
  if (i == 0) __mbarrier_init(&barrier, kThreads), seen = 0;
  __syncthreads();
  for (int round = 0; round < kThreads / 32; ++round) {
    atomicAdd(&seen, 1ull << round * 16);
    if (i / 32 == round) {  // a warp after the other
      (void)__mbarrier_arrive_and_drop(&barrier);
      out[i] = round;
      return;
    }
    const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[i] = static_cast<int>(seen >> round * 16 & 0xFFFF);
  }
}

// Waits by the parity of the phase, waits with a limit, arrivals of several at once.
__global__ void phases(int* out) {
  __shared__ Barrier barrier;
  __shared__ int value;
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, kThreads + 2), value = 0;
  __syncthreads();
  int row = 0;
  for (int phase = 0; phase < 6; ++phase) {
    if (i == phase * 20) {
      row |= (barrier.try_wait_parity_for(phase & 1, cuda::std::chrono::nanoseconds(50)) ? 1 : 0) << phase * 4;
      value = phase * 1000 + 7;
      (void)barrier.arrive(3);
    } else {
      (void)barrier.arrive();
    }
    barrier.wait_parity(phase & 1);
    row |= (value == phase * 1000 + 7 ? 2 : 0) << phase * 4;
    const auto now = cuda::std::chrono::nanoseconds(0);
    row |= (barrier.try_wait_parity_for(phase & 1, now) ? 4 : 0) << phase * 4;
    row |= (barrier.try_wait_parity_for((phase & 1) ^ 1, now) ? 8 : 0) << phase * 4;  // the phase that is under way
    __syncthreads();
  }
  out[i] = row;
}
__global__ void limited(int* out) {
  __shared__ Barrier barrier;
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, 33);
  __syncthreads();
  Barrier::arrival_token token = barrier.arrive();
  out[i] = barrier.try_wait_for(cuda::std::move(token), cuda::std::chrono::microseconds(3));
  __syncthreads();
  if (i == 0) (void)barrier.arrive();
  barrier.wait_parity(0);
  out[i] = out[i] * 2 + 1;
  __syncthreads();
  if (i == 0) {
    barrier.~Barrier();
    init(&barrier, 1);  // the same place anew
    barrier.arrive_and_wait();
    out[32] = static_cast<int>(Barrier::max() > 1000000);
    out[33] = static_cast<int>(__mbarrier_maximum_count());
  }
}

int main() {
  Random random;
  std::vector<int> in(kThreads * 8);
  for (auto& value : in) value = static_cast<int>(random.next() % 1000);
  DeviceArray<int> device(in), a(kThreads), b(kThreads + 1), c(kThreads / 2), d(kThreads), e(kThreads), g(kThreads),
      h(34);
  const auto launched = [](const char* name, auto& values) {
    finish();
    show(name, values.host());
    std::fflush(stdout);
  };
  apart<<<1, kThreads>>>(device.get(), a.get(), 9);
  launched("apart", a);
  countdown<<<1, kThreads>>>(device.get(), b.get(), 5);
  launched("countdown", b);
  std::printf("elected %d times\n", b.host()[kThreads]);
  producers<<<1, kThreads>>>(device.get(), c.get(), 16);
  launched("producers", c);
  leaving<<<1, kThreads>>>(device.get(), d.get(), 20);
  launched("leaving", d);
  leavingByPrimitives<<<1, kThreads>>>(e.get());
  launched("leaving by primitives", e);
  phases<<<1, kThreads>>>(g.get());
  launched("phases", g);
  limited<<<1, 32>>>(h.get());
  launched("limited", h);
  std::printf("maximum %d %d\n", h.host()[32], h.host()[33]);
}
