// Writes multiply-adds whose operands are shared: what programs of them are made of. Factors (%f) keep the value that a
// thread got. What is made (%w) has a first value too, so every instruction may be taken out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {

using Factors = std::pair<std::string, std::string>;

class Arithmetic {
 public:
  explicit Arithmetic(Scope& scope);

  // The instructions that follow go into the node, which stands at the place.
  void begin(Node& node, const Place& place);
  Scope& scope() { return scope_; }
  Random& random() { return scope_.random; }
  const Place& place() const { return place_; }

  // Operands, most of them such as others have already.
  std::string constant();
  std::string factor();
  std::string addend();
  Factors factors();
  // One that threads get, or has the value of one.
  std::string given() { return random().pick(given_); }
  std::string any();

  // Instructions. What they give may be used by those that follow.
  std::string multiplyAdd(const std::string& x, const std::string& y, const std::string& z);
  std::string multiply(const std::string& x, const std::string& y);
  std::string operation(const std::string& name, const std::vector<std::string>& operands);
  std::string absolute(const std::string& x) { return copy("abs.f32 $, " + x + ";\n", x); }
  std::string negated(const std::string& x);
  // The same value, found in a way that compilers may see through.
  std::string disguised(const std::string& x);
  // One of two constants, and a number made of the turns of the loop or of what the lane is.
  std::string choice();
  std::string count();
  // New registers for values that other code sets, which are as given ones where `isGiven`.
  std::string fresh(bool isGiven);
  void write(const std::string& code, const std::string& simpler = {});

  // Whether the register is worth a place among the results. Values which others are made from are so by chance:
  // compilers do more with what is used once.
  bool isResult(const std::string& name);

 private:
  bool isGiven(const std::string& name) const;
  unsigned levelOf(const std::string& x) const;
  // `code` sets `$` to x or its like.
  std::string copy(const std::string& code, const std::string& x, const std::string& simpler = {});
  std::string target(unsigned level);

  Scope& scope_;
  Node* node_ = nullptr;
  Place place_;
  unsigned constants_, repeated_, shown_;  // percent
  std::vector<std::string> given_, made_;
  std::vector<Factors> pairs_;
  std::set<std::string> read_;
  // How many given numbers a value is a product of: products of many are infinite, or zero.
  std::map<std::string, unsigned> levels_;
};

// `to` becomes what `from` is, a register of f32.
std::string disguise(Random& random, Scope& scope, const Place& place, const std::string& to, const std::string& from);

// Some multiply-adds that belong together.
Node multiplyAdds(Arithmetic& arithmetic, const Place& place);

}  // namespace mulciber::random_ptx
