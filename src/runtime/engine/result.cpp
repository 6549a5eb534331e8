#include "runtime/engine/handles.h"

namespace mulciber::engine_api {

namespace {
thread_local std::string lastMessage;
}

MulciberResult fail(MulciberResult result, std::string message) {
  lastMessage = std::move(message);
  return result;
}

MulciberResult failureOf(Error error, const char* what) {
  MulciberResult result = MULCIBER_ERROR_UNKNOWN;
  switch (error) {
    case Error::InvalidValue:
    case Error::InvalidHandle:
    case Error::InvalidContext: result = MULCIBER_ERROR_INVALID_ARGUMENT; break;
    case Error::OutOfMemory: result = MULCIBER_ERROR_OUT_OF_MEMORY; break;
    case Error::NotFound: result = MULCIBER_ERROR_NOT_FOUND; break;
    case Error::InvalidImage:
    case Error::InvalidPtx:
    case Error::UnsupportedPtxVersion: result = MULCIBER_ERROR_INVALID_CODE; break;
    case Error::Assert:
    case Error::LaunchFailed:
    case Error::IllegalAddress:
    case Error::HardwareStackError: result = MULCIBER_ERROR_KERNEL_FAILED; break;
    case Error::DeviceUnavailable: result = MULCIBER_ERROR_DEVICE_LOST; break;
    case Error::NotSupported: result = MULCIBER_ERROR_NOT_SUPPORTED; break;
    case Error::ContextIsDestroyed: result = MULCIBER_ERROR_WRONG_STATE; break;
    default: break;
  }
  return fail(result, std::string(what) + ": " + core::errorDescription(error));
}

}  // namespace mulciber::engine_api

uint32_t mulciberGetEngineVersion() { return MULCIBER_ENGINE_VERSION; }

const char* mulciberGetErrorMessage() { return mulciber::engine_api::lastMessage.c_str(); }
