#include "static_runtime.h"

#include <elf.h>
#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "function_bounds.h"
#include "function_signs.h"
#include "runtime_names.h"

namespace mulciber::redirect {

namespace {

using fatbin::Bytes;
using fatbin::Elf;

constexpr std::string_view initModule = "__cudaInitModule";
constexpr std::string_view wrapperSection = ".nvFatBinSegment";

bool isCode(const Elf::Section& section) { return (section.flags & SHF_EXECINSTR) && section.type == SHT_PROGBITS; }

bool isReadOnlyData(const Elf::Section& section) {
  return (section.flags & SHF_ALLOC) && !(section.flags & (SHF_WRITE | SHF_EXECINSTR)) &&
         section.type == SHT_PROGBITS && section.name != ".nv_fatbin" && section.name != "__nv_relfatbin" &&
         !section.name.starts_with(".eh_frame");
}

// Calls visit(offset) for every byte that is `value` under `mask`: sixteen at once, since libraries have 100 MB of
// code.
template <class Visit>
void forEachByte(std::string_view bytes, char mask, char value, Visit&& visit) {
  constexpr size_t step = sizeof(__m128i);
  size_t i = 0;
  for (; i + step <= bytes.size(); i += step) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i));
    const __m128i same = _mm_cmpeq_epi8(_mm_and_si128(block, _mm_set1_epi8(mask)), _mm_set1_epi8(value));
    for (auto found = static_cast<unsigned>(_mm_movemask_epi8(same)); found != 0; found &= found - 1) {
      visit(i + static_cast<unsigned>(std::countr_zero(found)));
    }
  }
  for (; i < bytes.size(); ++i) {
    if ((bytes[i] & mask) == value) visit(i);
  }
}

// Places in a file that stand for a function's name: the text itself, or a pointer to it.
class NamePlaces {
 public:
  explicit NamePlaces(const Elf& elf) {
    for (uint32_t i = 1; i < elf.sectionCount(); ++i) {
      if (auto section = elf.section(i); section && isReadOnlyData(*section)) addTexts(*section);
    }
    if (places_.empty()) return;
    firstText_ = first_;
    lastText_ = last_;
    for (uint32_t i = 1; i < elf.sectionCount(); ++i) {
      auto section = elf.section(i);
      if (section && section->type == SHT_RELA) addRelocated(section->data);
      if (section && section->name.starts_with(".data.rel.ro")) addPointers(*section);
    }
  }
  bool empty() const { return places_.empty(); }
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }
  bool hasText(const RuntimeName& name) const { return standingAlone_.count(&name) != 0; }
  const RuntimeName* at(uint64_t address) const {
    auto found = places_.find(address);
    return found == places_.end() ? nullptr : found->second;
  }

 private:
  void add(uint64_t address, const RuntimeName* name) {
    places_.emplace(address, name);
    first_ = std::min(first_, address);
    last_ = std::max(last_, address);
  }
  void addTexts(const Elf::Section& section) {
    constexpr std::string_view prefix = "cuda", underscores = "__";
    const std::string_view data(reinterpret_cast<const char*>(section.data.data()), section.data.size());
    auto look = [&](size_t at) {
      if (data.substr(at, prefix.size()) != prefix) return;
      const size_t end = data.find('\0', at);
      if (end == data.npos) return;
      const bool hasUnderscores =
          at >= underscores.size() && data.substr(at - underscores.size(), underscores.size()) == underscores;
      addText(section, data.substr(at, end - at), at, !hasUnderscores);
      if (hasUnderscores) {
        const size_t begin = at - underscores.size();
        addText(section, data.substr(begin, end - begin), begin, true);
      }
    };
    forEachByte(data, static_cast<char>(0xFF), prefix[0], look);
  }
  // A linker stores a text that is the end of another one inside it; then it does not stand alone.
  void addText(const Elf::Section& section, std::string_view text, size_t offset, bool standsAlone) {
    const RuntimeName* name = findRuntimeName(text);
    if (!name) return;
    add(section.address + offset, name);
    if (standsAlone) standingAlone_.insert(name);
  }
  void addRelocated(Bytes relocations) {
    Elf64_Rela relocation;
    for (uint64_t at = 0; fatbin::readAt(relocations, at, relocation); at += sizeof(relocation)) {
      if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_RELATIVE) continue;
      addPointer(relocation.r_offset, static_cast<uint64_t>(relocation.r_addend));
    }
  }
  void addPointers(const Elf::Section& section) {
    uint64_t value = 0;
    for (uint64_t at = 0; fatbin::readAt(section.data, at, value); at += sizeof(value)) {
      addPointer(section.address + at, value);
    }
  }
  void addPointer(uint64_t address, uint64_t target) {
    if (target < firstText_ || target > lastText_) return;
    if (const RuntimeName* name = at(target)) add(address, name);
  }

  std::unordered_map<uint64_t, const RuntimeName*> places_;
  std::set<const RuntimeName*> standingAlone_;
  uint64_t first_ = UINT64_MAX, last_ = 0, firstText_ = 0, lastText_ = 0;
};

