#include "translator/ptx/symbols.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mulciber::ptx {
namespace {

uint32_t hashOf(std::string_view name) { return static_cast<uint32_t>(XXH3_64bits(name.data(), name.size())); }

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Splits "%r42" into "%r" and 42. False without digits at the end, or with more than nine that count.
bool splitNumber(std::string_view name, std::string_view& prefix, uint32_t& number) {
  size_t end = name.size();
  while (end > 0 && isDigit(name[end - 1])) --end;
  if (end == name.size() || end == 0) return false;
  prefix = name.substr(0, end);
  while (end + 1 < name.size() && name[end] == '0') ++end;
  if (name.size() - end > 9) return false;
  number = 0;
  for (; end < name.size(); ++end) number = number * 10 + static_cast<uint32_t>(name[end] - '0');
  return true;
}

}  // namespace

SymbolTable::SymbolTable() : slots_(1024) { scopes_.push_back({0, 0, 0}); }

SymbolId SymbolTable::lookUp(std::string_view name) const {
  const uint32_t hash = hashOf(name);
  for (size_t slot = hash & (slots_.size() - 1); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const Symbol& symbol = symbols_[slots_[slot] - 1];
    if (symbol.hash == hash && symbol.name == name) return slots_[slot] - 1;
  }
  return kNone;
}

SymbolId SymbolTable::intern(std::string_view name) {
  SymbolId known = lookUp(name);
  if (known != kNone) return known;
  if (symbols_.size() * 2 >= slots_.size()) grow();
  Symbol symbol;
  symbol.name = name;
  symbol.hash = hashOf(name);
  symbols_.push_back(symbol);
  size_t slot = symbol.hash & (slots_.size() - 1);
  while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = static_cast<uint32_t>(symbols_.size());
  return static_cast<SymbolId>(symbols_.size() - 1);
}

void SymbolTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (uint32_t i = 0; i < symbols_.size(); ++i) {
    size_t slot = symbols_[i].hash & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = i + 1;
  }
}

void SymbolTable::enterScope() { scopes_.push_back({entries_.size(), ranges_.size(), references_.size()}); }

void SymbolTable::leaveScope() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  while (entries_.size() > scope.entries) {
    const Entry& entry = entries_.back();
    Symbol& symbol = symbols_[entry.symbol];
    if (entry.binding.kind == Binding::Kind::Label) {
      // The references made since the scope began are this label's, unless an inner one took them.
      while (symbol.reference != kNone && symbol.reference >= scope.references) {
        references_[symbol.reference].operand->label = entry.binding.label;
        symbol.reference = references_[symbol.reference].previous;
      }
    }
    symbol.entry = entry.outer;
    entries_.pop_back();
  }
  while (ranges_.size() > scope.ranges) {
    symbols_[ranges_.back().prefix].range = ranges_.back().outer;
    ranges_.pop_back();
  }
}

bool SymbolTable::declare(std::string_view name, const Binding& binding, SourceOffset& previous) {
  const SymbolId id = intern(name);
  const uint32_t outer = symbols_[id].entry;
  if (outer != kNone && entries_[outer].depth == depth()) {
    previous = entries_[outer].binding.where;
    return false;
  }
  std::string_view prefix;
  uint32_t number = 0;
  if (splitNumber(name, prefix, number)) {
    Symbol& symbol = symbols_[intern(prefix)];
    symbol.hasNumberedNames = true;
    if (symbol.range != kNone && ranges_[symbol.range].depth == depth() && number < ranges_[symbol.range].count) {
      previous = ranges_[symbol.range].where;
      return false;
    }
  }
  symbols_[id].entry = static_cast<uint32_t>(entries_.size());
  entries_.push_back({binding, id, depth(), outer});
  return true;
}

