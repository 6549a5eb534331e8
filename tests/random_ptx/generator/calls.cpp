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
constexpr unsigned kBytes = 24;  // of an array that is passed by value

std::string parameterList(bool isPrototype) {
  std::string text = "(";
  for (const Parameter& p : kParameters) text += cat(".param ", p.type, ' ', isPrototype ? "_" : p.name, ", ");
  return text + cat(".param .align 8 .b8 ", isPrototype ? "_" : "bytes", '[', kBytes, "])");
}

// A word at 0, a wide one at 8.
constexpr unsigned kResultBytes = 16;

std::string resultList(const char* name) { return cat("(.param .align 8 .b8 ", name, '[', kResultBytes, "])"); }

// `target` is a function's name, or a register with the address of one.
std::string call(Scope& scope, const std::string& target, const std::string& depth, const std::string& mask,
                 const std::string& uniform, bool isIndirect) {
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
    text += cat(".param ", p.type, " p_", name, ";\nst.param", p.type, " [p_", name, "], ", value, ";\n");
    names += "p_" + name + ", ";
  }
  text += cat(".param .align 8 .b8 p_bytes[", kBytes, "];\n.param .align 8 .b8 p_result[", kResultBytes, "];\n");
  for (unsigned i = 0; i < kBytes; i += 8) text += cat("st.param.b64 [p_bytes+", i, "], ", scope.reg('v'), ";\n");
  const std::string prototype = isIndirect ? scope.label() : "";
  if (isIndirect) text += cat(prototype, ": .callprototype ", resultList("_"), " _ ", parameterList(true), ";\n");
  text += cat("call (p_result), ", target, ", (", names, "p_bytes)", isIndirect ? ", " + prototype : "", ";\n");
  text += cat("ld.param.b32 ", scope.reg('r'), ", [p_result];\nld.param.b64 ", scope.reg('v'), ", [p_result+8];\n");
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
              call(scope, "%target", "0", "0", "0", true), "}\n"),
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
  return {call(scope, routine.name, depth, routine.needsMask ? place.mask : "0",
               routine.needsBlock ? scope.uniform() : "0", false),
          {}};
}

void addFunction(Random& random, Program& program, unsigned number) {
  Scope scope(random, program);
  scope.isInFunction = true;
  Routine routine;
  routine.name = cat("function", number);
  routine.head = cat(".func ", resultList("result"), ' ', routine.name, ' ', parameterList(false));
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
        first(name, cat("ld.param.b64 ", name, ", [bytes+", (i - 2) * 8, "];\n"));
      else if (parameter) first(name, cat("ld.param.", pool.type, ' ', name, ", [", parameter, "];\n"));
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
             ";\nsub.s32 ", left, ", ", left, ", 1;\n", call(scope, routine.name, left, "0", "0", false), end, ":\n"),
         {}});
    body.children.push_back(statements(scope, place, 1 + random.below(2)));
  }
  Node last{cat("st.param.b32 [result], ", scope.reg('r'), ";\nst.param.b64 [result+8], ", scope.reg('v'), ";\nret;\n"),
            {}};
  last.isRemovable = false;
  body.children.push_back(std::move(last));
  program.routines.push_back(std::move(routine));
}

}  // namespace mulciber::random_ptx
