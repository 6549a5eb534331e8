// What the two APIs' functions for memory of the host have in common.
#pragma once

#include "runtime/api/common/give.h"
#include "runtime/core/context.h"

namespace mulciber::api {

core::Error hostFlags(const void* pointer, unsigned* flags);

template <class Address>
core::Error giveDevicePointer(core::Context& context, Address* out, void* pointer, unsigned flags) {
  if (!out || !pointer || flags != 0) return core::Error::InvalidValue;
  return giveMade<uint64_t>(out, [&](uint64_t& address) { return context.hostToDevicePointer(pointer, address); });
}

}  // namespace mulciber::api
