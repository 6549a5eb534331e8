// `mulciber info`: the devices, and which features of CUDA each offers.
#include <cuda.h>
#include <fmt/core.h>

#include <vector>

#include "commands.h"
#include "mulciber/translator.h"
#include "mulciber/version.h"
#include "runtime/core/device.h"
#include "runtime/core/platform.h"
#include "runtime/vk/device.h"
#include "runtime/vk/instance.h"
#include "terminal.h"

namespace mulciber::tool {

namespace {

struct Feature {
  const char* name;
  bool offered;
  std::string how;  // or why not
};

// In the words of CUDA's manual, from what was found out about the device.
std::vector<Feature> featuresOf(vk::Device& device) {
  const TargetProfile& profile = device.profile();
  std::vector<Feature> features;
  auto native = [&](const char* name, bool has, const char* otherwise, bool stillOffered = true) {
    features.push_back({name, has || stillOffered, has ? "native" : otherwise});
  };
  native("double precision", profile.float64, "the device has no shaderFloat64", false);
  native("half precision", profile.float16, "computed in single precision");
  native("8-bit memory accesses", profile.storage8, "in parts of 32-bit words");
  native("16-bit memory accesses", profile.storage16, "in parts of 32-bit words");
  native("64-bit atomics", profile.atomicInt64, "the device has no shaderBufferInt64Atomics", false);
  native("64-bit atomics in shared memory", profile.atomicSharedInt64, "the device has no shaderSharedInt64Atomics",
         false);
  native("float atomic add", profile.atomicFloat32Add, "by compare and swap");
  native("double atomic add", profile.atomicFloat64Add, "by compare and swap");
  native("warp operations", profile.hasWarps(), "through shared memory: the device's subgroups are not 32 wide");
  native("float denormals", profile.denormPreserve32 || profile.denormsByDefault32,
         "repaired where the device flushes them to zero; MULCIBER_EXACT_DENORMALS=0 saves its cost");
  native("fused multiply-add", profile.exactFma32, "repaired in software where the device is not exact");
  native("division and square root", profile.exactDivSqrt32, "refined in software to be correctly rounded");
  native("clock()", profile.shaderSubgroupClock, "the device has no shader clock", false);
  native("managed memory", device.allocator().hasEqualAddresses(),
         "the device cannot map memory at its own addresses (VK_EXT_map_memory_placed)", false);
  native("registering host memory", device.allocator().canImportHost(),
         "the device cannot import host memory (VK_EXT_external_memory_host)", false);
  return features;
}

struct Shown {
  core::Device* device;
  std::vector<Feature> features;  // empty when the device cannot be opened
};

void printText(const std::vector<Shown>& devices, const vk::Instance& instance) {
  for (const Shown& shown : devices) {
    core::Device& device = *shown.device;
    fmt::print("{}\n", coloured(fmt::format("Device {}: {}", device.ordinal(), device.name()), Colour::Bold));
    int multiprocessors = 0;
    if (device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors) != core::Error::Success) {
      multiprocessors = 0;
    }
    fmt::print("  compute capability {}.{}, {} multiprocessors, {:.1f} GiB\n", device.computeCapability() / 10,
               device.computeCapability() % 10, multiprocessors,
               static_cast<double>(device.totalMemory()) / (1024.0 * 1024 * 1024));
    if (shown.features.empty()) fmt::print("  {}\n", coloured("cannot be opened", Colour::Red));
    for (const Feature& feature : shown.features) {
      fmt::print("  {} {:34} {}\n", feature.offered ? coloured("yes", Colour::Green) : coloured("no ", Colour::Red),
                 feature.name, feature.how);
    }
  }
  for (const std::string& reason : instance.unusable()) fmt::print("Not usable: {}\n", reason);
}

void printJson(const std::vector<Shown>& devices, const vk::Instance& instance) {
  std::string list;
  for (const Shown& shown : devices) {
    std::string features;
    for (const Feature& feature : shown.features) {
      features += fmt::format("{}{{\"name\": {}, \"offered\": {}, \"how\": {}}}", features.empty() ? "" : ", ",
                              json(feature.name), feature.offered, json(feature.how));
    }
    list += fmt::format(
        "{}\n    {{\"ordinal\": {}, \"name\": {}, \"computeCapability\": {}, \"totalMemory\": {}, \"features\": [{}]}}",
        list.empty() ? "" : ",", shown.device->ordinal(), json(shown.device->name()), shown.device->computeCapability(),
        shown.device->totalMemory(), features);
  }
  std::string unusable;
  for (const std::string& reason : instance.unusable()) unusable += (unusable.empty() ? "" : ", ") + json(reason);
  fmt::print("{{\n  \"version\": {},\n  \"devices\": [{}\n  ],\n  \"unusable\": [{}],\n  \"problem\": {}\n}}\n",
             json(MULCIBER_VERSION_STRING), list, unusable, json(instance.problem()));
}

int printProfile() {
  (void)core::Platform::get().initialize();  // the log says what is wrong
  for (const auto& device : core::Platform::get().devices()) {
    std::shared_ptr<vk::Device> vulkan;
    if (device->open(vulkan) != core::Error::Success) continue;
    TargetProfile profile = vulkan->profile();
    profile.name = device->name();
    profile.computeCapability = device->computeCapability();
    fmt::print("{}", toJson(profile));
    return ExitSuccess;
  }
  return ExitFailure;
}

}  // namespace

int info(const InfoOptions& options) {
  if (options.asProfile) return printProfile();
  const vk::Instance& instance = vk::Instance::get();
  const core::Error error = core::Platform::get().initialize();
  std::vector<Shown> devices;
  for (const auto& device : core::Platform::get().devices()) {
    Shown shown{device.get(), {}};
    std::shared_ptr<vk::Device> vulkan;
    if (device->open(vulkan) == core::Error::Success) shown.features = featuresOf(*vulkan);
    devices.push_back(std::move(shown));
  }
  if (options.asJson) printJson(devices, instance);
  else printText(devices, instance);
  if (error == core::Error::Success && !devices.empty()) return ExitSuccess;
  // When there is no device at all, the log has said why.
  if (error == core::Error::Success || instance.problem().empty()) complain("CUDA_VISIBLE_DEVICES leaves no device");
  if (!options.asJson) fmt::print(stderr, "`mulciber doctor` says what to do.\n");
  return ExitFailure;
}

}  // namespace mulciber::tool
