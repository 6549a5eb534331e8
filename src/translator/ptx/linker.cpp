#include "translator/ptx/linker.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/ptx/clone.h"
#include "translator/ptx/suggestion.h"
#include "translator/ptx/undefined.h"

namespace mulciber::ptx {
namespace {

constexpr std::string_view kMixedPragma = "mulciber.mixed_targets";

bool hasLinkage(const Variable& variable) {
  return (variable.isExtern || variable.isVisible || variable.isWeak || variable.isCommon) &&
         !isDynamicShared(variable);
}
// Programs find kernels by their names, so those count even without .visible.
bool hasLinkage(const Function& function) {
  return function.isExtern || function.isVisible || function.isWeak || function.isEntry;
}
bool isCommon(const Function&) { return false; }
bool isCommon(const Variable& variable) { return variable.isCommon; }

bool sameInterface(const Function& a, const Function& b) {
  auto sameSizes = [](std::span<Variable* const> x, std::span<Variable* const> y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Variable* p, const Variable* q) {
      return p->size == q->size || p->size == 0 || q->size == 0;
    });
  };
  return a.isEntry == b.isEntry && sameSizes(a.parameters, b.parameters) && sameSizes(a.results, b.results);
}
bool sameAlignments(const Function& a, const Function& b) {
  auto same = [](std::span<Variable* const> x, std::span<Variable* const> y) {
    return std::ranges::equal(x, y, {}, &Variable::alignment, &Variable::alignment);
  };
  return same(a.parameters, b.parameters) && same(a.results, b.results);
}
bool sameInterface(const Variable& a, const Variable& b) {
  const bool sameSize = a.size == b.size || a.size == 0 || b.size == 0 || a.isCommon || b.isCommon;
  return a.space == b.space && sameSize;
}
// Common variables become as large as the largest of them; no other definition grows.
bool fits(const Function& declaration, const Function& definition) { return sameInterface(declaration, definition); }
bool fits(const Variable& declaration, const Variable& definition) {
  const bool outgrows =
      declaration.isCommon && !definition.isCommon && !definition.isExtern && declaration.size > definition.size;
  return sameInterface(declaration, definition) && !outgrows;
}

// The number in sm_90a, 0 where there is none.
uint32_t architecture(std::string_view target) {
  uint32_t number = 0;
  for (char c : target)
    if (c >= '0' && c <= '9' && number < 100000) number = number * 10 + static_cast<uint32_t>(c - '0');
  return number;
}

// All nodes of one kind, from all modules, and what becomes of each.
template <class Node>
class Resolution {
 public:
  struct Place {
    const Node* node = nullptr;
    size_t module = 0;
  };

  void add(const Node* node, size_t module) {
    if (!hasLinkage(*node)) return;
    auto [entry, isNew] = byName_.try_emplace(node->name, candidates_.size());
    if (isNew) candidates_.push_back({{node, module}, {}});
    candidates_[entry->second].all.push_back({node, module});
  }

  // Chooses the definition of each name. `conflict` hears of two that exclude each other, `mismatch` of a declaration
  // that does not fit.
  template <class Conflict, class Mismatch>
  void choose(Conflict&& conflict, Mismatch&& mismatch) {
    for (Candidates& candidates : candidates_) {
      for (const Place& place : candidates.all) {
        Place& best = candidates.best;
        if (place.node == best.node) continue;
        const int rank = rankOf(*place.node), bestRank = rankOf(*best.node);
        if (rank == kStrong && bestRank == kStrong) {
          conflict(best, place);
        } else if (rank > bestRank ||
                   (rank == bestRank && isCommon(*place.node) && isLarger(*place.node, *best.node))) {
          best = place;
        }
      }
      for (const Place& place : candidates.all)
        if (!fits(*place.node, *candidates.best.node)) mismatch(place, candidates.best);
    }
  }

  // Whether all declarations agree with what was chosen.
  template <class Agree>
  bool doAll(const Agree& agree) const {
    return std::ranges::all_of(candidates_, [&](const Candidates& candidates) {
      return std::ranges::all_of(candidates.all,
                                 [&](const Place& place) { return agree(*place.node, *candidates.best.node); });
    });
  }

