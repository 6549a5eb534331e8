#include "random_ptx/generator/program.h"

#include <cctype>
#include <cstdio>
#include <functional>
#include <map>

#include "conformance/suite/case.h"
#include "random_ptx/generator/registers.h"

namespace mulciber::random_ptx {

std::string hex(uint64_t value, unsigned bits) {
  std::string text;
  for (unsigned i = bits / 4; i-- > 0;) text += "0123456789ABCDEF"[value >> (4 * i) & 15];
  return text;
}

namespace {

void append(const Node& node, std::string& text) {
  text += node.text;
  for (const Node& child : node.children) append(child, text);
  text += node.end;
}

}  // namespace

std::string textOf(const Node& node) {
  std::string text;
  append(node, text);
  return text;
}

std::set<std::string> namesIn(const std::string& text, bool areRegisters) {
  std::set<std::string> names;
  for (size_t i = 0; i < text.size();) {
    const bool isRegister = text[i] == '%';
    size_t end = i + 1;
    const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (!isRegister && !isWord(text[i])) {
      ++i;
      continue;
    }
    while (end < text.size() && isWord(text[end])) ++end;
    if (isRegister == areRegisters) names.insert(text.substr(i, end - i));
    i = end;
  }
  return names;
}

namespace {

void visit(Node& node, const std::function<void(Node&)>& act) {
  act(node);
  for (Node& child : node.children) visit(child, act);
}

void applyTo(Node& node, const Edits& edits) {
  if (edits.simplified.contains(node.id)) node.text = node.simpler;
  std::vector<Node> kept;
  for (Node& child : node.children) {
    if (edits.removed.contains(child.id)) continue;
    applyTo(child, edits);
    kept.push_back(std::move(child));
  }
  node.children = std::move(kept);
  if (edits.unwrapped.contains(node.id)) node.text.clear(), node.end.clear();
}

// The first values of registers that nothing reads are left out.
void dropUnread(Node& body) {
  std::map<std::string, unsigned> uses;
  visit(body, [&](Node& node) {
    for (const std::string& name : namesIn(node.text + node.end, true)) ++uses[name];
  });
  std::erase_if(body.children, [&](const Node& node) { return !node.defines.empty() && uses[node.defines] == 1; });
}

}  // namespace

void Program::number() {
  unsigned next = 0;
  for (Routine& routine : routines) visit(routine.body, [&](Node& node) { node.id = next++; });
}

unsigned Program::nodes() const {
  unsigned count = 0;
  Program copy = *this;
  for (Routine& routine : copy.routines) visit(routine.body, [&](Node&) { ++count; });
  return count;
}

void Program::apply(const Edits& edits) {
  for (Routine& routine : routines) applyTo(routine.body, edits);
}

std::string Program::text() const {
  if (!given.empty()) return given;
  std::vector<std::string> bodies;
  for (const Routine& routine : routines) {
    Node body = routine.body;
    dropUnread(body);
    bodies.push_back(textOf(body));
  }
  // From the kernel to what it names.
  std::set<std::string> used;
  std::vector<std::string> open = {bodies.back()};
  while (!open.empty()) {
    const std::string text = open.back();
    open.pop_back();
    for (const std::string& name : namesIn(text, false)) {
      if (!used.insert(name).second) continue;
      for (size_t i = 0; i + 1 < routines.size(); ++i)
        if (routines[i].name == name) open.push_back(bodies[i] + routines[i].declarations);
      for (const Variable& variable : variables)
        if (variable.name == name) open.push_back(variable.text);
    }
  }
  std::string text = conformance::moduleHead;
  // A function may call those below it, and a table name them.
  for (size_t i = 0; i + 1 < routines.size(); ++i)
    if (used.contains(routines[i].name)) text += routines[i].head + ";\n";
  for (const Variable& variable : variables)
    if (used.contains(variable.name)) text += variable.text;
  for (size_t i = 0; i < routines.size(); ++i) {
    const bool isKernel = i + 1 == routines.size();
    if (!isKernel && !used.contains(routines[i].name)) continue;
    text += routines[i].head + " {\n" + routines[i].declarations;
    for (const std::string& name : namesIn(bodies[i], true))
      if (const std::string type = declaredType(name); !type.empty()) text += cat(".reg .", type, ' ', name, ";\n");
    text += bodies[i] + "}\n";
  }
  return text;
}

const char* nameOf(Kind kind) { return kind == Kind::General ? "general" : "multiply-adds"; }

std::string firstLine(const Program& program) {
  return cat("// Seed ", program.seed, ", ", program.blocks, " blocks of ", program.width, " x ", program.height,
             " threads", program.kind == Kind::General ? "" : cat(", ", nameOf(program.kind)));
}

std::optional<Program> readProgram(const std::string& text) {
  Program program;
  unsigned long long seed = 0;
  const char* form = "// Seed %llu, %u blocks of %u x %u threads";
  if (std::sscanf(text.c_str(), form, &seed, &program.blocks, &program.width, &program.height) != 4)
    return std::nullopt;
  program.seed = seed;
  const std::string first = text.substr(0, text.find('\n'));
  if (first.find(nameOf(Kind::MultiplyAdds)) != std::string::npos) program.kind = Kind::MultiplyAdds;
  unsigned rowBytes = 0;
  auto number = [&](const std::string& before, unsigned& value) {
    const size_t at = text.find(before);
    return at != std::string::npos && std::sscanf(text.c_str() + at + before.size(), "%u", &value) == 1;
  };
  if (!number("extra[", program.parameterBytes) || !number("mad.wide.u32 %out, %row, ", rowBytes)) return std::nullopt;
  for (unsigned i = 0; i < rowBytes / 8; ++i) program.results.push_back(cat("result ", i));
  program.given = text;
  return program;
}

}  // namespace mulciber::random_ptx
