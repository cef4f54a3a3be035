// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Join, IsTheInverseOfSplit) {
  for (const char* text : {"", "a", "a,b", ",", "a,,b,"}) {
    EXPECT_EQ(join(split(text, ','), ","), text);
  }
  EXPECT_EQ(join({}, ","), "");
}

TEST(Trim, RemovesBlanksOfBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("\n \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(NearestName, FindsSlipsOfTheFinger) {
  const std::vector<std::string> names = {"train", "infer", "report", "image-classification"};
  EXPECT_EQ(nearest_name("trian", names), "train");  // a swap is one edit
  EXPECT_EQ(nearest_name("rain", names), "train");
  EXPECT_EQ(nearest_name("reports", names), "report");
  EXPECT_EQ(nearest_name("image-clasification", names), "image-classification");
  EXPECT_EQ(nearest_name("image_classificaton", names), "image-classification");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> names = {"train", "infer"};
  EXPECT_EQ(nearest_name("schedule", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{"y"}), std::nullopt);
  EXPECT_EQ(nearest_name("train", {}), std::nullopt);
}

TEST(ParseInt, ReadsWholeStringsOnly) {
  EXPECT_EQ(*parse_int("-42"), -42);
  EXPECT_EQ(*parse_int("+7"), 7);
  EXPECT_EQ(*parse_int("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", " 1", "1 ", "1.0", "0x10", "9223372036854775808", "+-1", "+", "-"}) {
    const auto value = parse_int(bad);
    ASSERT_FALSE(value.ok()) << bad;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(value.error().message, testing::HasSubstr(bad));
  }
}

TEST(ParseUint, RefusesNegativeNumbers) {
  EXPECT_EQ(*parse_uint("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(parse_uint("-1").ok());
  EXPECT_FALSE(parse_uint("18446744073709551616").ok());
}

TEST(ParseDouble, RefusesWhatIsNotAFiniteNumber) {
  EXPECT_EQ(*parse_double("-1.5e3"), -1500);
  EXPECT_EQ(*parse_double(".5"), 0.5);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "1,5", "1.5 ", "1e", "abc"}) {
    EXPECT_FALSE(parse_double(bad).ok()) << bad;
  }
}

TEST(Shortest, ReadsBackToTheSameDouble) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1), "1");
  for (const double value :
       {1.0 / 3, 1e-300, -0.0, 5e-324, 1.7976931348623157e308, 123456789.125}) {
    const double back = std::strtod(shortest(value).c_str(), nullptr);
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
}

}  // namespace
}  // namespace assay
