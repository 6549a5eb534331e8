// Target profiles as flat JSON objects, and those that are built in.
#include <array>
#include <charconv>
#include <set>

#include "mulciber/offline.h"
#include "mulciber/translator.h"

namespace mulciber {
namespace {

void write(std::string& out, bool value) { out += value ? "true" : "false"; }
void write(std::string& out, uint32_t value) { out += std::to_string(value); }
void write(std::string& out, const std::string& value) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// Reads one flat object of strings, whole numbers and booleans: all that a profile has.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool run(TargetProfile& profile, std::string& error) {
    bool good = object(profile);
    if (good && next() != '\0') good = fail("something follows the closing brace");
    error = error_;
    return good;
  }

 private:
  bool fail(std::string message) {
    size_t line = 1;
    for (size_t i = 0; i < position_ && i < text_.size(); ++i) line += text_[i] == '\n';
    error_ = "line " + std::to_string(line) + ": " + std::move(message);
    return false;
  }

  char next() {  // the next character that is not white space; 0 at the end
    while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (next() != c) return false;
    ++position_;
    return true;
  }

  bool object(TargetProfile& profile) {
    if (!accept('{')) return fail("a profile is a JSON object");
    if (accept('}')) return true;
    std::set<std::string> seen;
    do {
      std::string key;
      if (!read(key)) return false;
      if (!seen.insert(key).second) return fail("'" + key + "' is given twice");
      if (!accept(':')) return fail("expected ':' after '" + key + "'");
      if (!member(profile, key)) return false;
    } while (accept(','));
    return accept('}') || fail("expected ',' or '}'");
  }

  bool member(TargetProfile& profile, const std::string& key) {
#define PROFILE_FIELD(type, field, ...) \
  if (key == #field) return read(profile.field);
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
    return fail("a profile has no '" + key + "'");
  }

  bool read(bool& value) {
    next();
    std::string_view rest = text_.substr(position_);
    for (bool candidate : {true, false}) {
      std::string_view word = candidate ? "true" : "false";
      if (!rest.starts_with(word)) continue;
      value = candidate;
      position_ += word.size();
      return true;
    }
    return fail("expected true or false");
  }

  bool read(uint32_t& value) {
    next();
    const char* begin = text_.data() + position_;
    auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status != std::errc{}) return fail("expected a whole number below 2^32");
    position_ += static_cast<size_t>(end - begin);
    return true;
  }

