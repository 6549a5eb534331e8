#include <mutex>
#include <set>
#include <string>

#include "runtime/api/entry.h"
#include "util/log.h"

namespace mulciber::api {

void reportUnsupported(const char* name) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;  // outlives static destructors
  std::lock_guard lock(mutex);
  if (said->insert(name).second) util::log().warn("{} is not implemented", name);
}

}  // namespace mulciber::api
