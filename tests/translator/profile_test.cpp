#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "mulciber/translator.h"

namespace mulciber {
namespace {

TEST(Profile, SurvivesJson) {
  for (const char* name : {"vulkan1.3", "lavapipe", "nvidia"}) {
    const TargetProfile* profile = builtinProfile(name);
    ASSERT_NE(profile, nullptr) << name;
    std::string error, json = toJson(*profile);
    auto read = profileFromJson(json, error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(toJson(*read), json);
    EXPECT_EQ(read->name, name);
  }
}

TEST(Profile, KeepsEveryFieldApartFromItsDefault) {
  // Each flag turned over, each number changed: read back from JSON, the same text must come out.
  std::string json = toJson(TargetProfile{}), error;
  std::string changed;
  for (size_t at = 0; at < json.size();) {
    if (json.compare(at, 4, "true") == 0) {
      changed += "false", at += 4;
    } else if (json.compare(at, 5, "false") == 0) {
      changed += "true", at += 5;
    } else {
      changed += json[at++];
    }
  }
  auto read = profileFromJson(changed, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(toJson(*read), changed);
  EXPECT_NE(changed, json);
}

TEST(Profile, MissingFieldsKeepTheirDefaults) {
  std::string error;
  auto read = profileFromJson(R"({ "name": "a \"b\"", "int8": true })", error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->name, "a \"b\"");
  EXPECT_TRUE(read->int8);
  EXPECT_EQ(read->maxPushConstants, 128u);
}

TEST(Profile, SaysWhatIsWrongWithJson) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1: a profile is a JSON object"},
      {"[]", "line 1: a profile is a JSON object"},
      {"{\n\"int9\": true}", "line 2: a profile has no 'int9'"},
      {R"({"int8": 1})", "line 1: expected true or false"},
      {R"({"maxSharedBytes": -1})", "line 1: expected a whole number below 2^32"},
      {R"({"maxSharedBytes": 4294967296})", "line 1: expected a whole number below 2^32"},
      {R"({"int8": true, "int8": true})", "line 1: 'int8' is given twice"},
      {R"({"int8" true})", "line 1: expected ':' after 'int8'"},
      {R"({"int8": true)", "line 1: expected ',' or '}'"},
      {R"({"int8": true} x)", "line 1: something follows the closing brace"},
      {R"({"name": "x)", "line 1: the string does not end"},
      {R"({"name": "\q"})", "line 1: this escape is not supported"},
  };
  for (const auto& [json, message] : cases) {
    std::string error;
    EXPECT_FALSE(profileFromJson(json, error)) << json;
    EXPECT_EQ(error, message) << json;
  }
}

TEST(Profile, OnlyNvidiasBarrierIsTrustedWithDeviceMemory) {
  EXPECT_TRUE(builtinProfile("nvidia")->barrierOrdersGlobal);
  EXPECT_FALSE(builtinProfile("lavapipe")->barrierOrdersGlobal);
  EXPECT_FALSE(builtinProfile("vulkan1.3")->barrierOrdersGlobal);
}

TEST(Profile, UnknownNamesHaveNone) { EXPECT_EQ(builtinProfile("voodoo"), nullptr); }

struct FieldRow {
  std::string_view name, rule, group, value, kind, source, purpose;
};
constexpr FieldRow rows[] = {
#define PROFILE_FIELD(type, name, rule, group, value, kind, source, purpose) \
  {#name, #rule, group, #value, #kind, #source, purpose},
#include "mulciber/profile_fields.def"
#undef PROFILE_FIELD
};

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string origin(const FieldRow& row) {
  std::string_view source = row.source;
  if (source.starts_with('"')) source = source.substr(1, source.size() - 2);
  if (row.kind == "Feature") return "feature " + code(source.substr(source.rfind('.') + 1));
  if (row.kind == "Derived") return source.find(' ') == source.npos ? code(source) : std::string(source);
  if (row.kind == "Probe") return "a probe";
  if (row.kind == "Option") {
    std::string variable = "MULCIBER_";
    for (const char c : std::string_view(row.source)) {
      if (std::isupper(c)) variable += '_';
      variable += static_cast<char>(std::toupper(c));
    }
    return "a probe, where " + code(variable) + " allows it";
  }
  if (row.kind == "Driver") return "known: " + code(source);
  if (row.kind == "Workaround") return "work-around " + code(source);
  return source.empty() ? "the caller" : code(source);
}

std::string rule(const FieldRow& row) {
  std::string name(row.rule);
  name[0] = static_cast<char>(std::tolower(name[0]));
  return name;
}

std::string capabilitiesPage() {
  std::string page =
      "# Capabilities\n\n"
      "What translation depends on in a device: the members of `TargetProfile`, by the names that profiles as JSON "
      "and\n"
      "`mulciber info` use. `include/mulciber/profile_fields.def` is the source of this page, and a test holds the "
      "two\n"
      "together. A profile that leaves a member out gets its default. [workarounds.md](workarounds.md) says more of "
      "the\n"
      "faults that have a work-around.\n\n"
      "The rule says when kernels translated ahead of time for one profile are right on a device of another: the "
      "device\n"
      "must have an *ability* too, kernels must have been made to avoid a *fault*, both must be the *same*, or the "
      "member\n"
      "is *free*. *Warps*: kernels made for subgroups of 32 need them, and others use no subgroups.\n";
  std::string_view group;
  for (const FieldRow& row : rows) {
    if (row.group != group) {
      group = row.group;
      page += "\n## " + std::string(group) +
              "\n\n| member | default | rule | the runtime has it from | what for |\n|---|---|---|---|---|\n";
    }
    page += "| " + code(row.name) + " | " + code(row.value) + " | " + rule(row) + " | " + origin(row) + " | " +
            std::string(row.purpose) + " |\n";
  }
  return page;
}

TEST(Profile, IsDocumented) {
  const auto root = std::filesystem::path(MULCIBER_TEST_DATA) / "../..";
  std::ifstream file(root / "docs/capabilities.md");
  if (!std::filesystem::exists(root / "docs")) GTEST_SKIP() << "skipped: the source tree is not here";
  const std::string documented{std::istreambuf_iterator<char>(file), {}}, page = capabilitiesPage();
  if (documented == page) return;
  const std::string renewed = testing::TempDir() + "capabilities.md";
  std::ofstream(renewed) << page;
  FAIL() << "docs/capabilities.md differs from include/mulciber/profile_fields.def; " << renewed
         << " is as it should be";
}

}  // namespace
}  // namespace mulciber
