// What Mulciber does about faults of drivers: which remedies a device gets, and what each is for (workarounds.def).
#pragma once

#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/vk/instance.h"

namespace mulciber::vk {

enum class Workaround : uint8_t {
#define WORKAROUND(name, ...) name,
#include "runtime/vk/workarounds.def"
#undef WORKAROUND
};

struct WorkaroundInfo {
  enum class Drivers : uint8_t { Nvidia, Lavapipe, Gpus, All, Probed };
  std::string_view id;
  Drivers drivers;
  bool TargetProfile::*member;  // how the translator is told; null for what the runtime does
  std::string_view fault, remedy, cost, test;
};

std::span<const WorkaroundInfo> workaroundList();

// Those that are on for one device.
class Workarounds {
 public:
  Workarounds() = default;
  // `disabled`: ids; one that there is not goes to `problems`.
  Workarounds(Driver driver, bool isCpu, const std::vector<std::string>& disabled, std::vector<std::string>& problems);
  // Without those that the environment disables.
  static Workarounds of(const PhysicalDevice& physical);

  bool has(Workaround workaround) const { return on_[static_cast<size_t>(workaround)]; }
  // The members of workarounds; those that a probe has set stay so unless they are disabled.
  void apply(TargetProfile& profile);

 private:
  static constexpr size_t count = 0
#define WORKAROUND(...) +1
#include "runtime/vk/workarounds.def"
#undef WORKAROUND
      ;
  std::bitset<count> on_;
};

}  // namespace mulciber::vk
