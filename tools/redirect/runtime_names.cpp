#include "runtime_names.h"

#include <algorithm>
#include <iterator>

namespace mulciber::redirect {

namespace {

// Sorted by name.
constexpr RuntimeName names[] = {
#include "runtime_names.inc"
};

}  // namespace

std::span<const RuntimeName> runtimeNames() { return names; }

const RuntimeName* findRuntimeName(std::string_view name) {
  auto found = std::lower_bound(std::begin(names), std::end(names), name,
                                [](const RuntimeName& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != std::end(names) && found->name == name ? found : nullptr;
}

}  // namespace mulciber::redirect
