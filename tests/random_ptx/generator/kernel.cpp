#include "random_ptx/generator/kernel.h"

#include <algorithm>
#include <set>

#include "conformance/suite/inputs.h"
#include "random_ptx/generator/arithmetic.h"
#include "random_ptx/generator/numbers.h"
#include "random_ptx/generator/results.h"
#include "random_ptx/generator/scope.h"

namespace mulciber::random_ptx {
namespace {

using conformance::Values;

// What a thread reads for each register: the columns of the inputs.
unsigned columnOf(const Pool& pool, unsigned number) {
  unsigned column = 0;
  for (const Pool& before : kPools) {
    if (before.prefix == pool.prefix) break;
    column += before.count;
  }
  return column + number;
}

unsigned columns() {
  unsigned count = 0;
  for (const Pool& pool : kPools) count += pool.count;
  return count;
}

uint64_t valueFor(Random& random, const Pool& pool) {
  if (pool.prefix == 'p') return random.below(2);
  if (random.chance(20) && !pool.isFloat) return random.below(40);  // counts, indices
  if (random.chance(45)) return random.bits();
  static const auto kSpecial = [] {
    std::vector<std::vector<uint64_t>> lists;
    for (const Pool& one : kPools) lists.push_back(conformance::specialValues(one.values));
    return lists;
  }();
  const auto at = static_cast<size_t>(&poolOf(pool.prefix) - kPools.data());
  return random.pick(kSpecial[at]);
}

std::string moveConstant(const Pool& pool, const std::string& name, uint64_t value) {
  switch (pool.prefix) {
    case 'p': return cat("setp.ne.u32 ", name, ", ", value & 1, ", 0;\n");
    case 'q':
      return cat("{\n.reg .b64 %half;\nmov.b64 %half, 0x", hex(value, 64), ";\nmov.b128 ", name,
                 ", {%half, %half};\n}\n");
    case 'f': return cat("mov.f32 ", name, ", 0f", hex(value, 32), ";\n");
    case 'g': return cat("mov.f64 ", name, ", 0d", hex(value, 64), ";\n");
    default: {
      const std::string type = pool.type;
      return cat("mov.", type, ' ', name, ", 0x", hex(value, static_cast<unsigned>(std::stoul(type.substr(1)))), ";\n");
    }
  }
}

std::string load(const Pool& pool, const std::string& name) {
  const std::string at = cat("[%in+", columnOf(pool, static_cast<unsigned>(std::stoul(name.substr(2)))) * 8, ']');
  if (pool.prefix == 'p')
    return cat("{\n.reg .b32 %bit;\nld.global.b32 %bit, ", at, ";\nsetp.ne.u32 ", name, ", %bit, 0;\n}\n");
  if (pool.prefix == 'q')
    return cat("{\n.reg .b64 %half;\nld.global.b64 %half, ", at, ";\nmov.b128 ", name, ", {%half, %half};\n}\n");
  return cat("ld.global.", pool.type, ' ', name, ", ", at, ";\n");
}

// What every thread is and has: not to be taken out, but left out where nothing names it.
void addPlaces(const Program& program, Node& body) {
  auto add = [&](std::string name, std::string text) {
    Node node{std::move(text), {}};
    node.isRemovable = false;
    node.defines = std::move(name);
    body.children.push_back(std::move(node));
  };
  add("", program.height == 1
              ? "mov.u32 %lane, %tid.x;\n"
              : cat("{\n.reg .b32 %line;\nmov.u32 %lane, %tid.x;\nmov.u32 %line, %tid.y;\nmad.lo.u32 %lane, "
                    "%line, ",
                    program.width, ", %lane;\n}\n"));
  add("", cat("mov.u32 %row, %ctaid.x;\nmad.lo.u32 %row, %row, ", program.threads(), ", %lane;\n"));
  add("", cat("ld.param.u64 %in, [inputs];\nmad.wide.u32 %in, %row, ", columns() * 8, ", %in;\n"));
  add("", cat("ld.param.u64 %out, [results];\nmad.wide.u32 %out, %row, ", program.results.size() * 8, ", %out;\n"));
  add("", cat("ld.param.u64 %cells, [memory];\nmad.wide.u32 %global, %row, ", kWindowBytes,
              ", %cells;\nadd.u64 %cells, %cells, ", program.rows() * kWindowBytes, ";\n"));
  add("", cat("mov.u64 %shared, shared_;\nmad.wide.u32 %shared, %lane, ", kWindowBytes,
              ", %shared;\nmov.u64 %local, local_;\n"));
  // The lanes that there are in this warp.
  add("", cat("{\n.reg .b32 %first, %left;\nand.b32 %first, %lane, -32;\nsub.u32 %left, ", program.threads(),
              ", %first;\nmin.u32 %left, %left, 32;\nbmsk.clamp.b32 %m0, 0, %left;\n}\n"));
}

void addFirstValues(Random& random, const Program& program, Node& body) {
  const Buffers buffers = makeBuffers(program);
  auto add = [&](const std::string& name, std::string text, std::string simpler) {
    Node node{std::move(text), {}};
    node.isRemovable = false;
    node.simpler = std::move(simpler);
    node.defines = name;
    body.children.push_back(std::move(node));
  };
  for (const Pool& pool : kPools)
    for (unsigned i = 0; i < pool.count; ++i) {
      const std::string name = cat('%', pool.prefix, i);
      uint64_t value = 0;
      std::copy_n(buffers.inputs.data() + columnOf(pool, i) * 8, 8, reinterpret_cast<uint8_t*>(&value));
      const bool isNumber = program.kind == Kind::MultiplyAdds && pool.prefix == 'f';
      // Most values only the launch knows, some every compiler.
      if (random.chance(75)) add(name, load(pool, name), moveConstant(pool, name, value));
      else add(name, moveConstant(pool, name, isNumber ? knownNumber(random) : valueFor(random, pool)), "");
    }
  for (unsigned i = 0; i < Scope::kUniforms; ++i)
    add(cat("%u", i),
        i == 0   ? "mov.u32 %u0, %ctaid.x;\n"
        : i == 1 ? cat("mov.u32 %u1, ", random.below(100), ";\n")
                 : cat("ld.param.u32 %u", i, ", [extra+", i * 4, "];\n"),
        "");
  for (unsigned i = 0; i < Scope::kUniformPredicates; ++i)
    add(cat("%e", i),
        cat("setp.", i == 0 ? "eq" : "ne", ".u32 %e", i, ", %u", random.below(Scope::kUniforms), ", 0;\n"), "");
  static constexpr std::array<const char*, 3> kSpaces = {"global", "shared", "local"};
  for (unsigned i = 0; i < Scope::kPointers; ++i) {
    const std::string space = random.pick(kSpaces);
    add(cat("%s", i),
        cat("cvta.", space, ".u64 %s", i, ", %", space, ";\nadd.u64 %s", i, ", %s", i, ", ", kWindowBytes / 2, ";\n"),
        "");
  }
}

// Values of multiply-adds, and counters of loops that may be taken away around what reads them, have first values too.
// The windows that there are hold factors.
void addFirstNumbers(Random& random, const Node& main, Node& body) {
  const std::set<std::string> named = namesIn(textOf(main), true);
  const auto factor = [&] { return cat("%f", random.below(poolOf('f').count)); };
  for (const std::string& name : named) {
    const std::string value = random.chance(50) ? "0f" + hex(knownNumber(random), 32) : factor();
    Node node{cat("mov.f32 ", name, ", ", value, ";\n"), {}};
    if (name[1] == 'c') node.text = cat("mov.b32 ", name, ", 1;\n");
    else if (name[1] != 'w') continue;
    node.isRemovable = false;
    node.defines = name;
    body.children.push_back(std::move(node));
  }
  Node fill{"", {}};
  for (const char* window : {"shared", "local"})
    for (unsigned i = 0; i < kWindowBytes && named.contains(cat('%', window)); i += 4)
      fill.text += cat("st.", window, ".f32 [%", window, '+', i, "], ", factor(), ";\n");
  fill.isRemovable = false;
  body.children.push_back(std::move(fill));
}

// Windows in shared and local memory, and the block's cells, get their first values.
std::string fillMemory(bool hasCells) {
  std::string text;
  for (unsigned i = 0; i < kWindowBytes; i += 8)
    text += cat("st.shared.b64 [%shared+", i, "], ", "%v", i / 8 % 4, ";\nst.local.b64 [%local+", i, "], %v",
                (i / 8 + 1) % 4, ";\n");
  if (hasCells)
    text +=
        cat("{\n.reg .pred %is;\n.reg .b64 %place;\nsetp.lt.u32 %is, %lane, ", kCells * 2,
            ";\nmov.u64 %place, cells_;\nmad.wide.u32 %place, %lane, 8, %place;\n@%is st.shared.b64 [%place], 0;\n}\n");
  return text + "bar.sync 0;\n";
}

// Some threads end before the others meet again.
void addLeaving(Random& random, Program& program, Scope& scope, Node& body) {
  if (!random.chance(40)) return;
  const std::string at = cat("[%out+", program.results.size() * 8, "], ");
  program.results.push_back("ballot of those that are left");
  body.children.push_back(
      {cat("@", scope.reg('p'), " exit;\nbar.sync 0;\n{\n.reg .b32 %value;\nvote.sync.ballot.b32 %value, ",
           scope.reg('p'), ", %m0;\nst.global.b32 ", at, "%value;\n}\n"),
       {}});
}

}  // namespace

std::string constantValue(Random& random, const Pool& pool, const std::string& name) {
  return moveConstant(pool, name, valueFor(random, pool));
}

Buffers makeBuffers(const Program& program) {
  Random random(program.seed ^ 0x9E3779B97F4A7C15);
  Buffers buffers;
  auto append = [](std::vector<uint8_t>& bytes, uint64_t value) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + 8);
  };
  const bool hasFactors = program.kind == Kind::MultiplyAdds;
  for (unsigned row = 0; row < program.rows(); ++row)
    for (const Pool& pool : kPools) {
      const bool isFactor = hasFactors && pool.prefix == 'f';
      const std::vector<uint32_t> factors = isFactor ? factorsOfThread(random, pool.count) : std::vector<uint32_t>{};
      for (unsigned i = 0; i < pool.count; ++i) append(buffers.inputs, isFactor ? factors[i] : valueFor(random, pool));
    }
  for (unsigned i = 0; i < program.rows() * kWindowBytes / 8; ++i) {
    if (!hasFactors) {
      append(buffers.memory, random.bits());
      continue;
    }
    const std::vector<uint32_t> words = factorsOfThread(random, 2);
    append(buffers.memory, uint64_t(words[1]) << 32 | words[0]);
  }
  for (unsigned i = 0; i < kCells * 2; ++i) append(buffers.memory, random.below(1000));
  for (unsigned i = 0; i < program.parameterBytes; ++i)
    buffers.extra.push_back(static_cast<uint8_t>(random.below(256)));
  buffers.results.resize(size_t(program.rows()) * program.results.size() * 8);
  return buffers;
}

