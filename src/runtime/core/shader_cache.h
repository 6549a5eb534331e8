// What was compiled once, on disk: translated kernels, the driver's pipelines, probe results. Keyed by content; a
// damaged or half-written file is as good as none; many processes may use one folder.
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

  ShaderCache(std::filesystem::path folder, uint64_t maxBytes);  // an empty path: off

  // `key` is any text that says all the contents depend on.
  std::optional<std::vector<uint8_t>> load(std::string_view key);
  void store(std::string_view key, std::span<const uint8_t> contents);

  const std::filesystem::path& folder() const { return folder_; }
  static std::filesystem::path defaultFolder();    // by the environment; empty when it says not to cache
  static std::string hash(std::string_view text);  // 128 bits in hexadecimal

 private:
  std::filesystem::path fileFor(std::string_view key) const;
  void evict();

  std::filesystem::path folder_;
  const uint64_t maxBytes_;
  std::mutex mutex_;
  uint64_t stored_ = 0;  // bytes since the folder was last measured
  bool measured_ = false;
};

}  // namespace mulciber::core
