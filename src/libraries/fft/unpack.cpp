// A real transform X of even length N is made of the transform Z of its M = N / 2 pairs:
//   2 X[k] = s - i w^k d  with  s = Z[k] + conj Z[M - k],  d = Z[k] - conj Z[M - k],  w the root of order N.
// X[M - k] is the conjugate of what the other sign gives. The other way round, with w of the inverse transform,
//   Z[k] = s + i w^k d  with  s = X[k] + conj X[M - k],  d = X[k] - conj X[M - k].
#include <numeric>

#include "libraries/fft/pass_writer.h"

namespace mulciber::fft {

namespace {

constexpr int64_t mostTurns = 1024;  // whose parts KernelWriter::turn can tell

}  // namespace

// Elements at constant distances from one another have roots at constant angles.
Complex PassWriter::packingRoot(const Spot& spot, int64_t more, const std::string& place) {
  const int64_t power = more * pass_.element.inIndex, order = pass_.packing.order, common = std::gcd(power, order);
  if (order / common > mostTurns) return root(pass_.packing, atMost(place, pass_.axisLength - 1));
  const auto part = [=](int64_t number) { return static_cast<int>(number / common); };
  return out_.turn(spot.root, part(power), part(order), /*isInverse=*/true);
}

// `place`: the number k of the element.
Complex PassWriter::loadPacked(const Spot& spot, int64_t more, const std::string& isThere, const std::string& place) {
  const int64_t offset = more * pass_.element.in * complexBytes();
  const Complex value = loadComplex(operand(spot.address, offset), isThere);
  const Complex mirrored = loadComplex(operand(spot.mirror, -offset), isThere);
  if (more == 0) {
    // Imaginary parts of the first and the last are none of a real transform's, whatever they are.
    const std::string isFirst = out_.predicate();
    out_.line("setp.eq.u32 {}, {}, 0", isFirst, place);
    for (const std::string& part : {value.im, mirrored.im})
      out_.line("@{} mov.{} {}, {}", isFirst, out_.type(), part, out_.number(0));
  }
  const Complex other = out_.conjugate(mirrored);
  const Complex turned = out_.multiply(out_.subtract(value, other), packingRoot(spot, more, place));
  return out_.add(out_.add(value, other), out_.turn(turned, 1, 4, /*isInverse=*/true));
}

// Elements k and M - k.
std::pair<Complex, Complex> PassWriter::unpacked(const Complex& value, const Complex& mirrored,
                                                 const std::string& place) {
  const Complex other = out_.conjugate(mirrored);
  const Complex sum = out_.halve(out_.add(value, other)), difference = out_.halve(out_.subtract(value, other));
  const Complex turned = out_.turn(out_.multiply(difference, root(pass_.packing, place)), 1, 4, /*isInverse=*/false);
  return {out_.add(sum, turned), out_.conjugate(out_.subtract(sum, turned))};
}

// From shared memory. `thread`: whose place is the element's.
void PassWriter::storeUnpacked(const Thread& thread, const Spot& spot, int64_t more, const std::string& isThere) {
  std::string from = out_.word();
  out_.line("sub.u32 {}, {}, {}", from, pass_.axisLength, thread.place);
  if (more == 0) {
    const std::string isFirst = out_.predicate();
    out_.line("setp.eq.u32 {}, {}, 0", isFirst, thread.place);
    out_.line("selp.b32 {0}, 0, {0}, {1}", from, isFirst);
  }
  const Complex value = loadShared(sharedSpot(thread, thread.place));
  const Complex mirrored = loadShared(sharedSpot(thread, from));
  const auto [low, high] = unpacked(value, mirrored, thread.place);
  const int64_t offset = more * pass_.element.out * complexBytes();
  storeComplex(operand(spot.address, offset), isThere, low);
  storeComplex(operand(spot.mirror, -offset), isThere, high);
}

// In memory: a thread has an element, and the one as far from the end.
void PassWriter::unpackOnly() {
  const Transform transform = transformFor({"%thread", "0"}, /*isLoad=*/false);
  const Spot spot = spotFor(transform, "0", 1, /*isLoad=*/false);
  const std::string isFirst = out_.predicate(), from = out_.wide();
  out_.line("setp.eq.u32 {}, {}, 0", isFirst, spot.index);
  out_.line("selp.b64 {}, {}, {}, {}", from, spot.address, spot.mirror, isFirst);
  const auto [value, mirrored] =
      unpacked(loadComplex(operand(spot.address, 0), ""), loadComplex(operand(from, 0), ""), spot.index);
  storeComplex(operand(spot.address, 0), transform.isThere, value);
  storeComplex(operand(spot.mirror, 0), transform.isThere, mirrored);
}

}  // namespace mulciber::fft
