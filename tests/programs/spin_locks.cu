// Locks: between blocks, between the threads of one block, and taken by every lane of a warp in turn.
#include "program.h"

struct Lock {
  int state;
  __device__ void acquire() {
    while (atomicCAS(&state, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void release() {
    __threadfence();
    atomicExch(&state, 0);
  }
};
__device__ Lock lock;

__global__ void blocks(volatile unsigned* counter, unsigned times) {
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < times; ++i) {
    lock.acquire();
    counter[0] = counter[0] + 1;
    counter[1] = counter[1] * 3 + 1;
    lock.release();
  }
}

// The work is inside the loop, as it has to be where the lanes of a warp compete.
__global__ void lanes(int* locks, volatile unsigned* counters) {
  const int which = threadIdx.x % 4;
  bool done = false;
  while (!done) {
    if (atomicCAS(&locks[which], 0, 1) == 0) {
      __threadfence();
      counters[which] = counters[which] + threadIdx.x;
      __threadfence();
      atomicExch(&locks[which], 0);
      done = true;
    }
  }
}

__global__ void tickets(unsigned* next, volatile unsigned* serving, volatile unsigned* data) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned mine = atomicAdd(next, 1);
  while (*serving != mine) {
  }
  __threadfence();
  data[0] = data[0] * 5 + mine;
  __threadfence();
  *serving = mine + 1;
}

int main() {
  DeviceArray<unsigned> counter(std::vector<unsigned>{0, 0}), counters(std::vector<unsigned>(4, 0)),
      next(std::vector<unsigned>{0}), serving(std::vector<unsigned>{0}), data(std::vector<unsigned>{1});
  DeviceArray<int> locks(std::vector<int>(4, 0));
  blocks<<<16, 32>>>(counter.get(), 20);
  lanes<<<1, 64>>>(locks.get(), counters.get());
  tickets<<<4, 64>>>(next.get(), serving.get(), data.get());
  finish();
  show("blocks", counter.host());
  show("lanes", counters.host());
  show("tickets", data.host());
}
