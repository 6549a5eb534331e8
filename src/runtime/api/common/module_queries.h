// What both APIs tell of functions and variables of modules.
#pragma once

#include "runtime/api/common/give.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"

namespace mulciber::api {

inline core::Error parameterInfo(core::Function& function, size_t index, size_t* offset, size_t* size) {
  if (!offset) return core::Error::InvalidValue;
  const KernelInfo* info = nullptr;
  TRY(function.info(info));
  if (index >= info->parameters.size()) return core::Error::InvalidValue;
  *offset = info->parameters[index].offset;
  if (size) *size = info->parameters[index].size;
  return core::Error::Success;
}

// The address and the size of a variable, either of which may not be wanted.
template <class Address>
core::Error giveGlobal(core::Module& module, const char* name, Address* out, size_t* outBytes) {
  uint64_t address = 0;
  size_t bytes = 0;
  TRY(module.global(name, address, bytes));
  if (out) (void)give(out, address);
  if (outBytes) *outBytes = bytes;
  return core::Error::Success;
}

}  // namespace mulciber::api
