#include "runtime/vk/workarounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "util/environment.h"
#include "util/log.h"
#include "util/suggestion.h"

namespace mulciber::vk {
namespace {

using Drivers = WorkaroundInfo::Drivers;

constexpr auto list = std::to_array<WorkaroundInfo>({
#define WORKAROUND(name, id, drivers, seen, member, fault, remedy, cost, test) \
  {id, Drivers::drivers, seen, member, fault, remedy, cost, test},
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

Workarounds::Workarounds(Driver driver, bool isCpu, const WorkaroundChanges& changes,
                         std::vector<std::string>& problems) {
  for (size_t i = 0; i < list.size(); ++i) on_[i] = isMeant(list[i].drivers, driver, isCpu);
  const auto indexOf = [&](const std::string& id, std::string_view variable) -> std::optional<size_t> {
    const auto found = std::ranges::find(list, id, &WorkaroundInfo::id);
    if (found != list.end()) return static_cast<size_t>(found - list.begin());
    util::Suggestion suggestion(id);
    for (const WorkaroundInfo& info : list) suggestion.offer(info.id);
    problems.push_back(fmt::format("{}: there is no work-around '{}'{}", variable, id, suggestion.phrase()));
    return std::nullopt;
  };
  for (const std::string& id : changes.enabled)
    if (const auto i = indexOf(id, "MULCIBER_ENABLE_WORKAROUNDS")) on_[*i] = enabled_[*i] = true;
  for (const std::string& id : changes.disabled)
    if (const auto i = indexOf(id, "MULCIBER_DISABLE_WORKAROUNDS")) on_[*i] = enabled_[*i] = false;
}

Workarounds Workarounds::of(const PhysicalDevice& physical) {
  std::vector<std::string> problems;
  const auto& environment = util::environment();
  const WorkaroundChanges changes{util::splitList(environment.disableWorkarounds),
                                  util::splitList(environment.enableWorkarounds)};
  const Workarounds made(physical.driver(), physical.isCpu(), changes, problems);
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
    if (list[i].drivers == Drivers::Probed && !enabled_[i]) on_[i] = on_[i] && member;
    member = on_[i];
  }
}

}  // namespace mulciber::vk
