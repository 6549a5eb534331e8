#include "interpreter/machine/decoder.h"

#include <bit>

#include "interpreter/instructions/families.h"
#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

uint64_t maskOfBits(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

}  // namespace

Rounding roundingIn(const Instruction& i) {
  if (i.has(".rz") || i.has(".rzi")) return Rounding::Zero;
  if (i.has(".rm") || i.has(".rmi")) return Rounding::Down;
  if (i.has(".rp") || i.has(".rpi")) return Rounding::Up;
  return i.has(".rna") ? Rounding::NearestAway : Rounding::Nearest;
}

Space spaceIn(const Instruction& instruction) {
  for (const std::string& word : instruction.modifiers) {
    if (word == ".global") return Space::Global;
    if (word.starts_with(".shared")) return Space::Shared;
    if (word == ".local") return Space::Local;
    if (word == ".const") return Space::Const;
    if (word.starts_with(".param")) return Space::Param;
  }
  return Space::Generic;
}

uint64_t floatConstant(const Operand& operand, Type type) {
  const unsigned held = operand.floatBits ? operand.floatBits : 64, wanted = bitsOf(type);
  if (held == wanted || !isFloat(type)) return operand.bits;
  if (wanted == 32) return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
  if (wanted == 64) return std::bit_cast<uint64_t>(double(std::bit_cast<float>(static_cast<uint32_t>(operand.bits))));
  return operand.bits;
}

Decoder::Decoder(Program& program, const Function& function) : program_(program), function_(function) {
  code_->function = &function;
  code_->frame.assign(kFirstRegister, 0);
  code_->frame[kTrue] = 1;
  scopes_.emplace_back();
}

void Decoder::unknown(const Instruction& instruction) {
  throw Fault(Status::UnknownInstruction, "the interpreter does not know " + instruction.name(), instruction.line);
}

std::unique_ptr<Code> Decoder::run() {
  if (function_.isEntry) {
    uint64_t at = 0;
    for (const Variable& one : function_.parameters) {
      at = alignedTo(at, one.aligned());
      code_->parameters.push_back({false, at, one.bytes()});
      scopes_.back()[one.name] = {Space::Param, one.type, at, false, one.bytes()};
      at += one.bytes();
    }
  } else {
    for (const Variable& one : function_.parameters) code_->parameters.push_back(parameter(one));
    for (const Variable& one : function_.results) code_->results.push_back(parameter(one));
  }
  findLabels();
  blocks_ = {0};
  unsigned block = 0;
  for (const Statement& statement : function_.statements) {
    switch (statement.kind) {
      case Statement::Kind::BlockBegin:
        scopes_.emplace_back();
        blocks_.push_back(++block);
        break;
      case Statement::Kind::BlockEnd:
        scopes_.pop_back();
        blocks_.pop_back();
        break;
      case Statement::Kind::Variable: declare(statement.variable); break;
      case Statement::Kind::Instruction: {
        try {
          code_->ops.push_back(decode(statement.instruction));
        } catch (Fault& fault) {
          if (fault.line == 0) fault.line = statement.instruction.line;
          throw fault;
        }
        break;
      }
      default: break;
    }
  }
  Op end;
  end.execute = returnFromFunction;
  code_->ops.push_back(end);
  return std::move(code_);
}

// Branches go to the number of the instruction behind the label.
void Decoder::findLabels() {
  std::vector<unsigned> around = {0};
  unsigned block = 0;
  uint32_t position = 0;
  for (const Statement& statement : function_.statements) {
    switch (statement.kind) {
      case Statement::Kind::BlockBegin: around.push_back(++block); break;
      case Statement::Kind::BlockEnd: around.pop_back(); break;
      case Statement::Kind::Instruction: ++position; break;
      case Statement::Kind::Variable: break;
      default:
        labels_[{around.back(), statement.label}] = position;
        labelled_[{around.back(), statement.label}] = &statement;
    }
  }
}

const Statement& Decoder::labelled(const std::string& name, Label& label) const {
  for (size_t i = blocks_.size(); i-- > 0;) {
    label = {blocks_[i], name};
    if (const auto found = labelled_.find(label); found != labelled_.end()) return *found->second;
  }
  throw Fault(Status::InvalidText, "there is no label " + name);
}

