#include <mutex>
#include <set>
#include <string>

#include <spdlog/fmt/fmt.h>

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

std::string nameOfTable(const void* id) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(id)[i]);
  }
  return text;
}

void reportExportTable(const void* id) {
  const std::string name = "the table of undocumented functions " + nameOfTable(id);
  reportUnsupported(name.c_str());
}

}  // namespace mulciber::api
