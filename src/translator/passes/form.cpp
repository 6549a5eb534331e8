#include "translator/passes/form.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace mulciber::passes {
namespace {

using ir::Function;
using ir::Instruction;
using ir::Op;

bool callsItself(const Function& function) {
  std::vector<const Function*> work{&function};
  std::unordered_set<const Function*> seen;
  while (!work.empty()) {
    const Function* caller = work.back();
    work.pop_back();
    for (const ir::Block* block : caller->blocks) {
      for (const Instruction* i : block->instructions) {
        if (i->op != Op::Call) continue;
        if (i->callee == &function) return true;
        if (seen.insert(i->callee).second) work.push_back(i->callee);
      }
    }
  }
  return false;
}

// A form that holds when it holds of every instruction.
struct InstructionForm {
  Form form;
  bool (*holds)(const Instruction& i);
  const char* fault;
};
constexpr InstructionForm instructionForms[] = {
    {Form::NoCalls, [](const Instruction& i) { return i.op != Op::Call; }, "still calls a function"},
    {Form::Contracted, [](const Instruction& i) { return !i.fp.contracts; }, "leaves open how often it rounds"},
    {Form::Nearest,
     [](const Instruction& i) {
       return !i.type.isFloat() || i.type.bits == 64 || i.fp.rounding == ir::Rounding::NearestEven;
     },
     "asks for a rounding that is not to nearest"},
    {Form::Variables, [](const Instruction& i) { return i.op != Op::Phi; }, "is a phi beside variables"},
    {Form::Ssa, [](const Instruction& i) { return i.op != Op::ReadVar && i.op != Op::WriteVar; }, "needs a variable"},
    {Form::KnownSpaces, [](const Instruction& i) { return i.memory.space != ir::Space::Generic; },
     "goes through a generic address"},
};

}  // namespace

std::string findBrokenForm(const ir::Program& program, Forms forms) {
  if (forms.contains(Form::NoCalls) && program.functions.size() != 1) return "there are functions beside the kernel\n";
  for (const auto& function : program.functions) {
    const std::string name = "@" + function->name;
    if (forms.contains(Form::NoRecursion) && callsItself(*function)) return name + " calls itself\n";
    if (forms.contains(Form::Structured) && !function->isStructured) return name + " is not structured\n";
    if (forms.contains(Form::Ssa) && !function->isSsa) return name + " is not in SSA form\n";
    for (const ir::Block* block : function->blocks) {
      for (const Instruction* i : block->instructions) {
        const auto broken = std::ranges::find_if(instructionForms, [&](const InstructionForm& each) {
          return forms.contains(each.form) && !each.holds(*i);
        });
        if (broken != std::end(instructionForms))
          return name + " %" + std::to_string(i->id) + " " + std::string(ir::mnemonic(i->op)) + " " + broken->fault +
                 "\n";
      }
    }
  }
  return {};
}

}  // namespace mulciber::passes
