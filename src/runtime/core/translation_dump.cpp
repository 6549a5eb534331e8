#include "runtime/core/translation_dump.h"

#include <fstream>

#include <fmt/format.h>

#include "runtime/core/shader_cache.h"
#include "util/log.h"

namespace mulciber::core {

namespace fs = std::filesystem;

TranslationDump::TranslationDump(const std::string& folder, std::string_view kernel, std::string_view moduleKey) {
  constexpr size_t longestName = 200;  // mangled names may be longer than the names of files
  const bool isLong = kernel.size() > longestName;
  const std::string name =
      isLong ? fmt::format("{}-{}", kernel.substr(0, longestName - 20), ShaderCache::hash(kernel).substr(0, 8))
             : std::string(kernel);
  prefix_ = fs::path(folder) / fmt::format("{}-{}", name, moduleKey.substr(0, 8));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) util::log().warn("MULCIBER_DUMP: the folder {} cannot be made: {}", folder, error.message());
}

void TranslationDump::attachTo(TranslateOptions& options) {
  options.dump = write;
  options.dumpUser = this;
}

void TranslationDump::write(void* user, std::string_view stage, std::string_view text) {
  auto& dump = *static_cast<TranslationDump*>(user);
  std::ofstream file(fmt::format("{}.{:02}.{}", dump.prefix_.string(), dump.count_++, stage));
  if (!(file << text)) util::log().warn("MULCIBER_DUMP: {} of {} cannot be written", stage, dump.prefix_.string());
}

}  // namespace mulciber::core
