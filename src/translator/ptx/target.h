// The .target names: sm_80, sm_90a, sm_100f.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mulciber::ptx {

struct Target {
  uint16_t number = 0;  // 80
  char suffix = 0;      // 'a': this very architecture; 'f': its family; 0: any later one
};

std::optional<Target> parseTarget(std::string_view name);  // null unless it is one of sm_10 .. sm_121

constexpr unsigned kNewestMajor = 9, kNewestMinor = 0;  // of the ISA

// Modules of a newer version are taken where they use nothing that came later: the ISA only grows.
constexpr bool isNewerThanKnown(unsigned major, unsigned minor) {
  return major > kNewestMajor || (major == kNewestMajor && minor > kNewestMinor);
}

// The first ISA version that knows the target, as 10 * major + minor.
uint8_t versionOf(Target target);

// Whether `target` follows a rule: alternatives with + between, each "sm_80" (this or any later), "sm_90a" (only
// this), "sm_100f" (its family from it on); "sm_30<sm_70" and "<sm_20" end before a target. Empty: any target.
bool satisfies(Target target, std::string_view rule);

// The rule in words: "sm_80 or later", "sm_90a", "sm_100f or sm_110f".
std::string describeRule(std::string_view rule);

}  // namespace mulciber::ptx