  const Place* find(std::string_view name) const {
    auto found = byName_.find(name);
    return found == byName_.end() ? nullptr : &candidates_[found->second].best;
  }

 private:
  struct Candidates {
    Place best;
    std::vector<Place> all;
  };
  static constexpr int kDeclared = 0, kCommon = 1, kWeak = 2, kStrong = 3;

  static int rankOf(const Node& node) {
    if (!isDefinition(node)) return kDeclared;
    if (isCommon(node)) return kCommon;
    return node.isWeak ? kWeak : kStrong;
  }
  static bool isLarger(const Function&, const Function&) { return false; }
  static bool isLarger(const Variable& a, const Variable& b) { return a.size > b.size; }

  std::vector<Candidates> candidates_;  // in the order of the names' first appearance
  std::unordered_map<std::string_view, size_t> byName_;
};

class Linker {
 public:
  Linker(std::span<const ModuleHolder* const> modules, Diagnostics& diagnostics)
      : modules_(modules), diagnostics_(diagnostics), holder_(std::make_unique<ModuleHolder>()) {}

  std::unique_ptr<ModuleHolder> run();

 private:
  bool mergeHeaders();
  void markMixed();
  void resolve();
  void chooseSuffix();
  std::string_view ownName(std::string_view name, size_t module);
  template <class Node>
  void makeNodes(std::span<Node* const> from, size_t module, const Resolution<Node>& resolution,
                 std::vector<Node*>& to);
  template <class Node>
  void connect(std::span<Node* const> from, size_t module, const Resolution<Node>& resolution);
  template <class Node>
  void copyNodes(std::span<Node* const> from, size_t module);
  void reportMissing();
  void error(size_t module, SourceOffset where, std::string text);
  void note(size_t module, SourceOffset where, std::string text);
  std::string_view fileOf(size_t module) const { return modules_[module]->source.place(0).file; }

  std::span<const ModuleHolder* const> modules_;
  Diagnostics& diagnostics_;
  std::unique_ptr<ModuleHolder> holder_;
  bool failed_ = false;
  Resolution<Function> functions_;
  Resolution<Variable> variables_;
  std::unordered_set<std::string_view> names_;   // taken in the new module
  std::string suffix_;                           // of renamed symbols: occurs in no text
  std::vector<Cloner> cloners_;                  // one for each module
  std::unordered_map<const void*, void*> made_;  // node of a module -> its copy
  std::vector<Function*> newFunctions_;
  std::vector<Variable*> newVariables_;
};

void Linker::error(size_t module, SourceOffset where, std::string text) {
  failed_ = true;
  modules_[module]->source.error(diagnostics_, where, std::move(text));
}

void Linker::note(size_t module, SourceOffset where, std::string text) {
  modules_[module]->source.report(diagnostics_, Diagnostics::Severity::Note, where, std::move(text));
}

bool Linker::mergeHeaders() {
  Module& result = holder_->module;
  std::vector<Module::File> files;
  std::vector<std::string_view> options, pragmas;
  const Module& first = modules_[0]->module;
  bool isMixed = false;
  uint32_t lastFile = 0;  // the highest number of a .file until now
  result.addressSize = first.addressSize;
  result.versionWhere = first.versionWhere;
  result.targetWhere = first.targetWhere;
  uint64_t totalText = 0;
  for (size_t i = 0; i < modules_.size(); ++i) {
    const ModuleHolder& part = *modules_[i];
    const Module& module = part.module;
    totalText += part.source.size();
    if (totalText > UINT32_MAX) {
      error(i, 0, "the modules to link have more than 4 GiB of text");
      return false;
    }
    if (std::find(modules_.begin(), modules_.begin() + static_cast<ptrdiff_t>(i), &part) !=
        modules_.begin() + static_cast<ptrdiff_t>(i)) {
      error(i, 0, "this module is given twice");
      return false;
    }
    if (module.addressSize != result.addressSize) {
      error(i, 0,
            "this module has " + std::to_string(module.addressSize) + "-bit addresses and cannot be linked with '" +
                std::string(fileOf(0)) + "', which has " + std::to_string(result.addressSize) + "-bit ones");
      return false;
    }
    isMixed |= std::tie(module.versionMajor, module.versionMinor, module.target) !=
               std::tie(first.versionMajor, first.versionMinor, first.target);
    if (std::pair(module.versionMajor, module.versionMinor) > std::pair(result.versionMajor, result.versionMinor)) {
      result.versionMajor = module.versionMajor;
      result.versionMinor = module.versionMinor;
    }
    if (result.target.empty() || architecture(module.target) > architecture(result.target))
      result.target = module.target;
    for (std::string_view option : module.targetOptions)
      if (std::find(options.begin(), options.end(), option) == options.end()) options.push_back(option);
    for (std::string_view pragma : module.pragmas)
      if (std::find(pragmas.begin(), pragmas.end(), pragma) == pragmas.end()) pragmas.push_back(pragma);

    const SourceOffset shift = holder_->source.append(part.source);
    cloners_.emplace_back(*holder_->arena, shift, lastFile);
    uint32_t last = lastFile;
    for (Module::File file : module.files) {
      file.index += lastFile;
      last = std::max(last, file.index);
      files.push_back(file);
    }
    lastFile = last;
    holder_->linked.push_back(part.arena);
    holder_->linked.insert(holder_->linked.end(), part.linked.begin(), part.linked.end());
  }
  result.files = holder_->arena->copy(files);
  result.targetOptions = holder_->arena->copy(options);
  result.pragmas = holder_->arena->copy(pragmas);
  if (isMixed) markMixed();
  return true;
}

