// Locks of many kinds, between lanes, warps and blocks. What they protect comes out right only if they exclude.
#include <cuda/atomic>

#include "program.h"

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
constexpr auto acquire = cuda::std::memory_order_acquire;
constexpr auto release = cuda::std::memory_order_release;
constexpr auto relaxed = cuda::std::memory_order_relaxed;

// Not atomic, and not commutative with itself torn apart.
__device__ void work(volatile unsigned* data, unsigned value) {
  const unsigned count = data[0], sum = data[1];
  data[1] = sum + value * 3 + 1;
  data[0] = count + 1;
}

// Every lane takes the lock in turn, in ways of writing it: the work inside the loop, a way out after the release,
// some of the lanes only, and the plain spin lock, right where threads progress by themselves.
__global__ void inside(unsigned* lock, volatile unsigned* data) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      work(data, blockIdx.x * blockDim.x + threadIdx.x);
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
__global__ void breaking(unsigned* state, volatile unsigned* data) {
  while (true) {
    Flag lock(*state);
    unsigned free = 0;
    if (!lock.compare_exchange_strong(free, 1, acquire)) continue;
    work(data, blockIdx.x * blockDim.x + threadIdx.x);
    lock.store(0, release);
    break;
  }
}
__global__ void some(unsigned* lock, volatile unsigned* data) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  if (me % 3 == 1) return;
  unsigned wait = 8;
  while (atomicExch(lock, 1) != 0) {
    __nanosleep(wait);
    if (wait < 256) wait *= 2;
  }
  __threadfence();
  work(data, me);
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void plain(unsigned* state, volatile unsigned* data) {
  while (Flag(*state).exchange(1, acquire) != 0) {
  }
  work(data, blockIdx.x * blockDim.x + threadIdx.x);
  Flag(*state).store(0, release);
}

// Two accounts are locked at once, the lower first.
__global__ void transfers(unsigned* locks, volatile int* accounts, int rounds) {
  unsigned random = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int i = 0; i < rounds; ++i) {
    random = random * 1664525 + 1013904223;
    const unsigned from = random >> 28, to = (from + 1 + (random >> 20) % 15) % 16;
    const unsigned low = min(from, to), high = max(from, to);
    for (bool done = false; !done;) {
      if (atomicCAS(&locks[low], 0, 1) != 0) continue;
      if (atomicCAS(&locks[high], 0, 1) == 0) {
        __threadfence();
        accounts[from] = accounts[from] - static_cast<int>(random >> 8 & 15);
        accounts[to] = accounts[to] + static_cast<int>(random >> 8 & 15);
        __threadfence();
        atomicExch(&locks[high], 0);
        done = true;
      }
      atomicExch(&locks[low], 0);
    }
  }
}

// The lanes of a warp pass a token from one to the next, each waiting for the one before.
__global__ void turns(unsigned* order) {
  __shared__ unsigned turn, next;
  if (threadIdx.x == 0) turn = 0, next = 0;
  __syncthreads();
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> token(turn);
  const unsigned mine = threadIdx.x * 37 % blockDim.x;
  while (token.load(acquire) != mine) {
  }
  order[blockIdx.x * blockDim.x + next] = threadIdx.x;
  next = next + 1;
  token.store(mine + 1, release);
}

// Readers look at two words that writers change together.
__global__ void readersAndWriters(unsigned* state, volatile unsigned* pair, unsigned* torn) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  for (int i = 0; i < 20; ++i) {
    if ((warp + i) % 4 == 0) {
      while (atomicCAS(state, 0, 0x80000000u) != 0) {
      }
      __threadfence();
      const unsigned old = pair[0];
      pair[0] = old + 1;
      __nanosleep(20);
      pair[1] = old + 1;
      __threadfence();
      atomicExch(state, 0);
    } else {
      while (true) {
        const unsigned seen = *reinterpret_cast<volatile unsigned*>(state);
        if (!(seen & 0x80000000u) && atomicCAS(state, seen, seen + 1) == seen) break;
      }
      __threadfence();
      if (pair[0] != pair[1]) atomicAdd(torn, 1);
      __threadfence();
      atomicSub(state, 1);
    }
  }
}

// A queue of waiting blocks: each waits at the word that its predecessor will write (the lock of Mellor-Crummey,
// Scott).
struct Waiter {
  unsigned next, isBlocked;
};
__global__ void queue(unsigned* tail, Waiter* waiters, volatile unsigned* data, int rounds) {
  if (threadIdx.x != 0) return;
  const unsigned me = blockIdx.x + 1;
  for (int i = 0; i < rounds; ++i) {
    Flag next(waiters[me].next), isBlocked(waiters[me].isBlocked);
    next.store(0, relaxed), isBlocked.store(1, relaxed);
    if (const unsigned before = Flag(*tail).exchange(me, cuda::std::memory_order_acq_rel)) {
      Flag(waiters[before].next).store(me, release);
      while (isBlocked.load(acquire) != 0) {
      }
    }
    work(data, me);
    unsigned expected = me;
    if (next.load(acquire) == 0 && Flag(*tail).compare_exchange_strong(expected, 0, cuda::std::memory_order_acq_rel))
      continue;
    while (next.load(acquire) == 0) {
    }
    Flag(waiters[next.load(relaxed)].isBlocked).store(0, release);
  }
}

int main() {
  void (*const kernels[])(unsigned*, volatile unsigned*) = {inside, breaking, some, plain};
  const char* const names[] = {"inside", "breaking", "some", "plain"};
  for (int i = 0; i < 4; ++i) {
    DeviceArray<unsigned> lock(std::vector<unsigned>{0}), data(std::vector<unsigned>{0, 0});
    kernels[i]<<<6, 64>>>(lock.get(), data.get());
    finish();
    std::printf("%s: %u times, sum %u, lock %u\n", names[i], data.host()[0], data.host()[1], lock.host()[0]);
    std::fflush(stdout);
  }

  DeviceArray<unsigned> order(96);
  DeviceArray<int> accounts(std::vector<int>(16, 100));
  DeviceArray<unsigned> accountLocks(std::vector<unsigned>(16, 0));
  transfers<<<4, 48>>>(accountLocks.get(), accounts.get(), 8);
  turns<<<3, 32>>>(order.get());
  DeviceArray<unsigned> state(std::vector<unsigned>{0}), pair(std::vector<unsigned>{0, 0}),
      torn(std::vector<unsigned>{0});
  readersAndWriters<<<4, 128>>>(state.get(), pair.get(), torn.get());
  DeviceArray<unsigned> tail(std::vector<unsigned>{0}), queued(std::vector<unsigned>{0, 0});
  DeviceArray<Waiter> waiters(std::vector<Waiter>(13));
  queue<<<12, 32>>>(tail.get(), waiters.get(), queued.get(), 10);
  finish();
  show("accounts", accounts.host(), 16);
  show("turns", order.host(), 4);
  std::printf("readers and writers: %u %u, torn %u\n", pair.host()[0], pair.host()[1], torn.host()[0]);
  show("queue", queued.host());
}
