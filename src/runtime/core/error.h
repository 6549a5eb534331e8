// CUDA's own error codes, used throughout the runtime: what a function of core returns is what the program sees.
#pragma once

#include <string_view>

#include "runtime/vk/status.h"

namespace mulciber::core {

enum class [[nodiscard]] Error : int{
#define ERROR(name, code, symbol, description) name = code,
#include "runtime/core/errors.def"
#undef ERROR
};

const char* errorName(Error error);         // "CUDA_ERROR_INVALID_VALUE"; null when unknown
const char* errorDescription(Error error);  // "invalid argument"; null when unknown

Error errorFrom(vk::Status status);

}  // namespace mulciber::core
