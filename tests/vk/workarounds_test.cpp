#include "runtime/vk/workarounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "support/test_data.h"
#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

std::set<std::string_view> idsOn(const Workarounds& workarounds) {
  std::set<std::string_view> ids;
  for (size_t i = 0; i < workaroundList().size(); ++i)
    if (workarounds.has(static_cast<Workaround>(i))) ids.insert(workaroundList()[i].id);
  return ids;
}

TEST(Workarounds, BelongToDrivers) {
  std::vector<std::string> problems;
  const Workarounds nvidia(Driver::Nvidia, false, {}, problems);
  const Workarounds lavapipe(Driver::Lavapipe, true, {}, problems);
  const Workarounds radv(Driver::Other, false, {}, problems);
  EXPECT_TRUE(nvidia.has(Workaround::LoopFlags));
  EXPECT_FALSE(lavapipe.has(Workaround::LoopFlags));
  EXPECT_TRUE(lavapipe.has(Workaround::ImagesBetweenKernels));
  EXPECT_FALSE(nvidia.has(Workaround::ImagesBetweenKernels));
  EXPECT_FALSE(lavapipe.has(Workaround::HostWrites));
  EXPECT_TRUE(radv.has(Workaround::HostWrites));
  EXPECT_FALSE(radv.has(Workaround::OnePipelineAtATime));
  EXPECT_TRUE(radv.has(Workaround::ClampedConversions));
  EXPECT_TRUE(problems.empty());
}

TEST(Workarounds, OfProbedFaultsAreOnWhereTheProbeFoundThem) {
  std::vector<std::string> problems;
  TargetProfile profile;
  profile.foldsZeros = true;
  Workarounds all(Driver::Lavapipe, true, {}, problems);
  all.apply(profile);
  EXPECT_TRUE(profile.foldsZeros);
  EXPECT_FALSE(profile.foldsHalfRoundTrips);
  EXPECT_TRUE(all.has(Workaround::ConstantZeros));
  EXPECT_FALSE(all.has(Workaround::HalfRoundTrips));
  Workarounds(Driver::Lavapipe, true, {.disabled = {"constant-zeros"}}, problems).apply(profile);
  EXPECT_FALSE(profile.foldsZeros);
}

TEST(Workarounds, EachCanBeSwitchedOff) {
  std::vector<std::string> problems;
  std::set<std::string_view> ids;
  for (const WorkaroundInfo& info : workaroundList()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id << " is there twice";
    const bool isCpu = info.drivers == WorkaroundInfo::Drivers::Lavapipe;
    const Driver driver = isCpu ? Driver::Lavapipe : Driver::Nvidia;
    auto expected = idsOn(Workarounds(driver, isCpu, {}, problems));
    EXPECT_EQ(expected.erase(info.id), 1u) << info.id;
    Workarounds fewer(driver, isCpu, {.disabled = {std::string(info.id)}}, problems);
    EXPECT_EQ(idsOn(fewer), expected) << info.id;
    if (info.member == nullptr) continue;
    TargetProfile profile;
    profile.*info.member = true;
    fewer.apply(profile);
    EXPECT_FALSE(profile.*info.member) << info.id;
  }
  EXPECT_TRUE(problems.empty());
}

TEST(Workarounds, EachCanBeSwitchedOn) {
  std::vector<std::string> problems;
  for (const WorkaroundInfo& info : workaroundList()) {
    auto expected = idsOn(Workarounds(Driver::Other, true, {}, problems));
    expected.insert(info.id);
    Workarounds more(Driver::Other, true, {.enabled = {std::string(info.id)}}, problems);
    EXPECT_EQ(idsOn(more), expected) << info.id;
    if (info.member == nullptr) continue;
    TargetProfile profile;
    profile.*info.member = false;
    more.apply(profile);
    EXPECT_TRUE(profile.*info.member) << info.id;
  }
  EXPECT_TRUE(problems.empty());
}

TEST(Workarounds, UnknownOnesAreNamed) {
  std::vector<std::string> problems;
  const Workarounds made(Driver::Lavapipe, true, {.disabled = {"loop-flag"}}, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "MULCIBER_DISABLE_WORKAROUNDS: there is no work-around 'loop-flag'; did you mean 'loop-flags'?");
}

TEST(Workarounds, AreDocumented) {
  const auto root = std::filesystem::path(MULCIBER_TEST_DATA) / "../..";
  std::ifstream file(root / "docs/workarounds.md");
  if (!file) GTEST_SKIP() << "skipped: the source tree is not here";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr const char* drivers[] = {"NVIDIA's", "lavapipe", "GPUs'", "all", "where a probe finds it"};
  for (const WorkaroundInfo& info : workaroundList()) {
    const std::string row =
        fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |", info.id, drivers[static_cast<size_t>(info.drivers)],
                    info.seen, info.fault, info.remedy, info.cost, info.test);
    EXPECT_FALSE(info.seen.empty()) << info.id;
    EXPECT_NE(text.find(row), std::string::npos) << "docs/workarounds.md lacks the row\n" << row;
    EXPECT_TRUE(!info.test.starts_with("tests/") || std::filesystem::exists(root / info.test)) << info.test;
  }
}

TEST(Workarounds, AreThoseThatTheTableOfProfilesNames) {
  struct Field {
    bool TargetProfile::*member;
    std::string_view id;
  };
  const Field fields[] = {
#define PROFILE_FIELD(type, name, rule, group, value, kind, source, purpose) FIELD_##kind(name, source)
#define FIELD_Workaround(name, source) {&TargetProfile::name, source},
#define FIELD_Probe(...)
#define FIELD_Option(...)
#define FIELD_Feature(...)
#define FIELD_Derived(...)
#define FIELD_Driver(...)
#define FIELD_Caller(...)
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
  };
  size_t known = 0;
  for (const WorkaroundInfo& info : workaroundList()) {
    if (!info.member || info.drivers == WorkaroundInfo::Drivers::Probed) continue;
    ++known;
    EXPECT_TRUE(std::ranges::any_of(fields, [&](const Field& field) {
      return field.member == info.member && field.id == info.id;
    })) << info.id;
  }
  EXPECT_EQ(known, std::size(fields));
}

}  // namespace
}  // namespace mulciber::vk
