// Random calls on some handles: plans, work areas, streams, transforms and ends, by two threads. A model of the handles
// says what each call answers, and sums say what the transforms give.
#include <cuda.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

using Complex = std::complex<double>;

constexpr cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
constexpr int lengths[] = {1, 2, 3, 8, 15, 16, 24, 37, 64, 97, 1009, 8192, 10000};
constexpr int mostBatch = 3, mostLength = 10000;
constexpr size_t sideBytes = (mostLength / 2 + 1) * 2 * mostBatch * sizeof(Complex);

struct Shape {
  cufftType type = CUFFT_C2C;
  int length = 1, batch = 1;

  bool isDouble() const { return (type & (CUFFT_C2C ^ CUFFT_Z2Z)) != 0; }
  bool fromReal() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool toReal() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  int half() const { return length / 2 + 1; }
  int inputs() const { return toReal() ? half() : length; }  // of each transform
  int outputs() const { return fromReal() ? half() : length; }
  size_t bytes() const { return isDouble() ? 8 : 4; }  // of a number
};

// The number at that place of an array of reals, or of the real and imaginary parts of complex numbers.
double numberAt(const Shape& shape, const std::vector<uint8_t>& array, size_t place) {
  double wide = 0;
  float narrow = 0;
  if (shape.isDouble()) std::memcpy(&wide, &array[place * 8], 8);
  else std::memcpy(&narrow, &array[place * 4], 4), wide = narrow;
  return wide;
}
Complex elementAt(const Shape& shape, const std::vector<uint8_t>& array, size_t place, bool isReal) {
  if (isReal) return numberAt(shape, array, place);
  return {numberAt(shape, array, 2 * place), numberAt(shape, array, 2 * place + 1)};
}

// The sums below are of long doubles: thousands of f64 numbers, one added to the other, are as far off as a transform.
using LongComplex = std::complex<long double>;

LongComplex root(int64_t power, int length) {
  using Real = long double;
  return std::polar(Real(1), 2 * std::numbers::pi_v<Real> * Real(power % length) / Real(length));
}

Complex expectedElement(const Shape& shape, const std::vector<uint8_t>& input, int transform, int k, bool isInverse) {
  LongComplex sum = 0;
  for (int n = 0; n < shape.length; ++n) {
    const bool isLeftOut = shape.toReal() && n >= shape.half();
    const int place = isLeftOut ? shape.length - n : n;
    LongComplex x = elementAt(shape, input, size_t(transform) * shape.inputs() + place, shape.fromReal());
    if (isLeftOut) x = std::conj(x);
    const int64_t power = int64_t(n) * k;
    sum += x * (isInverse || shape.toReal() ? root(power, shape.length) : std::conj(root(power, shape.length)));
  }
  return shape.toReal() ? Complex(double(sum.real())) : Complex(sum);
}

// What a program knows of one of its handles.
struct Plan {
  cufftHandle handle = 0;
  bool isThere = false, isMade = false, allocates = true, hasWork = false;
  Shape shape;
  size_t workBytes = 0;
  CUstream stream = nullptr;
  CUdeviceptr input = 0, output = 0, work = 0;  // its own, for as long as the test lasts
};

