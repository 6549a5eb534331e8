#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mulciber
