#include "conformance/suite/kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/suite/inputs.h"

namespace mulciber::conformance {

using ptx::Type;

namespace {

std::string loadInput(const Input& input, unsigned index, unsigned rows) {
  const std::string name = "%a" + std::to_string(index),
                    at = "[%in+" + std::to_string(uint64_t(index) * rows * 8) + "]";
  const std::string declare = ".reg ." + std::string(ptx::spelling(input.type)) + ' ' + name + ";\n";
  if (input.type == Type::Pred)
    return declare + "ld.global.b32 %word, " + at + ";\nsetp.ne.u32 " + name + ", %word, 0;\n";
  if (input.type == Type::B128)
    return declare + "ld.global.b64 %wide, " + at + ";\nmov.b128 " + name + ", {%wide, %row};\n";
  return declare + "ld.global." + std::string(ptx::spelling(input.type)) + ' ' + name + ", " + at + ";\n";
}

std::string storeResult(Type type, unsigned index, unsigned column, unsigned rows) {
  const std::string name = "%d" + std::to_string(index);
  auto at = [&](unsigned more) { return "[%out+" + std::to_string(uint64_t(column + more) * rows * 8) + "], "; };
  if (type == Type::Pred) return "selp.b32 %word, 1, 0, " + name + ";\nst.global.b32 " + at(0) + "%word;\n";
  if (type == Type::B128)
    return "mov.b128 {%wide, %high}, " + name + ";\nst.global.b64 " + at(0) + "%wide;\nst.global.b64 " + at(1) +
           "%high;\n";
  return "st.global." + std::string(ptx::spelling(type)) + ' ' + at(0) + name + ";\n";
}

bool uses(const Batch& batch, const char* word) {
  return std::any_of(batch.begin(), batch.end(),
                     [&](const Case* c) { return c->code.find(word) != std::string::npos; });
}

}  // namespace

std::vector<Batch> makeBatches(std::span<const Case* const> cases, size_t most) {
  std::map<std::string, std::vector<const Case*>> bySignature;
  for (const Case* one : cases) bySignature[one->signature()].push_back(one);
  std::vector<Batch> batches;
  for (auto& [signature, members] : bySignature)
    for (size_t begin = 0; begin < members.size(); begin += most)
      batches.emplace_back(members.begin() + static_cast<long>(begin),
                           members.begin() + static_cast<long>(std::min(members.size(), begin + most)));
  return batches;
}

unsigned columnsOf(const Case& one) {
  unsigned columns = 0;
  for (Type type : one.results) columns += type == Type::B128 ? 2 : 1;
  return columns;
}

unsigned columnsOf(const Batch& batch) {
  unsigned columns = 0;
  for (const Case* one : batch) columns += columnsOf(*one);
  return columns;
}

std::string kernelText(const Batch& batch, unsigned rows) {
  std::string text = moduleHead;
  std::set<std::string> declared;
  for (const Case* one : batch)
    if (declared.insert(one->declarations).second) text += one->declarations;
  text +=
      ".visible .entry cases(.param .u64 inputs, .param .u64 results, .param .u64 memory,\n"
      ".param .align 16 .b8 extra[" +
      std::to_string(kExtraBytes) +
      "]) {\n"
      ".reg .b32 %word, %lane;\n.reg .b64 %in, %out, %wide, %high, %row, %global, %shared, %local;\n";
  if (uses(batch, "%shared"))
    text += ".shared .align 16 .b8 shared_[" + std::to_string(kThreadBytes * kBlockThreads) + "];\n";
  if (uses(batch, "%local")) text += ".local .align 16 .b8 local_[" + std::to_string(kThreadBytes) + "];\n";
  text +=
      "mov.u32 %word, %ctaid.x;\nmov.u32 %lane, %tid.x;\n"
      "mad.lo.u32 %word, %word, " +
      std::to_string(kBlockThreads) +
      ", %lane;\ncvt.u64.u32 %row, %word;\n"
      "ld.param.u64 %in, [inputs];\nmad.lo.u64 %in, %row, 8, %in;\n"
      "ld.param.u64 %out, [results];\nmad.lo.u64 %out, %row, 8, %out;\n"
      "ld.param.u64 %global, [memory];\nmad.lo.u64 %global, %row, " +
      std::to_string(kThreadBytes) + ", %global;\n";
  if (uses(batch, "%shared"))
    text += "mov.u64 %shared, shared_;\nmul.wide.u32 %wide, %lane, " + std::to_string(kThreadBytes) +
            ";\nadd.u64 %shared, %shared, %wide;\n";
  if (uses(batch, "%local")) text += "mov.u64 %local, local_;\n";
  for (unsigned i = 0; i < batch.front()->inputs.size(); ++i) text += loadInput(batch.front()->inputs[i], i, rows);
  unsigned column = 0;
  for (const Case* one : batch) {
    text += "{\n";
    for (unsigned i = 0; i < one->results.size(); ++i)
      text += ".reg ." + std::string(ptx::spelling(one->results[i])) + " %d" + std::to_string(i) + ";\n";
    text += one->code;
    for (unsigned i = 0; i < one->results.size(); ++i) {
      text += storeResult(one->results[i], i, column, rows);
      column += one->results[i] == Type::B128 ? 2 : 1;
    }
    text += "}\n";
  }
  return text + "ret;\n}\n";
}

}  // namespace mulciber::conformance
