#include "translator/ptx/form_matcher.h"

#include <algorithm>
#include <utility>

#include "translator/ptx/suggestion.h"

namespace mulciber::ptx {
namespace {

uint32_t hash(Opcode opcode, std::span<const Mod> modifiers) {
  uint64_t h = static_cast<uint64_t>(opcode) + 0x9E3779B97F4A7C15u;
  for (Mod mod : modifiers) h = (h ^ static_cast<uint64_t>(mod)) * 0x9E3779B97F4A7C15u;
  return static_cast<uint32_t>(h >> 32);
}

std::string versionText(uint8_t version) { return std::to_string(version / 10) + '.' + std::to_string(version % 10); }

StateSpace spaceOf(Mod mod) {
  switch (mod) {
    case Mod::const_: return StateSpace::Const;
    case Mod::global: return StateSpace::Global;
    case Mod::local: return StateSpace::Local;
    case Mod::param:
    case Mod::param_entry:
    case Mod::param_func: return StateSpace::Param;
    case Mod::shared:
    case Mod::shared_cta:
    case Mod::shared_cluster: return StateSpace::Shared;
    default: return StateSpace::None;
  }
}

// Types, state spaces, matrix layouts and the steps of a binary product keep the order of the form; all other modifiers
// may stand anywhere.
enum class Ordered : uint8_t { No, Type, Space, Layout, Product };
constexpr size_t kOrderedKinds = 5;
Ordered orderOf(Mod mod) {
  if (typeOf(mod) != Type::None && mod != Mod::b1024) return Ordered::Type;
  if (spaceOf(mod) != StateSpace::None) return Ordered::Space;
  if (mod == Mod::and_ || mod == Mod::xor_ || mod == Mod::popc) return Ordered::Product;
  return mod == Mod::row || mod == Mod::col ? Ordered::Layout : Ordered::No;
}

// ptxas does not mind these twice.
bool mayRepeat(Mod mod) {
  switch (mod) {
    case Mod::sync:
    case Mod::cc:
    case Mod::NaN:
    case Mod::approx:
    case Mod::shiftamt:
    case Mod::sat:
    case Mod::satfinite:
    case Mod::relu:
    case Mod::uni: return true;
    default: return false;
  }
}

bool isCacheControl(Mod mod) {
  switch (mod) {
    case Mod::L2_cache_hint:
    case Mod::L1_evict_normal:
    case Mod::L1_evict_unchanged:
    case Mod::L1_evict_first:
    case Mod::L1_evict_last:
    case Mod::L1_no_allocate:
    case Mod::L2_64B:
    case Mod::L2_128B:
    case Mod::L2_256B: return true;
    default: return false;
  }
}

// How far the modifiers got with a form that does not take them: the one that went furthest is explained.
struct Fit {
  size_t accepted = 0;
  std::optional<Mod> stranger;         // no group takes it
  const FormGroup* missing = nullptr;  // no modifier chose from it
  std::vector<const FormChoice*> choices;
  bool fits() const { return !stranger && !missing; }
};

// Modifiers that may stand before the last word of a name: barrier.aligned.sync, mma.sync.sp.
bool mayStandBefore(Opcode opcode, Mod word, Mod mod) {
  if (opcode == Opcode::Bar || opcode == Opcode::Barrier) return word == Mod::sync && mod == Mod::aligned;
  return opcode == Opcode::Mma && mod == Mod::sync;
}

Fit fit(const Form& form, std::span<const Mod> modifiers) {
  Fit result;
  std::vector<Mod> others;
  for (Mod word : form.name) {
    while (!modifiers.empty() && modifiers.front() != word && mayStandBefore(form.opcode, word, modifiers.front())) {
      others.push_back(modifiers.front());
      modifiers = modifiers.subspan(1);
    }
    if (modifiers.empty() || modifiers.front() != word) {
      result.stranger = modifiers.empty() ? word : modifiers.front();
      return result;
    }
    modifiers = modifiers.subspan(1);
    ++result.accepted;
  }
  others.insert(others.end(), modifiers.begin(), modifiers.end());
  modifiers = others;
  result.choices.resize(form.groups.size());
  size_t first[kOrderedKinds] = {};  // group from which on the next modifier of that kind is looked for
  for (Mod mod : modifiers) {
    Ordered order = orderOf(mod);
    size_t& begin = first[static_cast<size_t>(order)];
    bool found = false;
    for (size_t g = begin; g < form.groups.size() && !found; ++g) {
      if (result.choices[g]) continue;
      const FormGroup& group = form.groups[g];
      if (group.excludes >= 0 && result.choices[static_cast<size_t>(group.excludes)]) continue;
      const FormChoice* choice = group.find(mod);
      if (!choice) continue;
      result.choices[g] = choice;
      if (order != Ordered::No) begin = g + 1;
      found = true;
    }
    if (!found && mayRepeat(mod) && std::ranges::count(modifiers, mod) > 1)
      found = std::ranges::any_of(result.choices, [&](const FormChoice* c) { return c && c->mod == mod; });
    if (!found) {
      if (!result.stranger) result.stranger = mod;
    } else {
      ++result.accepted;
    }
  }
  for (size_t g = 0; g < form.groups.size(); ++g) {
    const FormGroup& group = form.groups[g];
    bool present = result.choices[g] != nullptr;
    bool wanted = group.tied >= 0 ? result.choices[static_cast<size_t>(group.tied)] != nullptr : !group.optional;
    if (!present && wanted) result.missing = &group;
    if (present && group.tied >= 0 && !wanted) result.missing = &form.groups[static_cast<size_t>(group.tied)];
    if (present && group.excludes >= 0 && result.choices[static_cast<size_t>(group.excludes)])
      result.stranger = result.choices[g]->mod;
  }
  if (result.fits() && !isPossible(form, result.choices)) {
    result.stranger = modifiers.back();
    --result.accepted;
  }
  return result;
}

std::string dotted(Mod mod) { return '.' + std::string(spelling(mod)); }

// " .rn .rz .rm .rp", or where there are many the first of them.
std::string listed(std::span<const Mod> mods) {
  constexpr size_t kMost = 8;
  std::string text;
  for (Mod mod : mods.first(std::min(mods.size(), kMost))) text += ' ' + dotted(mod);
  return mods.size() > kMost ? text + " ..." : text;
}

std::vector<Mod> wordsOf(const FormGroup& group) {
  std::vector<Mod> words;
  for (const FormChoice& choice : group.choices) words.push_back(choice.mod);
  return words;
}

void addNew(std::vector<Mod>& mods, Mod mod) {
  if (std::ranges::find(mods, mod) == mods.end()) mods.push_back(mod);
}

// What may stand where `modifiers` leave the fixed words of all the forms: mul takes .lo .hi .wide.
std::vector<Mod> possibleWords(Opcode opcode, std::span<const Mod> modifiers, size_t position) {
  std::vector<Mod> words;
  for (const Form& form : formsOf(opcode))
    if (form.name.size() > position && std::ranges::equal(form.name.first(position), modifiers.first(position)))
      addNew(words, form.name[position]);
  return words;
}

// What else of the form's groups is there to choose in the place of a modifier that does not fit.
std::string replacementFor(Mod stranger, const Form& form) {
  const bool isType = typeOf(stranger) != Type::None;
  std::vector<Mod> types;
  Suggestion suggestion(spelling(stranger));
  for (const FormGroup& group : form.groups)
    for (const FormChoice& choice : group.choices) {
      if (typeOf(choice.mod) != Type::None) addNew(types, choice.mod);
      if (isType == (typeOf(choice.mod) != Type::None)) suggestion.offer(spelling(choice.mod));
    }
  if (isType && !types.empty() && std::ranges::find(types, stranger) == types.end())
    return "; types that do:" + listed(types);
  return suggestion.best() == spelling(stranger) ? "" : suggestion.phrase(".");
}

// What the forms lack that take all of the modifiers.
std::vector<Mod> missingWords(Opcode opcode, std::span<const Mod> modifiers, const ModuleTarget& target,
                              size_t accepted) {
  std::vector<Mod> words;
  for (const Form& form : formsOf(opcode)) {
    const Fit here = fit(form, modifiers);
    if (here.accepted != accepted || here.stranger || !here.missing) continue;
    if (!target.missing(form.requires_, form.removed).empty()) continue;
    for (const FormChoice& choice : here.missing->choices) addNew(words, choice.mod);
  }
  return words;
}

// Why no form takes these modifiers: what is wrong with them by the form that is nearest.
void explain(Opcode opcode, std::span<const Mod> modifiers, const ModuleTarget& target, FormMatch& match) {
  Fit best;
  const Form* nearest = nullptr;
  for (const Form& form : formsOf(opcode)) {
    if (form.removed.version != 0 && !target.missing({0, 0}, form.removed).empty()) continue;
    Fit here = fit(form, modifiers);
    auto rank = [](const Fit& f) { return 2 * f.accepted + (f.stranger ? 0 : 1); };
    if (nearest && rank(here) <= rank(best)) continue;
    best = std::move(here);
    nearest = &form;
  }
  const std::string name = '\'' + fullName(opcode, modifiers) + '\'';
  if (nearest && best.accepted < nearest->name.size()) {
    const std::vector<Mod> words = possibleWords(opcode, modifiers, best.accepted);
    if (best.accepted < modifiers.size()) {
      match.culprit = best.accepted;
      Suggestion suggestion(spelling(modifiers[best.accepted]));
      for (Mod word : words) suggestion.offer(spelling(word));
      if (!suggestion.best().empty()) {
        match.problem = name + " does not exist" + suggestion.phrase(".");
        return;
      }
    }
    match.problem = name + " lacks one of" + listed(words);
  } else if (nearest && best.stranger) {
    match.culprit = static_cast<size_t>(std::ranges::find(modifiers, *best.stranger) - modifiers.begin());
    match.problem = name + " does not exist: '" + dotted(*best.stranger) + "' does not fit here" +
                    replacementFor(*best.stranger, *nearest);
  } else if (nearest && best.missing) {
    match.problem = name + " lacks one of" + listed(missingWords(opcode, modifiers, target, best.accepted));
  } else {
    match.problem = name + " does not exist";
  }
}

Type widened(Type type) {
  switch (type) {
    case Type::U16: return Type::U32;
    case Type::S16: return Type::S32;
    case Type::U32: return Type::U64;
    case Type::S32: return Type::S64;
    default: return type;
  }
}

Type untypedOf(unsigned bits) {
  return bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
}

}  // namespace

std::string ModuleTarget::missing(Requirement requirement, Requirement removed) const {
  if (hasEverything) return {};
  // The alternative for this target counts. A target of neither is told the later one once the version has it.
  const bool isEarly =
      requirement.earlyVersion != 0 && (satisfies(target, requirement.earlyTarget()) ||
                                        (version < requirement.version && !satisfies(target, requirement.target())));
  const uint8_t neededVersion = isEarly ? requirement.earlyVersion : requirement.version;
  const std::string_view neededTarget = isEarly ? requirement.earlyTarget() : requirement.target();
  if (version < neededVersion) return "needs PTX ISA version " + versionText(neededVersion) + " or later";
  if (!satisfies(target, neededTarget)) return "needs .target " + describeRule(neededTarget);
  if (removed.version != 0 && version >= removed.version && satisfies(target, removed.target())) {
    std::string text = "is gone since PTX ISA version " + versionText(removed.version);
    return removed.rule ? text + " for .target " + describeRule(removed.target()) : text;
  }
  return {};
}

std::string fullName(Opcode opcode, std::span<const Mod> modifiers) {
  std::string name(spelling(opcode));
  for (Mod mod : modifiers) name += '.' + std::string(spelling(mod));
  return name;
}

std::optional<std::vector<const FormChoice*>> chooseModifiers(const Form& form, std::span<const Mod> modifiers) {
  Fit result = fit(form, modifiers);
  if (!result.fits()) return std::nullopt;
  return std::move(result.choices);
}

MatchedForm expectOperands(const Form& form, std::span<const FormChoice* const> choices) {
  MatchedForm matched{&form, {}};
  std::vector<Type> types;
  std::vector<StateSpace> spaces;
  auto note = [&](Mod mod) {
    if (Type type = typeOf(mod); type != Type::None) types.push_back(type);
    if (StateSpace space = spaceOf(mod); space != StateSpace::None) spaces.push_back(space);
  };
  for (const FormChoice* choice : choices)
    if (choice) note(choice->mod);

  size_t nextSpace = 0;
  for (const FormOperand& operand : form.operands) {
    if (operand.presentWith >= 0 && !choices[static_cast<size_t>(operand.presentWith)]) continue;
    ExpectedOperand expected{&operand, Type::None, operand.typeFrom == FormOperand::TypeFrom::Fixed, 0,
                             StateSpace::None};
    Type last = types.empty() ? Type::B32 : types.back();
    switch (operand.typeFrom) {
      case FormOperand::TypeFrom::Fixed: expected.type = operand.type; break;
      case FormOperand::TypeFrom::Nth: expected.type = operand.nth < types.size() ? types[operand.nth] : last; break;
      case FormOperand::TypeFrom::Last: expected.type = last; break;
      case FormOperand::TypeFrom::Wide: expected.type = widened(last); break;
      case FormOperand::TypeFrom::Part: expected.type = untypedOf(bitWidth(last) / operand.number); break;
    }
    if (operand.count == FormCount::Fixed) {
      expected.count = operand.number;
    } else if (operand.count != FormCount::Scalar) {
      for (const FormChoice* choice : choices)
        if (choice)
          if (unsigned count = countOf(operand.count, choice->mod))
            expected.count = static_cast<uint16_t>(count * operand.number / operand.divisor);
    }
    if (operand.kind == FormOperand::Kind::Texture && form.opcode == Opcode::Cp) ++nextSpace;  // of the tensor
    if (operand.kind == FormOperand::Kind::Address) {
      if (operand.space == FormOperand::Space::Global) expected.space = StateSpace::Global;
      else if (operand.space == FormOperand::Space::Shared) expected.space = StateSpace::Shared;
      else if (nextSpace < spaces.size() && operand.space == FormOperand::Space::FromModifier)
        expected.space = spaces[nextSpace++];
    }
    matched.operands.push_back(expected);
  }
  return matched;
}

bool isPossible(const Form& form, std::span<const FormChoice* const> choices) {
  unsigned vector = 1, bits = 0;
  bool isCached = false, isElsewhere = false;
  for (size_t g = 0; g < choices.size(); ++g) {
    if (!choices[g]) continue;
    Mod mod = choices[g]->mod;
    if (form.groups[g].name == "vec") vector = countOf(FormCount::Vector, mod);
    bits = std::max(bits, bitWidth(typeOf(mod)));
    isCached |= isCacheControl(mod);
    StateSpace space = spaceOf(mod);
    isElsewhere |= space != StateSpace::None && space != StateSpace::Global;
  }
  if (vector > 1 && vector * bits > 128) return false;
  bool isAccess = form.opcode == Opcode::Ld || form.opcode == Opcode::St || form.opcode == Opcode::Atom ||
                  form.opcode == Opcode::Red;
  return !(isAccess && isCached && isElsewhere);
}

std::unique_ptr<FormMatch> FormMatcher::resolve(Opcode opcode, std::span<const Mod> modifiers) const {
  auto match = std::make_unique<FormMatch>();
  const std::string name = '\'' + fullName(opcode, modifiers) + "' ";
  std::string gone;
  for (const Form& form : formsOf(opcode)) {
    auto choices = chooseModifiers(form, modifiers);
    if (!choices) continue;
    if (std::string missing = target_.missing(form.requires_, form.removed); !missing.empty()) {
      if (missing.starts_with("is gone")) gone = name + missing;
      else if (match->problem.empty()) match->problem = name + missing;
      continue;
    }
    std::string problem;
    for (size_t g = 0; g < choices->size() && problem.empty(); ++g) {
      const FormChoice* choice = (*choices)[g];
      problem = target_.missing(requirementOf(form.groups[g], choice));
      if (problem.empty() || !match->problem.empty()) continue;
      match->problem =
          name + (choice ? "with " + dotted(choice->mod) : "without one of" + listed(wordsOf(form.groups[g])));
      match->problem += ' ' + problem;
      if (choice) match->culprit = static_cast<size_t>(std::ranges::find(modifiers, choice->mod) - modifiers.begin());
    }
    if (problem.empty()) match->candidates.push_back(expectOperands(form, *choices));
  }
  if (!match->candidates.empty()) {
    match->problem.clear();
    match->culprit.reset();
  } else if (match->problem.empty()) {
    explain(opcode, modifiers, target_, *match);
    if (!gone.empty() && match->problem.starts_with(name)) match->problem.replace(0, name.size(), gone + "; now it ");
  }
  return match;
}

const FormMatch& FormMatcher::match(Opcode opcode, std::span<const Mod> modifiers) {
  uint32_t h = hash(opcode, modifiers);
  size_t mask = slots_.size() - 1;
  for (size_t slot = h & mask;; slot = (slot + 1) & mask) {
    Entry& entry = slots_[slot];
    if (!entry.match) {
      entry = {h, opcode, {modifiers.begin(), modifiers.end()}, resolve(opcode, modifiers)};
      const FormMatch& result = *entry.match;
      if (++used_ * 2 > slots_.size()) grow();
      return result;
    }
    if (entry.hash == h && entry.opcode == opcode && std::ranges::equal(entry.modifiers, modifiers))
      return *entry.match;
  }
}

void FormMatcher::grow() {
  std::vector<Entry> old = std::exchange(slots_, std::vector<Entry>(slots_.size() * 2));
  size_t mask = slots_.size() - 1;
  for (Entry& entry : old) {
    if (!entry.match) continue;
    size_t slot = entry.hash & mask;
    while (slots_[slot].match) slot = (slot + 1) & mask;
    slots_[slot] = std::move(entry);
  }
}

}  // namespace mulciber::ptx