uint32_t Decoder::target(const std::string& name) const {
  Label label;
  labelled(name, label);
  return labels_.at(label);
}

uint32_t Decoder::targets(const Operand& operand) {
  Label label;
  std::vector<uint32_t> list;
  for (const std::string& name : labelled(operand.name, label).targets) list.push_back(target(name));
  code_->lists.push_back(std::move(list));
  return static_cast<uint32_t>(code_->lists.size() - 1);
}

uint32_t Decoder::newRegister(Type type) {
  code_->frame.resize(code_->frame.size() + (bitsOf(type) > 64 ? 2 : 1));
  return static_cast<uint32_t>(code_->frame.size() - (bitsOf(type) > 64 ? 2 : 1));
}

uint32_t Decoder::constant(uint64_t bits) {
  const auto [at, isNew] = constants_.try_emplace(bits, static_cast<uint32_t>(code_->frame.size()));
  if (isNew) code_->frame.push_back(bits);
  return at->second;
}

uint32_t Decoder::preset(const std::string& special, uint64_t offset) {
  const auto [at, isNew] = presets_.try_emplace({special, offset}, static_cast<uint32_t>(code_->frame.size()));
  if (isNew) {
    code_->frame.push_back(0);
    code_->presets.push_back({at->second, special, offset});
  }
  return at->second;
}

Slot Decoder::parameter(const Variable& variable) {
  declare(variable);
  const Symbol& symbol = scopes_.back().at(variable.name);
  return {symbol.space == Space::Reg, symbol.place, variable.bytes()};
}

void Decoder::declare(const Variable& variable) {
  std::map<std::string, Symbol>& scope = scopes_.back();
  if (variable.space == Space::Reg) {
    if (variable.vector > 1)
      for (unsigned i = 0; i < variable.vector; ++i)
        scope[variable.name + '.' + "xyzw"[i & 3]] = {Space::Reg, variable.type, newRegister(variable.type)};
    else if (variable.copies == 0) scope[variable.name] = {Space::Reg, variable.type, newRegister(variable.type)};
    for (unsigned i = 0; i < variable.copies; ++i)
      scope[variable.name + std::to_string(i)] = {Space::Reg, variable.type, newRegister(variable.type)};
  } else if (variable.space == Space::Shared) {
    scope[variable.name] = {Space::Shared, variable.type, program_.sharedOf.at(&variable), false, variable.bytes()};
  } else if (variable.space == Space::Local || variable.space == Space::Param) {
    code_->localBytes = alignedTo(code_->localBytes, variable.aligned());
    scope[variable.name] = {variable.space, variable.type, code_->localBytes, true, variable.bytes()};
    code_->localBytes += variable.bytes();
  } else {
    throw Fault(Status::UnknownInstruction, "the variable " + variable.name + " may not be in a function",
                variable.line);
  }
}

const Decoder::Symbol* Decoder::find(const std::string& name) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto found = scopes_[i].find(name); found != scopes_[i].end()) return &found->second;
  return nullptr;
}

const Decoder::Symbol& Decoder::registerNamed(const std::string& name) const {
  const Symbol* symbol = find(name);
  if (!symbol || symbol->space != Space::Reg) throw Fault(Status::InvalidText, "there is no register " + name);
  return *symbol;
}

uint32_t Decoder::addressOf(const Symbol& symbol, uint64_t offset) {
  return symbol.isInFrame ? preset("", symbol.place + offset) : constant(symbol.place + offset);
}

uint32_t Decoder::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::Sink: return kSink;
    case Operand::Kind::Integer: return constant(operand.bits);
    case Operand::Kind::Float: return constant(floatConstant(operand, type));
    case Operand::Kind::Name: break;
    default: throw Fault(Status::InvalidText, "a register or a constant is missing");
  }
  if (!operand.selector.empty())
    if (const Symbol* element = find(operand.name + operand.selector)) return static_cast<uint32_t>(element->place);
  if (const Symbol* symbol = find(operand.name))
    return symbol->space == Space::Reg ? static_cast<uint32_t>(symbol->place) : addressOf(*symbol, operand.bits);
  if (const auto found = program_.variables.find(operand.name); found != program_.variables.end())
    return constant(found->second.address + operand.bits);
  if (const auto function = program_.addressOfFunction(operand.name)) return constant(*function);
  if (operand.name == "WARP_SZ") return constant(32);
  if (operand.name[0] == '%' && isSpecialRegister(operand.name + operand.selector))
    return preset(operand.name + operand.selector, 0);
  throw Fault(Status::InvalidText, "nothing declares " + operand.name);
}

