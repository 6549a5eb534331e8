#include "libraries/fft/transform.h"

#include <fmt/format.h>

#include <algorithm>

#include "libraries/fft/factors.h"

namespace mulciber::fft {

namespace {

// Kernels count elements and transforms in 32 bits.
constexpr int64_t mostBlocks = INT32_MAX, mostCounted = UINT32_MAX;

cufftResult resultOf(CUresult error, cufftResult otherwise) {
  if (error == CUDA_SUCCESS) return CUFFT_SUCCESS;
  return error == CUDA_ERROR_OUT_OF_MEMORY ? CUFFT_ALLOC_FAILED : otherwise;
}

// While it lives, this thread may make a transform although one of its streams is captured: nothing of that is
// captured.
class Uncaptured {
 public:
  Uncaptured() { cuThreadExchangeStreamCaptureMode(&mode_); }
  ~Uncaptured() { cuThreadExchangeStreamCaptureMode(&mode_); }
  Uncaptured(const Uncaptured&) = delete;
  Uncaptured& operator=(const Uncaptured&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// In a stream of its own: the default one may be busy, or not be used while another is captured, and streams that do
// not wait for it would not wait for the copy.
CUresult upload(CUdeviceptr to, const void* from, size_t bytes) {
  CUstream stream = nullptr;
  if (const CUresult error = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); error != CUDA_SUCCESS) return error;
  CUresult result = cuMemcpyHtoDAsync(to, from, bytes, stream);
  if (const CUresult error = cuStreamSynchronize(stream); result == CUDA_SUCCESS) result = error;
  cuStreamDestroy(stream);
  return result;
}

std::vector<float> narrowed(const std::vector<std::complex<double>>& values) {
  std::vector<float> result;
  for (const std::complex<double>& value : values) {
    result.push_back(static_cast<float>(value.real()));
    result.push_back(static_cast<float>(value.imag()));
  }
  return result;
}

}  // namespace

Transform::~Transform() {
  if (module_) cuModuleUnload(module_);
  if (tables_) cuMemFree(tables_);
}

cufftResult Transform::prepare(const Problem& problem) {
  for (const int64_t length : problem.lengths)
    if (!isSmooth(length) && convolutionLength(length) > mostCounted) return CUFFT_INVALID_SIZE;
  const Uncaptured uncaptured;
  CUdevice device = 0;
  int shared = 0, threads = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device) != CUDA_SUCCESS ||
      cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) != CUDA_SUCCESS)
    return CUFFT_SETUP_FAILED;
  shared = std::min(shared, mostShared);
  const Plan plan = makePlan(problem, shared);

  std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n\n";
  std::vector<KernelShape> shapes;
  for (size_t i = 0; i < plan.passes.size(); ++i) {
    shapes.push_back(shapeOf(plan.passes[i], {shared, threads}));
    if (shapes.back().threads() > threads) return CUFFT_NOT_SUPPORTED;
    if (shapes.back().blocks > mostBlocks || plan.passes[i].count() > mostCounted) return CUFFT_INVALID_SIZE;
    text += textOf(plan.passes[i], shapes.back(), fmt::format("pass{}", i));
  }
  if (const CUresult error = cuModuleLoadData(&module_, text.c_str()); error != CUDA_SUCCESS)
    return resultOf(error, CUFFT_INTERNAL_ERROR);
  for (size_t i = 0; i < plan.passes.size(); ++i) {
    const Pass& pass = plan.passes[i];
    Kernel kernel{nullptr, pass.from, pass.to, static_cast<unsigned>(shapes[i].blocks),
                  static_cast<unsigned>(shapes[i].threads())};
    if (cuModuleGetFunction(&kernel.function, module_, fmt::format("pass{}", i).c_str()) != CUDA_SUCCESS)
      return CUFFT_INTERNAL_ERROR;
    kernels_.push_back(kernel);
  }

  const size_t complexBytes = problem.isDouble ? 16 : 8;
  for (const Pass& pass : plan.passes) {
    if (pass.hasAlignedPairs(/*isLoad=*/true)) inputAlignment_ = complexBytes;
    if (pass.hasAlignedPairs(/*isLoad=*/false)) outputAlignment_ = complexBytes;
  }
  if (!plan.tables.empty()) {
    const std::vector<float> narrow = problem.isDouble ? std::vector<float>() : narrowed(plan.tables);
    const void* const values = problem.isDouble ? static_cast<const void*>(plan.tables.data()) : narrow.data();
    const size_t bytes = plan.tables.size() * complexBytes;
    if (const CUresult error = cuMemAlloc(&tables_, bytes); error != CUDA_SUCCESS)
      return resultOf(error, CUFFT_INTERNAL_ERROR);
    if (upload(tables_, values, bytes) != CUDA_SUCCESS) return CUFFT_INTERNAL_ERROR;
  }
  otherWork_ = plan.work * complexBytes;
  middle_ = otherWork_ + plan.otherWork * complexBytes;
  workBytes_ = workBytesOf(plan, problem.isDouble);
  return CUFFT_SUCCESS;
}

cufftResult Transform::run(CUdeviceptr input, CUdeviceptr output, CUdeviceptr work, CUstream stream) const {
  if (workBytes_ > 0 && work == 0) return CUFFT_NO_WORKSPACE;
  const auto addressOf = [&](Place place) {
    switch (place) {
      case Place::Input: return input;
      case Place::Output: return output;
      case Place::Work: return work;
      case Place::OtherWork: return work + otherWork_;
      default: return work + middle_;
    }
  };
  for (const Kernel& kernel : kernels_) {
    CUdeviceptr from = addressOf(kernel.from), to = addressOf(kernel.to), tables = tables_;
    void* parameters[] = {&from, &to, &tables};
    if (cuLaunchKernel(kernel.function, kernel.blocks, 1, 1, kernel.threads, 1, 1, 0, stream, parameters, nullptr) !=
        CUDA_SUCCESS)
      return CUFFT_EXEC_FAILED;
  }
  return CUFFT_SUCCESS;
}

}  // namespace mulciber::fft
