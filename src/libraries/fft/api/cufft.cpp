// The functions of libcufft.so.N.
#include <cuda.h>
#include <cufftXt.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "libraries/fft/handle.h"
#include "runtime/api/entry.h"

namespace mulciber::fft {
namespace {

class Handles {
 public:
  int add() {
    std::lock_guard lock(mutex_);
    handles_[++last_] = std::make_shared<Handle>();
    return last_;
  }
  std::shared_ptr<Handle> find(int number) {
    std::lock_guard lock(mutex_);
    const auto found = handles_.find(number);
    return found == handles_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Handle> remove(int number) {
    std::lock_guard lock(mutex_);
    const auto found = handles_.find(number);
    if (found == handles_.end()) return nullptr;
    std::shared_ptr<Handle> handle = std::move(found->second);
    handles_.erase(found);
    return handle;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<Handle>> handles_;
  int last_ = 0;
};

// Never destroyed: programs call from their own exit handlers.
Handles& handles() {
  static auto* const all = new Handles;
  return *all;
}

template <class Body>
cufftResult guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  } catch (...) {
    return CUFFT_INTERNAL_ERROR;
  }
}

template <class Body>
cufftResult withHandle(cufftHandle number, Body&& body) {
  return guarded([&] {
    const std::shared_ptr<Handle> handle = handles().find(number);
    return handle ? body(*handle) : CUFFT_INVALID_PLAN;
  });
}

// As with CUDA's runtime, a thread without a context, or with one that is no more, takes the primary one of the first
// device.
bool haveContext() {
  CUcontext context = nullptr;
  unsigned flags = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxGetCurrent(&context) != CUDA_SUCCESS) return false;
  if (context && cuCtxGetFlags(&flags) == CUDA_SUCCESS) return true;
  CUdevice device = 0;
  if (!context || cuCtxGetDevice(&device) != CUDA_SUCCESS) device = 0;
  return cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

bool setType(int type, Request& request) {
  request.isDouble = (type & (CUFFT_C2C ^ CUFFT_Z2Z)) != 0;  // the bit in which all types of the two precisions differ
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z: request.kind = Kind::ComplexToComplex; return true;
    case CUFFT_R2C:
    case CUFFT_D2Z: request.kind = Kind::RealToComplex; return true;
    case CUFFT_C2R:
    case CUFFT_Z2D: request.kind = Kind::ComplexToReal; return true;
    default: return false;
  }
}

// Where the elements of a side lie. An array `embed` of null means one without gaps. Its first element means nothing.
template <class Integer>
struct Side {
  const Integer* embed;
  Integer stride, distance;
};

template <class Integer>
cufftResult fill(Request& request, int type, int rank, const Integer* lengths, const Side<Integer>& input,
                 const Side<Integer>& output, int64_t batch) {
  if (!setType(type, request)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > 3 || !lengths) return CUFFT_INVALID_VALUE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  request.lengths.assign(lengths, lengths + rank);
  request.batch = batch;
  int64_t all = batch;
  for (const int64_t length : request.lengths)
    if (length < 1 || __builtin_mul_overflow(all, length, &all) || length > INT32_MAX) return CUFFT_INVALID_SIZE;
  // A plan has layouts of its own if it says both.
  if (!input.embed || !output.embed) return CUFFT_SUCCESS;
  for (const auto& [from, to] : {std::pair{&input, &request.input}, std::pair{&output, &request.output}}) {
    if (from->stride < 1 || from->distance < 0) return CUFFT_INVALID_VALUE;
    to->embed.assign(from->embed, from->embed + rank);
    if (std::any_of(to->embed.begin() + 1, to->embed.end(), [](int64_t length) { return length < 1; }))
      return CUFFT_INVALID_VALUE;
    to->stride = from->stride;
    to->distance = from->distance;
  }
  return CUFFT_SUCCESS;
}

cufftResult make(Handle& handle, const Request& request, size_t* workBytes) {
  if (!haveContext()) return CUFFT_SETUP_FAILED;
  const cufftResult result = handle.make(request);
  if (result == CUFFT_SUCCESS && workBytes) *workBytes = handle.workBytes();
  return result;
}

template <class Integer>
cufftResult makePlan(cufftHandle number, int type, int rank, const Integer* lengths, const Side<Integer>& input,
                     const Side<Integer>& output, int64_t batch, size_t* workBytes) {
  return withHandle(number, [&](Handle& handle) {
    Request request;
    const cufftResult result = fill(request, type, rank, lengths, input, output, batch);
    return result == CUFFT_SUCCESS ? make(handle, request, workBytes) : result;
  });
}

template <class Integer>
cufftResult estimate(int type, int rank, const Integer* lengths, const Side<Integer>& input,
                     const Side<Integer>& output, int64_t batch, size_t* workBytes) {
  return guarded([&] {
    Request request;
    const cufftResult result = fill(request, type, rank, lengths, input, output, batch);
    if (result != CUFFT_SUCCESS) return result;
    if (!workBytes) return CUFFT_INVALID_VALUE;
    *workBytes = workBytesOf(request);
    return CUFFT_SUCCESS;
  });
}

constexpr Side<int> noGaps{nullptr, 1, 0};

// A handle and its plan at once: no handle stays where the plan cannot be made.
template <class Make>
cufftResult plan(cufftHandle* out, Make&& makeIt) {
  if (const cufftResult result = cufftCreate(out); result != CUFFT_SUCCESS) return result;
  const cufftResult result = makeIt(*out);
  if (result != CUFFT_SUCCESS) (void)cufftDestroy(*out);
  return result;
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

cufftResult run(cufftHandle number, Kind kind, bool isDouble, int direction, const void* input, const void* output) {
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  return withHandle(number, [&](Handle& handle) {
    if (!haveContext()) return CUFFT_SETUP_FAILED;
    return handle.run(kind, isDouble, direction == CUFFT_INVERSE, address(input), address(output));
  });
}

int typeOf(cudaDataType input, cudaDataType output, cudaDataType execution) {
  if (input == CUDA_C_32F && output == CUDA_C_32F && execution == CUDA_C_32F) return CUFFT_C2C;
  if (input == CUDA_R_32F && output == CUDA_C_32F && execution == CUDA_C_32F) return CUFFT_R2C;
  if (input == CUDA_C_32F && output == CUDA_R_32F && execution == CUDA_C_32F) return CUFFT_C2R;
  if (input == CUDA_C_64F && output == CUDA_C_64F && execution == CUDA_C_64F) return CUFFT_Z2Z;
  if (input == CUDA_R_64F && output == CUDA_C_64F && execution == CUDA_C_64F) return CUFFT_D2Z;
  if (input == CUDA_C_64F && output == CUDA_R_64F && execution == CUDA_C_64F) return CUFFT_Z2D;
  return 0;
}

}  // namespace
}  // namespace mulciber::fft