void Linker::markMixed() {
  if (isMixedModule(holder_->module)) return;
  std::vector<std::string_view> pragmas(holder_->module.pragmas.begin(), holder_->module.pragmas.end());
  pragmas.push_back(kMixedPragma);
  holder_->module.pragmas = holder_->arena->copy(pragmas);
}

void Linker::resolve() {
  for (size_t i = 0; i < modules_.size(); ++i) {
    for (const Function* function : modules_[i]->module.functions) functions_.add(function, i);
    for (const Variable* variable : modules_[i]->module.variables) variables_.add(variable, i);
  }
  auto conflict = [&](const auto& first, const auto& second) {
    error(second.module, second.node->where, quoted(second.node->name) + " is defined more than once");
    note(first.module, first.node->where, "the other definition is here");
  };
  auto mismatch = [&](const auto& declaration, const auto& definition) {
    error(declaration.module, declaration.node->where,
          quoted(declaration.node->name) + " is not declared here as in another module");
    note(definition.module, definition.node->where, "the other declaration is here");
  };
  functions_.choose(conflict, mismatch);
  if (!functions_.doAll(sameAlignments)) markMixed();
  variables_.choose(conflict, mismatch);
  for (size_t i = 0; i < modules_.size(); ++i) {
    for (const Variable* variable : modules_[i]->module.variables) {
      const auto* function = hasLinkage(*variable) ? functions_.find(variable->name) : nullptr;
      if (!function) continue;
      error(i, variable->where, quoted(variable->name) + " is a variable here and a function in another module");
      note(function->module, function->node->where, "the function is here");
    }
  }
}

// Renamed symbols get a suffix that no text holds, so they can meet no other name.
void Linker::chooseSuffix() {
  for (unsigned number = 0;; ++number) {
    suffix_ = "$link" + std::to_string(number) + '_';
    const bool occurs = std::any_of(modules_.begin(), modules_.end(),
                                    [&](const ModuleHolder* part) { return part->source.contains(suffix_); });
    if (!occurs) return;
  }
}

std::string_view Linker::ownName(std::string_view name, size_t module) {
  if (names_.insert(name).second) return name;
  if (suffix_.empty()) chooseSuffix();
  return holder_->arena->copy(std::string(name) + suffix_ + std::to_string(module));
}

// One node in the new module for each that stays.
template <class Node>
void Linker::makeNodes(std::span<Node* const> from, size_t module, const Resolution<Node>& resolution,
                       std::vector<Node*>& to) {
  for (const Node* node : from) {
    const bool isShared = hasLinkage(*node);
    if (isShared && resolution.find(node->name)->node != node) continue;
    Node* made = holder_->arena->template make<Node>();
    made->name = isShared ? node->name : ownName(node->name, module);
    made_[node] = made;
    to.push_back(made);
  }
}