bool SymbolTable::declareRange(std::string_view prefix, uint32_t count, Type type, uint8_t vector, SourceOffset where,
                               SourceOffset& previous) {
  const SymbolId id = intern(prefix);
  const uint32_t outer = symbols_[id].range;
  if (outer != kNone && ranges_[outer].depth == depth()) {
    previous = ranges_[outer].where;
    return false;
  }
  symbols_[id].range = static_cast<uint32_t>(ranges_.size());
  ranges_.push_back({id, count, depth(), outer, type, vector, 0, where, {}, {}});
  return true;
}

RegisterId SymbolTable::member(Range& range, uint32_t number, std::string_view name, std::vector<Register>& registers,
                               SourceOffset where) {
  // A dense table as far as it stays in proportion to what is used.
  const bool isNear = number < 64 + 8 * range.used;
  if (number < range.members.size() && range.members[number] != kNone) return range.members[number];
  if (!range.distant.empty() || !isNear) {
    auto found = range.distant.find(number);
    if (found != range.distant.end()) return found->second;
  }
  const RegisterId id = static_cast<RegisterId>(registers.size());
  registers.push_back({name, range.type, range.vector, where});
  ++range.used;
  if (isNear) {
    if (number >= range.members.size())
      range.members.resize(std::max<size_t>(number + 1, range.members.size() * 2), kNone);
    range.members[number] = id;
  } else {
    range.distant.emplace(number, id);
  }
  return id;
}

Binding SymbolTable::find(std::string_view name, std::vector<Register>& registers, SourceOffset where) {
  std::string_view prefix;
  uint32_t number = 0;
  uint32_t range = kNone;
  bool mayHaveOwnEntry = true;
  if (splitNumber(name, prefix, number)) {
    const SymbolId id = lookUp(prefix);
    if (id != kNone) {
      range = symbols_[id].range;
      while (range != kNone && number >= ranges_[range].count) range = ranges_[range].outer;
      mayHaveOwnEntry = symbols_[id].hasNumberedNames;
    }
  }
  if (range == kNone || mayHaveOwnEntry) {
    const SymbolId id = lookUp(name);
    const uint32_t entry = id == kNone ? kNone : symbols_[id].entry;
    if (entry != kNone && (range == kNone || entries_[entry].depth >= ranges_[range].depth))
      return entries_[entry].binding;
    if (range == kNone) return {};
  }
  Binding binding;
  binding.kind = Binding::Kind::Register;
  binding.reg = member(ranges_[range], number, name, registers, where);
  binding.where = ranges_[range].where;
  return binding;
}

uint32_t SymbolTable::rangeCount(std::string_view name, std::string_view& prefix) const {
  uint32_t number = 0;
  if (!splitNumber(name, prefix, number)) return 0;
  const SymbolId id = lookUp(prefix);
  return id == kNone || symbols_[id].range == kNone ? 0 : ranges_[symbols_[id].range].count;
}

Binding SymbolTable::findModuleScope(std::string_view name) {
  const SymbolId id = lookUp(name);
  if (id == kNone) return {};
  uint32_t entry = symbols_[id].entry;
  while (entry != kNone && entries_[entry].depth != 0) entry = entries_[entry].outer;
  return entry == kNone ? Binding{} : entries_[entry].binding;
}

void SymbolTable::refer(std::string_view label, Operand* operand) {
  const SymbolId id = intern(label);
  Symbol& symbol = symbols_[id];
  if (symbol.entry != kNone && entries_[symbol.entry].depth == depth() &&
      entries_[symbol.entry].binding.kind == Binding::Kind::Label) {
    operand->label = entries_[symbol.entry].binding.label;
    return;
  }
  references_.push_back({operand, id, symbol.reference});
  symbol.reference = static_cast<uint32_t>(references_.size() - 1);
}

std::vector<std::pair<std::string_view, Operand*>> SymbolTable::unresolved() {
  std::vector<std::pair<std::string_view, Operand*>> found;
  for (const Reference& reference : references_) {
    Symbol& symbol = symbols_[reference.symbol];
    symbol.reference = kNone;
    if (!reference.operand->label) found.emplace_back(symbol.name, reference.operand);
  }
  references_.clear();
  return found;
}

}  // namespace mulciber::ptx
