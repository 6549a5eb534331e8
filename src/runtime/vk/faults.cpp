#include "runtime/vk/faults.h"

#include <atomic>

namespace mulciber::vk {

namespace {

std::atomic<bool> isWanted{false};
std::atomic<uint64_t> calls{0}, failing{0};
std::atomic<VkResult> failure{VK_SUCCESS};

// Looks at what is done come in any number: they are not counted, and fail once the device is lost.
bool lookFails() {
  const uint64_t first = failing.load();
  return first != 0 && failure.load() == VK_ERROR_DEVICE_LOST && calls.load() >= first;
}

bool fails() {
  const uint64_t number = calls.fetch_add(1) + 1;
  const uint64_t first = failing.load();
  if (first == 0) return false;
  return failure.load() == VK_ERROR_DEVICE_LOST ? number >= first : number == first;
}

template <auto one, auto other>
inline constexpr bool isSame = false;
template <auto one>
inline constexpr bool isSame<one, one> = true;

// Stands in for one function of the table.
template <auto member>
struct Faulty;
template <typename... Arguments, VkResult (VKAPI_PTR* VolkDeviceTable::*member)(Arguments...)>
struct Faulty<member> {
  static inline VkResult(VKAPI_PTR* original)(Arguments...) = nullptr;
  static VkResult VKAPI_PTR call(Arguments... arguments) {
    constexpr bool isLook = isSame<member, &VolkDeviceTable::vkGetSemaphoreCounterValue>;
    return (isLook ? lookFails() : fails()) ? failure.load() : original(arguments...);
  }
  static void install(VolkDeviceTable& api) {
    if (!(api.*member)) return;
    original = api.*member;
    api.*member = call;
  }
};

template <auto... members>
void installAll(VolkDeviceTable& api) {
  (Faulty<members>::install(api), ...);
}

}  // namespace

void failVulkanCall(uint64_t number, VkResult error) {
  isWanted.store(true);
  failing.store(0);
  calls.store(0);
  failure.store(error);
  failing.store(number);
}

uint64_t countedVulkanCalls() { return calls.load(); }

void prepareFaults(VolkDeviceTable& api) {
  if (!isWanted.load()) return;
  using Api = VolkDeviceTable;
  installAll<&Api::vkAllocateMemory, &Api::vkCreateBuffer, &Api::vkBindBufferMemory, &Api::vkMapMemory,
             &Api::vkCreateSemaphore, &Api::vkGetSemaphoreCounterValue, &Api::vkWaitSemaphores,
             &Api::vkCreateCommandPool, &Api::vkAllocateCommandBuffers, &Api::vkBeginCommandBuffer,
             &Api::vkEndCommandBuffer, &Api::vkQueueSubmit2, &Api::vkCreateQueryPool, &Api::vkCreateShaderModule,
             &Api::vkCreatePipelineLayout, &Api::vkCreateComputePipelines, &Api::vkCreatePipelineCache,
             &Api::vkGetPipelineCacheData, &Api::vkQueueBindSparse, &Api::vkCreateFence, &Api::vkWaitForFences,
             &Api::vkGetMemoryHostPointerPropertiesEXT>(api);
}

}  // namespace mulciber::vk