Program makeProgram(uint64_t seed, const ProgramOptions& options) {
  Random random(seed);
  Program program;
  program.seed = seed;
  program.kind = options.kind.value_or(Random(~seed).chance(30) ? Kind::MultiplyAdds : Kind::General);
  program.hasSplitBarriers = options.hasSplitBarriers;
  const bool isGeneral = program.kind == Kind::General;
  static constexpr std::array<unsigned, 8> kWidths = {32, 64, 64, 96, 1, 17, 40, 50};
  static constexpr std::array<unsigned, 8> kWidthsOfNumbers = {64, 64, 128, 128, 96, 32, 50, 1};
  program.width = random.pick(isGeneral ? kWidths : kWidthsOfNumbers);
  program.height = random.chance(20) ? 2 : 1;
  program.blocks = 1 + random.below(2);
  program.parameterBytes = 64 << random.below(4);
  const unsigned functions = !isGeneral || random.chance(60) ? 0 : 1 + random.below(4);
  program.passesNumbers = functions > 0 && random.chance(40);
  for (unsigned i = 0; i < functions; ++i) addFunction(random, program, i);

  Routine kernel;
  kernel.name = kKernelName;
  kernel.head = cat(".visible .entry ", kKernelName, "(.param .u64 inputs, .param .u64 results, .param .u64 memory,\n",
                    ".param .align 16 .b8 extra[", program.parameterBytes, "])");
  program.variables.push_back(
      {"shared_", cat(".shared .align 16 .b8 shared_[", program.threads() * kWindowBytes, "];\n")});
  program.variables.push_back({"cells_", cat(".shared .align 8 .b8 cells_[", kCells * 16, "];\n")});
  kernel.declarations = cat(".local .align 16 .b8 local_[", kWindowBytes, "];\n");

  Scope scope(random, program);
  std::optional<Arithmetic> arithmetic;
  if (!isGeneral) scope.arithmetic = &arithmetic.emplace(scope);
  const Place place{.isUniform = true, .mask = "%m0", .counter = "", .depth = 0, .routine = functions};
  Node main = statements(scope, place, (isGeneral ? 2 : 4) + random.below(7)), results{"", {}}, first{"", {}};
  if (isGeneral) {
    addResults(program, main, results);
    addLeaving(random, program, scope, results);
    first.text = fillMemory(namesIn(textOf(main), false).contains("cells_"));
    first.isRemovable = false;
  } else {
    addNumberResults(program, main, *arithmetic, results);
  }
  addPlaces(program, kernel.body);
  addFirstValues(random, program, kernel.body);
  if (!isGeneral) addFirstNumbers(random, main, kernel.body);
  else kernel.body.children.push_back(std::move(first));
  kernel.body.children.push_back(std::move(main));
  kernel.body.children.push_back(std::move(results));
  kernel.body.end = "ret;\n";
  program.routines.push_back(std::move(kernel));
  program.number();
  return program;
}

}  // namespace mulciber::random_ptx
