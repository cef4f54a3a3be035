// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(ParseJson, KeepsTheOrderOfMembers) {
  const auto json = parse_json(R"({"z": 1, "a": [true, null]})", "x.json");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->dump(), R"({"z":1,"a":[true,null]})");
}

TEST(ParseJson, NamesThePlaceOfAMistake) {
  const auto json = parse_json("{\"a\": 1,\n \"b\" 2}", "x.json");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(json.error().place, "x.json");
  EXPECT_THAT(json.error().message, HasSubstr("line 2, column 6"));
}

TEST(ParseJson, RefusesWhatIsNotOneDocument) {
  EXPECT_THAT(parse_json("", "p").error().message, HasSubstr("ends too early"));
  EXPECT_THAT(parse_json("[1, 2", "p").error().message, HasSubstr("ends too early"));
  for (const char* bad : {"[1] [2]", "{'a': 1}", "nan", "[1,]", "\"\xff\"", "1e999"}) {
    EXPECT_FALSE(parse_json(bad, "p").ok()) << bad;
  }
}

TEST(ParseJson, RefusesNestingThatWouldExhaustTheStack) {
  const std::string deep(100000, '[');
  EXPECT_THAT(parse_json(deep, "p").error().message, HasSubstr("nested deeper"));
  EXPECT_TRUE(
      parse_json("\"" + std::string(1000, '[') + "\"", "p").ok());  // in a string it is text
  EXPECT_TRUE(parse_json(std::string(500, '[') + std::string(500, ']'), "p").ok());
}

}  // namespace
}  // namespace assay
