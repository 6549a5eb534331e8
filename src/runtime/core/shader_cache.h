// The cache on disk: translated kernels, the driver's pipelines, probe results. Keyed by content. A damaged or
// half-written file counts as missing, and many processes may use one folder. In that folder the cache reads and
// removes only files with its own names, and only where they are real files of this user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mulciber::core {

class ShaderCache {
 public:
  // The process's, in the folder the environment names; off when the environment says so or the folder cannot be made.
  static ShaderCache& get();

  static ShaderCache& none();  // keeps nothing

  ShaderCache(std::filesystem::path folder, uint64_t maxBytes);  // an empty path: off

  // `key` is any text that says all the contents depend on.
  std::optional<std::vector<uint8_t>> load(std::string_view key);
  void store(std::string_view key, std::span<const uint8_t> contents);

  const std::filesystem::path& folder() const { return folder_; }
  static std::filesystem::path defaultFolder();  // by the environment; empty when it says not to cache
  // Makes the folder, readable by its owner alone, if it is missing; gives why it cannot be used, or nothing.
  static std::string makeFolder(const std::filesystem::path& folder);
  static std::string hash(std::string_view text);  // 128 bits in hexadecimal

 private:
  void evict(int folder);

  std::filesystem::path folder_;
  const uint64_t maxBytes_;
  std::mutex mutex_;
  uint64_t stored_ = 0;  // bytes since the folder was last measured
  bool measured_ = false;
};

}  // namespace mulciber::core
