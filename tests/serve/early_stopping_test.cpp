// SPDX-License-Identifier: Apache-2.0
#include "serve/early_stopping.h"

#include <array>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::array<int64_t, 11> kOver{0, 1, 2, 3, 5, 10, 20, 50, 100, 500, 1000};

struct Published {
  double percentile;
  std::array<int64_t, 11> total;  // queries needed for kOver, from the exact binomial sum
};

class EarlyStopping : public ::testing::TestWithParam<Published> {};

TEST_P(EarlyStopping, NeedsThePublishedNumberOfQueries) {
  for (size_t i = 0; i < kOver.size(); ++i) {
    EXPECT_EQ(queries_under_needed(kOver[i], GetParam().percentile) + kOver[i], GetParam().total[i])
        << kOver[i] << " over at " << GetParam().percentile;
  }
}

TEST_P(EarlyStopping, OneQueryFewerIsTooFew) {
  for (size_t i = 0; i < kOver.size(); ++i) {
    EXPECT_EQ(most_over(GetParam().total[i], GetParam().percentile), kOver[i]);
    const auto fewer = most_over(GetParam().total[i] - 1, GetParam().percentile);
    EXPECT_LT(fewer.value_or(-1), kOver[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Percentiles, EarlyStopping,
    ::testing::Values(
        Published{.50, {7, 11, 14, 17, 22, 35, 59, 128, 237, 1078, 2108}},
        Published{.90, {44, 64, 81, 97, 127, 197, 325, 681, 1246, 5518, 10722}},
        Published{.95, {90, 130, 165, 198, 259, 398, 656, 1372, 2504, 11064, 21483}},
        Published{.97, {152, 219, 277, 332, 433, 667, 1097, 2293, 4182, 18458, 35831}},
        Published{.99, {459, 662, 838, 1001, 1307, 2010, 3304, 6898, 12571, 55427, 107569}},
        Published{.999,
                  {4603, 6636, 8403, 10042, 13105, 20140, 33097, 69058, 125826, 554510, 1076032}}));

TEST(EarlyStoppingEstimate, IsTheLargestValueOfTheFewestQueries) {
  std::vector<int64_t> sorted(64);
  std::iota(sorted.begin(), sorted.end(), 1);
  const auto estimate = early_stopping_estimate(sorted, 0.9);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->value_ns, 64);
  EXPECT_EQ(estimate->discarded, 0);
  sorted.pop_back();
  EXPECT_FALSE(early_stopping_estimate(sorted, 0.9).has_value());
}

TEST(EarlyStoppingEstimate, DiscardsTheHighestAsManyAsTheSampleBears) {
  std::vector<int64_t> sorted(10'722);  // 1000 may be over at 90 %
  std::iota(sorted.begin(), sorted.end(), 1);
  const auto estimate = early_stopping_estimate(sorted, 0.9);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->discarded, 999);
  EXPECT_EQ(estimate->value_ns, 10'722 - 999);
}

TEST(EarlyStoppingEstimate, NeedsSixtyFourAndSixHundredAndSixtyTwo) {
  EXPECT_EQ(queries_to_estimate(0.90), 64);
  EXPECT_EQ(queries_to_estimate(0.99), 662);
  EXPECT_FALSE(most_over(0, 0.9).has_value());
  EXPECT_FALSE(most_over(43, 0.9).has_value());
}

}  // namespace
}  // namespace assay
