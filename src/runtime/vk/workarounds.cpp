#include "runtime/vk/workarounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "util/environment.h"
#include "util/log.h"
#include "util/suggestion.h"

namespace mulciber::vk {
namespace {

using Drivers = WorkaroundInfo::Drivers;

constexpr auto list = std::to_array<WorkaroundInfo>({
#define WORKAROUND(name, id, drivers, member, fault, remedy, cost, test) \
  {id, Drivers::drivers, member, fault, remedy, cost, test},
#include "runtime/vk/workarounds.def"
#undef WORKAROUND
});

bool isMeant(Drivers drivers, Driver driver, bool isCpu) {
  switch (drivers) {
    case Drivers::Nvidia: return driver == Driver::Nvidia;
    case Drivers::Lavapipe: return driver == Driver::Lavapipe;
    case Drivers::Gpus: return !isCpu;
    case Drivers::All:
    case Drivers::Probed: return true;
  }
  return true;
}

}  // namespace

std::span<const WorkaroundInfo> workaroundList() { return list; }

Workarounds::Workarounds(Driver driver, bool isCpu, const std::vector<std::string>& disabled,
                         std::vector<std::string>& problems) {
  for (size_t i = 0; i < list.size(); ++i) on_[i] = isMeant(list[i].drivers, driver, isCpu);
  for (const std::string& id : disabled) {
    const auto found = std::ranges::find(list, id, &WorkaroundInfo::id);
    if (found != list.end()) {
      on_[static_cast<size_t>(found - list.begin())] = false;
    } else {
      util::Suggestion suggestion(id);
      for (const WorkaroundInfo& info : list) suggestion.offer(info.id);
      problems.push_back(
          fmt::format("MULCIBER_DISABLE_WORKAROUNDS: there is no work-around '{}'{}", id, suggestion.phrase()));
    }
  }
}

Workarounds Workarounds::of(const PhysicalDevice& physical) {
  std::vector<std::string> problems;
  const Workarounds made(physical.driver(), physical.isCpu(), util::splitList(util::environment().disableWorkarounds),
                         problems);
  static std::once_flag once;
  std::call_once(once, [&] {
    for (const std::string& problem : problems) util::log().warn("{}", problem);
  });
  return made;
}

void Workarounds::apply(TargetProfile& profile) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].member == nullptr) continue;
    bool& member = profile.*list[i].member;
    if (list[i].drivers == Drivers::Probed) on_[i] = on_[i] && member;
    member = on_[i];
  }
}

}  // namespace mulciber::vk
