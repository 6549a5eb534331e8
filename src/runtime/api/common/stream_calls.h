// What the two APIs' functions for streams and events have in common: argument checks, then core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/api/common/give.h"
#include "runtime/api/entry.h"
#include "runtime/core/context.h"

namespace mulciber::api {

core::Error checkStreamFlags(unsigned flags);
core::Error checkEventFlags(unsigned flags);

template <class Handle>
core::Error createStream(core::Context& context, Handle* out, unsigned flags, int priority) {
  if (!out) return core::Error::InvalidValue;
  TRY(checkStreamFlags(flags));
  priority = std::clamp(priority, greatestPriority, leastPriority);
  return giveMade<core::Stream*>(out,
                                 [&](core::Stream*& stream) { return context.createStream(flags, priority, stream); });
}
core::Error destroyStream(const void* stream);

template <class Handle>
core::Error createEvent(core::Context& context, Handle* out, unsigned flags) {
  if (!out) return core::Error::InvalidValue;
  TRY(checkEventFlags(flags));
  return giveMade<core::Event*>(out, [&](core::Event*& event) { return context.createEvent(flags, event); });
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
