#include "support/snippet.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/lower/program_lowering.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace mulciber::test {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

constexpr ir::VariableId missing = ~ir::VariableId(0);

// With MULCIBER_RECORD set, every run is appended to that file, to be repeated on real hardware.
void record(const std::string& text, const std::string& results, const std::string& inputs,
            const std::vector<uint64_t>& values, const std::vector<uint64_t>& got) {
  const char* path = std::getenv("MULCIBER_RECORD");
  if (!path) return;
  static std::ofstream file(path, std::ios::app);
  static std::string last;
  if (text != last) file << "S " << results << " | " << inputs << " | " << text << "\n" << std::hex;
  last = text;
  for (uint64_t v : values) file << v << " ";
  file << "=";
  for (uint64_t v : got) file << " " << v;
  file << "\n";
}

}  // namespace

const TargetProfile& Snippet::defaultProfile() {
  static const TargetProfile profile = [] {
    TargetProfile p;
    p.int8 = p.int16 = p.float16 = p.float64 = p.integerDotProduct = true;
    p.denormsByDefault32 = p.exactFma32 = p.exactDivSqrt32 = p.exactFma64 = p.exactDivSqrt64 = true;
    return p;
  }();
  return profile;
}

Snippet::Snippet(std::string text, std::string results, std::string inputs, const TargetProfile& profile)
    : text_(std::move(text)), results_(std::move(results)), inputs_(std::move(inputs)) {
  std::string module =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n.entry k() {\n";
  auto declare = [&](const char* prefix, const std::string& types) {
    unsigned n = 0;
    for (const std::string& type : words(types)) module += ".reg ." + type + " " + prefix + std::to_string(n++) + ";\n";
  };
  declare("%d", results_);
  declare("%a", inputs_);
  module += text_ + "\nret;\n}\n";

  Diagnostics diagnostics;
  auto parsed = ptx::parse(module, "snippet.ptx", diagnostics);
  if (parsed && ptx::verify(parsed->module, parsed->source, diagnostics)) {
    lower::ModuleLayout layout(parsed->module);
    auto program = lower::lowerKernel(*parsed, *parsed->module.functions[0], layout, profile, diagnostics);
    if (program) program_ = std::make_unique<ir::Program>(std::move(*program));
  }
  messages_ = diagnostics.toString();
  if (!program_) return;
  ir::Function& function = *program_->functions[0];
  EXPECT_EQ(ir::verify(function), "") << text_;
  auto find = [&](const char* prefix, size_t count, std::vector<ir::VariableId>& found) {
    for (size_t n = 0; n < count; n++) {
      found.push_back(missing);
      for (ir::VariableId id = 0; id < function.variables.size(); id++)
        if (function.variables[id].name == prefix + std::to_string(n)) found.back() = id;
    }
  };
  find("%d", words(results_).size(), resultVariables_);
  find("%a", words(inputs_).size(), inputVariables_);
  for (ir::VariableId result : resultVariables_)
    if (result != missing) function.returns.push_back(result);  // somebody reads them
}

void Snippet::apply(passes::Pass& pass, const TargetProfile& profile, const TranslateOptions& options) {
  passes::PassContext context{profile, options, *program_};
  pass.run(*program_->functions[0], context);
  EXPECT_EQ(ir::verify(*program_->functions[0]), "") << text_;
}

std::vector<uint64_t> Snippet::run(const std::vector<uint64_t>& inputs, const FloatModel& model) const {
  if (!program_) {
    ADD_FAILURE() << text_ << "\n" << messages_;
    return std::vector<uint64_t>(words(results_).size());
  }
  const ir::Function& function = *program_->functions[0];
  std::vector<uint64_t> variables(function.variables.size()), values(function.instructionIdBound());
  for (size_t i = 0; i < inputs.size(); i++)
    if (inputVariables_[i] != missing) variables[inputVariables_[i]] = inputs[i];
  std::unordered_map<uint64_t, uint64_t> shared;  // the only memory there is, in words
  auto load = [&](uint64_t address) {
    const auto found = shared.find(address);
    if (found == shared.end()) ADD_FAILURE() << text_ << ": loads " << address << ", where nothing was stored";
    return found == shared.end() ? 0 : found->second;
  };
  const ir::Block* block = function.blocks.front();
  for (size_t steps = 0; block && steps < 10000; steps++) {
    for (const ir::Instruction* i : block->instructions) {
      std::vector<uint64_t> operands;
      for (const ir::Instruction* operand : i->operands) operands.push_back(values[operand->id]);
      if (i->op == ir::Op::ReadVar) values[i->id] = variables[i->payload];
      else if (i->op == ir::Op::WriteVar) variables[i->payload] = operands[0];
      else if (i->op == ir::Op::Load) values[i->id] = load(operands[0]);
      else if (i->op == ir::Op::Store) shared[operands[0]] = operands[1];
      else if (i->op == ir::Op::Barrier) continue;
      else if (i->op == ir::Op::Input) values[i->id] = 1;  // of sizes, of one block
      else if (auto value = evaluate(*i, operands, model)) values[i->id] = *value;
      else if (i->op != ir::Op::Undef) ADD_FAILURE() << text_ << ": cannot evaluate " << ir::mnemonic(i->op);
    }
    const ir::Terminator& end = block->terminator;
    if (end.kind == ir::Terminator::Kind::Branch) block = end.targets[0];
    else if (end.kind == ir::Terminator::Kind::Conditional) block = end.targets[values[end.value->id] & 1 ? 0 : 1];
    else block = nullptr;
  }
  std::vector<uint64_t> got;
  for (ir::VariableId id : resultVariables_) got.push_back(id == missing ? 0 : variables[id]);
  record(text_, results_, inputs_, inputs, got);
  return got;
}

std::string Snippet::print() const { return program_ ? ir::print(*program_) : messages_; }

}  // namespace mulciber::test
