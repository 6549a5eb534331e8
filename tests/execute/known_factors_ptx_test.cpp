// Arithmetic with numbers that a device's compiler may know beforehand: constants, selections between constants, also
// by a branch or with one that is computed, constants that lanes exchange, and constants that remain when integers are
// simplified. The other operands are zeros, infinities and NaNs, which show a wrong simplification, and numbers whose
// product must not be rounded before it is added.
#include <cmath>
#include <limits>
#include <optional>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;

constexpr float infinity = std::numeric_limits<float>::infinity();
const float numbers[] = {0.0f, -0.0f, 1.5f, -2.25f, infinity, -infinity, std::nanf(""), 1.1f, -0x1.8p-3f, 3.0f};

// %c, which is one number in even lanes and another in odd ones, or the one everywhere. {shuffle} gives it to all lanes
// from where it is.
struct Origin {
  const char* text;
  bool isChoice;
};
const Origin origins[] = {
    {"mov.{t} %c, {even};", false},
    {"selp.{t} %c, {even}, {odd}, %p1;", true},
    {"@%p1 bra A; mov.{t} %c, {odd}; bra B; A: mov.{t} %c, {even}; B:", true},
    {"mov.{t} %c, {even}; {shuffle}", false},
    {"mov.b{n} %w1, {even}; add.u{n} %w1, %w1, %w2; sub.u{n} %w1, %w1, %w2; mov.b{n} %c, %w1;", false},
    {"mov.b{n} %w1, {even}; add.u{n} %w1, %w1, %w2; sub.u{n} %w1, %w1, %w2; mov.b{n} %c, %w1; {shuffle}", false},
    {"mov.{t} %c, {even}; @!%p1 fma.rn.{t} %c, {odd}, {one}, {minus zero};", true},
    {"selp.{t} %c, {even}, {odd}, %p1; {shuffle}", true},
};

// Numbers whose products and sums are rounded: `root` has one bit more than half of those of a number, and `large` is
// where its last bit is worth 2.
template <typename T>
constexpr bool isDouble = sizeof(T) == 8;
template <typename T>
constexpr T root = isDouble<T> ? 134217729 : 4097;
template <typename T>
constexpr T large = isDouble<T> ? T(9007199254749184) : T(16785408);
template <typename T>
constexpr T inexact = isDouble<T> ? T(1e25) : T(1e10);
template <typename T>
constexpr T pi = T(3.14159265358979323846);

// %result of %c and of %x and %z, which are loaded.
template <typename T>
struct Operation {
  const char* text;
  T (*value)(T c, T x, T z);
};
template <typename T>
const Operation<T> operations[] = {
    {"mul.rn.{t} %result, %c, %x;", [](T c, T x, T) { return c * x; }},
    {"mul.rn.{t} %result, %x, %c; neg.{t} %result, %result;", [](T c, T x, T) { return -(x * c); }},
    {"add.rn.{t} %result, %c, %x;", [](T c, T x, T) { return c + x; }},
    {"sub.rn.{t} %result, %x, %c;", [](T c, T x, T) { return x - c; }},
    {"sub.rn.{t} %result, %c, %x;", [](T c, T x, T) { return c - x; }},
    {"fma.rn.{t} %result, %c, %x, %z;", [](T c, T x, T z) { return std::fma(c, x, z); }},
    {"fma.rn.{t} %result, %x, %z, %c;", [](T c, T x, T z) { return std::fma(x, z, c); }},
    {"fma.rn.{t} %result, %c, %c, %x;", [](T c, T x, T) { return std::fma(c, c, x); }},
    {"fma.rn.{t} %result, %c, {pi}, %x;", [](T c, T x, T) { return std::fma(c, pi<T>, x); }},
    {"fma.rn.{t} %result, %c, {root}, {large}; add.rn.{t} %result, %result, {large};",
     [](T c, T, T) { return std::fma(c, root<T>, large<T>) + large<T>; }},
    {"mul.rn.{t} %result, %c, %c; neg.{t} %result, %result; fma.rn.{t} %result, %c, %c, %result;",
     [](T c, T, T) { return std::fma(c, c, -(c * c)); }},
    {"mul.rn.{t} %result, %c, {inexact}; neg.{t} %other, %result; fma.rn.{t} %other, %c, {inexact}, %other; "
     "add.rn.{t} %result, %result, %other;",
     [](T c, T, T) { return c * inexact<T> + std::fma(c, inexact<T>, -(c * inexact<T>)); }},
    {"add.rn.{t} %result, %c, {large};", [](T c, T, T) { return c + large<T>; }},
    {"div.rn.{t} %result, %c, %x;", [](T c, T x, T) { return c / x; }},
};

