// How entry points are written down. generate.py reads these lines: a name that appears in one of them is implemented,
// every other exported name gets an entry that refuses.
//
//   CUDA_API(CUresult, cuCtxSynchronize)() { ... }
//
// Functions that take a stream, or work on the default one, exist twice: the plain name means the legacy default
// stream, the other one the calling thread's. Their source files are compiled a second time with MULCIBER_PER_THREAD.
//
//   CUDA_API_PTSZ(CUresult, cuStreamQuery)(CUstream stream) { ... }          // and cuStreamQuery_ptsz
//   CUDA_API_PTDS(CUresult, cuMemcpy)(CUdeviceptr to, ...) { ... }           // and cuMemcpy_ptds
#pragma once

#include <string>

#define CUDA_API(Result, name) extern "C" __attribute__((visibility("default"))) Result name

#ifdef MULCIBER_PER_THREAD
#define CUDA_API_PTSZ(Result, name) CUDA_API(Result, name##_ptsz)
#define CUDA_API_PTDS(Result, name) CUDA_API(Result, name##_ptds)
#else
#define CUDA_API_PTSZ(Result, name) CUDA_API(Result, name)
#define CUDA_API_PTDS(Result, name) CUDA_API(Result, name)
#endif

namespace mulciber::api {

#ifdef MULCIBER_PER_THREAD
inline constexpr bool perThreadDefault = true;
#else
inline constexpr bool perThreadDefault = false;
#endif

// Stream priorities, where the device has them: lower numbers go first. Others are clamped to this range (STR).
inline constexpr int leastPriority = 0, greatestPriority = -5;

// Says once for each name, at level warn, that a program called what Mulciber does not implement.
void reportUnsupported(const char* name);

// The same of a table of undocumented functions, by its UUID, and the UUID as text.
void reportExportTable(const void* id);
std::string nameOfTable(const void* id);

// What an entry that is not implemented does and returns: the report, and CUDA_ERROR_NOT_SUPPORTED or
// cudaErrorNotSupported. Each API has its own.
__attribute__((visibility("hidden"))) int refuse(const char* name);

}  // namespace mulciber::api