using namespace mulciber::fft;

CUDA_API(cufftResult, cufftCreate)(cufftHandle* plan) {
  if (!plan) return CUFFT_INVALID_VALUE;
  return guarded([&] {
    *plan = handles().add();
    return CUFFT_SUCCESS;
  });
}

CUDA_API(cufftResult, cufftDestroy)(cufftHandle plan) {
  return guarded([&] { return handles().remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; });
}

CUDA_API(cufftResult, cufftMakePlan1d)(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return makePlan(plan, type, 1, &nx, noGaps, noGaps, batch, workSize);
}

CUDA_API(cufftResult, cufftMakePlan2d)(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  const int lengths[] = {nx, ny};
  return makePlan(plan, type, 2, lengths, noGaps, noGaps, 1, workSize);
}

CUDA_API(cufftResult, cufftMakePlan3d)(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  const int lengths[] = {nx, ny, nz};
  return makePlan(plan, type, 3, lengths, noGaps, noGaps, 1, workSize);
}

CUDA_API(cufftResult, cufftMakePlanMany)
(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist,
 cufftType type, int batch, size_t* workSize) {
  return makePlan(plan, type, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, batch, workSize);
}

CUDA_API(cufftResult, cufftMakePlanMany64)
(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride, long long idist, long long* onembed,
 long long ostride, long long odist, cufftType type, long long batch, size_t* workSize) {
  return makePlan(plan, type, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, batch, workSize);
}