template <typename T>
constexpr T known[][2] = {{1, 0},       {-1, 0},       {0, 1},        {T(-0.0), 1},       {2, T(-0.0)},
                          {0, T(-0.0)}, {-root<T>, 1}, {-1, root<T>}, {T(1.1), T(-0.35)}, {T(0.5), T(-1.1)},
                          {3, 3},       {pi<T>, 0}};

const char* shuffleOf(float) { return "shfl.sync.idx.b32 %c, %c, %r3, 31, 0xFFFFFFFF;"; }
const char* shuffleOf(double) {
  return "mov.b64 {%r4, %r5}, %c; shfl.sync.idx.b32 %r4, %r4, %r3, 31, 0xFFFFFFFF; "
         "shfl.sync.idx.b32 %r5, %r5, %r3, 31, 0xFFFFFFFF; mov.b64 %c, {%r4, %r5};";
}

template <typename T>
class KnownFactorsPtx : public PtxTest {
 protected:
  void SetUp() override {
    PtxTest::SetUp();
    if (IsSkipped()) return;
    in_.emplace(*device, threads * 2 * sizeof(T));
    for (uint32_t i = 0; i < threads; ++i) {
      in_->as<T>()[i * 2] = T(numbers[i / 2 % std::size(numbers)]);
      in_->as<T>()[i * 2 + 1] = T(numbers[(i / 2 + i / 20) % std::size(numbers)]) * T(0.7);
    }
  }

  void run(const Origin& origin, const Operation<T>& operation, T even, T odds) {
    Buffer out(*device, threads * sizeof(T));
    Launch launch;
    launch.block[0] = threads;
    launch.add(in_->address()).add(out.address());
    std::string text = replaced(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<6>; .reg .{t} %c, %x, %z, %other, %result; .reg .b{n} %w<3>; .reg .b64 %rd<6>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 2 * {n} / 8, %rd1; mad.wide.u32 %rd2, %r1, {n} / 8, %rd2;
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; and.b32 %r3, %r1, 31;
  ld.global.v2.{t} {%x, %z}, [%rd1]; ld.global.u{n} %w2, [%rd1+{n} / 8];
{origin}
{operation}
st.global.{t} [%rd2], %result;
ret;
}
)",
                                "{origin}", origin.text);
    text = replaced(replaced(text, "{operation}", operation.text), "{shuffle}", shuffleOf(T()));
    const std::pair<const char*, T> constants[] = {
        {"{even}", even},    {"{odd}", odds},       {"{one}", T(1)},           {"{minus zero}", T(-0.0)},
        {"{root}", root<T>}, {"{large}", large<T>}, {"{inexact}", inexact<T>}, {"{pi}", pi<T>}};
    for (const auto& [name, value] : constants) text = replaced(text, name, word(value));
    text = ofType<T>(text);
    runPtx(text, launch, device->profile());
    for (uint32_t i = 0; i < threads; ++i) {
      const T x = in_->template as<T>()[i * 2], z = in_->template as<T>()[i * 2 + 1];
      const T right = operation.value(origin.isChoice && i % 2 != 0 ? odds : even, x, z);
      const T found = out.as<T>()[i];
      const bool isSame =
          std::isnan(right) ? std::isnan(found) : right == found && std::signbit(right) == std::signbit(found);
      EXPECT_TRUE(isSame) << right << " of " << x << " and " << z << ", found " << found << "\n" << text;
      if (!isSame) return;
    }
  }

 private:
  std::optional<Buffer> in_;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KnownFactorsPtx, Types);

TYPED_TEST(KnownFactorsPtx, GiveWhatTheHostGets) {
  for (const Origin& origin : origins)
    for (const Operation<TypeParam>& operation : operations<TypeParam>)
      for (const auto& [even, odds] : known<TypeParam>) {
        if (this->isLeftOut(3)) continue;
        this->run(origin, operation, even, odds);
      }
}

}  // namespace
}  // namespace mulciber::test
