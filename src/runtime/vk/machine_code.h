// What NVIDIA's driver has made of a kernel's multiply-adds, read from the machine code in its pipeline cache.
//
// Dot products of two pairs keep denormals there, where fused multiply-adds flush them. But the driver may make a
// product and a sum of one, and round both. passes/dot_products leaves kernels no other products, so a product alone in
// the machine code says that this has happened.
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
