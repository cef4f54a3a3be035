// SPDX-License-Identifier: Apache-2.0
#include "study/sweep.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> integers(std::string_view text) {
  return expand_values(text, CaseValueType::kInteger).value();
}

TEST(Sweep, ReadsListsAndRanges) {
  EXPECT_THAT(integers("1,4,16"), ElementsAre("1", "4", "16"));
  EXPECT_THAT(integers("1-4"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(integers("7-7"), ElementsAre("7"));
  EXPECT_THAT(integers("1-2, 8"), ElementsAre("1", "2", "8"));
}

TEST(Sweep, ReadsRangesWithAFactor) {
  EXPECT_THAT(integers("1024-8192*2"), ElementsAre("1024", "2048", "4096", "8192"));
  // The end need not be met.
  EXPECT_THAT(integers("1-10*3"), ElementsAre("1", "3", "9"));
}

TEST(Sweep, RangesToTheLargestIntegerEnd) {
  EXPECT_THAT(integers("9223372036854775806-9223372036854775807"), SizeIs(2));
  EXPECT_THAT(integers("4611686018427387904-9223372036854775807*2"), SizeIs(1));
}

TEST(Sweep, TextMayHoldDashes) {
  EXPECT_THAT(expand_values("image-classification,b", CaseValueType::kText).value(),
              ElementsAre("image-classification", "b"));
}

TEST(Sweep, KeepsSigns) { EXPECT_THAT(integers("-3"), ElementsAre("-3")); }

class BadValues : public testing::TestWithParam<const char*> {};

TEST_P(BadValues, AreRefused) {
  const auto values = expand_values(GetParam(), CaseValueType::kInteger);
  ASSERT_FALSE(values.ok());
  EXPECT_EQ(values.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(values.error().message.empty());
}

INSTANTIATE_TEST_SUITE_P(Sweep, BadValues,
                         testing::Values("", ",", "1,,2", "8-1", "1-x", "a-4", "1-8*", "1-8*1",
                                         "0-8*2", "1-200000", "1-8*2*2", "1-99999999999999999999"));

TEST(Sweep, IsTheProductOfItsAxes) {
  Sweep sweep;
  sweep.set("activity", {"infer"});
  sweep.set("workload", {"w"});
  sweep.set("batch", {"1", "8"});
  sweep.set("precision", {"f32", "bf16"});
  const std::vector<Case> cases = expand(sweep).value();
  ASSERT_THAT(cases, SizeIs(4));
  EXPECT_EQ(cases[0].text(), "v1:activity=infer workload=w batch=1");
  EXPECT_EQ(cases[3].text(), "v1:activity=infer workload=w precision=bf16 batch=8");
}

TEST(Sweep, HasEachCaseOnce) {
  Sweep sweep;
  sweep.set("activity", {"infer"});
  sweep.set("batch", {"8", "08", "8"});
  EXPECT_THAT(expand(sweep).value(), SizeIs(1));
}

TEST(Sweep, ReplacesAnAxis) {
  Sweep sweep;
  sweep.set("batch", {"1", "2"});
  sweep.set("batch", {"3"});
  EXPECT_THAT(expand(sweep).value(), SizeIs(1));
}

TEST(Sweep, RefusesValuesOfAnotherType) {
  Sweep sweep;
  sweep.set("batch", {"many"});
  EXPECT_THAT(expand(sweep).error().text(), HasSubstr("batch"));
}

TEST(Sweep, RefusesProductsWithoutEnd) {
  Sweep sweep;
  sweep.set("batch", integers("1-1000"));
  sweep.set("threads", integers("1-1000"));
  EXPECT_THAT(expand(sweep).error().message, HasSubstr("more than"));
}

TEST(Sweep, ShufflesBySeedOnly) {
  Sweep sweep;
  sweep.set("batch", integers("1-50"));
  const std::vector<Case> ordered = expand(sweep).value();
  std::vector<Case> first = ordered;
  std::vector<Case> again = ordered;
  std::vector<Case> other = ordered;
  shuffle_cases(first, 1);
  shuffle_cases(again, 1);
  shuffle_cases(other, 2);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_NE(first, ordered);
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), ordered.begin()));
}

TEST(Sweep, UnknownKeysComeWithTheNearest) {
  EXPECT_THAT(case_key_type("bacth").error().hint, HasSubstr("batch"));
  EXPECT_EQ(case_key_type("set.optimizer.rate").value(), CaseValueType::kText);
}

}  // namespace
}  // namespace assay
