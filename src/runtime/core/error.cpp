#include "runtime/core/error.h"

#include "runtime/vk/illegal_address.h"

namespace mulciber::core {

const char* errorName(Error error) {
  switch (error) {
#define ERROR(name, code, symbol, description) \
  case Error::name:                            \
    return symbol;
#include "runtime/core/errors.def"
#undef ERROR
  }
  return nullptr;
}

const char* errorDescription(Error error) {
  switch (error) {
#define ERROR(name, code, symbol, description) \
  case Error::name:                            \
    return description;
#include "runtime/core/errors.def"
#undef ERROR
  }
  return nullptr;
}

Error errorFrom(vk::Status status) {
  switch (status) {
    case vk::Status::Ok: return Error::Success;
    case vk::Status::NotReady: return Error::NotReady;
    case vk::Status::OutOfMemory: return Error::OutOfMemory;
    // What a program sees when a kernel broke the device; the kernel's own error record may say more.
    case vk::Status::DeviceLost: return vk::wasAddressIllegal() ? Error::IllegalAddress : Error::LaunchFailed;
    case vk::Status::Unsupported: return Error::NotSupported;
    case vk::Status::Ended: return Error::Deinitialized;
    case vk::Status::Failed: return Error::Unknown;
  }
  return Error::Unknown;
}

}  // namespace mulciber::core