template <class Node>
void Linker::connect(std::span<Node* const> from, size_t module, const Resolution<Node>& resolution) {
  for (const Node* node : from) {
    const Node* kept = hasLinkage(*node) ? resolution.find(node->name)->node : node;
    cloners_[module].replace(node, static_cast<Node*>(made_.at(kept)));
  }
}

template <class Node>
void Linker::copyNodes(std::span<Node* const> from, size_t module) {
  for (const Node* node : from) {
    auto made = made_.find(node);
    if (made != made_.end()) cloners_[module].copy(*node, *static_cast<Node*>(made->second));
  }
}

void Linker::reportMissing() {
  std::vector<Undefined> missing = undefinedFunctions(holder_->module, Extent::Reachable);
  for (const Variable* variable : holder_->module.variables)
    if (!isDefinition(*variable) && !isDynamicShared(*variable))
      missing.push_back({variable->name, variable->where, false});
  std::ranges::sort(missing, {}, &Undefined::where);
  for (const Undefined& undefined : missing) {
    failed_ = true;
    holder_->source.error(diagnostics_, undefined.where, "undefined reference to " + quoted(undefined.name));
  }
  if (failed_ && std::ranges::all_of(missing, &Undefined::isInCode)) diagnostics_.noteMissingFunctions();
}

std::unique_ptr<ModuleHolder> Linker::run() {
  if (modules_.empty()) {
    diagnostics_.add({Diagnostics::Severity::Error, {}, 0, 0, "there are no modules to link", {}});
    return nullptr;
  }
  if (!mergeHeaders()) return nullptr;
  resolve();
  if (failed_) return nullptr;
  for (const ModuleHolder* part : modules_) {
    for (const Function* function : part->module.functions)
      if (hasLinkage(*function)) names_.insert(function->name);
    for (const Variable* variable : part->module.variables)
      if (hasLinkage(*variable)) names_.insert(variable->name);
  }
  auto forEachModule = [&](auto&& action) {
    for (size_t i = 0; i < modules_.size(); ++i) action(i, modules_[i]->module);
  };
  forEachModule([&](size_t i, const Module& module) {
    makeNodes(module.variables, i, variables_, newVariables_);
    makeNodes(module.functions, i, functions_, newFunctions_);
  });
  forEachModule([&](size_t i, const Module& module) {
    connect(module.variables, i, variables_);
    connect(module.functions, i, functions_);
  });
  forEachModule([&](size_t i, const Module& module) {
    copyNodes(module.variables, i);
    copyNodes(module.functions, i);
  });
  holder_->module.functions = holder_->arena->copy(newFunctions_);
  holder_->module.variables = holder_->arena->copy(newVariables_);
  reportMissing();
  if (failed_) return nullptr;
  return std::move(holder_);
}

}  // namespace

bool isMixedModule(const Module& module) {
  return std::find(module.pragmas.begin(), module.pragmas.end(), kMixedPragma) != module.pragmas.end();
}

bool checkWholeProgram(const ModuleHolder& program, Diagnostics& diagnostics) {
  bool isComplete = true;
  auto refuse = [&](const char* kind, std::string_view name, SourceOffset where) {
    isComplete = false;
    program.source.error(diagnostics, where, std::string("unresolved extern ") + kind + " " + quoted(name));
  };
  for (const Undefined& undefined : undefinedFunctions(program.module, Extent::EveryFunction))
    refuse("function", undefined.name, undefined.where);
  for (const Variable* variable : program.module.variables) {
    if (isDefinition(*variable) || isDynamicShared(*variable)) continue;
    if (variable->size == 0) refuse("variable", variable->name, variable->where);
    else
      program.source.report(
          diagnostics, Diagnostics::Severity::Warning, variable->where,
          "the extern variable " + quoted(variable->name) + " is defined nowhere in the program: it begins as zero");
  }
  return isComplete;
}

std::unique_ptr<ModuleHolder> link(std::span<const ModuleHolder* const> modules, Diagnostics& diagnostics) {
  return Linker(modules, diagnostics).run();
}

void dropUnreachable(ModuleHolder& program) {
  program.module.functions = program.arena->copy(reachableFunctions(program.module));
}

}  // namespace mulciber::ptx
