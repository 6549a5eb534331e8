// Functions, and calls of them: direct, through pointers, and recursive.
#include <algorithm>

#include "random_ptx/generator/kernel.h"
#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

constexpr unsigned kMostDepth = 3;  // of a recursion

// All functions have the same parameters, so that one prototype fits them. The first lines are values for the
// registers, the others what a routine must know.
struct Parameter {
  const char* type;
  const char* name;
  const char* argument;  // of a call; null where it is chosen
};
constexpr std::array<Parameter, 14> kParameters = {{{".b32", "word", nullptr},
                                                    {".b64", "wide", nullptr},
                                                    {".b16", "half", nullptr},
                                                    {".f32", "single", nullptr},
                                                    {".f64", "number", nullptr},
                                                    {".b64", "pointer", nullptr},
                                                    {".b32", "uniform", nullptr},
                                                    {".b32", "depth", nullptr},
                                                    {".b32", "mask", nullptr},
                                                    {".b32", "thread", "%lane"},
                                                    {".b64", "inGlobal", "%global"},
                                                    {".b64", "inShared", "%shared"},
                                                    {".b64", "inLocal", "%local"},
                                                    {".b64", "inCells", "%cells"}}};

// One more is passed by value, and one given back: bytes in an array, or a number that a register can hold.
unsigned valueBytes(const Program& program) { return program.passesNumbers ? 16 : 24; }

std::string valueParameter(const Program& program, const std::string& name) {
  return program.passesNumbers ? ".param .b128 " + name
                               : cat(".param .align 8 .b8 ", name, '[', valueBytes(program), ']');
}

std::string parameterList(const Program& program, bool isPrototype) {
  std::string text = "(";
  for (const Parameter& p : kParameters) text += cat(".param ", p.type, ' ', isPrototype ? "_" : p.name, ", ");
  return text + valueParameter(program, isPrototype ? "_" : "bytes") + ")";
}

std::string resultList(const Program& program, const char* name) {
  return cat('(', valueParameter(program, name), ')');
}

// Moves a register to or from `at` bytes behind the begin of a parameter: at once, as a vector, or half by half.
enum class Access { Load, Store };
std::string accessParameter(Random& random, Access access, unsigned bits, const std::string& name,
                            const std::string& parameter, unsigned at) {
  const bool isLoad = access == Access::Load;
  const auto move = [&](const std::string& width, const std::string& value, unsigned place) {
    const std::string address = cat('[', parameter, '+', place, ']');
    return isLoad ? cat("ld.param", width, ' ', value, ", ", address, ";\n")
                  : cat("st.param", width, ' ', address, ", ", value, ";\n");
  };
  if (bits == 16 || name[0] != '%' || random.chance(60)) return move(cat(".b", bits), name, at);
  const std::string half = cat(".b", bits / 2);
  const std::string both = random.chance(50) ? move(".v2" + half, "{%low, %high}", at)
                                             : move(half, "%high", at + bits / 16) + move(half, "%low", at);
  const std::string joined = isLoad ? cat("mov.b", bits, ' ', name, ", {%low, %high};\n")
                                    : cat("mov.b", bits, " {%low, %high}, ", name, ";\n");
  return cat("{\n.reg ", half, " %low, %high;\n", isLoad ? both + joined : joined + both, "}\n");
}

unsigned bitsOf(const std::string& type) { return static_cast<unsigned>(std::stoul(type.substr(2))); }

// What is called: a function by its name, or a register with the address of one of several.
struct Target {
  std::string name;
  std::vector<std::string> choices = {};  // of a register
};

// Names the choices, or what all functions look like.
std::string signature(Scope& scope, const Target& target, std::string& text) {
  if (target.choices.empty()) return "";
  const std::string label = scope.label();
  if (scope.random.chance(50)) {
    text += cat(label, ": .callprototype ", resultList(scope.program, "_"), " _ ", parameterList(scope.program, true),
                ";\n");
  } else {
    text += cat(label, ": .calltargets ", target.choices[0]);
    for (size_t i = 1; i < target.choices.size(); ++i) text += ", " + target.choices[i];
    text += ";\n";
  }
  return ", " + label;
}