CUDA_API(cufftResult, cufftXtMakePlanMany)
(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
 cudaDataType inputType, long long* onembed, long long ostride, long long odist, cudaDataType outputType,
 long long batch, size_t* workSize, cudaDataType executionType) {
  return makePlan(plan, typeOf(inputType, outputType, executionType), rank, n, {inembed, istride, idist},
                  {onembed, ostride, odist}, batch, workSize);
}

CUDA_API(cufftResult, cufftPlan1d)(cufftHandle* out, int nx, cufftType type, int batch) {
  return plan(out, [&](cufftHandle handle) { return cufftMakePlan1d(handle, nx, type, batch, nullptr); });
}

CUDA_API(cufftResult, cufftPlan2d)(cufftHandle* out, int nx, int ny, cufftType type) {
  return plan(out, [&](cufftHandle handle) { return cufftMakePlan2d(handle, nx, ny, type, nullptr); });
}

CUDA_API(cufftResult, cufftPlan3d)(cufftHandle* out, int nx, int ny, int nz, cufftType type) {
  return plan(out, [&](cufftHandle handle) { return cufftMakePlan3d(handle, nx, ny, nz, type, nullptr); });
}

CUDA_API(cufftResult, cufftPlanMany)
(cufftHandle* out, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist,
 cufftType type, int batch) {
  return plan(out, [&](cufftHandle handle) {
    return cufftMakePlanMany(handle, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
  });
}

CUDA_API(cufftResult, cufftEstimate1d)(int nx, cufftType type, int batch, size_t* workSize) {
  return estimate(type, 1, &nx, noGaps, noGaps, batch, workSize);
}

CUDA_API(cufftResult, cufftEstimate2d)(int nx, int ny, cufftType type, size_t* workSize) {
  const int lengths[] = {nx, ny};
  return estimate(type, 2, lengths, noGaps, noGaps, 1, workSize);
}

CUDA_API(cufftResult, cufftEstimate3d)(int nx, int ny, int nz, cufftType type, size_t* workSize) {
  const int lengths[] = {nx, ny, nz};
  return estimate(type, 3, lengths, noGaps, noGaps, 1, workSize);
}

CUDA_API(cufftResult, cufftEstimateMany)
(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist, cufftType type,
 int batch, size_t* workSize) {
  return estimate(type, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, batch, workSize);
}

CUDA_API(cufftResult, cufftGetSize1d)(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return withHandle(plan, [&](Handle&) { return cufftEstimate1d(nx, type, batch, workSize); });
}

CUDA_API(cufftResult, cufftGetSize2d)(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  return withHandle(plan, [&](Handle&) { return cufftEstimate2d(nx, ny, type, workSize); });
}

CUDA_API(cufftResult, cufftGetSize3d)(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return withHandle(plan, [&](Handle&) { return cufftEstimate3d(nx, ny, nz, type, workSize); });
}

CUDA_API(cufftResult, cufftGetSizeMany)
(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist,
 cufftType type, int batch, size_t* workSize) {
  return withHandle(plan, [&](Handle&) {
    return estimate(type, rank, n, Side<int>{inembed, istride, idist}, Side<int>{onembed, ostride, odist}, batch,
                    workSize);
  });
}

CUDA_API(cufftResult, cufftGetSizeMany64)
(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride, long long idist, long long* onembed,
 long long ostride, long long odist, cufftType type, long long batch, size_t* workSize) {
  return withHandle(plan, [&](Handle&) {
    return estimate(type, rank, n, Side<long long>{inembed, istride, idist}, Side<long long>{onembed, ostride, odist},
                    batch, workSize);
  });
}

CUDA_API(cufftResult, cufftXtGetSizeMany)
(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
 cudaDataType inputType, long long* onembed, long long ostride, long long odist, cudaDataType outputType,
 long long batch, size_t* workSize, cudaDataType executionType) {
  return cufftGetSizeMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                            static_cast<cufftType>(typeOf(inputType, outputType, executionType)), batch, workSize);
}

