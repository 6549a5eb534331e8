// Multiply-adds as numerical code has them, and as compilers are tempted to take them apart: to share a product, to
// move it out of a loop, to distribute it, to add in another order, to work it out beforehand.
#include "random_ptx/generator/arithmetic.h"

namespace mulciber::random_ptx {
namespace {

constexpr const char* kOne = "0f3F800000";
constexpr const char* kMinusOne = "0fBF800000";
constexpr const char* kTwo = "0f40000000";
constexpr const char* kZero = "0f00000000";
constexpr const char* kMinusZero = "0f80000000";

using Pattern = void (*)(Arithmetic&);

std::string add(Arithmetic& a, const std::string& x, const std::string& y) { return a.operation("add.rn.f32", {x, y}); }
std::string subtract(Arithmetic& a, const std::string& x, const std::string& y) {
  return a.operation("sub.rn.f32", {x, y});
}

// One product, alone and in sums. A multiplication and an addition that stand apart are rounded twice.
void sameProduct(Arithmetic& a) {
  const auto [x, y] = a.factors();
  for (unsigned i = 2 + a.random().below(3); i > 0; --i) {
    const std::string z = a.addend();
    switch (a.random().below(10)) {
      case 0: a.multiply(x, y); break;
      case 1: add(a, a.multiply(x, y), z); break;
      case 2: subtract(a, z, a.multiply(x, y)); break;
      case 3: a.multiplyAdd(a.negated(x), y, z); break;
      case 4: a.multiplyAdd(a.negated(x), a.negated(y), z); break;
      case 5: a.multiplyAdd(a.absolute(x), a.absolute(y), z); break;
      case 6: a.multiplyAdd(x, y, a.random().chance(50) ? x : a.negated(y)); break;
      case 7: a.multiplyAdd(a.disguised(x), a.random().chance(50) ? a.disguised(y) : y, z); break;
      default: a.multiplyAdd(x, y, z);
    }
  }
}

// The product rounded in another way, cut off, or among numbers of which denormal ones count as zero.
void otherRoundings(Arithmetic& a) {
  static constexpr std::array<const char*, 5> kSums = {"fma.rz.f32", "fma.rm.f32", "fma.rp.f32", "fma.rn.sat.f32",
                                                       "fma.rn.ftz.f32"};
  static constexpr std::array<const char*, 3> kProducts = {"mul.rz.f32", "mul.rn.ftz.f32", "mul.rn.sat.f32"};
  const auto [x, y] = a.factors();
  const std::string z = a.addend();
  a.multiplyAdd(x, y, z);
  if (a.random().chance(60)) a.operation(a.random().pick(kSums), {x, y, z});
  else a.operation(a.random().pick(kProducts), {x, y});
  a.multiplyAdd(x, y, a.addend());
}

void squares(Arithmetic& a) {
  const std::string x = a.factor();
  a.multiplyAdd(x, x, a.addend());
  switch (a.random().below(4)) {
    case 0: a.multiply(x, x); break;
    case 1: a.multiplyAdd(a.negated(x), x, a.addend()); break;
    case 2: a.multiplyAdd(x, x, a.negated(x)); break;
    default: a.multiplyAdd(x, a.disguised(x), a.multiply(a.given(), a.given()));
  }
}

// What a product loses by being rounded, and sums and differences of products that make use of it.
void errorOfProduct(Arithmetic& a) {
  const auto [x, y] = a.factors();
  const std::string product = a.multiply(x, y);
  const std::string error =
      a.random().chance(60) ? a.multiplyAdd(x, y, a.negated(product)) : a.multiplyAdd(a.negated(x), y, product);
  switch (a.random().below(4)) {
    case 0: add(a, product, error); break;
    case 1: a.multiplyAdd(x, y, error); break;
    case 2: {
      const auto [u, v] = a.factors();
      add(a, a.multiplyAdd(u, v, a.negated(product)), error);
      break;
    }
    default: {  // the sum with another number, in twice the precision
      const std::string z = a.addend(), sum = add(a, product, z), part = subtract(a, sum, product);
      const std::string rest = add(a, subtract(a, product, subtract(a, sum, part)), subtract(a, z, part));
      add(a, sum, add(a, rest, error));
    }
  }
}

void polynomial(Arithmetic& a) {
  const std::string x = a.given();
  std::string value = a.constant(), other = a.addend();
  for (unsigned i = 2 + a.random().below(3); i > 0; --i) {
    value = a.multiplyAdd(value, x, a.random().chance(60) ? a.constant() : a.given());
    if (a.random().chance(30)) other = a.multiplyAdd(other, x, a.addend());
  }
}

void sumOfProducts(Arithmetic& a) {
  std::vector<Factors> terms;
  for (unsigned i = 2 + a.random().below(3); i > 0; --i) terms.push_back(a.factors());
  for (unsigned turn = 0; turn < 2; ++turn) {
    std::string sum = a.random().chance(50) ? a.multiply(terms[0].first, terms[0].second) : a.addend();
    for (const auto& [x, y] : terms) sum = a.multiplyAdd(x, y, sum);
    std::swap(terms.front(), terms.back());
  }
}

// Products of two complex numbers, or a vector that is turned by an angle and back.
void complexProduct(Arithmetic& a) {
  std::string x = a.given(), y = a.given();
  const std::string u = a.given(), v = a.given();
  for (unsigned i = 1 + a.random().below(2); i > 0; --i) {
    const std::string real = a.multiplyAdd(x, u, a.negated(a.multiply(y, v)));
    const std::string imaginary = a.multiplyAdd(x, v, a.multiply(y, u));
    if (a.random().chance(40)) a.multiplyAdd(y, v, a.multiply(x, u));
    x = real, y = imaginary;
  }
}

// Products that a compiler may work out, but must not round.
void productOfConstants(Arithmetic& a) {
  const std::string x = a.random().chance(50) ? a.disguised(a.constant()) : a.choice();
  const std::string y = a.random().chance(70) ? a.constant() : a.count();
  a.multiplyAdd(x, y, a.addend());
  switch (a.random().below(5)) {
    case 0: a.multiply(x, a.given()); break;
    case 1: a.multiplyAdd(x, a.given(), y); break;
    case 2: a.multiplyAdd(a.given(), a.given(), x); break;
    case 3: a.multiply(a.multiply(a.given(), x), y); break;
    default: a.multiplyAdd(a.given(), x, a.multiply(a.given(), y));
  }
}

void chosenConstant(Arithmetic& a) {
  const std::string x = a.choice(), y = a.given();
  switch (a.random().below(5)) {
    case 0: a.multiply(x, y); break;
    case 1: add(a, x, y); break;
    case 2: a.multiplyAdd(y, a.given(), x); break;
    case 3: a.operation("selp.f32", {a.multiplyAdd(x, y, a.addend()), a.any(), a.scope().reg('p')}); break;
    default: a.multiplyAdd(x, y, a.addend());
  }
}

// How far a loop is, or the number of a thread, in products.
void countedProduct(Arithmetic& a) {
  const std::string number = a.count(), x = a.given();
  a.multiplyAdd(number, x, a.addend());
  switch (a.random().below(4)) {
    case 0: a.multiplyAdd(number, number, a.addend()); break;
    case 1: a.multiply(number, x); break;
    case 2: a.multiplyAdd(x, add(a, number, kOne), a.addend()); break;
    default: a.multiplyAdd(number, a.constant(), a.addend());
  }
}

// What algebra takes for the same, and rounding does not.
void algebra(Arithmetic& a) {
  const auto [x, y] = a.factors();
  const std::string z = a.addend();
  switch (a.random().below(9)) {
    case 0: a.multiplyAdd(x, y, a.multiplyAdd(a.negated(x), y, z)); break;
    case 1: subtract(a, a.multiplyAdd(x, y, z), a.random().chance(50) ? z : a.multiply(x, y)); break;
    case 2: a.multiplyAdd(x, y, a.multiplyAdd(x, a.given(), z)); break;
    case 3: a.multiplyAdd(x, add(a, y, z), a.multiply(x, y)); break;
    case 4: a.multiplyAdd(x, y, kZero), a.multiplyAdd(x, y, kMinusZero); break;
    case 5: a.multiplyAdd(x, a.random().chance(50) ? kOne : kMinusOne, z), add(a, x, z); break;
    case 6: a.multiplyAdd(a.multiply(x, kTwo), y, z), a.multiplyAdd(x, add(a, y, y), z); break;
    case 7: a.multiplyAdd(x, subtract(a, z, y), y), a.multiplyAdd(a.negated(x), y, y); break;
    default: a.multiplyAdd(add(a, x, y), subtract(a, x, y), a.negated(a.multiplyAdd(x, x, a.multiply(y, y))));
  }
}

// Two neighbours of a window: the second of one turn of a loop may be the first of the next one.
void neighbours(Arithmetic& a) {
  static constexpr std::array<const char*, 3> kWindows = {"local", "shared", "global"};
  Random& random = a.random();
  const std::string window = random.pick(kWindows), x = a.fresh(true), y = a.fresh(true);
  const std::string at = a.place().counter.empty() ? a.scope().reg('r') : a.place().counter;
  a.write(cat("{\n.reg .b64 %place;\n.reg .b32 %index;\nand.b32 %index, ", at,
              ", 3;\nmad.wide.u32 %place, %index, 4, %", window, ";\nld.", window, ".f32 ", x, ", [%place];\nld.",
              window, ".f32 ", y, ", [%place+4];\n}\n"));
  a.multiplyAdd(x, y, a.addend());
  switch (random.below(3)) {
    case 0: a.multiplyAdd(x, x, a.multiply(y, y)); break;
    case 1: a.multiplyAdd(y, a.given(), a.multiply(x, a.given())); break;
    default:
      a.write(cat("st.", window, ".f32 [%", window, '+', 4 * random.below(kWindowBytes / 4), "], ", a.any(), ";\n"));
  }
}

void comparison(Arithmetic& a) {
  const auto [x, y] = a.factors();
  const std::string u = a.multiplyAdd(x, y, a.addend()), v = a.multiplyAdd(x, y, a.addend());
  switch (a.random().below(4)) {
    case 0: a.multiplyAdd(a.operation("max.f32", {u, v}), x, a.addend()); break;
    case 1: a.operation("min.f32", {u, a.multiply(x, y)}); break;
    case 2: a.write(cat("setp.lt.f32 ", a.scope().reg('p'), ", ", u, ", ", v, ";\n")); break;
    default: a.operation("selp.f32", {u, a.multiply(x, y), a.scope().reg('p')});
  }
}

// A quotient or a root, and what it lacks.
void residue(Arithmetic& a) {
  const std::string x = a.given(), y = a.given();
  if (a.random().chance(60)) {
    const std::string quotient = a.operation("div.rn.f32", {x, y});
    a.multiplyAdd(a.negated(quotient), y, x);
    a.multiply(quotient, y);
  } else {
    const std::string root = a.operation("sqrt.rn.f32", {a.absolute(x)});
    a.multiplyAdd(a.negated(root), root, x);
  }
}

// One of a few values is replaced, so that the next turn of a loop has other factors: or two change places.
void replaced(Arithmetic& a) {
  const std::string x = a.any(), y = a.any();
  if (x[1] == 'f' || y[1] == 'f') return sameProduct(a);
  switch (a.random().below(3)) {
    case 0:
      a.write(
          cat("{\n.reg .f32 %kept;\nmov.f32 %kept, ", x, ";\nmov.f32 ", x, ", ", y, ";\nmov.f32 ", y, ", %kept;\n}\n"));
      break;
    case 1: a.write(cat("fma.rn.f32 ", x, ", ", x, ", 0f3F000000, ", a.given(), ";\n")); break;
    default: a.write(cat("add.rn.f32 ", x, ", ", x, ", ", a.given(), ";\n"));
  }
  a.multiplyAdd(x, a.given(), a.addend());
}

// Some threads make a product that all have, or will have.
void predicated(Arithmetic& a) {
  const auto [x, y] = a.factors();
  const std::string to = a.multiplyAdd(x, y, a.addend()), condition = a.scope().condition(false);
  if (a.random().chance(50)) a.write(cat('@', condition, " mul.rn.f32 ", to, ", ", x, ", ", y, ";\n"));
  else a.write(cat('@', condition, " fma.rn.f32 ", to, ", ", x, ", ", y, ", ", a.addend(), ";\n"));
}

constexpr std::array<Pattern, 21> kPatterns = {otherRoundings,
                                               sameProduct,
                                               sameProduct,
                                               sameProduct,
                                               squares,
                                               errorOfProduct,
                                               errorOfProduct,
                                               polynomial,
                                               sumOfProducts,
                                               complexProduct,
                                               productOfConstants,
                                               productOfConstants,
                                               chosenConstant,
                                               countedProduct,
                                               algebra,
                                               algebra,
                                               neighbours,
                                               comparison,
                                               residue,
                                               replaced,
                                               predicated};

}  // namespace

Node multiplyAdds(Arithmetic& arithmetic, const Place& place) {
  Node node{"", {}};
  arithmetic.begin(node, place);
  arithmetic.random().pick(kPatterns)(arithmetic);
  return node;
}

}  // namespace mulciber::random_ptx
