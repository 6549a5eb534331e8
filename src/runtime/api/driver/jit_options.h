// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLinkCreate (DRV-10). Those about logs have a meaning when
// the code is translated, and those at which ptxas fuses no product and sum; the rest tune a compiler that is not used,
// and are accepted.
#pragma once

#include <chrono>

#include "runtime/api/driver/driver.h"

namespace mulciber::api {

class JitOptions {
 public:
  // InvalidValue for an option CUDA does not have.
  static Error read(unsigned count, CUjit_option* options, void** values, JitOptions& out);

  core::JitLog log;
  bool wantsErrors() const { return errors_.text != nullptr; }
  // Adds what was asked of the compiler to the options that the code came with.
  void applyTo(fatbin::PtxModules& modules) const;
  // Writes the logs, their lengths and the time taken to where the program wants them. Once, at the end.
  void finish();

 private:
  struct Buffer {
    char* text = nullptr;
    unsigned bytes = 0;
    void** length = nullptr;  // the slot that gets the length written
  };
  static void write(const std::string& text, const Buffer& buffer);

  Buffer info_, errors_;
  std::string assemblerOptions_;  // as on the command line of ptxas
  void** wallTime_ = nullptr;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace mulciber::api