uint32_t Decoder::destination(const Operand& operand) {
  if (operand.kind == Operand::Kind::Sink) return kSink;
  if (operand.kind != Operand::Kind::Name) throw Fault(Status::InvalidText, "a register is missing");
  if (const Symbol* element = operand.selector.empty() ? nullptr : find(operand.name + operand.selector))
    return static_cast<uint32_t>(element->place);
  return static_cast<uint32_t>(registerNamed(operand.name).place);
}

uint64_t Decoder::maskOf(const Operand& operand) const {
  if (operand.kind != Operand::Kind::Name) return 0;
  const Symbol* element = operand.selector.empty() ? nullptr : find(operand.name + operand.selector);
  return maskOfBits(bitsOf((element ? *element : registerNamed(operand.name)).type));
}

bool Decoder::isPredicate(const Operand& operand) const {
  const Symbol* symbol = find(operand.name);
  return symbol && symbol->space == Space::Reg && symbol->type == Type::Pred;
}

void Decoder::operands(const Instruction& instruction, Op& op, Type type) {
  if (instruction.operands.empty()) throw Fault(Status::InvalidText, instruction.name() + " has no operands");
  const Operand& first = instruction.operands[0];
  op.d = destination(first);
  op.mask = maskOf(first);
  if (first.pair) op.d2 = destination(*first.pair);
  sources(instruction, op, type, 1);
}

void Decoder::sources(const Instruction& instruction, Op& op, Type type, size_t first) {
  uint32_t* const places[] = {&op.a, &op.b, &op.c, &op.e};
  if (instruction.operands.size() > first + 4) unknown(instruction);
  for (size_t i = first; i < instruction.operands.size(); ++i) {
    *places[i - first] = source(instruction.operands[i], type);
    if (instruction.operands[i].isNegated) op.negated |= static_cast<uint8_t>(1 << (i - first));
  }
}

// variable[register + n]: n counts elements too.
void Decoder::indexed(const Operand& operand, Op& op) {
  Symbol variable;
  if (const Symbol* symbol = find(operand.name)) {
    variable = *symbol;
  } else if (const auto found = program_.variables.find(operand.name); found != program_.variables.end()) {
    variable = {found->second.space, found->second.type, found->second.address, false, found->second.bytes};
  } else {
    throw Fault(Status::InvalidText, "nothing declares " + operand.name);
  }
  const unsigned size = bytesOf(variable.type);
  const auto distance = static_cast<uint32_t>(operand.bits) * size;
  if (op.space == Space::Generic) op.immediate = windowOf(variable.space);
  op.isNarrowAddress = variable.space != Space::Global;
  op.isIndexed = true;
  op.elementBytes = size;
  if (operand.parts.empty()) {
    op.a = addressOf(variable, distance);
    op.index = constant(0);
    return;
  }
  const Symbol& index = registerNamed(operand.parts[0].name);
  op.index = static_cast<uint32_t>(index.place);
  op.indexType = index.type;
  op.a = addressOf(variable, distance);
}

void Decoder::address(const Operand& operand, Op& op) {
  if (operand.isIndexed) return indexed(operand, op);
  if (operand.kind != Operand::Kind::Address) throw Fault(Status::InvalidText, "an address is missing");
  op.immediate = operand.bits;
  if (operand.parts.empty()) {
    op.a = constant(0);
    return;
  }
  const std::string& name = operand.parts[0].name;
  if (const Symbol* symbol = find(name)) {
    if (symbol->space == Space::Reg) {
      op.a = static_cast<uint32_t>(symbol->place);
      op.isNarrowAddress = bitsOf(symbol->type) == 32;
      return;
    }
    if (op.space == Space::Generic) op.immediate += windowOf(symbol->space);
  } else if (const auto found = program_.variables.find(name); found != program_.variables.end()) {
    if (op.space == Space::Generic) op.immediate += windowOf(found->second.space);
  }
  op.a = source(operand.parts[0], Type::B64);
}

