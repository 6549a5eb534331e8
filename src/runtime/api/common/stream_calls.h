// What the two APIs' functions for streams do once they have the stream: argument checks, then core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/core/context.h"

namespace mulciber::api {

// The one result of a query, into what the program passed for it.
template <class To, class Value>
core::Error give(To* out, Value value) {
  if (!out) return core::Error::InvalidValue;
  *out = static_cast<To>(value);
  return core::Error::Success;
}

// Events are found whatever their context is. `flags` are those of the ...WithFlags functions.
core::Error recordEvent(core::Stream& stream, void* event, unsigned flags = 0);
core::Error waitForEvent(core::Stream& stream, void* event, unsigned flags);

// A callback is called with the stream's error too; a host function not once the context is broken.
core::Error addCallback(core::Stream& stream, unsigned flags, std::function<void(core::Error status)> callback);
core::Error launchHostFunction(core::Stream& stream, void (*function)(void*), void* data);

// Managed memory stays visible to everyone: only the arguments are checked.
core::Error attachMemory(core::Stream& stream, uint64_t address, size_t bytes, unsigned flags);

}  // namespace mulciber::api