std::string call(Scope& scope, const Target& target, const std::string& depth, const std::string& mask,
                 const std::string& uniform, bool mayRepeat) {
  Random& random = scope.random;
  const bool isNumber = scope.program.passesNumbers;
  std::string text, names;
  for (const Parameter& p : kParameters) {
    std::string value = p.argument ? p.argument : "";
    const std::string name = p.name;
    if (name == "word") value = scope.reg('r');
    else if (name == "wide") value = scope.reg('v');
    else if (name == "half") value = scope.reg('h');
    else if (name == "single") value = scope.reg('f');
    else if (name == "number") value = scope.reg('g');
    else if (name == "pointer") value = scope.pointer();
    else if (name == "uniform") value = uniform;
    else if (name == "depth") value = depth;
    else if (name == "mask") value = mask;
    if (random.chance(25)) {
      names += value + ", ";
      continue;
    }
    text += cat(".param ", p.type, " p_", name, ";\n",
                accessParameter(random, Access::Store, bitsOf(p.type), value, "p_" + name, 0));
    names += "p_" + name + ", ";
  }
  std::string given = "p_bytes", result = "p_result";
  if (isNumber && random.chance(40)) {
    given = scope.reg('q');
  } else {
    text += valueParameter(scope.program, given) + ";\n";
    for (unsigned i = 0; i < valueBytes(scope.program); i += 8)
      text += accessParameter(random, Access::Store, 64, scope.reg('v'), given, i);
  }
  const bool isRegister = isNumber && random.chance(40);
  if (isRegister) result = scope.reg('q');
  else text += valueParameter(scope.program, result) + ";\n";
  const std::string last = signature(scope, target, text);
  text += cat("call (", result, "), ", target.name, ", (", names, given, ')', last, ";\n");
  if (isRegister) return "{\n" + text + "}\n";
  if (mayRepeat && random.chance(25)) {  // with what the first call gave, of which something may be read or changed
    if (random.chance(40)) text += accessParameter(random, Access::Load, 32, scope.reg('r'), result, 4);
    if (random.chance(40)) text += accessParameter(random, Access::Store, 32, scope.reg('r'), result, 12);
    std::string again = result;
    if (random.chance(50)) text += valueParameter(scope.program, again = "p_again") + ";\n";
    text += cat("call (", again, "), ", target.name, ", (", names, result, ')', last, ";\n");
    result = again;
  }
  text += accessParameter(random, Access::Load, 32, scope.reg('r'), result, 4 * random.below(2));
  text += accessParameter(random, Access::Load, 64, scope.reg('v'), result, valueBytes(scope.program) - 8);
  return "{\n" + text + "}\n";
}

// A call through a table, by an index that threads differ in.
Node indirectCall(Scope& scope, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string table = "functions" + std::to_string(names.size());
  auto& variables = scope.program.variables;
  if (std::none_of(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == table; }))
    variables.push_back({table, cat(".global .align 8 .u64 ", table, '[', names.size(), "] = {", list, "};\n")});
  return {cat("{\n.reg .b32 %index;\n.reg .b64 %target;\nrem.u32 %index, ", scope.reg('r'), ", ", names.size(),
              ";\nmov.u64 %target, ", table,
              ";\nmad.wide.u32 %target, %index, 8, %target;\nld.global.u64 %target, [%target];\n",
              call(scope, {"%target", names}, "0", "0", "0", true), "}\n"),
          {}};
}

}  // namespace

Node callStatement(Scope& scope, const Place& place) {
  Random& random = scope.random;
  std::vector<const Routine*> callable;
  std::vector<std::string> plain;
  for (unsigned i = 0; i < place.routine; ++i) {
    const Routine& routine = scope.program.routines[i];
    if (!routine.needsMask) plain.push_back(routine.name);
    if ((routine.needsMask && place.mask.empty()) || (routine.needsBlock && !place.isUniform)) continue;
    callable.push_back(&routine);
  }
  if (plain.size() > 1 && random.chance(35)) return indirectCall(scope, plain);
  if (callable.empty()) return pointerStatement(scope);
  const Routine& routine = *random.pick(callable);
  const std::string depth = std::to_string(random.below(kMostDepth + 1));
  return {call(scope, {routine.name}, depth, routine.needsMask ? place.mask : "0",
               routine.needsBlock ? scope.uniform() : "0", true),
          {}};
}

