/* An engine in C that runs kernels translated ahead of time. Prints nothing when all is as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elsewhere.h"
#include "scale.h"
#include "waves.h"

enum { count = 1000 };

static void check(VkResult result, const char* what) {
  if (result == VK_SUCCESS) return;
  fprintf(stderr, "%s gave %d\n", what, result);
  exit(1);
}

static void expect(MulciberResult result, const char* what) {
  if (result == MULCIBER_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, mulciberGetErrorMessage());
  exit(1);
}

static void makeEngine(MulciberPhysicalDevice* physical, VkDevice* device, VkQueue* queue, MulciberContext* context) {
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .apiVersion = MULCIBER_VULKAN_VERSION};
  const VkInstanceCreateInfo instanceInfo = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                             .pApplicationInfo = &application};
  memset(physical, 0, sizeof(*physical));
  physical->structSize = sizeof(*physical);
  physical->apiVersion = MULCIBER_VULKAN_VERSION;
  physical->getInstanceProcAddr = vkGetInstanceProcAddr;
  check(vkCreateInstance(&instanceInfo, NULL, &physical->instance), "vkCreateInstance");
  uint32_t one = 1;
  (void)vkEnumeratePhysicalDevices(physical->instance, &one, &physical->physicalDevice);

  const float priority = 1;
  const VkDeviceQueueCreateInfo queueInfo = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                             .queueCount = 1,
                                             .pQueuePriorities = &priority};
  VkDeviceCreateInfo deviceInfo = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queueInfo};
  MulciberRequirements requirements = NULL;
  expect(mulciberCreateRequirements(physical, &requirements), "requirements");
  expect(mulciberAddToDevice(requirements, &deviceInfo), "requirements");
  check(vkCreateDevice(physical->physicalDevice, &deviceInfo, NULL, device), "vkCreateDevice");
  vkGetDeviceQueue(*device, 0, 0, queue);

  const MulciberQueue shared = {*queue, 0, NULL, NULL, NULL};
  MulciberContextInfo info = {.structSize = sizeof(info),
                              .physicalDevice = *physical,
                              .device = *device,
                              .deviceInfo = &deviceInfo,
                              .queueCount = 1,
                              .queues = &shared,
                              .flags = MULCIBER_CONTEXT_NO_THREADS};
  expect(mulciberCreateContext(&info, context), "the context");
  mulciberDestroyRequirements(requirements);
}

static void submit(VkDevice device, VkQueue queue, MulciberContext context, const waves_kernels* waves,
                   const scale_kernels* scales, VkDeviceAddress data) {
  const VkCommandPoolCreateInfo poolInfo = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandPool pool = VK_NULL_HANDLE;
  check(vkCreateCommandPool(device, &poolInfo, NULL, &pool), "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = pool,
                                                .commandBufferCount = 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");

  const MulciberRecordingInfo info = {
      .structSize = sizeof(info), .commandBuffer = commands, .flags = MULCIBER_RECORDING_BARRIER_AFTER, .frame = 1};
  MulciberRecording recording = NULL;
  expect(mulciberBeginRecording(context, &info, &recording), "a recording");
  const MulciberShape all = {{(count + 127) / 128, 1, 1}, {128, 1, 1}, 0}, part = {{1, 1, 1}, {64, 1, 1}, 0},
                      one = {{1, 1, 1}, {32, 1, 1}, 0};
  waves_wave_arguments wave = {.p0 = data, .p1 = count, .p3 = 0.5f};
  const struct {
    float height;
    int length;
  } form = {2.0f, 10};
  memcpy(wave.p2, &form, sizeof(form));
  expect(waves_record_wave(waves, recording, &all, &wave), "wave");
  const scale_scale_arguments twice = {data, 2.0f};
  expect(scale_record_scale(scales, recording, &part, &twice), "scale");
  const waves_total_arguments total = {data, data + 4 * count, count};
  expect(waves_record_total(waves, recording, &one, &total), "total");
  expect(mulciberEndRecording(recording), "a recording");

  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  const VkSubmitInfo work = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
  check(vkQueueSubmit(queue, 1, &work, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
  vkDestroyCommandPool(device, pool, NULL);
}

static int compare(const float* found) {
  float total = 3;  /* the variable `launches` */
  for (int i = 0; i < count; ++i) {
    const float wanted = (2.0f * (float)(i % 10) + 0.5f) * (i < 64 ? 2.0f : 1.0f);
    total += wanted;
    if (found[i] == wanted) continue;
    fprintf(stderr, "%d: %g and not %g\n", i, found[i], wanted);
    return 1;
  }
  if (found[count] == total) return 0;
  fprintf(stderr, "the total is %g and not %g\n", found[count], total);
  return 1;
}

int main(void) {
  MulciberPhysicalDevice physical;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  MulciberContext context = NULL;
  makeEngine(&physical, &device, &queue, &context);

  waves_kernels waves;
  scale_kernels scales;
  elsewhere_kernels elsewhere;
  expect(waves_load(context, &waves), "loading waves");
  expect(scale_load(context, &scales), "loading scale");
  if (elsewhere_load(context, &elsewhere) != MULCIBER_ERROR_MISSING_FEATURE ||
      !strstr(mulciberGetErrorMessage(), "the profile elsewhere, which this device does not suit: maxPushConstants, ")) {
    fprintf(stderr, "kernels for another device: %s\n", mulciberGetErrorMessage());
    return 1;
  }
  static const float nothing[count + 1];
  float found[count + 1];
  VkDeviceAddress data = 0;
  MulciberStream stream = NULL;
  expect(mulciberAllocate(context, sizeof(found), &data), "memory");
  expect(mulciberCreateStream(context, &stream), "a stream");
  expect(mulciberCopy(stream, data, (uint64_t)(uintptr_t)nothing, sizeof(nothing)), "a copy");
  expect(mulciberSynchronizeStream(stream), "a stream");
  submit(device, queue, context, &waves, &scales, data);
  expect(mulciberCopy(stream, (uint64_t)(uintptr_t)found, data, sizeof(found)), "a copy");
  const int failed = compare(found);
  expect(mulciberDestroyContext(context), "the context");
  vkDestroyDevice(device, NULL);
  vkDestroyInstance(physical.instance, NULL);
  return failed;
}
