// Semaphores of other interfaces in streams.
#include "runtime/api/common/external.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API_PTSZ(CUresult, cuSignalExternalSemaphoresAsync)
(const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned int count,
 CUstream handle) {
  return withStream(
      handle, [&](core::Stream& stream) { return useSemaphores(stream, semaphores, parameters, count, core::signal); });
}

CUDA_API_PTSZ(CUresult, cuWaitExternalSemaphoresAsync)
(const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned int count,
 CUstream handle) {
  return withStream(
      handle, [&](core::Stream& stream) { return useSemaphores(stream, semaphores, parameters, count, core::wait); });
}
