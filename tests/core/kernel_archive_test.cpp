// Kernels translated ahead of time: which devices they are for, and bytes that are none.
#include "runtime/core/kernel_archive.h"

#include "archive.h"
#include "mulciber/offline.h"

namespace mulciber::core {
namespace {

const std::string ptx = R"(.version 7.0
.target sm_75
.address_size 64
.global .u32 numbers[3] = {1, 2, 3};
.global .u64 place = numbers;
.visible .entry one(.param .u64 out, .param .f32 x, .param .align 8 .b8 pair[16], .param .u16 small) {
  .reg .b64 %a;
  ld.param.u64 %a, [out];
  st.global.u32 [%a], 1;
  ret;
}
.visible .entry two() { ret; }
)";

Error read(const std::string& bytes, const TargetProfile& device, std::unique_ptr<const KernelArchive>& out,
           std::string& problem) {
  problem.clear();
  return KernelArchive::read(bytes, device, out, problem);
}

TEST(KernelArchiveTest, HoldsWhatModulesNeed) {
  const TargetProfile& lavapipe = *builtinProfile("lavapipe");
  std::unique_ptr<const KernelArchive> archive;
  std::string problem;
  ASSERT_EQ(read(translated(ptx, lavapipe), lavapipe, archive, problem), Error::Success) << problem;
  EXPECT_EQ(archive->index().kernels, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(archive->index().architecture, 75u);
  ASSERT_EQ(archive->index().data.symbols.size(), 2u);
  EXPECT_EQ(archive->index().data.relocations.size(), 1u);
  Diagnostics diagnostics;
  const ModulePtr module = parseModule(ptx, "test.ptx", diagnostics);
  EXPECT_EQ(archive->index().data.image, moduleData(*module).image);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(archive->index().data.symbols[i].name, moduleData(*module).symbols[i].name);
    EXPECT_EQ(archive->index().data.symbols[i].offset, moduleData(*module).symbols[i].offset);
  }
  const auto direct = translate(*module, "one", lavapipe, {}, diagnostics);
  Kernel kernel;
  ASSERT_TRUE(archive->kernel("one", 0, kernel));
  EXPECT_EQ(kernel.spirv, direct->spirv);
  EXPECT_EQ(kernel.info.parameters.size(), 4u);
  EXPECT_FALSE(archive->kernel("three", 0, kernel));
  EXPECT_EQ(parameterKinds(*module, "one"),
            (std::vector{ParameterKind::Integer, ParameterKind::Float, ParameterKind::Bytes, ParameterKind::Integer}));
}

TEST(KernelArchiveTest, GivesTheFirstProfileThatTheDeviceSuits) {
  const TargetProfile lavapipe = *builtinProfile("lavapipe"), nvidia = *builtinProfile("nvidia");
  TargetProfile poor = lavapipe;
  poor.name = "poor";
  poor.maxPushConstants = 32;  // then parameters lie in a buffer
  const std::string bytes = translated(ptx, {nvidia, lavapipe, poor});
  std::unique_ptr<const KernelArchive> archive;
  std::string problem;
  Kernel kernel;
  ASSERT_EQ(read(bytes, lavapipe, archive, problem), Error::Success) << problem;
  ASSERT_TRUE(archive->kernel("one", 0, kernel));
  EXPECT_FALSE(kernel.info.parametersInBuffer);
  ASSERT_EQ(read(bytes, poor, archive, problem), Error::Success) << problem;
  ASSERT_TRUE(archive->kernel("one", 0, kernel));
  EXPECT_TRUE(kernel.info.parametersInBuffer);
  poor.subgroupSize = 16;
  EXPECT_EQ(read(bytes, poor, archive, problem), Error::NoBinaryForGpu);
  EXPECT_NE(problem.find("the profile lavapipe, which this device does not suit: maxPushConstants, subgroupSize"),
            std::string::npos)
      << problem;
}

TEST(KernelArchiveTest, HoldsDotProductsAndTheirRepair) {
  TargetProfile device = *builtinProfile("nvidia");
  const std::string bytes = translated(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b64 %rd<2>; .reg .f32 %f<2>; ld.param.u64 %rd1, [out]; ld.global.f32 %f1, [%rd1];\n"
      "fma.rn.f32 %f1, %f1, 0f40400000, %f1; st.global.f32 [%rd1], %f1; ret;\n}\n",
      device);
  const size_t repaired = LaunchNeeds{false, false, false, false, true}.index();
  std::unique_ptr<const KernelArchive> archive;
  std::string problem;
  ASSERT_EQ(read(bytes, device, archive, problem), Error::Success) << problem;
  Kernel kernel;
  ASSERT_TRUE(archive->kernel("k", 0, kernel));
  EXPECT_TRUE(kernel.info.usesDotProducts);
  EXPECT_EQ(kernel.info.carriedWords, std::vector<uint32_t>{0x40400000});
  ASSERT_TRUE(archive->kernel("k", repaired, kernel));
  EXPECT_FALSE(kernel.info.usesDotProducts);
  device.exactDot32 = false;
  ASSERT_EQ(read(bytes, device, archive, problem), Error::Success) << problem;
  ASSERT_TRUE(archive->kernel("k", 0, kernel));
  EXPECT_FALSE(kernel.info.usesDotProducts);
}

// Whatever a device lacks of a built-in profile: subgroups of 32, threads that meet again, denormals, a fault more.
TEST(KernelArchiveTest, PortableKernelsAreForEveryDevice) {
  const std::string bytes = translated(ptx, portableProfiles(false));
  std::unique_ptr<const KernelArchive> archive;
  std::string problem;
  for (const char* name : {"vulkan1.3", "lavapipe", "nvidia"}) {
    std::vector<TargetProfile> devices(8, *builtinProfile(name));
    devices[1].subgroupSize = 8;
    devices[2].subgroupSize = 64;
    devices[3].maximalReconvergence = devices[3].subgroupShuffle = devices[3].exitedThreadsArrive = false;
    devices[4].denormsByDefault32 ^= true;
    devices[5].nvidiaNan ^= true;
    devices[6].signedZeroPreserve ^= true;
    devices[7].approximationsFlush32 ^= true;
    for (TargetProfile& device : devices) {
      device.foldsZeros = device.gridsInPieces = true;
      EXPECT_EQ(read(bytes, device, archive, problem), Error::Success) << problem;
    }
  }
  TargetProfile poor;
  poor.maxPushConstants = 64;
  poor.maxThreadsPerBlock = 256;
  EXPECT_EQ(read(bytes, poor, archive, problem), Error::NoBinaryForGpu);
  EXPECT_NE(problem.find("the profile portable, which this device does not suit: maxPushConstants, maxThreadsPerBlock"),
            std::string::npos)
      << problem;
  EXPECT_EQ(problem.find("portable"), problem.rfind("portable")) << problem;
}

// A kernel without floats has as many translations as there are ways to ask for signs of zeros: two of sixteen.
TEST(KernelArchiveTest, KeepsEachTranslationOnce) {
  auto portable = portableProfiles(false);
  const size_t all = translated(ptx, portable).size();
  std::erase_if(portable, [](const TargetProfile& p) { return p.denormsByDefault32 || p.nvidiaNan; });
  const size_t fewer = translated(ptx, portable).size();
  EXPECT_EQ(portable.size(), 4u);
  EXPECT_LT(all - fewer, 12 * 768u);  // of 12 profiles, and no more translations
}

TEST(KernelArchiveTest, RefusesDamagedBytes) {
  const TargetProfile& lavapipe = *builtinProfile("lavapipe");
  const std::string bytes = translated(ptx, lavapipe);
  std::unique_ptr<const KernelArchive> archive;
  std::string problem;
  for (size_t i = 0; i < bytes.size(); i += i < 200 ? 1 : 97) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(read(damaged, lavapipe, archive, problem), Error::InvalidImage) << i;
    EXPECT_FALSE(problem.empty());
    EXPECT_EQ(read(bytes.substr(0, i), lavapipe, archive, problem), Error::InvalidImage) << i;
  }
  std::string other = bytes;
  other[8] = static_cast<char>(other[8] + 1);
  EXPECT_EQ(read(other, lavapipe, archive, problem), Error::InvalidImage);
  EXPECT_NE(problem.find("another version of Mulciber"), std::string::npos);
  EXPECT_FALSE(archive);
}