void addFunction(Random& random, Program& program, unsigned number) {
  Scope scope(random, program);
  scope.isInFunction = true;
  Routine routine;
  routine.name = cat("function", number);
  routine.head = cat(".func ", resultList(program, "result"), ' ', routine.name, ' ', parameterList(program, false));
  // The first two have no warp operations: pointers to them may differ from lane to lane.
  routine.needsMask = number >= 2;
  routine.needsBlock = number >= 3;
  Node& body = routine.body;
  static constexpr std::array<std::pair<const char*, const char*>, 6> kKnown = {{{"%lane", "thread"},
                                                                                 {"%global", "inGlobal"},
                                                                                 {"%shared", "inShared"},
                                                                                 {"%local", "inLocal"},
                                                                                 {"%cells", "inCells"},
                                                                                 {"%m0", "mask"}}};
  auto first = [&](const std::string& name, const std::string& text) {
    Node node{text, {}};
    node.isRemovable = false;
    node.defines = name;
    body.children.push_back(std::move(node));
  };
  for (const auto& [name, parameter] : kKnown)
    first(name, cat("ld.param.", declaredType(name), ' ', name, ", [", parameter, "];\n"));
  for (unsigned i = 0; i < Scope::kPointers; ++i) first(cat("%s", i), cat("ld.param.b64 %s", i, ", [pointer];\n"));
  for (unsigned i = 0; i < Scope::kUniforms; ++i)
    first(cat("%u", i),
          i % 2 ? cat("mov.b32 %u", i, ", ", random.below(100), ";\n") : cat("ld.param.b32 %u", i, ", [uniform];\n"));
  for (unsigned i = 0; i < Scope::kUniformPredicates; ++i)
    first(cat("%e", i), cat("{\n.reg .b32 %given;\nld.param.b32 %given, [uniform];\nsetp.gt.s32 %e", i, ", %given, ",
                            random.below(10), ";\n}\n"));
  for (const Pool& pool : kPools)
    for (unsigned i = 0; i < pool.count; ++i) {
      const std::string name = cat('%', pool.prefix, i);
      const char* parameter = nullptr;
      if (i < 2)
        parameter = pool.prefix == 'r'   ? "word"
                    : pool.prefix == 'v' ? "wide"
                    : pool.prefix == 'h' ? "half"
                    : pool.prefix == 'f' ? "single"
                    : pool.prefix == 'g' ? "number"
                                         : nullptr;
      if (pool.prefix == 'v' && i >= 2 && i < 5)
        first(name, accessParameter(random, Access::Load, 64, name, "bytes", (i - 2) * 8 % valueBytes(program)));
      else if (parameter)
        first(name, accessParameter(random, Access::Load, bitsOf(cat('.', pool.type)), name, parameter, 0));
      else first(name, constantValue(random, pool, name));
    }
  Place place;
  place.depth = 1;
  place.routine = number;
  place.isUniform = routine.needsBlock;
  place.mask = routine.needsMask ? "%m0" : "";
  body.children.push_back(statements(scope, place, 1 + random.below(3)));
  if (!routine.needsMask && random.chance(40)) {  // it calls itself, not so often
    const std::string end = scope.label(), left = scope.fresh('c'), none = scope.fresh('z');
    body.children.push_back(
        {cat("ld.param.b32 ", left, ", [depth];\nsetp.le.s32 ", none, ", ", left, ", 0;\n@", none, " bra ", end,
             ";\nsub.s32 ", left, ", ", left, ", 1;\n", call(scope, {routine.name}, left, "0", "0", false), end, ":\n"),
         {}});
    body.children.push_back(statements(scope, place, 1 + random.below(2)));
  }
  Node last{"", {}, "ret;\n"};
  for (unsigned i = 0; i < valueBytes(program); i += i < 8 ? 4 : 8)
    last.text += accessParameter(random, Access::Store, i < 8 ? 32 : 64, scope.reg(i < 8 ? 'r' : 'v'), "result", i);
  last.isRemovable = false;
  body.children.push_back(std::move(last));
  program.routines.push_back(std::move(routine));
}

}  // namespace mulciber::random_ptx
