// Names of Vulkan that are younger than the oldest headers which Mulciber builds with.
#pragma once

#include "runtime/vk/volk.h"

#ifndef VK_KHR_shader_bfloat16
constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR =
    static_cast<VkStructureType>(1000141000);
constexpr auto VK_COMPONENT_TYPE_BFLOAT16_KHR = static_cast<VkComponentTypeKHR>(1000141000);
struct VkPhysicalDeviceShaderBfloat16FeaturesKHR {
  VkStructureType sType;
  void* pNext;
  VkBool32 shaderBFloat16Type, shaderBFloat16DotProduct, shaderBFloat16CooperativeMatrix;
};
#endif

#ifndef VK_NV_shader_atomic_float16_vector
constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT16_VECTOR_FEATURES_NV =
    static_cast<VkStructureType>(1000563000);
struct VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV {
  VkStructureType sType;
  void* pNext;
  VkBool32 shaderFloat16VectorAtomics;
};
#endif
