// Memory and semaphores of other interfaces, as both APIs take them: their structures have the same members.
#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime/api/common/give.h"
#include "runtime/api/common/graphs.h"
#include "runtime/core/external.h"
#include "runtime/core/graph.h"
#include "runtime/core/stream.h"

namespace mulciber::api {

template <class Handle, class Given>
core::Error importMemory(core::Context& context, Handle* out, const Given* given) {
  if (!out || !given) return core::Error::InvalidValue;
  return giveMade<core::ExternalMemory*>(out, [&](core::ExternalMemory*& memory) {
    return core::importMemory(
        context, {static_cast<core::ExternalMemoryType>(given->type), given->handle.fd, given->size, given->flags},
        memory);
  });
}

template <class Address, class Wanted>
core::Error mapBuffer(const core::ExternalMemory& memory, Address* out, const Wanted* wanted) {
  if (!out || !wanted) return core::Error::InvalidValue;
  return giveMade<uint64_t>(
      out, [&](uint64_t& address) { return memory.mapBuffer(wanted->offset, wanted->size, wanted->flags, address); });
}

template <class Handle, class Given>
core::Error importSemaphore(core::Context& context, Handle* out, const Given* given) {
  if (!out || !given) return core::Error::InvalidValue;
  return giveMade<core::ExternalSemaphore*>(out, [&](core::ExternalSemaphore*& semaphore) {
    return core::importSemaphore(
        context, {static_cast<core::ExternalSemaphoreType>(given->type), given->handle.fd, given->flags}, semaphore);
  });
}

// `Parameters` are those of the API and its version, of which the oldest are shorter.
template <class Handle, class Parameters>
core::ExternalSemaphoreUses usesOf(const Handle* handles, const Parameters* parameters, unsigned count) {
  core::ExternalSemaphoreUses uses;
  for (unsigned i = 0; i < count; ++i) {
    core::ExternalSemaphoreParameters& own = uses.parameters.emplace_back();
    own.value = parameters[i].params.fence.value;
    own.flags = parameters[i].flags;
    uses.handles.push_back(reinterpret_cast<core::ExternalSemaphore*>(handles[i]));
  }
  return uses;
}

// `use` is core::signal or core::wait.
template <class Handle, class Parameters, class Use>
core::Error useSemaphores(core::Stream& stream, const Handle* handles, const Parameters* parameters, unsigned count,
                          Use&& use) {
  if (count == 0 || !handles || !parameters) return core::Error::InvalidValue;
  return use(stream, usesOf(handles, parameters, count));
}

// The parameters of nodes. There may be no semaphores among them.
template <class Node, class Given>
core::Error readSemaphores(const Given& given, core::NodeParameters& out) {
  if (given.numExtSems != 0 && (!given.extSemArray || !given.paramsArray)) return core::Error::InvalidValue;
  Node node{usesOf(given.extSemArray, given.paramsArray, given.numExtSems)};
  TRY(core::findSemaphores(node));
  out = std::move(node);
  return core::Error::Success;
}

// The arrays are the node's own, until it gets others.
template <class Given>
void writeSemaphores(const core::ExternalSemaphoreUses& uses, Given& out) {
  using Parameters = std::remove_pointer_t<decltype(out.paramsArray)>;
  static_assert(sizeof(Parameters) == sizeof(core::ExternalSemaphoreParameters) &&
                offsetof(Parameters, flags) == offsetof(core::ExternalSemaphoreParameters, flags));
  using Handle = std::remove_pointer_t<decltype(out.extSemArray)>;
  out.extSemArray = reinterpret_cast<Handle*>(const_cast<core::ExternalSemaphore**>(uses.handles.data()));
  out.paramsArray = reinterpret_cast<Parameters*>(uses.parameters.data());
  out.numExtSems = static_cast<unsigned>(uses.handles.size());
}

template <class Node, class Out>
core::Error semaphoresOf(CUgraphNode handle, Out* out) {
  return describeNode<Node>(handle, out, [](const Node& node, Out& told) { writeSemaphores(node, told); });
}

}  // namespace mulciber::api
