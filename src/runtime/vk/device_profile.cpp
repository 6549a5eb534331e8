// What the translator is told of a device: what it offers, what the probes found, what its driver is known for.
#include <algorithm>

#include "runtime/vk/descriptors.h"
#include "runtime/vk/device.h"
#include "util/environment.h"

namespace mulciber::vk {

void Device::fillProfile() {
  const VkPhysicalDeviceLimits& limits = physical_.limits();
  const auto& operations = physical_.properties11.subgroupSupportedOperations;
  TargetProfile& profile = profile_;
  const Driver driver = physical_.driver();
  const bool isNvidia = driver == Driver::Nvidia, isNvk = driver == Driver::Nvk,
             isLavapipe = driver == Driver::Lavapipe;

  // What needs no thought: each as profile_fields.def says.
#define PROFILE_FIELD(type, name, rule, group, value, kind, source, purpose) PROFILE_FROM_##kind(name, source)
#define PROFILE_FROM_Feature(name, source) profile.name = physical_.source;
#define PROFILE_FROM_Probe(name, source) profile.name = probes_.name;
#define PROFILE_FROM_Option(name, source) profile.name = util::environment().source && probes_.name;
#define PROFILE_FROM_Derived(name, source)  // below
#define PROFILE_FROM_Driver(name, source) profile.name = source;
#define PROFILE_FROM_Workaround(name, source)  // by workarounds_.apply
#define PROFILE_FROM_Caller(name, source)
#include "mulciber/profile_fields.def"
#undef PROFILE_FROM_Feature
#undef PROFILE_FROM_Probe
#undef PROFILE_FROM_Option
#undef PROFILE_FROM_Derived
#undef PROFILE_FROM_Driver
#undef PROFILE_FROM_Workaround
#undef PROFILE_FROM_Caller
#undef PROFILE_FIELD

  profile.name = physical_.properties().deviceName;
  profile.maxPushConstants = std::min(limits.maxPushConstantsSize, 256u);  // what a launch carries with it
  profile.maxSharedBytes = limits.maxComputeSharedMemorySize;
  profile.maxThreadsPerBlock = limits.maxComputeWorkGroupInvocations;
  if (hasConstantBuffers()) profile.maxConstantBytes = limits.maxUniformBufferRange;
  profile.gridsInPieces = limits.maxComputeWorkGroupCount[0] < INT32_MAX;
  // A device may say 32 and have fewer.
  const uint32_t reported = physical_.properties11.subgroupSize;
  profile.subgroupSize = probes_.lanesLikeCuda ? 32 : reported == 32 ? 1 : reported;

  profile.subgroupShuffle = (operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  profile.subgroupBallot = (operations & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0;
  profile.subgroupVote = (operations & VK_SUBGROUP_FEATURE_VOTE_BIT) != 0;
  profile.textures = descriptors_ != nullptr;
  profile.surfaces = profile.textures && physical_.features2.features.shaderStorageImageReadWithoutFormat &&
                     physical_.features2.features.shaderStorageImageWriteWithoutFormat;
  profile.exactMinMax = probes_.exactMinMax && (probes_.minMaxUnitesNans || !profile.nvidiaNan);
  // NVIDIA's own takes x < c ? c : x for a maximum otherwise, which forgets NaNs.
  const auto& properties12 = physical_.properties12;
  profile.signedZeroPreserve = properties12.shaderSignedZeroInfNanPreserveFloat32 &&
                               (properties12.shaderSignedZeroInfNanPreserveFloat16 || !profile.float16) &&
                               (properties12.shaderSignedZeroInfNanPreserveFloat64 || !profile.float64);
  profile.exactFma16 = profile.nvidiaNan && physical_.features12.shaderFloat16;
  profile.samplesLikeCuda = (isNvidia || util::environment().samplers) && Descriptors::haveNothing(physical_);
  profile.checksTextures = util::environment().checkTextures;
  workarounds_.apply(profile);
}

}  // namespace mulciber::vk
