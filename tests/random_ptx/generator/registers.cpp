#include "random_ptx/generator/registers.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "random_ptx/generator/program.h"

namespace mulciber::random_ptx {

using conformance::Values;
using ptx::Type;

const Pool& poolOf(char prefix) {
  return *std::find_if(kPools.begin(), kPools.end(), [&](const Pool& pool) { return pool.prefix == prefix; });
}

std::optional<char> poolFor(Type type, Values values) {
  if (type == Type::Pred) return 'p';
  if (type == Type::B128) return 'q';
  if (type == Type::F32) return values == Values::F32 ? std::optional('f') : std::nullopt;
  if (type == Type::F64) return values == Values::F64 ? std::optional('g') : std::nullopt;
  const unsigned bits = ptx::bitWidth(type);
  switch (values) {
    case Values::F16: return bits == 16 ? std::optional('k') : std::nullopt;
    case Values::Bf16: return bits == 16 ? std::optional('b') : std::nullopt;
    case Values::F16x2: return bits == 32 ? std::optional('x') : std::nullopt;
    case Values::Bf16x2: return bits == 32 ? std::optional('y') : std::nullopt;
    case Values::F32:
    case Values::F64:
    case Values::DenseF32: return std::nullopt;
    default: return bits == 16 ? 'h' : bits == 32 ? 'r' : 'v';
  }
}

std::string declaredType(const std::string& name) {
  static const std::map<std::string, std::string> kNamed = {{"%lane", "b32"},  {"%row", "b32"},    {"%in", "b64"},
                                                            {"%out", "b64"},   {"%global", "b64"}, {"%shared", "b64"},
                                                            {"%local", "b64"}, {"%cells", "b64"},  {"%sum", "b64"}};
  if (const auto found = kNamed.find(name); found != kNamed.end()) return found->second;
  if (name.size() < 3 || !std::all_of(name.begin() + 2, name.end(), [](unsigned char c) { return std::isdigit(c); }))
    return "";
  switch (name[1]) {
    case 'u':
    case 'm':
    case 'c': return "b32";
    case 'w': return "f32";
    case 'e':
    case 'z': return "pred";
    case 's': return "b64";
    default: break;
  }
  const auto pool = std::find_if(kPools.begin(), kPools.end(), [&](const Pool& p) { return p.prefix == name[1]; });
  return pool == kPools.end() ? "" : pool->type;
}

std::string canonical(char pool, const std::string& to, const std::string& from) {
  auto choose = [&](const char* test, const char* type, const char* nan) {
    return cat("{\n.reg .pred %nan;\n", test, " %nan, ", from, test[0] == 's' ? ", " + from : "", ";\nselp.", type, ' ',
               to, ", ", nan, ", ", from, ", %nan;\n}\n");
  };
  auto pair = [&](const char* type) {
    return cat("{\n.reg .pred %nan, %other;\n.reg .b16 %low, %high;\nmov.b32 {%low, %high}, ", from, ";\nsetp.nan.",
               type, "x2 %nan|%other, ", from, ", ", from,
               ";\nselp.b16 %low, 0x7FFF, %low, %nan;\nselp.b16 %high, 0x7FFF, %high, %other;\nmov.b32 ", to,
               ", {%low, %high};\n}\n");
  };
  switch (pool) {
    case 'f': return choose("testp.notanumber.f32", "f32", "0f7FFFFFFF");
    case 'g': return choose("testp.notanumber.f64", "f64", "0d7FFFFFFFFFFFFFFF");
    case 'k': return choose("setp.nan.f16", "b16", "0x7FFF");
    case 'b': return choose("setp.nan.bf16", "b16", "0x7FFF");
    case 'x': return pair("f16");
    case 'y': return pair("bf16");
    default: return cat("mov.", poolOf(pool).type, ' ', to, ", ", from, ";\n");
  }
}

}  // namespace mulciber::random_ptx
