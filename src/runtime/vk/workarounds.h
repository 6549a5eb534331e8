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
  std::string_view seen;        // the release that showed the fault
  bool TargetProfile::*member;  // how the translator is told; null for what the runtime does
  std::string_view fault, remedy, cost, test;
};

std::span<const WorkaroundInfo> workaroundList();

// Ids of work-arounds that are on or off whatever the driver is.
struct WorkaroundChanges {
  std::vector<std::string> disabled{}, enabled{};
};

// Those that are on for one device.
class Workarounds {
 public:
  Workarounds() = default;
  // An id in `changes` that no work-around has goes to `problems`.
  Workarounds(Driver driver, bool isCpu, const WorkaroundChanges& changes, std::vector<std::string>& problems);
  // As the environment changes them.
  static Workarounds of(const PhysicalDevice& physical);

  bool has(Workaround workaround) const { return on_[static_cast<size_t>(workaround)]; }
  // The members of workarounds; those that a probe has set stay so unless they are changed.
  void apply(TargetProfile& profile);

 private:
  static constexpr size_t count = 0
#define WORKAROUND(...) +1
#include "runtime/vk/workarounds.def"
#undef WORKAROUND
      ;
  std::bitset<count> on_, enabled_;
};

}  // namespace mulciber::vk
