#include <mutex>
#include <set>
#include <string>

#include "runtime/api/entry.h"
#include "runtime/core/explanation.h"
#include "util/log.h"

namespace mulciber::api {

void reportUnsupported(const char* name) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;  // outlives static destructors
  std::lock_guard lock(mutex);
  if (!said->insert(name).second) return;
  util::log().warn("{} is not implemented", name);
  if (core::Explanation* const explanation = core::Explanation::active()) explanation->addRefusedCall(name);
}

}  // namespace mulciber::api
