// libcu++: atomics of every width, order and scope, barriers, latches,
// semaphores, pipelines, and the parts of the standard library that kernels
// use.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>

template <class T, cuda::thread_scope Scope>
__device__ void exchange(T* cell) {
  cuda::atomic_ref<T, Scope> ref(*cell);
  T seen = ref.load(cuda::memory_order_acquire);
  while (!ref.compare_exchange_weak(seen, T(seen + 1), cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) {
  }
  ref.store(ref.exchange(T(3), cuda::memory_order_seq_cst), cuda::memory_order_release);
  ref.fetch_add(T(1), cuda::memory_order_relaxed);
  ref.fetch_max(T(2));
}

__global__ void atomics(int* i, unsigned* u, long long* l, unsigned long long* w, float* f, double* d, short* s,
                        unsigned char* c) {
  exchange<int, cuda::thread_scope_block>(i);
  exchange<unsigned, cuda::thread_scope_device>(u);
  exchange<long long, cuda::thread_scope_system>(l);
  exchange<unsigned long long, cuda::thread_scope_thread>(w);
  exchange<float, cuda::thread_scope_device>(f);
  exchange<double, cuda::thread_scope_block>(d);
  exchange<short, cuda::thread_scope_device>(s);
  exchange<unsigned char, cuda::thread_scope_system>(c);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
}

__global__ void waiting(int* data, cuda::binary_semaphore<cuda::thread_scope_device>* lock,
                        cuda::latch<cuda::thread_scope_system>* latch, cuda::atomic<int>* flag) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ alignas(16) int stage[2][128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(stage[0] + threadIdx.x, data + threadIdx.x, sizeof(int), barrier);
  Barrier::arrival_token token = barrier.arrive();
  barrier.wait(cuda::std::move(token));
  barrier.try_wait_for(barrier.arrive(), cuda::std::chrono::microseconds(5));
  barrier.arrive_and_drop();
  auto pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(stage[1] + threadIdx.x * 4, data + threadIdx.x * 4, cuda::aligned_size_t<16>(16), pipeline);
  pipeline.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipeline);
  pipeline.consumer_release();
  lock->acquire();
  data[0] += stage[1][threadIdx.x];
  lock->release();
  latch->arrive_and_wait();
  flag->wait(0, cuda::memory_order_acquire);
  flag->notify_all();
}

__global__ void library(float* out, int n) {
  namespace std = cuda::std;
  std::complex<float> z(out[0], out[1]);
  z = std::exp(z) * std::pow(z, 2.5f) / std::conj(z);
  std::array<int, 4> counts = {std::popcount(unsigned(n)), std::countl_zero(unsigned(n)),
                               int(std::rotl(unsigned(n), 3)), std::numeric_limits<int>::max()};
  std::variant<int, float> either = n > 3 ? std::variant<int, float>(n) : std::variant<int, float>(1.5f);
  std::optional<float> maybe = n & 1 ? std::optional<float>(z.real()) : std::nullopt;
  out[2] = std::visit([](auto x) { return float(x) * 2; }, either) + maybe.value_or(3.f);
  out[3] = float(counts[n & 3]) + std::get<1>(std::make_tuple(1, z.imag()));
  out[4] = float(std::chrono::system_clock::now().time_since_epoch().count());
  __int128 wide = static_cast<__int128>(n) * n;
  out[5] = float(wide / 7);
}
