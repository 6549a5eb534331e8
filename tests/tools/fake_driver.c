// A Vulkan driver that has nothing to offer. FAKE_DRIVER says how: "none" has no device, "old" one of Vulkan 1.2,
// "poor" one of Vulkan 1.3 without any feature, and "wrong" one whose driver is a lavapipe known to be wrong.
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

typedef struct {
  VK_LOADER_DATA loader;
} Object;
static Object instance, device;

static int is(const char* kind) {
  const char* chosen = getenv("FAKE_DRIVER");
  return chosen && strcmp(chosen, kind) == 0;
}

static VkResult createInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* c, VkInstance* out) {
  (void)info, (void)c;
  set_loader_magic_value(&instance);
  *out = (VkInstance)&instance;
  return VK_SUCCESS;
}

static VkResult enumerateDevices(VkInstance i, uint32_t* count, VkPhysicalDevice* devices) {
  (void)i;
  const uint32_t available = is("none") ? 0 : 1;
  if (devices && *count != 0 && available != 0) {
    set_loader_magic_value(&device);
    devices[0] = (VkPhysicalDevice)&device;
  }
  *count = available;
  return VK_SUCCESS;
}

static void getProperties(VkPhysicalDevice d, VkPhysicalDeviceProperties* properties) {
  (void)d;
  memset(properties, 0, sizeof(*properties));
  properties->apiVersion = is("old") ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
  properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  strcpy(properties->deviceName, "Fake");
}

static void getProperties2(VkPhysicalDevice d, VkPhysicalDeviceProperties2* properties) {
  getProperties(d, &properties->properties);
  if (!is("wrong")) return;
  for (VkBaseOutStructure* next = properties->pNext; next; next = next->pNext) {
    if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) continue;
    VkPhysicalDeviceVulkan12Properties* driver = (VkPhysicalDeviceVulkan12Properties*)next;
    driver->driverID = VK_DRIVER_ID_MESA_LLVMPIPE;
    strcpy(driver->driverInfo, "Mesa 22.3.6 (LLVM 15.0.6)");
  }
}

static VkResult countNone(void* object, const char* layer, uint32_t* count, void* out) {
  (void)object, (void)layer, (void)out;
  *count = 0;
  return VK_SUCCESS;
}

static VkResult countNoInstanceExtensions(const char* layer, uint32_t* count, void* out) {
  return countNone(NULL, layer, count, out);
}

static void countNoQueues(VkPhysicalDevice d, uint32_t* count, VkQueueFamilyProperties* out) {
  (void)d, (void)out;
  *count = 0;
}

static void getMemory(VkPhysicalDevice d, VkPhysicalDeviceMemoryProperties* memory) {
  (void)d;
  memset(memory, 0, sizeof(*memory));
}

// For what nobody who looks at the device first will call, and features: they stay as the caller cleared them.
static VkResult nothing(void) { return VK_ERROR_FEATURE_NOT_PRESENT; }

static PFN_vkVoidFunction find(VkInstance i, const char* name) {
  (void)i;
  static const struct {
    const char* name;
    PFN_vkVoidFunction function;
  } functions[] = {
      {"vkCreateInstance", (PFN_vkVoidFunction)createInstance},
      {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)enumerateDevices},
      {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)getProperties},
      {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)getProperties2},
      {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)countNone},
      {"vkEnumerateInstanceExtensionProperties", (PFN_vkVoidFunction)countNoInstanceExtensions},
      {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)countNoQueues},
      {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)getMemory},
      {"vkEnumerateInstanceVersion", NULL},
      {"vkEnumerateInstanceLayerProperties", NULL},
  };
  for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); ++k)
    if (strcmp(name, functions[k].name) == 0) return functions[k].function;
  return (PFN_vkVoidFunction)nothing;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance i, const char* name) {
  return find(i, name);
}

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  if (*version > 3) *version = 3;
  return VK_SUCCESS;
}
