// MULCIBER_DUMP: what every stage of a kernel's translation made, as files of a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "mulciber/translator.h"

namespace mulciber::core {

class TranslationDump {
 public:
  // Files are named FOLDER/KERNEL-HASH.NN.STAGE, the hash from `moduleKey`: programs may hold many kernels of one name.
  TranslationDump(const std::string& folder, std::string_view kernel, std::string_view moduleKey);

  // For as long as this lives.
  void attachTo(TranslateOptions& options);

 private:
  static void write(void* user, std::string_view stage, std::string_view text);

  std::filesystem::path prefix_;
  int count_ = 0;
};

}  // namespace mulciber::core