  bool read(std::string& value) {
    if (!accept('"')) return fail("expected a string");
    value.clear();
    while (position_ < text_.size() && text_[position_] != '"') {
      char c = text_[position_++];
      if (c != '\\') {
        value += c;
        continue;
      }
      char escaped = position_ < text_.size() ? text_[position_++] : '\0';
      if (escaped == '"' || escaped == '\\' || escaped == '/') {
        value += escaped;
      } else if (escaped == 'u' && text_.substr(position_).starts_with("00") && position_ + 4 <= text_.size()) {
        unsigned code = 0;
        const char* begin = text_.data() + position_ + 2;
        if (std::from_chars(begin, begin + 2, code, 16).ptr != begin + 2 || code >= 0x80)
          return fail("this escape is not supported");
        value += static_cast<char>(code);
        position_ += 4;
      } else {
        return fail("this escape is not supported");
      }
    }
    if (position_ == text_.size()) return fail("the string does not end");
    ++position_;
    return true;
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string error_;
};

// What every Vulkan 1.3 device with 64-bit integers and buffer addresses can be relied on to do.
TargetProfile plainVulkan() {
  TargetProfile p;
  p.integerDotProduct = p.gridsInPieces = true;
  return p;
}

// Mesa's software driver at 32 lanes, as third_party/lavapipe builds it.
TargetProfile lavapipe() {
  TargetProfile p = plainVulkan();
  p.name = "lavapipe";
  p.maxPushConstants = 256;
  p.maxSharedBytes = 102400;
  p.maxConstantBytes = 65536;
  p.int8 = p.int16 = p.float16 = p.float64 = p.storage8 = p.storage16 = p.uniform8 = p.uniform16 = true;
  p.sharedExplicitLayout = p.sharedExplicitLayout8 = p.sharedExplicitLayout16 = true;
  p.atomicInt64 = p.atomicSharedInt64 = true;
  p.atomicFloat32Add = p.atomicSharedFloat32Add = p.atomicFloat64Add = p.atomicSharedFloat64Add = true;
  p.maximalReconvergence = p.shaderSubgroupClock = p.shaderDeviceClock = true;
  p.denormsByDefault32 = p.exactFma32 = p.fusedFma32 = p.exactDivSqrt32 = p.exactFma64 = p.exactDivSqrt64 = true;
  p.signedZeroPreserve = p.foldsZeros = p.readsParametersUniformly = p.slowPrivateArrays = true;
  p.repeatsLoopInvariants = p.crashesOnFirstRounds = true;
  p.textures = p.surfaces = true;
  p.exitedThreadsArrive = p.barrierYields = true;
  return p;
}

// NVIDIA's driver 580 on an H200: features as reported, float behaviour as measured.
TargetProfile nvidia() {
  TargetProfile p = plainVulkan();
  p.name = "nvidia";
  p.gridsInPieces = false;
  p.maxPushConstants = 256;
  p.maxSharedBytes = 49152;
  p.maxLocalBytes = 15360;
  p.maxConstantBytes = 65536;
  p.int8 = p.int16 = p.float16 = p.float64 = p.storage8 = p.storage16 = p.uniform8 = p.uniform16 = true;
  p.sharedExplicitLayout = p.sharedExplicitLayout8 = p.sharedExplicitLayout16 = true;
  p.atomicInt64 = p.atomicSharedInt64 = true;
  p.atomicFloat32Add = p.atomicSharedFloat32Add = p.atomicFloat64Add = p.atomicSharedFloat64Add = true;
  p.atomicFloat16Vector = true;
  p.maximalReconvergence = p.shaderSubgroupClock = p.shaderDeviceClock = p.smBuiltins = true;
  p.denormPreserve32 = true;  // not advertised, yet accepted and honoured
  p.fusedFma32 = p.exactDot32 = p.refinesInOneStep32 = p.dividesByRoots32 = true;
  p.approximationsFlush32 = p.exactMinMax = p.nvidiaNan = true;
  p.exactFma16 = p.exactFma64 = p.exactDivSqrt64 = p.slowDivision32 = p.crashesOnLoopFlags = true;
  p.accurateExp2 = p.accurateTanh = p.signedZeroPreserve = true;
  p.foldsHalfRoundTrips = p.saturatesToInteger = true;
  p.matricesF16F32 = p.matricesF16F16 = p.matricesBF16 = p.matricesS8 = p.matricesU8 = true;
  p.textures = p.surfaces = p.samplesLikeCuda = true;
  p.exitedThreadsArrive = p.warpsProgress = p.barrierYields = p.barrierOrdersGlobal = true;
  return p;
}

// How a member of the profile that kernels were translated for has to compare with the device's.
template <class T>
bool isFree(const T&, const T&) {  // kernels are right either way
  return true;
}
template <class T>
bool isAbility(const T& made, const T& device) {  // kernels may rely on it
  return made <= device;
}
template <class T>
bool isFault(const T& made, const T& device) {  // kernels have to avoid it
  return made >= device;
}
template <class T>
bool isSame(const T& made, const T& device) {  // kernels are made one way or the other by it
  return made == device;
}
bool isWarps(uint32_t made, uint32_t device) {  // only kernels that were made for warps use subgroups
  return made != 32 || device == 32;
}

// Faults are the rule that only booleans have; whatever else it is set to stays.
void haveFault(bool& member, std::string_view rule) { member |= rule == "Fault"; }
template <class T>
void haveFault(T&, std::string_view) {}

}  // namespace

std::string toJson(const TargetProfile& profile) {
  std::string out = "{";
  const char* separator = "\n";
#define PROFILE_FIELD(type, field, ...)         \
  out += separator;                             \
  out += std::string("  \"") + #field + "\": "; \
  write(out, profile.field);                    \
  separator = ",\n";
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
  return out + "\n}\n";
}

std::string toBriefJson(const TargetProfile& profile) {
  const TargetProfile defaults;
  std::string out;
#define PROFILE_FIELD(type, field, ...)                             \
  if (profile.field != defaults.field) {                            \
    out += std::string(out.empty() ? "" : ",") + "\"" #field "\":"; \
    write(out, profile.field);                                      \
  }
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
  return "{" + out + "}";
}

std::optional<TargetProfile> profileFromJson(std::string_view json, std::string& error) {
  TargetProfile profile;
  if (!Reader(json).run(profile, error)) return std::nullopt;
  return profile;
}

std::string whatKeepsFrom(const TargetProfile& made, const TargetProfile& device) {
  std::string out;
#define PROFILE_FIELD(type, field, rule, ...) \
  if (!is##rule(made.field, device.field)) out += std::string(out.empty() ? "" : ", ") + #field;
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
  return out;
}

std::vector<TargetProfile> portableProfiles(bool usesMore) {
  TargetProfile least = plainVulkan();
  least.name = "portable";
  least.subgroupSize = 1;
  least.subgroupShuffle = least.subgroupBallot = least.subgroupVote = false;
  least.float64 = least.textures = least.surfaces = usesMore;
#define PROFILE_FIELD(type, field, rule, ...) haveFault(least.field, #rule);
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
  std::vector<TargetProfile> all{least};
  for (bool TargetProfile::*const member : {&TargetProfile::denormsByDefault32, &TargetProfile::approximationsFlush32,
                                            &TargetProfile::signedZeroPreserve, &TargetProfile::nvidiaNan})
    for (size_t i = 0, count = all.size(); i < count; ++i) {
      all.push_back(all[i]);
      all.back().*member = true;
    }
  return all;
}

const TargetProfile* builtinProfile(std::string_view name) {
  static const std::array profiles{plainVulkan(), lavapipe(), nvidia()};
  for (const TargetProfile& profile : profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

}  // namespace mulciber
