// Kernels of a given shape and size, as PTX: to see how what is made of them grows.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mulciber::test {

struct KernelShape {
  std::string_view name;
  std::string (*text)(unsigned count);  // a module with the kernel `k`, of `count` times the shape
  unsigned count;                       // with which its growth shows; four times as many take less than a second
};

std::span<const KernelShape> kernelShapes();

}  // namespace mulciber::test
