// Signs of zeros that a device's compiler may know: constants, choices with a constant, and constants in memory, whose
// sign is changed, dropped or looked at, also where a branch tells which of two the number is.
#include <cmath>
#include <limits>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;
constexpr double infinity = std::numeric_limits<double>::infinity();
const double numbers[] = {-0.0, 0.0, -1.5, 2.25, -infinity, 1e-40, -3.0};

// Of %c, which is the first number where %p1 holds and the second one elsewhere. %other is the second one, loaded.
const char* const origins[] = {
    "selp.{t} %c, {first}, {second}, %p1;",
    "selp.{t} %c, {first}, %other, %p1;",
    "@%p1 bra A; mov.{t} %c, {second}; bra B; A: mov.{t} %c, {first}; B:",
    "mov.{t} %c, {first}; @!%p1 mov.{t} %c, %other;",
    "mov.b{n} %bits, %other; xor.b{n} %bits, %bits, %zero; mov.b{n} %c, %bits; selp.{t} %c, {first}, %c, %p1;",
    "mov.{t} %c, {first}; @%p1 bra A; mov.b{n} %bits, %other; xor.b{n} %bits, %bits, %zero; mov.b{n} %c, %bits; A:",
    "st.local.{t} [%rd4], {second}; @%p1 st.local.{t} [%rd4], {first}; ld.local.{t} %c, [%rd4];",
    ("mov.{t} %c, {second}; mov.u32 %r4, %r2; A: setp.ne.u32 %p3, %r4, 0; @%p3 bra B; mov.{t} %c, {first}; "
     "add.u32 %r4, %r4, 1; bra A; B:"),
    "mov.{t} %c, %other; @!%p1 bra A; st.global.{t} [%rd2], {first}; ld.global.{t} %c, [%rd2]; A:",
    "mov.f32 %c, {first}; @%p1 bra A; mov.f32 %c, %other; shfl.sync.bfly.b32 %c, %c, 0, 31, 0xAAAAAAAA; A:",
};

// Where the operation is done; elsewhere %result is 0.25.
struct Place {
  const char* text;
  bool (*isActive)(uint32_t thread);
};
const Place places[] = {
    {"{operation}", [](uint32_t) { return true; }},
    {"@!%p1 bra C; {operation} C:", [](uint32_t thread) { return thread % 2 == 0; }},
    {"@%p1 bra C; {operation} C:", [](uint32_t thread) { return thread % 2 != 0; }},
    {"@%p2 bra.uni C; {operation} C:", [](uint32_t) { return true; }},
};

// %result of %c, and of %x and %z, which are loaded.
template <typename T>
struct Operation {
  const char* text;
  T (*value)(T c, T x, T z);
  bool isApproximate = false;
};
template <typename T>
const Operation<T> operations[] = {
    {"neg.{t} %result, %c;", [](T c, T, T) { return -c; }},
    {"abs.{t} %result, %c;", [](T c, T, T) { return std::fabs(c); }},
    {"abs.{t} %result, %c; neg.{t} %result, %result;", [](T c, T, T) { return -std::fabs(c); }},
    {"abs.{t} %result, %c; fma.rn.{t} %result, %result, %x, %z;",
     [](T c, T x, T z) { return std::fma(std::fabs(c), x, z); }},
    {"neg.{t} %result, %c; fma.rn.{t} %result, %result, %x, %z;", [](T c, T x, T z) { return std::fma(-c, x, z); }},
    {"abs.{t} %result, %c; div.rn.{t} %result, %x, %result;", [](T c, T x, T) { return x / std::fabs(c); }},
    {"copysign.{t} %result, %c, %x;", [](T c, T x, T) { return std::copysign(x, c); }},
    {"copysign.{t} %result, %x, %c;", [](T c, T x, T) { return std::copysign(c, x); }},
    {"sqrt.rn.{t} %result, %c; abs.{t} %result, %result;",
     [](T c, T, T) { return c < 0 ? std::numeric_limits<T>::quiet_NaN() : std::fabs(std::sqrt(c)); }},
    {"sqrt.rn.{t} %result, %x; abs.{t} %result, %result;",
     [](T, T x, T) { return x < 0 ? std::numeric_limits<T>::quiet_NaN() : std::fabs(std::sqrt(x)); }},
    {"sub.rn.{t} %result, %x, %c;", [](T c, T x, T) { return x - c; }},
    {"sub.rn.{t} %result, {zero}, %c;", [](T c, T, T) { return T(0) - c; }},
    {"mul.rn.{t} %result, %c, {minus one};", [](T c, T, T) { return -c; }},
    {"setp.lt.{t} %p3, %c, {zero}; neg.{t} %result, %c; selp.{t} %result, %result, %c, %p3;",
     [](T c, T, T) { return c < 0 ? -c : c; }},
    {"max.{t} %result, %x, %c; abs.{t} %result, %result;", [](T c, T x, T) { return std::fabs(std::fmax(x, c)); }},
    {"min.{t} %result, %x, {zero}; abs.{t} %result, %result;", [](T, T x, T) { return std::fabs(std::fmin(x, T(0))); }},
    {"max.{t} %result, %x, {minus zero}; abs.{t} %result, %result;",
     [](T, T x, T) { return std::fabs(std::fmax(x, T(0))); }},
    {"rsqrt.approx.{t} %result, %x; abs.{t} %result, %result;",
     [](T, T x, T) { return x == 0  ? T(infinity)
                            : x < 0 ? std::numeric_limits<T>::quiet_NaN()
                                    : T(1 / std::sqrt(x)); },
     true},
    {"mul.rn.{t} %result, %x, %x; min.{t} %result, %result, %c; abs.{t} %result, %result; neg.{t} %result, %result;",
     [](T c, T x, T) { return -std::fabs(std::fmin(x * x, c)); }},
};