// Calls visit(place of the reference, address referred to) for what may be an instruction's operand relative to the
// instruction pointer. Bytes that only look like one are sorted out by the other signs.
template <class Visit>
void forEachReference(const Elf::Section& code, uint64_t first, uint64_t last, Visit&& visit) {
  const std::string_view bytes(reinterpret_cast<const char*>(code.data.data()), code.data.size());
  constexpr char modMask = static_cast<char>(0xC7), ripRelative = 0x05;
  forEachByte(bytes, modMask, ripRelative, [&](size_t i) {
    int32_t distance;
    const size_t next = i + 1 + sizeof(distance);
    if (next > bytes.size()) return;
    std::memcpy(&distance, bytes.data() + i + 1, sizeof(distance));
    const uint64_t target = code.address + next + static_cast<uint64_t>(int64_t{distance});
    if (target - first <= last - first) visit(code.address + i, target);
  });
}

struct Candidate {
  const FunctionBounds* bounds = nullptr;
  const RuntimeName* name = nullptr;  // null when the function refers to several
  FunctionSigns signs = {};
};

// The functions that carry no name stand in one row around __cudaInitModule, in the order of their source.
struct RowEntry {
  std::string_view name;
  uint8_t majors;  // as in RuntimeName
  unsigned argumentRegisters, stackArguments;
  enum Kind {
    State,        // asks for the runtime's state first, as all functions do
    ThreadState,  // asks for the thread's state
    Forward,      // jumps to the function of this name without its underscores
    Constant,     // returns a constant
  } kind;
};
constexpr uint8_t cuda11 = 1, cuda12 = 2, cuda13 = 4, sinceCuda12 = cuda12 | cuda13, all = cuda11 | sinceCuda12;
constexpr RowEntry row[] = {
    {"cudaGetExportTable", all, 0, 0, RowEntry::ThreadState},
    {"__cudaRegisterFatBinary", all, 1, 0, RowEntry::State},
    {"__cudaRegisterFatBinaryEnd", all, 1, 0, RowEntry::State},
    {"__cudaUnregisterFatBinary", all, 1, 0, RowEntry::State},
    {"__cudaRegisterVar", all, 6, 2, RowEntry::State},
    {"__cudaRegisterManagedVar", all, 6, 2, RowEntry::State},
    {"__cudaRegisterHostVar", all, 4, 0, RowEntry::State},
    {"__cudaRegisterTexture", cuda11, 6, 1, RowEntry::State},
    {"__cudaRegisterSurface", cuda11, 6, 0, RowEntry::State},
    {"__cudaRegisterFunction", all, 6, 4, RowEntry::State},
    {initModule, all, 0, 0, RowEntry::State},
    {"__cudaPushCallConfiguration", all, 6, 0, RowEntry::ThreadState},
    {"__cudaPopCallConfiguration", all, 4, 0, RowEntry::ThreadState},
    {"__cudaGetKernel", sinceCuda12, 2, 0, RowEntry::ThreadState},
    {"__cudaLaunchKernel", sinceCuda12, 0, 0, RowEntry::Forward},
    {"__cudaLaunchKernel_ptsz", sinceCuda12, 0, 0, RowEntry::Forward},
    {"__cudaRegisterUnifiedTable", sinceCuda12, 5, 0, RowEntry::State},
    {"__cudaGetProcAddress", cuda13, 0, 0, RowEntry::Constant},
};

constexpr uint8_t bitOf(uint32_t major) { return static_cast<uint8_t>(1u << (major - oldestMajor)); }

class Finder {
 public:
  explicit Finder(const Elf& elf) : elf_(elf), names_(elf) {}

