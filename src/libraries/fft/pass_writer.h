// Writes the kernel of a pass: pass.cpp has the stages, pass_memory.cpp what they load and store, and unpack.cpp what
// real transforms do besides.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libraries/fft/kernel_writer.h"
#include "libraries/fft/pass.h"

namespace mulciber::fft {

class PassWriter {
 public:
  PassWriter(const Pass& pass, const KernelShape& shape) : pass_(pass), shape_(shape), out_(pass.isDouble) {}

  std::string text(const std::string& name);

 private:
  // A thread's transform within the block, and its place among the threads of that.
  struct Thread {
    std::string transform, place;
  };
  // What holds of a whole transform: its address, and what it adds to indices.
  struct Transform {
    std::string isThere;  // empty where all are
    std::string number, address, index, phase;
  };
  // Where an element is, and the one as far from the end of packed ones. Others lie at distances that are constants.
  struct Spot {
    std::string address, index, mirror;
    Complex root;      // of a packed one that is loaded
    int64_t most = 0;  // that the index may be
  };
  struct Butterfly {
    std::string number, isThere;
    std::vector<Complex> values;
  };

  int64_t complexBytes() const { return 2 * out_.realBytes(); }
  // What addresses are counted in.
  int64_t bytesOf(bool isLoad) const { return pass_.hasReals(isLoad) ? out_.realBytes() : complexBytes(); }
  bool isPacked(bool isLoad) const { return isLoad ? pass_.load == Load::Packed : pass_.store == Store::Packed; }

  Thread threadFor(bool isLoad, int64_t lanes);
  Transform transformFor(const Thread& thread, bool isLoad);
  Spot spotFor(const Transform& transform, const std::string& number, int64_t numbers, bool isLoad);
  Complex load(const Spot& spot, int64_t more, const std::string& given = "");
  void store(const Spot& spot, int64_t more, const std::string& given, Complex value);

  std::string mirrorOf(const Spot& spot, int64_t stride);
  Complex zero();
  Complex loadComplex(const std::string& operand, const std::string& isThere);
  void storeComplex(const std::string& operand, const std::string& isThere, const Complex& value);
  Complex loadPacked(const Spot& spot, int64_t more, const std::string& isThere, const std::string& place);
  Complex packingRoot(const Spot& spot, int64_t more, const std::string& place);
  std::pair<Complex, Complex> unpacked(const Complex& value, const Complex& mirrored, const std::string& place);
  void storeUnpacked(const Thread& thread, const Spot& spot, int64_t more, const std::string& isThere);
  void unpackOnly();

  std::string sharedSpot(const Thread& thread, const std::string& number);
  std::vector<std::string> sharedOperands(const Thread& thread, const std::string& number, const Stage& stage,
                                          bool isLoad);
  Complex loadShared(const std::string& operand);
  void storeShared(const std::string& operand, const std::string& isThere, const Complex& value);

  Complex table(int64_t offset, const std::string& number);
  Complex root(const Roots& roots, const std::string& power);
  std::vector<Complex> powers(const std::vector<Complex>& roots, int count, const std::optional<Complex>& start);

  std::string multiplyAdd(const std::string& number, int64_t factor, const std::string& sum);
  std::string index(const std::string& number, int64_t factor, const std::string& base);
  std::string plus(const std::string& number, int64_t more);
  std::string operand(const std::string& address, int64_t more);
  std::string further(const std::string& address, int64_t more);
  std::string atMost(const std::string& number, int64_t most);
  std::string isBelow(const std::string& number, int64_t limit, const std::string& predicate);
  std::string both(const std::string& a, const std::string& b);
  static std::string guarded(const std::string& predicate) { return predicate.empty() ? "" : "@" + predicate + " "; }

  void copy(bool isLoad);
  void transform();
  void stage(size_t number, const Thread& thread, const Transform& source);
  void turnRound(std::vector<Butterfly>& all, const Stage& stage);
  void twiddle(std::vector<Butterfly>& all, const Stage& stage, const std::vector<std::string>& columns);
  void twiddleBehind(std::vector<Butterfly>& all, const Stage& stage, const Transform& target);

  const Pass& pass_;
  const KernelShape& shape_;
  KernelWriter out_;
};

}  // namespace mulciber::fft
