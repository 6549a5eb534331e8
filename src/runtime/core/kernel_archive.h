// Kernels of a module, translated ahead of time for one profile or several: what `mulciber translate --library` writes,
// and modules are loaded from without the translator.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/core/error.h"
#include "runtime/core/function.h"
#include "runtime/core/module_index.h"

namespace mulciber::core {

class KernelArchive {
 public:
  // With all that launches may need of each kernel. Empty when one cannot be translated, and the diagnostics say why.
  static std::vector<uint8_t> write(const ParsedModule& module, const std::vector<TargetProfile>& profiles,
                                    const TranslateOptions& options, Diagnostics& diagnostics);

  static bool isArchive(std::string_view bytes);  // by how they begin
  // The kernels for the first profile that the device suits. InvalidImage when the bytes are damaged or of another
  // version, NoBinaryForGpu when the device suits none; `problem` is a sentence about it.
  static Error read(std::string_view bytes, const TargetProfile& device, std::unique_ptr<const KernelArchive>& out,
                    std::string& problem);

  const ModuleIndex& index() const { return index_; }
  // Translated for such needs (LaunchNeeds::index). False when it is not there.
  bool kernel(std::string_view name, size_t needs, Kernel& out) const;

 private:
  using Places = std::array<uint32_t, LaunchNeeds::count>;  // of the records

  bool readContents(std::span<const uint8_t> bytes, const TargetProfile& device, std::string& problem);

  ModuleIndex index_;
  bool isForDevice_ = false, repairsSums_ = false;  // the device has no dot products, which the kernels have
  std::map<std::string, Places, std::less<>> kernels_;
  std::vector<std::vector<uint8_t>> records_;  // no two the same
};

}  // namespace mulciber::core
