#include "random_ptx/generator/results.h"

namespace mulciber::random_ptx {
namespace {

void addSum(Program& program, const std::string& what, std::vector<Node> terms, Node& body) {
  Node node{"mov.b64 %sum, 0;\n", std::move(terms)};
  node.end = cat("st.global.b64 [%out+", program.results.size() * 8, "], %sum;\n");
  program.results.push_back(what);
  body.children.push_back(std::move(node));
}

// A 64-bit value that `code` leaves in %value.
Node term(const std::string& code) {
  return {"{\n.reg .b64 %value;\n" + code + "mad.lo.u64 %sum, %sum, 0x9E3779B97F4A7C15, %value;\n}\n", {}};
}

// A register of fewer than 64 bits; `code` sets it.
Node narrowTerm(const Pool& pool, const std::string& name, const std::string& code = {}) {
  const std::string bits = std::string(pool.type).substr(1), width = bits == "f32" ? "32" : bits;
  return term(cat(code, ".reg .b", width, " %part;\n", canonical(pool.prefix, "%part", name), "cvt.u64.u", width,
                  " %value, %part;\n"));
}

std::string windowName(const char* window) { return cat("the window in ", window, " memory"); }

// The registers of the pools that have these names.
void addRegisters(Program& program, const std::set<std::string>& named, Node& body) {
  for (const Pool& pool : kPools) {
    std::vector<Node> terms;
    for (unsigned i = 0; i < pool.count; ++i) {
      const std::string name = cat('%', pool.prefix, i);
      if (!named.contains(name)) continue;
      if (pool.prefix == 'p') terms.push_back(term(cat("selp.b64 %value, 1, 0, ", name, ";\n")));
      else if (pool.prefix == 'q')
        terms.push_back(term(cat("{\n.reg .b64 %high;\nmov.b128 {%value, %high}, ", name,
                                 ";\nmad.lo.u64 %value, %value, 3, %high;\n}\n")));
      else if (std::string(pool.type).ends_with("64")) terms.push_back(term(canonical(pool.prefix, "%value", name)));
      else terms.push_back(narrowTerm(pool, name));
    }
    if (!terms.empty()) addSum(program, cat("the registers %", pool.prefix), std::move(terms), body);
  }
}

}  // namespace

void addResults(Program& program, const Node& main, Node& body) {
  addRegisters(program, namesIn(textOf(main), true), body);
  for (const char* window : {"shared", "local"}) {
    std::vector<Node> terms;
    for (unsigned i = 0; i < kWindowBytes; i += 8)
      terms.push_back(term(cat("ld.", window, ".b64 %value, [%", window, '+', i, "];\n")));
    addSum(program, windowName(window), std::move(terms), body);
  }
  if (!namesIn(textOf(main), false).contains("cells_")) return;
  addSum(program, "a cell of the block", {}, body);
  body.children.back().text =
      cat("{\n.reg .b32 %cell;\n.reg .b64 %place;\nbar.sync 0;\nand.b32 %cell, %lane, ", kCells * 2 - 1,
          ";\nmov.u64 %place, cells_;\nmad.wide.u32 %place, %cell, 8, %place;\nld.shared.b64 %sum, [%place];\n}\n");
}

void addNumberResults(Program& program, const Node& main, Arithmetic& arithmetic, Node& body) {
  const std::set<std::string> named = namesIn(textOf(main), true);
  std::set<std::string> predicates;
  std::vector<Node> numbers;
  for (const std::string& name : named) {
    if (name[1] == 'p') predicates.insert(name);
    if (name[1] == 'w' && arithmetic.isResult(name)) numbers.push_back(narrowTerm(poolOf('f'), name));
  }
  addRegisters(program, predicates, body);
  addSum(program, "what multiply-adds gave", std::move(numbers), body);
  for (const char* window : {"shared", "local", "global"}) {
    if (!named.contains(cat('%', window))) continue;
    std::vector<Node> terms;
    for (unsigned i = 0; i < kWindowBytes; i += 4)
      terms.push_back(narrowTerm(poolOf('f'), "%number",
                                 cat(".reg .f32 %number;\nld.", window, ".f32 %number, [%", window, '+', i, "];\n")));
    addSum(program, windowName(window), std::move(terms), body);
  }
  if (!named.contains("%global")) return;
  // All of global memory is compared, bit by bit.
  Node clear{"", {}};
  for (unsigned i = 0; i < kWindowBytes; i += 8) clear.text += cat("st.global.b64 [%global+", i, "], 0;\n");
  clear.isRemovable = false;
  body.children.push_back(std::move(clear));
}

}  // namespace mulciber::random_ptx
