// SPDX-License-Identifier: Apache-2.0
#include "measure/summary.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

TEST(Summary, AMeanWithoutIntervalKeepsTheReason) {
  // A staircase remembers its whole past.
  std::vector<double> stairs(60);
  for (size_t i = 0; i < stairs.size(); ++i) stairs[i] = i < 30 ? 1e6 : 2e6;
  Record record;
  add_percentiles(record, "latency", stairs);
  ASSERT_NE(record.metric("latency_mean_ns"), nullptr);
  EXPECT_EQ(record.metric("latency_mean_ns")->value, 1.5e6);
  EXPECT_FALSE(record.metric("latency_mean_ns")->interval.has_value());
  EXPECT_THAT(record.missing.at("latency_mean_ns.interval"), HasSubstr("autocorrelation time"));
}

TEST(Summary, AnIntervalLeavesNoReasonBehind) {
  Record record;
  add_percentiles(record, "latency", std::vector<double>{1e6, 2e6, 3e6});
  ASSERT_TRUE(record.metric("latency_mean_ns")->interval.has_value());
  EXPECT_FALSE(record.missing.contains("latency_mean_ns.interval"));
}

TEST(Summary, TheReciprocalSwapsTheEnds) {
  const Result<Interval> rate = reciprocal(Interval{2, 4, 0.95, "t"}, 8);
  ASSERT_TRUE(rate.ok());
  EXPECT_EQ(rate->low, 2);
  EXPECT_EQ(rate->high, 4);
  EXPECT_EQ(rate->method, "t");
  EXPECT_THAT(reciprocal(Interval{-1, 4, 0.95, "t"}, 8).error().message, HasSubstr("holds 0"));
  const Error none{ErrorCode::kInvalid, "too few"};
  EXPECT_EQ(reciprocal(none, 8).error().message, "too few");
}

}  // namespace
}  // namespace assay