  StaticRuntime find() {
    StaticRuntime runtime;
    if (names_.empty()) return runtime;
    bounds_ = functionBounds(elf_);
    collectCandidates();
    const Candidate* anchor = nullptr;
    for (const auto& [address, candidate] : candidates_) {
      if (candidate.name && candidate.name->name == initModule) anchor = &candidate;
    }
    const bool hasRuntime = std::any_of(candidates_.begin(), candidates_.end(), [](const auto& entry) {
      const Candidate& candidate = entry.second;
      return candidate.name && callbackId(*candidate.name, candidate.signs) != 0;
    });
    if (!hasRuntime) return runtime;  // a library that mentions names of the runtime, without one inside
    if (!anchor) {
      runtime.problem = "no function looks like " + std::string(initModule);
      return runtime;
    }
    if (findNamed(*anchor) && findRow(*anchor) && checkConstructors()) {
      runtime.functions = std::move(found_);
      runtime.major = major_;
    } else {
      runtime.problem = std::move(problem_);
    }
    return runtime;
  }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Bytes codeOf(const FunctionBounds& function) const {
    for (const Elf::Section& section : code_) {
      if (function.address < section.address) continue;
      if (auto code = fatbin::slice(section.data, function.address - section.address, function.size)) return *code;
    }
    return {};
  }
  FunctionSigns signsOf(const FunctionBounds& function) const { return readSigns(codeOf(function), function.address); }

  void collectCandidates() {
    uint64_t first = names_.first(), last = names_.last();
    if (auto wrappers = elf_.section(wrapperSection)) {
      wrappers_ = *wrappers;
      first = std::min(first, wrappers->address);
      last = std::max(last, wrappers->address + wrappers->size - 1);
    }
    for (uint32_t i = 1; i < elf_.sectionCount(); ++i) {
      auto section = elf_.section(i);
      if (!section || !isCode(*section)) continue;
      code_.push_back(*section);
      forEachReference(*section, first, last, [&](uint64_t place, uint64_t target) {
        if (target - wrappers_.address < wrappers_.size) wrapperReferences_.push_back(place);
        const RuntimeName* name = names_.at(target);
        const FunctionBounds* function = name ? functionAround(bounds_, place) : nullptr;
        if (!function) return;
        auto [known, isNew] = candidates_.try_emplace(function->address, Candidate{function, name});
        if (!isNew && known->second.name != name) known->second.name = nullptr;
      });
    }
    for (auto& [address, candidate] : candidates_) {
      if (candidate.name) candidate.signs = signsOf(*candidate.bounds);
    }
  }

  // The number by which the function tells tools of each call, twice: when it begins and when it ends. 0 for none.
  static uint16_t callbackId(const RuntimeName& name, const FunctionSigns& signs) {
    const auto& loaded = signs.firstArguments;
    for (uint16_t id : name.callbackIds) {
      if (id != 0 && std::count(loaded.begin(), loaded.end(), id) == 2) return id;
    }
    return 0;
  }

  bool findNamed(const Candidate& anchor) {
    if (anchor.signs.calls.empty()) return fail("__cudaInitModule does not begin as it should");
    state_ = anchor.signs.calls.front();
    std::set<std::string_view> names;
    uint16_t newest = 0;
    for (const auto& [address, candidate] : candidates_) {
      if (!candidate.name || !candidate.signs.isIntact || !candidate.signs.calledFirst(state_)) continue;
      const uint16_t id = callbackId(*candidate.name, candidate.signs);
      if (id == 0) continue;
      if (!names.insert(candidate.name->name).second) {
        return fail("two functions look like " + std::string(candidate.name->name));
      }
      found_.push_back({candidate.name->name, address, candidate.bounds->size});
      newest = std::max(newest, id);
    }
    if (found_.empty()) return fail("no other function begins as __cudaInitModule does");
    major_ = majorOf(found_);
    // A runtime that tells its name must be one of those found, or part of it would stay as it is.
    for (const RuntimeName& name : runtimeNames()) {
      const bool mustBeThere = (name.majors & bitOf(major_)) && name.callbackIds[0] != 0 &&
                               name.callbackIds[0] <= newest && names_.hasText(name);
      if (mustBeThere && !names.count(name.name)) return fail("no function looks like " + std::string(name.name));
    }
    return everyFunctionTellsItsName();
  }

  // The named functions stand in one row. One in it, or beside its ends, that refers to no known name and has the
  // number of a public function is one whose text was changed.
  bool everyFunctionTellsItsName() {
    const auto [first, last] =
        std::minmax_element(found_.begin(), found_.end(),
                            [](const RuntimeFunction& a, const RuntimeFunction& b) { return a.address < b.address; });
    auto at = static_cast<size_t>(functionAround(bounds_, first->address) - bounds_.data());
    auto end = static_cast<size_t>(functionAround(bounds_, last->address) - bounds_.data()) + 1;
    if (at > 0) --at;
    if (end < bounds_.size()) ++end;
    for (; at < end; ++at) {
      const auto candidate = candidates_.find(bounds_[at].address);
      if (candidate != candidates_.end() && candidate->second.name) continue;
      const FunctionSigns signs = signsOf(bounds_[at]);
      if (!signs.calledFirst(state_)) continue;
      for (const RuntimeName& name : runtimeNames()) {
        if ((name.majors & bitOf(major_)) && callbackId(name, signs) != 0) {
          return fail("a function with the number of " + std::string(name.name) + " does not tell its name");
        }
      }
    }
    return true;
  }

