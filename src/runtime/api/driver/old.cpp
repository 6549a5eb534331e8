// Earlier versions of functions that still differ from the newest in nothing but their name, or in a parameter the
// newest one has as well. Programs built long ago, and cuGetProcAddress for an old version, ask for them.
#include "runtime/api/common/managed.h"
#include "runtime/api/driver/driver.h"

#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuGetProcAddress
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuMemHostRegister
#undef cuMemAdvise

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuCtxDestroy)(CUcontext context) { return cuCtxDestroy_v2(context); }
CUDA_API(CUresult, cuCtxPopCurrent)(CUcontext* context) { return cuCtxPopCurrent_v2(context); }
CUDA_API(CUresult, cuCtxPushCurrent)(CUcontext context) { return cuCtxPushCurrent_v2(context); }
CUDA_API(CUresult, cuStreamDestroy)(CUstream stream) { return cuStreamDestroy_v2(stream); }
CUDA_API(CUresult, cuEventDestroy)(CUevent event) { return cuEventDestroy_v2(event); }
CUDA_API(CUresult, cuEventElapsedTime)(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
CUDA_API(CUresult, cuGetProcAddress)(const char* name, void** out, int cudaVersion, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, out, cudaVersion, flags, nullptr);
}
CUDA_API(CUresult, cuDeviceGetUuid)(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }
CUDA_API(CUresult, cuDevicePrimaryCtxRelease)(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUDA_API(CUresult, cuDevicePrimaryCtxReset)(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUDA_API(CUresult, cuDevicePrimaryCtxSetFlags)(CUdevice device, unsigned int flags) {
  // The newer form changes the flags of a context that is there.
  return withDevice(device, [&](core::Device& of) {
    if ((flags & CU_CTX_MAP_HOST) != 0 || !core::Device::areContextFlags(flags)) return Error::InvalidValue;
    return of.activePrimary() ? Error::PrimaryContextActive : of.setPrimaryFlags(flags);
  });
}
CUDA_API(CUresult, cuMemHostRegister)(void* pointer, size_t bytes, unsigned int flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags & (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
}
CUDA_API(CUresult, cuMemAdvise)(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, locationOf(device));
}