CUDA_API(cufftResult, cufftGetSize)(cufftHandle plan, size_t* workSize) {
  return withHandle(plan, [&](Handle& handle) {
    if (!workSize) return CUFFT_INVALID_VALUE;
    *workSize = handle.workBytes();
    return CUFFT_SUCCESS;
  });
}

CUDA_API(cufftResult, cufftSetWorkArea)(cufftHandle plan, void* workArea) {
  return withHandle(plan, [&](Handle& handle) { return handle.setWork(address(workArea)); });
}

// For one device an array of one area.
CUDA_API(cufftResult, cufftXtSetWorkArea)(cufftHandle plan, void** workArea) {
  if (!workArea) return CUFFT_INVALID_VALUE;
  return cufftSetWorkArea(plan, workArea[0]);
}

CUDA_API(cufftResult, cufftSetAutoAllocation)(cufftHandle plan, int autoAllocate) {
  return withHandle(plan, [&](Handle& handle) { return handle.allocateWork(autoAllocate != 0); });
}

CUDA_API(cufftResult, cufftSetStream)(cufftHandle plan, cudaStream_t stream) {
  return withHandle(plan, [&](Handle& handle) { return handle.setStream(reinterpret_cast<CUstream>(stream)); });
}

CUDA_API(cufftResult, cufftExecC2C)(cufftHandle plan, cufftComplex* input, cufftComplex* output, int direction) {
  return run(plan, Kind::ComplexToComplex, false, direction, input, output);
}

CUDA_API(cufftResult, cufftExecR2C)(cufftHandle plan, cufftReal* input, cufftComplex* output) {
  return run(plan, Kind::RealToComplex, false, CUFFT_FORWARD, input, output);
}

CUDA_API(cufftResult, cufftExecC2R)(cufftHandle plan, cufftComplex* input, cufftReal* output) {
  return run(plan, Kind::ComplexToReal, false, CUFFT_INVERSE, input, output);
}

CUDA_API(cufftResult, cufftExecZ2Z)
(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleComplex* output, int direction) {
  return run(plan, Kind::ComplexToComplex, true, direction, input, output);
}

CUDA_API(cufftResult, cufftExecD2Z)(cufftHandle plan, cufftDoubleReal* input, cufftDoubleComplex* output) {
  return run(plan, Kind::RealToComplex, true, CUFFT_FORWARD, input, output);
}

CUDA_API(cufftResult, cufftExecZ2D)(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleReal* output) {
  return run(plan, Kind::ComplexToReal, true, CUFFT_INVERSE, input, output);
}

CUDA_API(cufftResult, cufftXtExec)(cufftHandle plan, void* input, void* output, int direction) {
  return withHandle(plan, [&](Handle& handle) {
    if (!haveContext()) return CUFFT_SETUP_FAILED;
    std::optional<bool> isInverse;
    if (direction == CUFFT_FORWARD || direction == CUFFT_INVERSE) isInverse = direction == CUFFT_INVERSE;
    return handle.run(isInverse, address(input), address(output));
  });
}

CUDA_API(cufftResult, cufftGetVersion)(int* version) {
  if (!version) return CUFFT_INVALID_VALUE;
  *version = MULCIBER_CUFFT_MAJOR * 1000;
  return CUFFT_SUCCESS;
}

CUDA_API(cufftResult, cufftGetProperty)(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? MULCIBER_CUFFT_MAJOR : 0;
  return CUFFT_SUCCESS;
}
