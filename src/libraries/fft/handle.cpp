#include "libraries/fft/handle.h"

#include <algorithm>

namespace mulciber::fft {

namespace {

Layout layoutOf(const Request::Side& side, const std::vector<int64_t>& lengths, int64_t row) {
  if (side.embed.empty()) return packed(lengths, row);
  Layout layout{std::vector<int64_t>(lengths.size()), side.distance};
  int64_t stride = side.stride;
  for (size_t axis = lengths.size(); axis-- > 0;) {
    layout.strides[axis] = stride;
    if (axis > 0) stride *= side.embed[axis];
  }
  return layout;
}

bool isSame(const Problem& a, const Problem& b) {
  return a.input.strides == b.input.strides && a.input.distance == b.input.distance &&
         a.output.strides == b.output.strides && a.output.distance == b.output.distance && !needsCopy(b);
}

}  // namespace

Problem problemOf(const Request& request, bool isInverse, bool isInPlace) {
  const int64_t inner = request.lengths.back(), half = inner / 2 + 1;
  const int64_t real = isInPlace ? 2 * half : inner;
  const bool toReal = request.kind == Kind::ComplexToReal, fromReal = request.kind == Kind::RealToComplex;
  Problem problem;
  problem.kind = request.kind;
  problem.isDouble = request.isDouble;
  problem.isInverse = isInverse;
  problem.isInPlace = isInPlace;
  problem.lengths = request.lengths;
  problem.batch = request.batch;
  problem.input = layoutOf(request.input, request.lengths, fromReal ? real : toReal ? half : inner);
  problem.output = layoutOf(request.output, request.lengths, toReal ? real : fromReal ? half : inner);
  return problem;
}

Handle::~Handle() {
  if (ownWork_) cuMemFree(ownWork_);
}

size_t workBytesOf(const Request& request) {
  size_t most = 0;
  for (const bool isInPlace : {false, true}) {
    const Plan plan = planSizes(problemOf(request, false, isInPlace));
    most = std::max(most, workBytesOf(plan, request.isDouble));
  }
  return most;
}

cufftResult Handle::make(const Request& request) {
  std::lock_guard lock(mutex_);
  if (isMade_) return CUFFT_INVALID_PLAN;
  std::unique_ptr<Transform> made[2][2];
  size_t bytes = 0;
  for (const bool isInverse : {false, true}) {
    if (request.kind != Kind::ComplexToComplex && isInverse != (request.kind == Kind::ComplexToReal)) continue;
    for (const bool isInPlace : {false, true}) {
      const Problem problem = problemOf(request, isInverse, isInPlace);
      if (isInPlace && isSame(problemOf(request, isInverse, false), problem)) continue;
      auto transform = std::make_unique<Transform>();
      if (const cufftResult result = transform->prepare(problem); result != CUFFT_SUCCESS) return result;
      bytes = std::max(bytes, transform->workBytes());
      made[isInverse][isInPlace] = std::move(transform);
    }
  }
  if (allocates_ && bytes > 0) {
    if (cuMemAlloc(&ownWork_, bytes) != CUDA_SUCCESS) return CUFFT_ALLOC_FAILED;
    work_ = ownWork_;
  }
  for (const int direction : {0, 1})
    for (const int place : {0, 1}) transforms_[direction][place] = std::move(made[direction][place]);
  workBytes_ = bytes;
  request_ = request;
  isMade_ = true;
  return CUFFT_SUCCESS;
}

cufftResult Handle::run(Kind kind, bool isDouble, bool isInverse, CUdeviceptr input, CUdeviceptr output) {
  std::lock_guard lock(mutex_);
  if (!isMade_) return CUFFT_INVALID_PLAN;
  if (kind != request_.kind || isDouble != request_.isDouble) return CUFFT_INVALID_TYPE;
  return runLocked(isInverse, input, output);
}

cufftResult Handle::run(std::optional<bool> isInverse, CUdeviceptr input, CUdeviceptr output) {
  std::lock_guard lock(mutex_);
  if (!isMade_) return CUFFT_INVALID_PLAN;
  if (request_.kind != Kind::ComplexToComplex) return runLocked(request_.kind == Kind::ComplexToReal, input, output);
  return isInverse ? runLocked(*isInverse, input, output) : CUFFT_INVALID_VALUE;
}

cufftResult Handle::runLocked(bool isInverse, CUdeviceptr input, CUdeviceptr output) {
  if (input == 0 || output == 0) return CUFFT_INVALID_VALUE;
  const auto& transforms = transforms_[isInverse];
  const bool isInPlace = input == output && transforms[1];
  if (transforms[isInPlace]->takes(input, output)) return transforms[isInPlace]->run(input, output, work_, stream_);
  std::unique_ptr<Transform>& unaligned = unaligned_[isInPlace];
  if (!unaligned) {
    Problem problem = problemOf(request_, isInverse, isInPlace);
    problem.isAligned = false;
    auto made = std::make_unique<Transform>();
    if (const cufftResult result = made->prepare(problem); result != CUFFT_SUCCESS) return result;
    unaligned = std::move(made);
  }
  return unaligned->run(input, output, work_, stream_);
}

cufftResult Handle::setWork(CUdeviceptr work) {
  std::lock_guard lock(mutex_);
  if (ownWork_) cuMemFree(ownWork_);
  ownWork_ = 0;
  work_ = work;
  return CUFFT_SUCCESS;
}

cufftResult Handle::setStream(CUstream stream) {
  std::lock_guard lock(mutex_);
  stream_ = stream;
  return CUFFT_SUCCESS;
}

cufftResult Handle::allocateWork(bool isAutomatic) {
  std::lock_guard lock(mutex_);
  allocates_ = isAutomatic;
  return CUFFT_SUCCESS;
}

}  // namespace mulciber::fft