const double pairs[][2] = {{-0.0, 1}, {1, -0.0}, {-0.0, 0}, {0, 1}, {0, -1}, {-0.0, -0.0}, {-0.0, 3.5}};

template <typename T>
class SignsOfZerosPtx : public PtxTest {
 protected:
  static constexpr int bits = sizeof(T) * 8;

  void SetUp() override {
    PtxTest::SetUp();
    if (IsSkipped()) return;
    in_.emplace(*device, threads * 2 * sizeof(T));
    for (uint32_t i = 0; i < threads; ++i) {
      in_->as<T>()[i * 2] = T(numbers[i / 2 % std::size(numbers)]);
      in_->as<T>()[i * 2 + 1] = T(numbers[(i / 2 + i / 14) % std::size(numbers)]);
    }
  }

  void run(const std::string& body, const Place& place, const Operation<T>& operation, T first, T second) {
    Buffer out(*device, threads * sizeof(T));
    Launch launch;
    launch.block[0] = threads;
    launch.add(in_->address()).add(out.address()).add(second);
    std::string text = replaced(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .{t} second)
{
  .reg .b32 %r<6>; .reg .{t} %c, %x, %z, %other, %result; .reg .b{n} %bits, %zero; .reg .b64 %rd<6>; .reg .pred %p<4>;
  .local .align 8 .b8 cell[8];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.{t} %other, [second]; mov.u64 %rd4, cell;
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 2 * {n} / 8, %rd1; mad.wide.u32 %rd2, %r1, {n} / 8, %rd2;
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r5, %ctaid.x; setp.ne.u32 %p2, %r5, 0; cvt.u{n}.u32 %zero, %r5;
  ld.global.v2.{t} {%x, %z}, [%rd1]; mov.{t} %result, {quarter};
{body}
st.global.{t} [%rd2], %result;
ret;
}
)",
                                "{body}", body);
    text = ofType<T>(text);
    text = replaced(replaced(text, "{first}", word(first)), "{second}", word(second));
    text = replaced(replaced(text, "{zero}", word(T(0))), "{minus zero}", word(T(-0.0)));
    text = replaced(replaced(text, "{minus one}", word(T(-1))), "{quarter}", word(T(0.25)));
    runPtx(text, launch, device->profile());
    for (uint32_t i = 0; i < threads; ++i) {
      const T x = in_->template as<T>()[i * 2], z = in_->template as<T>()[i * 2 + 1];
      const T right = place.isActive(i) ? operation.value(i % 2 == 0 ? first : second, x, z) : T(0.25);
      const T found = out.as<T>()[i];
      const bool isEqual =
          right == found || (operation.isApproximate && std::fabs(right - found) < T(1e-5) * std::fabs(right));
      const bool isSame = std::isnan(right) ? std::isnan(found) : isEqual && std::signbit(right) == std::signbit(found);
      EXPECT_TRUE(isSame) << right << " in thread " << i << " of " << x << " and " << z << ", found " << found << ": "
                          << first << ", " << second << " " << bits << " bits\n"
                          << body;
      if (!isSame) return;
    }
  }

 private:
  std::optional<Buffer> in_;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SignsOfZerosPtx, Types);

TYPED_TEST(SignsOfZerosPtx, AreThoseOfTheHost) {
  for (const std::string_view origin : origins)
    for (const Place& place : places)
      for (const Operation<TypeParam>& operation : operations<TypeParam>)
        for (const auto& [first, second] : pairs) {
          if (this->isLeftOut(37) || (this->bits == 64 && origin.find("shfl") != origin.npos)) continue;
          this->run(std::string(origin) + "\n" + replaced(place.text, "{operation}", operation.text), place, operation,
                    TypeParam(first), TypeParam(second));
        }
}

}  // namespace
}  // namespace mulciber::test