TEST(ProfileTest, BriefJsonIsReadAsTheWholeProfile) {
  for (const char* name : {"vulkan1.3", "lavapipe", "nvidia"}) {
    std::string error;
    const auto read = profileFromJson(toBriefJson(*builtinProfile(name)), error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(toJson(*read), toJson(*builtinProfile(name)));
  }
}

// Every device suits itself and a poorer profile, and no profile that promises more, whatever it is.
TEST(ProfileTest, NamesWhatKeepsKernelsFromADevice) {
  for (const char* name : {"vulkan1.3", "lavapipe", "nvidia"}) {
    const TargetProfile& profile = *builtinProfile(name);
    EXPECT_EQ(whatKeepsFrom(profile, profile), "");
    TargetProfile more = profile, less = profile;
    more.maxSharedBytes += 1;
    more.float64 = true;
    less.float64 = false;
    EXPECT_EQ(whatKeepsFrom(more, less), "maxSharedBytes, float64");
    EXPECT_EQ(whatKeepsFrom(less, more), "");
    // A work-around that the device needs has to be in the kernels; one that it does not need does no harm.
    TargetProfile faulty = profile, sound = profile;
    faulty.foldsZeros = true;
    sound.foldsZeros = false;
    EXPECT_EQ(whatKeepsFrom(sound, faulty), "foldsZeros");
    EXPECT_EQ(whatKeepsFrom(faulty, sound), "");
  }
}

}  // namespace
}  // namespace mulciber::core