class FftSequences : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    for (Plan& plan : plans)
      for (CUdeviceptr* memory : {&plan.input, &plan.output, &plan.work})
        ASSERT_EQ(cuMemAlloc(memory, 4 * sideBytes), CUDA_SUCCESS);
    for (CUstream& stream : streams) ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context) {
      for (const Plan& plan : plans) {
        if (plan.isThere) (void)cufftDestroy(plan.handle);
        for (const CUdeviceptr memory : {plan.input, plan.output, plan.work}) (void)cuMemFree(memory);
      }
      for (const CUstream stream : streams) (void)cuStreamDestroy(stream);
    }
    WithDevice::TearDown();
  }

  int below(int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }

  // By this thread, or by another one that has no context yet.
  template <typename Call>
  cufftResult call(const Call& what) {
    cufftResult result = CUFFT_SUCCESS;
    if (below(4) != 0) return what();
    std::thread([&] { result = what(); }).join();
    return result;
  }

  void make(Plan& plan) {
    Shape shape{types[below(6)], lengths[below(std::size(lengths))], 1 + below(mostBatch)};
    size_t bytes = 0;
    const cufftResult result =
        call([&] { return cufftMakePlan1d(plan.handle, shape.length, shape.type, shape.batch, &bytes); });
    EXPECT_EQ(result, plan.isThere && !plan.isMade ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
    if (result != CUFFT_SUCCESS) return;
    plan.isMade = true;
    plan.shape = shape;
    plan.workBytes = bytes;
    plan.hasWork = plan.hasWork || plan.allocates;
    EXPECT_LE(bytes, 4 * sideBytes);
  }

  std::vector<uint8_t> randomNumbers(const Shape& shape) {
    std::vector<uint8_t> bytes(sideBytes);
    const int inner = shape.length % 2 == 0 ? shape.length / 2 : -1;
    for (size_t i = 0; i < sideBytes / shape.bytes(); ++i) {
      double number = std::uniform_real_distribution<>(-1, 1)(random);
      // What real results take for zero.
      const size_t element = i / 2 % static_cast<size_t>(shape.inputs());
      if (shape.toReal() && i % 2 == 1 && (element == 0 || int(element) == inner)) number = 0;
      const auto narrow = static_cast<float>(number);
      if (shape.isDouble()) std::memcpy(&bytes[i * 8], &number, 8);
      else std::memcpy(&bytes[i * 4], &narrow, 4);
    }
    return bytes;
  }

  cufftResult execute(const Plan& plan, cufftType type, bool isInverse) {
    void *in = reinterpret_cast<void*>(plan.input), *out = reinterpret_cast<void*>(plan.output);
    const int direction = isInverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (type) {
      case CUFFT_C2C: return cufftExecC2C(plan.handle, (cufftComplex*)in, (cufftComplex*)out, direction);
      case CUFFT_R2C: return cufftExecR2C(plan.handle, (cufftReal*)in, (cufftComplex*)out);
      case CUFFT_C2R: return cufftExecC2R(plan.handle, (cufftComplex*)in, (cufftReal*)out);
      case CUFFT_Z2Z: return cufftExecZ2Z(plan.handle, (cufftDoubleComplex*)in, (cufftDoubleComplex*)out, direction);
      case CUFFT_D2Z: return cufftExecD2Z(plan.handle, (cufftDoubleReal*)in, (cufftDoubleComplex*)out);
      default: return cufftExecZ2D(plan.handle, (cufftDoubleComplex*)in, (cufftDoubleReal*)out);
    }
  }

  void transform(Plan& plan) {
    const Shape& shape = plan.shape;
    const bool isInverse = !shape.fromReal() && below(2) != 0;
    const cufftType type = below(8) == 0 ? types[below(6)] : shape.type;
    const std::vector<uint8_t> input = randomNumbers(shape);
    ASSERT_EQ(cuMemcpyHtoDAsync(plan.input, input.data(), sideBytes, plan.stream), CUDA_SUCCESS);
    const cufftResult result = call([&] { return execute(plan, type, isInverse); });
    const cufftResult expected = !plan.isThere || !plan.isMade         ? CUFFT_INVALID_PLAN
                                 : type != shape.type                  ? CUFFT_INVALID_TYPE
                                 : plan.workBytes > 0 && !plan.hasWork ? CUFFT_NO_WORKSPACE
                                                                       : CUFFT_SUCCESS;
    EXPECT_EQ(result, expected);
    if (result != CUFFT_SUCCESS) return;
    std::vector<uint8_t> output(sideBytes);
    ASSERT_EQ(cuMemcpyDtoHAsync(output.data(), plan.output, sideBytes, plan.stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(plan.stream), CUDA_SUCCESS);
    const double bound = (shape.isDouble() ? 1e-14 : 5e-6) * std::sqrt(shape.length);
    for (int i = 0; i < 8; ++i) {
      const int number = below(shape.batch), k = below(shape.outputs());
      const Complex wanted = expectedElement(shape, input, number, k, isInverse);
      const Complex got = elementAt(shape, output, size_t(number) * shape.outputs() + k, shape.toReal());
      EXPECT_LE(std::abs(got - wanted), bound)
          << "type " << shape.type << ", length " << shape.length << ", transform " << number << ", element " << k;
    }
  }

  void step(Plan& plan) {
    const int what = below(16);
    if (what == 0 || !plan.handle) {
      if (plan.isThere) {
        EXPECT_EQ(call([&] { return cufftDestroy(plan.handle); }), CUFFT_SUCCESS);
      }
      const CUdeviceptr input = plan.input, output = plan.output, work = plan.work;
      const cufftHandle old = plan.handle;
      plan = Plan{old, false, false, true, false, {}, 0, nullptr, input, output, work};
      if (old != 0 && below(3) == 0) return;  // later calls name a handle that is no more
      EXPECT_EQ(call([&] { return cufftCreate(&plan.handle); }), CUFFT_SUCCESS);
      EXPECT_NE(plan.handle, old);
      plan.isThere = true;
    } else if (what <= 3) {
      make(plan);
    } else if (what == 4) {
      const bool allocates = below(2) != 0;
      EXPECT_EQ(call([&] { return cufftSetAutoAllocation(plan.handle, allocates); }),
                plan.isThere ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
      plan.allocates = allocates;
    } else if (what == 5) {
      (void)cuStreamSynchronize(plan.stream);
      const bool gives = below(3) != 0;
      EXPECT_EQ(call([&] { return cufftSetWorkArea(plan.handle, reinterpret_cast<void*>(gives ? plan.work : 0)); }),
                plan.isThere ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
      plan.hasWork = gives;
    } else if (what == 6) {
      (void)cuStreamSynchronize(plan.stream);
      const CUstream stream = below(4) == 0 ? nullptr : streams[below(2)];
      const cufftResult result =
          call([&] { return cufftSetStream(plan.handle, reinterpret_cast<cudaStream_t>(stream)); });
      EXPECT_EQ(result, plan.isThere ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
      if (result == CUFFT_SUCCESS) plan.stream = stream;
    } else if (what == 7) {
      size_t bytes = 0;
      EXPECT_EQ(cufftGetSize(plan.handle, &bytes), plan.isThere ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
      EXPECT_EQ(bytes, plan.workBytes);
    } else {
      transform(plan);
    }
  }

  std::mt19937 random{std::random_device{}()};
  Plan plans[4];
  CUstream streams[2] = {};
};

TEST_F(FftSequences, AnswerAsTheModelSays) {
  for (unsigned sequence = 0; sequence < 8; ++sequence) {
    const unsigned seed = sequence < 4 ? sequence : std::random_device{}();
    random.seed(seed);
    for (int i = 0; i < 60 && !HasFailure(); ++i) step(plans[below(4)]);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace mulciber::test