  bool fits(const RowEntry& entry, const FunctionSigns& signs) const {
    if (!signs.isIntact || signs.argumentRegisters != entry.argumentRegisters ||
        signs.stackArguments != entry.stackArguments) {
      return false;
    }
    switch (entry.kind) {
      case RowEntry::State: return signs.calledFirst(state_);
      case RowEntry::ThreadState: return signs.calledAnywhere(threadState_);
      case RowEntry::Forward: {
        const std::string_view target = entry.name.substr(2);
        return std::any_of(found_.begin(), found_.end(), [&](const RuntimeFunction& function) {
          return function.address == signs.tailCall && function.name == target;
        });
      }
      case RowEntry::Constant: return signs.calls.empty() && signs.tailCall == 0 && signs.instructions == 2;
    }
    return false;
  }

  bool isBehind(size_t index) const {  // functions of one source file follow one another without a gap
    constexpr uint64_t alignment = 16;
    return bounds_[index].address - bounds_[index - 1].end() < alignment;
  }

  bool findRow(const Candidate& anchor) {
    const uint8_t majorBit = bitOf(major_);
    std::vector<RowEntry> entries;
    size_t anchorEntry = 0;
    for (const RowEntry& entry : row) {
      if (!(entry.majors & majorBit)) continue;
      if (entry.name == initModule) anchorEntry = entries.size();
      entries.push_back(entry);
    }
    const auto anchorIndex = static_cast<size_t>(anchor.bounds - bounds_.data());
    if (anchorIndex < anchorEntry || anchorIndex - anchorEntry + entries.size() > bounds_.size()) {
      return fail("the functions around __cudaInitModule are not there");
    }
    const size_t first = anchorIndex - anchorEntry;
    const FunctionSigns push = signsOf(bounds_[anchorIndex + 1]);
    if (!push.calls.empty()) threadState_ = push.calls.front();
    for (size_t i = 0; i < entries.size(); ++i) {
      const FunctionBounds& function = bounds_[first + i];
      if ((i > 0 && !isBehind(first + i)) || !fits(entries[i], signsOf(function))) {
        return fail("no function looks like " + std::string(entries[i].name) + " in the place where it should be");
      }
      found_.push_back({entries[i].name, function.address, function.size});
    }
    return true;
  }

  // Where the program has device code of its own, what hands it over must call what was found.
  bool checkConstructors() {
    const auto registers = std::find_if(found_.begin(), found_.end(), [](const RuntimeFunction& function) {
      return function.name == "__cudaRegisterFatBinary";
    });
    bool hasConstructor = false;
    for (uint64_t place : wrapperReferences_) {
      const FunctionBounds* constructor = functionAround(bounds_, place);
      if (!constructor) continue;
      hasConstructor = true;
      if (signsOf(*constructor).calledAnywhere(registers->address)) return true;
    }
    return !hasConstructor || fail("its device code is not handed to what looks like __cudaRegisterFatBinary");
  }

  const Elf& elf_;
  NamePlaces names_;
  std::vector<FunctionBounds> bounds_;
  std::vector<Elf::Section> code_;
  Elf::Section wrappers_;
  std::vector<uint64_t> wrapperReferences_;
  std::map<uint64_t, Candidate> candidates_;
  uint64_t state_ = 0, threadState_ = 0;
  uint32_t major_ = 0;
  std::vector<RuntimeFunction> found_;
  std::string problem_;
};

}  // namespace

uint32_t majorOf(const std::vector<RuntimeFunction>& functions) {
  auto has = [&](std::string_view name) {
    return std::any_of(functions.begin(), functions.end(), [&](const RuntimeFunction& f) { return f.name == name; });
  };
  // CUDA 12 alone has the second form of cudaGetDeviceProperties; texture references went with CUDA 12.
  return has("cudaGetDeviceProperties_v2") ? 12 : has("cudaBindTexture") ? 11 : 13;
}

StaticRuntime findStaticRuntime(const Elf& elf) { return Finder(elf).find(); }

}  // namespace mulciber::redirect
