#include "random_ptx/generator/arithmetic.h"

#include <algorithm>

#include "random_ptx/generator/numbers.h"

namespace mulciber::random_ptx {
namespace {

constexpr unsigned kHighestLevel = 4;  // of a factor
constexpr unsigned kRecent = 6;        // values and pairs that are likely to be used again

bool isConstant(const std::string& operand) { return operand[0] == '0'; }

std::string literal(uint32_t bits) { return "0f" + hex(bits, 32); }

template <class T>
const T& recentOf(Random& random, const std::vector<T>& all) {
  const unsigned count = static_cast<unsigned>(std::min<size_t>(all.size(), kRecent));
  return all[all.size() - 1 - random.below(count)];
}

std::string withTarget(std::string code, const std::string& target) {
  for (size_t at; (at = code.find('$')) != std::string::npos;) code.replace(at, 1, target);
  return code;
}

}  // namespace

Arithmetic::Arithmetic(Scope& scope) : scope_(scope) {
  static constexpr std::array<unsigned, 3> kConstants = {2, 8, 20}, kRepeated = {40, 60, 80}, kShown = {0, 30, 60};
  constants_ = random().pick(kConstants);
  repeated_ = random().pick(kRepeated);
  shown_ = random().pick(kShown);
  const unsigned count = 3 + random().below(poolOf('f').count - 2);
  for (unsigned i = 0; i < count; ++i) given_.push_back(cat("%f", i));
}

void Arithmetic::begin(Node& node, const Place& place) {
  node_ = &node;
  place_ = place;
}

void Arithmetic::write(const std::string& code, const std::string& simpler) {
  Node line{code, {}};
  line.simpler = simpler;
  node_->children.push_back(std::move(line));
}

unsigned Arithmetic::levelOf(const std::string& x) const {
  const auto found = levels_.find(x);
  return found == levels_.end() ? 1 : found->second;
}

bool Arithmetic::isGiven(const std::string& name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

bool Arithmetic::isResult(const std::string& name) { return !read_.contains(name) || random().chance(shown_); }

std::string Arithmetic::constant() {
  const std::string number = literal(knownNumber(random()));
  return random().chance(60) ? number : disguised(number);
}

std::string Arithmetic::any() {
  if (made_.empty() || random().chance(20)) return given();
  return random().chance(60) ? recentOf(random(), made_) : random().pick(made_);
}

std::string Arithmetic::factor() {
  if (random().chance(constants_)) return constant();
  if (random().chance(30))
    if (const std::string value = any(); levelOf(value) <= kHighestLevel) return value;
  return given();
}

std::string Arithmetic::addend() {
  if (random().chance(constants_)) return constant();
  return random().chance(65) ? any() : given();
}

Factors Arithmetic::factors() {
  if (pairs_.empty() || !random().chance(repeated_)) {
    const std::string x = factor(), y = random().chance(10) ? x : factor();
    pairs_.emplace_back(isConstant(x) && isConstant(y) ? given() : x, y);
  }
  Factors pair = recentOf(random(), pairs_);
  if (random().chance(40)) std::swap(pair.first, pair.second);
  return pair;
}

std::string Arithmetic::fresh(bool isGiven) {
  (isGiven ? given_ : made_).push_back(scope_.fresh('w'));
  return isGiven ? given_.back() : made_.back();
}

// A new register, or one whose value has been used: loops carry such values, and branches meet with them.
std::string Arithmetic::target(unsigned level) {
  const std::string used = any();
  const bool isNew = !read_.contains(used) || isGiven(used) || !random().chance(place_.depth > 0 ? 40 : 10);
  const std::string name = isNew ? fresh(false) : used;
  unsigned& highest = levels_.try_emplace(name, level).first->second;
  highest = std::max(highest, level);
  if (!isNew) read_.erase(name);
  return name;
}

std::string Arithmetic::multiplyAdd(const std::string& x, const std::string& y, const std::string& z) {
  read_.insert({x, y});
  const std::string to = target(std::max(levelOf(x) + levelOf(y), levelOf(z)));
  // In loops products are added up.
  const bool isSum = place_.depth > 0 && to != x && to != y && random().chance(40);
  const std::string addend = isSum ? to : z;
  if (!isSum) read_.insert(z);
  const bool isSwapped = random().chance(30);
  write(cat(random().chance(5) ? "mad" : "fma", ".rn.f32 ", to, ", ", isSwapped ? y : x, ", ", isSwapped ? x : y, ", ",
            addend, ";\n"));
  return to;
}

std::string Arithmetic::multiply(const std::string& x, const std::string& y) {
  read_.insert({x, y});
  const std::string to = target(levelOf(x) + levelOf(y));
  write(cat("mul.rn.f32 ", to, ", ", x, ", ", y, ";\n"));
  return to;
}

std::string Arithmetic::operation(const std::string& name, const std::vector<std::string>& operands) {
  unsigned level = 1;
  std::string list;
  for (const std::string& operand : operands) {
    level = std::max(level, levelOf(operand));
    read_.insert(operand);
    list += ", " + operand;
  }
  const std::string to = target(level);
  write(cat(name, ' ', to, list, ";\n"));
  return to;
}

std::string Arithmetic::copy(const std::string& code, const std::string& x, const std::string& simpler) {
  const std::string to = fresh(isConstant(x) ? random().chance(30) : isGiven(x));
  levels_[to] = levelOf(x);
  read_.insert(x);
  write(withTarget(code, to), withTarget(simpler, to));
  return to;
}

std::string Arithmetic::negated(const std::string& x) {
  const std::string simple = cat("neg.f32 $, ", x, ";\n");
  if (isConstant(x) || random().chance(75)) return copy(simple, x);
  if (random().chance(40)) return copy(cat("mul.rn.f32 $, ", x, ", 0fBF800000;\n"), x, simple);
  return copy(
      cat("{\n.reg .b32 %bits;\nmov.b32 %bits, ", x, ";\nxor.b32 %bits, %bits, 0x80000000;\nmov.b32 $, %bits;\n}\n"), x,
      simple);
}

std::string Arithmetic::disguised(const std::string& x) {
  const std::string simple = cat("mov.f32 $, ", x, ";\n");
  const std::string code = isConstant(x) ? cat("{\n.reg .f32 %from;\nmov.f32 %from, ", x, ";\n",
                                               disguise(random(), scope_, place_, "$", "%from"), "}\n")
                                         : disguise(random(), scope_, place_, "$", x);
  return copy(code, x, simple);
}

// Compilers make conversions of a boolean of some of these.
std::string Arithmetic::choice() {
  static constexpr std::array<std::pair<float, float>, 8> kPairs = {{{1.0f, -0.0f},
                                                                     {-1.0f, 0.0f},
                                                                     {0.0f, 1.0f},
                                                                     {-0.0f, 1.0f},
                                                                     {0.0f, -1.0f},
                                                                     {2.0f, 0.5f},
                                                                     {1.0f, -1.0f},
                                                                     {0.0f, -0.0f}}};
  const auto& [one, other] = random().pick(kPairs);
  const bool isUsual = random().chance(70);
  const std::string x = literal(isUsual ? std::bit_cast<uint32_t>(one) : knownNumber(random()));
  const std::string y = literal(isUsual ? std::bit_cast<uint32_t>(other) : knownNumber(random()));
  const std::string condition = scope_.condition(place_.isUniform && random().chance(30));
  const std::string jump = cat("mov.f32 $, ", x, ";\n@", condition, " mov.f32 $, ", y, ";\n");
  if (condition[0] == '!' || random().chance(30)) return copy(jump, x);
  return copy(cat("selp.f32 $, ", x, ", ", y, ", ", condition, ";\n"), x);
}

std::string Arithmetic::count() {
  static constexpr std::array<const char*, 3> kOthers = {"%lane", "%row", "%u0"};
  const std::string of = place_.counter.empty() ? random().pick(kOthers) : place_.counter;
  const std::string to = fresh(true);
  levels_[to] = 1;
  if (random().chance(60)) {
    write(cat("cvt.rn.f32.s32 ", to, ", ", of, ";\n"));
  } else {
    write(cat("{\n.reg .b32 %number;\nmad.lo.u32 %number, ", of, ", ", 1 + random().below(8), ", ", random().below(4),
              ";\ncvt.rn.f32.u32 ", to, ", %number;\n}\n"));
  }
  return to;
}

}  // namespace mulciber::random_ptx
