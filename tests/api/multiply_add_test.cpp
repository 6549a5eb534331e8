// Multiply-adds of f32 are rounded once and keep denormals, whatever else the kernel does with their products.
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "api_test.h"

namespace mulciber::test {
namespace {

// Each thread takes x, y and z from 12 bytes and gives what `body` makes of them in %s; n is 5.
std::string kernelOf(const std::string& body) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .f32 %x, %y, %z, %s, %t<4>;
  .reg .b32 %r<4>, %n, %i;
  .reg .b64 %in, %out;
  .reg .pred %p;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u32 %n, [n];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mad.wide.u32 %in, %r0, 12, %in;
  mad.wide.u32 %out, %r0, 4, %out;
  ld.global.f32 %x, [%in];
  ld.global.f32 %y, [%in+4];
  ld.global.f32 %z, [%in+8];
)" + body +
         R"(
  st.global.f32 [%out], %s;
  ret;
}
)";
}

struct Triple {
  float x, y, z;
};

// A third of them ordinary with a sum that cancels all but the rounding, a third with denormal products, a third with
// denormal numbers.
std::vector<Triple> makeTriples(size_t count) {
  std::mt19937 random(7);
  const auto number = [&](int lowest, int highest) {
    const float fraction = 1 + static_cast<float>(random() & 0x7F'FFFF) * 0x1p-23f;
    const int exponent = lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
    return std::ldexp(random() & 1 ? -fraction : fraction, exponent);
  };
  std::vector<Triple> triples(count);
  for (size_t i = 0; i < count; ++i) {
    Triple& t = triples[i];
    if (i % 3 == 0) {
      t = {number(-3, 3), number(-3, 3), 0};
      t.z = -(t.x * t.y);
    } else if (i % 3 == 1) {
      t = {number(-70, -60), number(-70, -60), number(-140, -120)};
    } else {
      t = {number(-149, -120), number(-3, 3), number(-149, -120)};
    }
  }
  return triples;
}

class MultiplyAdd : public WithDevice {
 protected:
  static constexpr unsigned block = 64, count = 96 * block, rounds = 5;

  // Runs it before or after its registers are asked for, and compares with what `expected` says of each triple.
  void expect(const std::string& body, float (*expected)(Triple)) {
    for (const bool asksFirst : {true, false}) {
      CUmodule module = nullptr;
      CUfunction function = nullptr;
      // Another text, so that nothing is known of it.
      const std::string text = "// " + std::to_string(asksFirst) + "\n" + kernelOf(body);
      ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
      ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
      int before = 0, after = 0;
      if (asksFirst) {
        EXPECT_EQ(cuFuncGetAttribute(&before, CU_FUNC_ATTRIBUTE_NUM_REGS, function), CUDA_SUCCESS);
      }
      compare(function, expected);
      EXPECT_EQ(cuFuncGetAttribute(&after, CU_FUNC_ATTRIBUTE_NUM_REGS, function), CUDA_SUCCESS);
      if (asksFirst) {
        EXPECT_EQ(before, after);
      }
      EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }
  }

 private:
  void compare(CUfunction function, float (*expected)(Triple)) {
    const std::vector<Triple> triples = makeTriples(count);
    std::vector<float> results(count);
    const size_t inBytes = triples.size() * sizeof(Triple), outBytes = results.size() * sizeof(float);
    CUdeviceptr in = 0, out = 0;
    ASSERT_EQ(cuMemAlloc(&in, inBytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&out, outBytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(in, triples.data(), inBytes), CUDA_SUCCESS);
    unsigned n = rounds;
    void* arguments[] = {&in, &out, &n};
    EXPECT_EQ(cuLaunchKernel(function, count / block, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(results.data(), out, outBytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(in), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(out), CUDA_SUCCESS);
    unsigned wrong = 0;
    for (size_t i = 0; i < count; ++i) {
      const Triple t = triples[i];
      const float right = expected(t);
      if (std::bit_cast<uint32_t>(right) == std::bit_cast<uint32_t>(results[i])) continue;
      if (++wrong <= 3)
        ADD_FAILURE() << std::hexfloat << t.x << ", " << t.y << ", " << t.z << " give " << results[i] << " instead of "
                      << right;
    }
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(MultiplyAdd, ByItself) {
  expect("  fma.rn.f32 %s, %x, %y, %z;", [](Triple t) { return std::fma(t.x, t.y, t.z); });
}

TEST_F(MultiplyAdd, BesideItsProduct) {
  expect("  mul.rn.f32 %t0, %x, %y;\n  neg.f32 %t1, %t0;\n  fma.rn.f32 %s, %x, %y, %t1;", [](Triple t) {
    const volatile float product = t.x * t.y;
    return std::fma(t.x, t.y, -product);
  });
}

// Drivers compute the product before the loop.
TEST_F(MultiplyAdd, OfWhatDoesNotChangeInALoop) {
  expect(R"(  mov.f32 %s, %z;
  mov.u32 %i, 0;
LOOP:
  fma.rn.f32 %s, %x, %y, %s;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra LOOP;)",
         [](Triple t) {
           float s = t.z;
           for (unsigned i = 0; i < rounds; ++i) s = std::fma(t.x, t.y, s);
           return s;
         });
}

// Drivers keep the product of the round before, which is that of this round's other multiply-add.
TEST_F(MultiplyAdd, OfWhatARoundHandsToTheNext) {
  expect(R"(  mov.f32 %s, %z;
  mov.f32 %t0, %x;
  mov.u32 %i, 0;
LOOP:
  fma.rn.f32 %s, %t0, %y, %s;
  add.rn.f32 %t0, %t0, %x;
  fma.rn.f32 %s, %t0, %y, %s;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra LOOP;)",
         [](Triple t) {
           float s = t.z, x = t.x;
           for (unsigned i = 0; i < rounds; ++i) {
             s = std::fma(x, t.y, s);
             x += t.x;
             s = std::fma(x, t.y, s);
           }
           return s;
         });
}

TEST_F(MultiplyAdd, OnBothSidesOfABranch) {
  expect(R"(  setp.gt.f32 %p, %x, 0f00000000;
  @%p bra POSITIVE;
  fma.rn.f32 %s, %x, %y, %z;
  bra BEHIND;
POSITIVE:
  fma.rn.f32 %s, %y, %x, %x;
BEHIND:
  fma.rn.f32 %s, %x, %y, %s;)",
         [](Triple t) { return std::fma(t.x, t.y, std::fma(t.x, t.y, t.x > 0 ? t.x : t.z)); });
}

}  // namespace
}  // namespace mulciber::test
