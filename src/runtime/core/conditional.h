// The values that conditional nodes of graphs test: words of device memory that kernels set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/core/error.h"
#include "runtime/vk/memory.h"

namespace mulciber::core {

class Context;

class ConditionalValue {
 public:
  // `first`: each launch begins with it. Without it the value is 0 at first, and stays from launch to launch.
  static Error create(Context& context, std::optional<uint32_t> first, std::shared_ptr<ConditionalValue>& out);
  ConditionalValue(const ConditionalValue&) = delete;
  ConditionalValue& operator=(const ConditionalValue&) = delete;
  ~ConditionalValue();

  // What programs and kernels call it: its address, to which cudaGraphSetConditional writes.
  uint64_t handle() const { return memory_.address; }
  const vk::Memory& memory() const { return memory_; }
  Context* context() const { return context_; }
  const std::optional<uint32_t>& first() const { return first_; }

 private:
  ConditionalValue(Context& context, std::optional<uint32_t> first);

  Context* const context_;              // to compare with only
  const std::weak_ptr<Context> alive_;  // a context that has ended has given back all its memory
  const std::optional<uint32_t> first_;
  vk::Memory memory_;
};
using ConditionalValueRef = std::shared_ptr<ConditionalValue>;

}  // namespace mulciber::core
