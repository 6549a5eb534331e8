// Contexts on an engine's device: what they need, what they refuse, and what they leave alone.
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/test_engine.h"

namespace mulciber::test {

namespace {

class ContextTest : public EngineTest {};

const VkBaseOutStructure* inChain(const void* chain, VkStructureType type) {
  for (auto* one = static_cast<const VkBaseOutStructure*>(chain); one; one = one->pNext)
    if (one->sType == type) return one;
  return nullptr;
}

template <class Structure>
Structure* inChain(VkDeviceCreateInfo& info, VkStructureType type) {
  return reinterpret_cast<Structure*>(const_cast<VkBaseOutStructure*>(inChain(info.pNext, type)));
}

class Requirements {
 public:
  Requirements() {
    const MulciberPhysicalDevice device = describe(Instance::get().devices.front());
    EXPECT_OK(mulciberCreateRequirements(&device, &handle));
  }
  ~Requirements() { mulciberDestroyRequirements(handle); }
  MulciberRequirements handle = nullptr;
};

}  // namespace

TEST_F(ContextTest, TellsTheFeaturesItUses) {
  const Requirements requirements;
  uint32_t count = 0;
  const MulciberFeature* features = nullptr;
  ASSERT_OK(mulciberGetFeatures(requirements.handle, &count, &features));
  bool hasAddresses = false, hasClock = false;
  for (uint32_t i = 0; i < count; ++i) {
    const MulciberFeature& feature = features[i];
    EXPECT_TRUE(feature.isPresent || !feature.isRequired) << feature.name;
    if (std::strcmp(feature.name, "bufferDeviceAddress") == 0) hasAddresses = feature.isRequired && !feature.extension;
    if (std::strcmp(feature.name, "shaderSubgroupClock") == 0)
      hasClock = !feature.isRequired && std::strcmp(feature.extension, "VK_KHR_shader_clock") == 0;
    EXPECT_EQ(std::strchr(feature.name, '.'), nullptr) << feature.name;
  }
  EXPECT_TRUE(hasAddresses);
  EXPECT_TRUE(hasClock);
}

TEST_F(ContextTest, AsksForTheExtensionsOfItsFeatures) {
  const Requirements requirements;
  uint32_t count = 0, extensionCount = 0;
  const MulciberFeature* features = nullptr;
  const char* const* extensions = nullptr;
  ASSERT_OK(mulciberGetFeatures(requirements.handle, &count, &features));
  ASSERT_OK(mulciberGetExtensions(requirements.handle, &extensionCount, &extensions));
  const std::set<std::string> asked(extensions, extensions + extensionCount);
  EXPECT_EQ(asked.size(), extensionCount) << "an extension is named twice";
  for (const MulciberFeature& feature : std::span(features, count))
    EXPECT_TRUE(!feature.isPresent || !feature.extension || asked.contains(feature.extension)) << feature.name;
}

TEST_F(ContextTest, AddsToWhatTheEngineAsksFor) {
  const Requirements requirements;
  // An engine that asks in the old way, with a structure for one feature, and for an extension that is wanted too.
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
  VkPhysicalDeviceFeatures enabled{};
  enabled.samplerAnisotropy = VK_TRUE;
  uint32_t wantedCount = 0;
  const char* const* wanted = nullptr;
  ASSERT_OK(mulciberGetExtensions(requirements.handle, &wantedCount, &wanted));
  ASSERT_GT(wantedCount, 0u);
  const char* own[] = {wanted[0]};
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &timeline;
  info.pEnabledFeatures = &enabled;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = own;
  ASSERT_OK(mulciberAddToDevice(requirements.handle, &info));
  EXPECT_EQ(info.enabledExtensionCount, wantedCount);
  EXPECT_EQ(info.pEnabledFeatures, nullptr);
  const auto* all = inChain<VkPhysicalDeviceFeatures2>(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->features.samplerAnisotropy);
  EXPECT_TRUE(all->features.shaderInt64);
  EXPECT_TRUE(timeline.timelineSemaphore);
  // Vulkan allows no structure of the whole version beside that of one feature.
  EXPECT_FALSE(inChain(info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES));
  const auto* addresses = inChain<VkPhysicalDeviceBufferDeviceAddressFeatures>(
      info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
  ASSERT_TRUE(addresses);
  EXPECT_TRUE(addresses->bufferDeviceAddress);
  const auto* version13 =
      inChain<VkPhysicalDeviceVulkan13Features>(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  ASSERT_TRUE(version13);
  EXPECT_TRUE(version13->synchronization2);
}

TEST_F(ContextTest, WorksOnADeviceMadeTheOldWay) {
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
  Requirements requirements;
  Engine::Changes changes;
  changes.asksForNeeds = false;
  changes.device = [&](VkDeviceCreateInfo& info) {
    info.pNext = &timeline;
    EXPECT_OK(mulciberAddToDevice(requirements.handle, &info));
  };
  Engine engine(changes);
  EXPECT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
}

TEST_F(ContextTest, NamesEveryFeatureThatTheDeviceWasMadeWithout) {
  Engine::Changes changes;
  changes.device = [](VkDeviceCreateInfo& info) {
    auto* features =
        inChain<VkPhysicalDeviceVulkan12Features>(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    ASSERT_TRUE(features);
    features->hostQueryReset = VK_FALSE;
    features->vulkanMemoryModelDeviceScope = VK_FALSE;
  };
  const Engine engine(changes);
  EXPECT_EQ(engine.result, MULCIBER_ERROR_MISSING_FEATURE);
  EXPECT_NE(engine.message.find("hostQueryReset"), std::string::npos) << engine.message;
  EXPECT_NE(engine.message.find("vulkanMemoryModelDeviceScope"), std::string::npos) << engine.message;
  EXPECT_EQ(engine.message.find("shaderInt64"), std::string::npos) << engine.message;
}

TEST_F(ContextTest, DoesWithoutWhatIsOptional) {
  Engine::Changes changes;
  changes.device = [](VkDeviceCreateInfo& info) {
    info.enabledExtensionCount = 0;
    auto* features = inChain<VkPhysicalDeviceFeatures2>(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    ASSERT_TRUE(features);
    features->features.shaderFloat64 = VK_FALSE;
    // Structures of extensions that are not asked for must not be in the chain either.
    const void** next = &info.pNext;
    while (const auto* one = static_cast<const VkBaseOutStructure*>(*next)) {
      const bool isCore = one->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 ||
                          one->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES ||
                          one->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES ||
                          one->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
      if (isCore) next = const_cast<const void**>(reinterpret_cast<void* const*>(&one->pNext));
      else *next = one->pNext;
    }
  };
  Engine engine(changes);
  ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
  VkDeviceAddress data = 0;
  ASSERT_OK(mulciberAllocate(engine.context, 256, &data));
  MulciberStream stream = nullptr;
  ASSERT_OK(mulciberCreateStream(engine.context, &stream));
  EXPECT_OK(mulciberFill(stream, data, 5, 4, 64));
  EXPECT_OK(launch(stream, engine.kernel("add"), 1, 64, data, 64, 1));
  int out[64] = {};
  EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(out), data, sizeof(out)));
  for (const int value : out) EXPECT_EQ(value, 6);
}

TEST_F(ContextTest, RefusesQueuesThatTheDeviceHasNot) {
  Engine::Changes changes;
  changes.context = [](MulciberContextInfo& info) {
    static MulciberQueue queue;
    queue = info.queues[0];
    queue.family = 7;
    info.queues = &queue;
  };
  const Engine wrong(changes);
  EXPECT_EQ(wrong.result, MULCIBER_ERROR_WRONG_QUEUE);
  EXPECT_NE(wrong.message.find("family 7"), std::string::npos) << wrong.message;
  changes.context = [](MulciberContextInfo& info) { info.queueCount = 0; };
  EXPECT_EQ(Engine(changes).result, MULCIBER_ERROR_WRONG_QUEUE);
}

// As on devices with a family for copies alone: the driver is said to have one more than it has.
VKAPI_ATTR void VKAPI_CALL oneFamilyMore(VkPhysicalDevice device, uint32_t* count, VkQueueFamilyProperties* out) {
  uint32_t own = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &own, nullptr);
  if (out && *count > own) {
    vkGetPhysicalDeviceQueueFamilyProperties(device, &own, out);
    out[own] = {};
    out[own].queueFlags = VK_QUEUE_TRANSFER_BIT;
    out[own].queueCount = 1;
  }
  *count = own + 1;
}

PFN_vkVoidFunction VKAPI_CALL functionsWithOneFamilyMore(VkInstance instance, const char* name) {
  return std::string(name) == "vkGetPhysicalDeviceQueueFamilyProperties"
             ? reinterpret_cast<PFN_vkVoidFunction>(oneFamilyMore)
             : countingInstanceFunctions(instance, name);
}

TEST_F(ContextTest, RefusesAQueueThatDoesNotCompute) {
  Engine::Changes changes;
  changes.context = [](MulciberContextInfo& info) {
    uint32_t added = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(info.physicalDevice.physicalDevice, &added, nullptr);
    static VkDeviceQueueCreateInfo queues[2];
    queues[0] = queues[1] = info.deviceInfo->pQueueCreateInfos[0];
    queues[1].queueFamilyIndex = added;
    static VkDeviceCreateInfo device;
    device = *info.deviceInfo;
    device.queueCreateInfoCount = 2;
    device.pQueueCreateInfos = queues;
    static MulciberQueue queue;
    queue = info.queues[0];
    queue.family = added;
    info.physicalDevice.getInstanceProcAddr = functionsWithOneFamilyMore;
    info.deviceInfo = &device;
    info.queues = &queue;
  };
  const Engine engine(changes);
  EXPECT_EQ(engine.result, MULCIBER_ERROR_WRONG_QUEUE);
  EXPECT_NE(engine.message.find("which does not compute"), std::string::npos) << engine.message;
}

TEST_F(ContextTest, RefusesAnInstanceOfAnOlderVersion) {
  MulciberPhysicalDevice device = describe(Instance::get().devices.front());
  device.apiVersion = VK_API_VERSION_1_2;
  MulciberRequirements requirements = nullptr;
  EXPECT_EQ(mulciberCreateRequirements(&device, &requirements), MULCIBER_ERROR_MISSING_FEATURE);
  EXPECT_STREQ(mulciberGetErrorMessage(), "the instance was made for Vulkan 1.2, 1.3 is needed");
}

TEST_F(ContextTest, UsesTheDeviceThroughTheEngineAlone) {
  {
    Engine engine;
    ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
    engine.kernel("addOffset");  // of a module with a variable
    EXPECT_GT(Calls::get().of("vkGetInstanceProcAddr"), 0);
    EXPECT_GT(engine.locks, 0);
    EXPECT_FALSE(engine.isLocked);
    EXPECT_EQ(Calls::get().of("vkQueueSubmit2"), engine.locks);
  }
  EXPECT_EQ(Calls::get().of("vkCreateDevice"), 0);
  EXPECT_EQ(Calls::get().of("vkDestroyDevice"), 0);
  EXPECT_EQ(Calls::get().of("vkDeviceWaitIdle"), 0);
  EXPECT_EQ(Calls::get().of("vkQueueWaitIdle"), 0);
}

TEST_F(ContextTest, AllocatesThroughTheEnginesCallbacks) {
  static std::atomic<int> live{0}, made{0};
  VkAllocationCallbacks callbacks{};
  callbacks.pfnAllocation = [](void*, size_t bytes, size_t alignment, VkSystemAllocationScope) {
    ++live;
    ++made;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  callbacks.pfnFree = [](void*, void* memory) {
    if (memory) --live;
    std::free(memory);
  };
  callbacks.pfnReallocation = [](void*, void* memory, size_t bytes, size_t, VkSystemAllocationScope) {
    if (!memory) ++live;
    return std::realloc(memory, bytes);
  };
  {
    Engine::Changes changes;
    changes.context = [&](MulciberContextInfo& info) { info.allocationCallbacks = &callbacks; };
    Engine engine(changes);
    ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
    engine.kernel("add");
  }
  EXPECT_GT(made, 0);
  EXPECT_EQ(live, 0);
}

namespace {

// An engine that allocates the device's memory itself, up to a limit.
struct Budget {
  PFN_vkAllocateMemory allocate = nullptr;
  PFN_vkFreeMemory free = nullptr;
  VkDevice device = VK_NULL_HANDLE;
  std::map<VkDeviceMemory, VkDeviceSize> live = {};
  VkDeviceSize used = 0, limit = VkDeviceSize(1) << 40;
  MulciberMemoryCallbacks callbacks{[](void* user, const VkMemoryAllocateInfo* info, VkDeviceMemory* out) {
                                      auto& budget = *static_cast<Budget*>(user);
                                      if (budget.used + info->allocationSize > budget.limit)
                                        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
                                      const VkResult result = budget.allocate(budget.device, info, nullptr, out);
                                      if (result != VK_SUCCESS) return result;
                                      budget.used += budget.live[*out] = info->allocationSize;
                                      return result;
                                    },
                                    [](void* user, VkDeviceMemory memory) {
                                      auto& budget = *static_cast<Budget*>(user);
                                      const auto found = budget.live.find(memory);
                                      ASSERT_NE(found, budget.live.end());
                                      budget.used -= found->second;
                                      budget.live.erase(found);
                                      budget.free(budget.device, memory, nullptr);
                                    },
                                    this};
};

}  // namespace

TEST_F(ContextTest, AllocatesMemoryThroughTheEngine) {
  Budget budget;
  {
    Engine::Changes changes;
    changes.context = [&](MulciberContextInfo& info) {
      budget.device = info.device;
      budget.allocate = reinterpret_cast<PFN_vkAllocateMemory>(vkGetDeviceProcAddr(info.device, "vkAllocateMemory"));
      budget.free = reinterpret_cast<PFN_vkFreeMemory>(vkGetDeviceProcAddr(info.device, "vkFreeMemory"));
      info.memoryCallbacks = &budget.callbacks;
    };
    Engine engine(changes);
    ASSERT_EQ(engine.result, MULCIBER_SUCCESS) << engine.message;
    VkDeviceAddress data = 0, large = 0;
    ASSERT_OK(mulciberAllocate(engine.context, 256, &data));
    MulciberStream stream = nullptr;
    ASSERT_OK(mulciberCreateStream(engine.context, &stream));
    EXPECT_OK(mulciberFill(stream, data, 5, 4, 64));
    EXPECT_OK(mulciberSynchronizeStream(stream));
    // What the engine refuses is out of memory; all else works as before.
    constexpr size_t bytes = 256u << 20;
    budget.limit = budget.used + bytes / 2;
    EXPECT_EQ(mulciberAllocate(engine.context, bytes, &large), MULCIBER_ERROR_OUT_OF_MEMORY);
    EXPECT_STRNE(mulciberGetErrorMessage(), "");
    EXPECT_OK(launch(stream, engine.kernel("add"), 1, 64, data, 64, 1));
    int out[64] = {};
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(out), data, sizeof(out)));
    EXPECT_EQ(out[63], 6);
    budget.limit = budget.used + 2 * bytes;
    EXPECT_OK(mulciberAllocate(engine.context, bytes, &large));
    EXPECT_GE(budget.used, bytes);
  }
  EXPECT_EQ(Calls::get().of("vkAllocateMemory"), 0);
  EXPECT_TRUE(budget.live.empty());
}

TEST_F(ContextTest, RefusesHalfOfTheMemoryCallbacks) {
  MulciberMemoryCallbacks half{};
  half.free = [](void*, VkDeviceMemory) {};
  Engine::Changes changes;
  changes.context = [&](MulciberContextInfo& info) { info.memoryCallbacks = &half; };
  const Engine engine(changes);
  EXPECT_EQ(engine.result, MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(engine.message, "MulciberMemoryCallbacks: one of allocate and free is null");
}

TEST_F(ContextTest, TakesStructuresOfOlderVersions) {
  Engine::Changes changes;
  changes.context = [](MulciberContextInfo& info) {
    info.structSize = offsetof(MulciberContextInfo, memoryCallbacks);
    info.memoryCallbacks = reinterpret_cast<const MulciberMemoryCallbacks*>(1);  // beyond the structure's end
  };
  EXPECT_EQ(Engine(changes).result, MULCIBER_SUCCESS);
  changes.context = [](MulciberContextInfo& info) { --(info.structSize = offsetof(MulciberContextInfo, flags)); };
  EXPECT_EQ(Engine(changes).result, MULCIBER_ERROR_INVALID_ARGUMENT);
}

TEST_F(ContextTest, SeveralLiveInOneProcess) {
  Engine first, second;
  ASSERT_EQ(first.result, MULCIBER_SUCCESS) << first.message;
  ASSERT_EQ(second.result, MULCIBER_SUCCESS) << second.message;
  for (Engine* engine : {&first, &second}) {
    VkDeviceAddress data = 0;
    ASSERT_OK(mulciberAllocate(engine->context, 4096, &data));
    MulciberStream stream = nullptr;
    ASSERT_OK(mulciberCreateStream(engine->context, &stream));
    EXPECT_OK(mulciberFill(stream, data, 3, 4, 64));
    EXPECT_OK(launch(stream, engine->kernel("add"), 1, 64, data, 64, 4));
    int out[64] = {};
    EXPECT_OK(mulciberCopy(stream, reinterpret_cast<uint64_t>(out), data, sizeof(out)));
    EXPECT_EQ(out[63], 7);
  }
  VkDeviceAddress mine = 0;
  ASSERT_OK(mulciberAllocate(first.context, 256, &mine));
  MulciberBufferRange range{};
  EXPECT_EQ(mulciberGetBuffer(second.context, mine, &range), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(mulciberFree(second.context, mine), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_OK(mulciberFree(first.context, mine));
}

// Devices of one GPU give their memory the same addresses, unless somebody sees to it.
TEST_F(ContextTest, MemoryOfSeveralStaysApart) {
  Engine first, second;
  constexpr int count = 12;
  constexpr size_t bytes = 40u << 20;  // more than a piece of what the context allocates at once
  std::vector<VkDeviceAddress> memory[2];
  MulciberStream streams[2] = {};
  Engine* const engines[] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(engines[i]->result, MULCIBER_SUCCESS) << engines[i]->message;
    ASSERT_OK(mulciberCreateStream(engines[i]->context, &streams[i]));
    for (int one = 0; one < count; ++one) {
      ASSERT_OK(mulciberAllocate(engines[i]->context, bytes, &memory[i].emplace_back()));
      ASSERT_OK(mulciberFill(streams[i], memory[i].back(), static_cast<uint32_t>(100 * i + one), 4, 64));
    }
    ASSERT_OK(mulciberSynchronizeStream(streams[i]));
  }
  for (int i = 0; i < 2; ++i)
    for (int one = 0; one < count; ++one) {
      uint32_t out[64] = {};
      ASSERT_OK(mulciberCopy(streams[i], reinterpret_cast<uint64_t>(out), memory[i][one], sizeof(out)));
      EXPECT_EQ(out[63], static_cast<uint32_t>(100 * i + one));
      MulciberBufferRange range{};
      EXPECT_OK(mulciberGetBuffer(engines[i]->context, memory[i][one], &range));
      EXPECT_EQ(range.size, bytes);
      EXPECT_OK(mulciberFree(engines[i]->context, memory[i][one]));
    }
}

TEST_F(ContextTest, EachWrapsBuffersOfItsOwnDevice) {
  Engine first, second;
  Engine* const engines[] = {&first, &second};
  Engine::Buffer buffers[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(engines[i]->result, MULCIBER_SUCCESS) << engines[i]->message;
    buffers[i] =
        engines[i]->makeBuffer(4096, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  }
  for (int i = 0; i < 2; ++i) {
    VkDeviceAddress address = 0;
    ASSERT_OK(mulciberWrapBuffer(engines[i]->context, buffers[i].handle, 0, 4096, &address));
    MulciberStream stream = nullptr;
    ASSERT_OK(mulciberCreateStream(engines[i]->context, &stream));
    EXPECT_OK(mulciberFill(stream, address, static_cast<uint32_t>(i) + 7, 4, 1024));
    EXPECT_OK(mulciberSynchronizeStream(stream));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(static_cast<const int*>(buffers[i].host)[1023], i + 7);
    engines[i]->destroy(buffers[i]);
  }
}

}  // namespace mulciber::test