uint32_t Decoder::list(const Operand& operand, Type type, bool isDestination) {
  std::vector<uint32_t> places;
  auto add = [&](const Operand& one) { places.push_back(isDestination ? destination(one) : source(one, type)); };
  if (operand.kind == Operand::Kind::Vector)
    for (const Operand& part : operand.parts) add(part);
  else if (operand.kind == Operand::Kind::Name && find(operand.name + ".x"))
    for (char element : std::string("xyzw")) {
      const Symbol* symbol = find(operand.name + '.' + element);
      if (symbol) places.push_back(static_cast<uint32_t>(symbol->place));
    }
  else add(operand);
  code_->lists.push_back(std::move(places));
  return static_cast<uint32_t>(code_->lists.size() - 1);
}

std::vector<Slot> Decoder::slots(const Operand& operand, const std::vector<Variable>& formal) {
  if (operand.parts.size() != formal.size())
    throw Fault(Status::InvalidText, "the call has " + std::to_string(operand.parts.size()) + " arguments, not " +
                                         std::to_string(formal.size()));
  std::vector<Slot> made;
  for (size_t i = 0; i < formal.size(); ++i) {
    const Operand& one = operand.parts[i];
    const Symbol* symbol = one.kind == Operand::Kind::Name ? find(one.name) : nullptr;
    if (symbol && symbol->isInFrame) made.push_back({false, symbol->place, formal[i].bytes()});
    else made.push_back({true, source(one, formal[i].type), formal[i].bytes()});
  }
  return made;
}

// call (results), function, (arguments), targets or prototype;
uint32_t Decoder::callSite(const Instruction& instruction) {
  size_t at = 0;
  const Operand none, *results = &none, *arguments = &none;
  const std::vector<Operand>& all = instruction.operands;
  if (at < all.size() && all[at].kind == Operand::Kind::List) results = &all[at++];
  if (at >= all.size()) throw Fault(Status::InvalidText, "the call names no function");
  const Operand& callee = all[at++];
  if (at < all.size() && all[at].kind == Operand::Kind::List) arguments = &all[at++];
  CallSite site;
  const Prototype* prototype = nullptr;
  if (const Function* function = find(callee.name) ? nullptr : program_.findFunction(callee.name)) {
    site.function = static_cast<int>(function - program_.tree.functions.data());
    prototype = function;
  } else {
    site.pointer = source(callee, Type::B64);
    if (at >= all.size()) throw Fault(Status::InvalidText, "an indirect call needs a prototype");
    Label label;
    const Statement& statement = labelled(all[at].name, label);
    if (!statement.targets.empty()) prototype = program_.findFunction(statement.targets[0]);
    else prototype = &statement.prototype;
    if (!prototype) throw Fault(Status::InvalidText, "there is no function " + statement.targets[0]);
  }
  site.arguments = slots(*arguments, prototype->parameters);
  site.results = slots(*results, prototype->results);
  code_->calls.push_back(std::move(site));
  return static_cast<uint32_t>(code_->calls.size() - 1);
}

Op Decoder::decode(const Instruction& instruction) {
  Op op;
  op.source = &instruction;
  if (!instruction.guard.empty()) {
    op.guard = static_cast<uint32_t>(registerNamed(instruction.guard).place);
    op.isGuardNegated = instruction.isGuardNegated;
  }
  if (!instruction.types.empty()) {
    op.type = instruction.types[0];
    op.sourceType = instruction.types.back();
  }
  op.ftz = instruction.has(".ftz");
  op.sat = instruction.has(".sat");
  op.relu = instruction.has(".relu");
  op.nan = instruction.has(".NaN");
  for (const auto decodeFamily : families())
    if (decodeFamily(*this, instruction, op)) return op;
  unknown(instruction);
}

}  // namespace mulciber::interpreter
