// What NVIDIA's driver has made of a kernel's multiply-adds, read from the machine code in its pipeline cache.
//
// Dot products of two numbers keep denormals there, where fused multiply-adds flush them, but the driver may take them
// apart into a product and a sum, each of which is rounded (passes/dot_products). Kernels have their own products as
// dot products as well. So where the machine code has a product alone, one was taken apart.
#pragma once

#include <cstdint>
#include <span>

namespace mulciber::vk {

enum class Products : uint8_t {
  Fused,       // all are parts of fused multiply-adds
  TakenApart,  // there is one alone
  Unknown      // this is not code that we know how to read
};

// `cache` is the data of a VkPipelineCache that holds one compute pipeline. NVIDIA documents neither its format nor its
// instructions: anything that is not as it was seen (driver 580, code for compute capability 9.0) is Unknown.
Products productsIn(std::span<const uint8_t> cache);

}  // namespace mulciber::vk
