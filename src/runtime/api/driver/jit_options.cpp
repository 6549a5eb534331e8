#include "runtime/api/driver/jit_options.h"

#include <cstring>

namespace mulciber::api {

Error JitOptions::read(unsigned count, CUjit_option* options, void** values, JitOptions& out) {
  if (count != 0 && (!options || !values)) return Error::InvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: out.info_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        out.info_.bytes = number;
        out.info_.length = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER: out.errors_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        out.errors_.bytes = number;
        out.errors_.length = &values[i];
        break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        if (number == 0) out.assemblerOptions_ += " -O0";
        break;
      case CU_JIT_GENERATE_DEBUG_INFO:
        if (number != 0) out.assemblerOptions_ += " -g";
        break;
      case CU_JIT_WALL_TIME: out.wallTime_ = &values[i]; break;
      default:
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return Error::InvalidValue;
    }
  }
  return Error::Success;
}

void JitOptions::applyTo(fatbin::PtxModules& modules) const {
  for (fatbin::PtxModule& module : modules) module.options += assemblerOptions_;
}

void JitOptions::write(const std::string& text, const Buffer& buffer) {
  size_t length = 0;
  if (buffer.text && buffer.bytes != 0) {
    length = std::min<size_t>(text.size(), buffer.bytes - 1);
    std::memcpy(buffer.text, text.data(), length);
    buffer.text[length] = '\0';
  }
  if (buffer.length) *buffer.length = reinterpret_cast<void*>(length);
}

void JitOptions::finish() {
  write(log.info, info_);
  write(log.errors, errors_);
  if (!wallTime_) return;
  const float milliseconds =
      std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start_).count();
  std::memcpy(wallTime_, &milliseconds, sizeof(milliseconds));  // a float in the pointer's slot, as CUDA has it
}

}  // namespace mulciber::api
