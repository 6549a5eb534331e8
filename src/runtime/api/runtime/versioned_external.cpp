// Semaphores of other interfaces in streams: CUDA 11.2 made the parameters longer. Programs of CUDA 11 and 12 call that
// by names of its own, those of CUDA 13 by the first ones.

// Our headers declare CUDA 13's forms; here the names stand for those of the version that is being built.
#define cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_13
#define cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_13
#include <cuda_runtime.h>
#undef cudaSignalExternalSemaphoresAsync
#undef cudaWaitExternalSemaphoresAsync

#include "runtime/api/common/external.h"

#include "runtime/api/runtime/runtime.h"

namespace core = mulciber::core;
using namespace mulciber::api;

namespace {

// Those of the names without a version.
#if MULCIBER_CUDART_MAJOR < 13
struct FirstSignalParameters {
  struct {
    struct {
      unsigned long long value;
    } fence;
    unsigned long long nvSciSync, keyedMutexKey;
  } params;
  unsigned flags;
};
static_assert(sizeof(FirstSignalParameters) == 32);

struct FirstWaitParameters {
  struct {
    struct {
      unsigned long long value;
    } fence;
    unsigned long long nvSciSync, keyedMutexKey;
    unsigned keyedMutexTimeout;
  } params;
  unsigned flags;
};
static_assert(sizeof(FirstWaitParameters) == 40);
#else
using FirstSignalParameters = cudaExternalSemaphoreSignalParams;
using FirstWaitParameters = cudaExternalSemaphoreWaitParams;
#endif

template <class Parameters>
cudaError_t signalAll(const cudaExternalSemaphore_t* semaphores, const Parameters* parameters, unsigned count,
                      cudaStream_t handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(
      handle, [&](core::Stream& stream) { return useSemaphores(stream, semaphores, parameters, count, core::signal); });
}

template <class Parameters>
cudaError_t waitForAll(const cudaExternalSemaphore_t* semaphores, const Parameters* parameters, unsigned count,
                       cudaStream_t handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(
      handle, [&](core::Stream& stream) { return useSemaphores(stream, semaphores, parameters, count, core::wait); });
}

}  // namespace

CUDA_API(cudaError_t, cudaSignalExternalSemaphoresAsync)
(const cudaExternalSemaphore_t* semaphores, const FirstSignalParameters* parameters, unsigned int count,
 cudaStream_t stream) {
  return signalAll(semaphores, parameters, count, stream);
}
CUDA_API(cudaError_t, cudaSignalExternalSemaphoresAsync_ptsz)
(const cudaExternalSemaphore_t* semaphores, const FirstSignalParameters* parameters, unsigned int count,
 cudaStream_t stream) {
  return signalAll(semaphores, parameters, count, orPerThread(stream));
}
CUDA_API(cudaError_t, cudaWaitExternalSemaphoresAsync)
(const cudaExternalSemaphore_t* semaphores, const FirstWaitParameters* parameters, unsigned int count,
 cudaStream_t stream) {
  return waitForAll(semaphores, parameters, count, stream);
}
CUDA_API(cudaError_t, cudaWaitExternalSemaphoresAsync_ptsz)
(const cudaExternalSemaphore_t* semaphores, const FirstWaitParameters* parameters, unsigned int count,
 cudaStream_t stream) {
  return waitForAll(semaphores, parameters, count, orPerThread(stream));
}

#if MULCIBER_CUDART_MAJOR < 13
CUDA_API(cudaError_t, cudaSignalExternalSemaphoresAsync_v2)
(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* parameters, unsigned int count,
 cudaStream_t stream) {
  return signalAll(semaphores, parameters, count, stream);
}
CUDA_API(cudaError_t, cudaSignalExternalSemaphoresAsync_v2_ptsz)
(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* parameters, unsigned int count,
 cudaStream_t stream) {
  return signalAll(semaphores, parameters, count, orPerThread(stream));
}
CUDA_API(cudaError_t, cudaWaitExternalSemaphoresAsync_v2)
(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* parameters, unsigned int count,
 cudaStream_t stream) {
  return waitForAll(semaphores, parameters, count, stream);
}
CUDA_API(cudaError_t, cudaWaitExternalSemaphoresAsync_v2_ptsz)
(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* parameters, unsigned int count,
 cudaStream_t stream) {
  return waitForAll(semaphores, parameters, count, orPerThread(stream));
}
#endif
