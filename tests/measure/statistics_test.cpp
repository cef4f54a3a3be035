// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

const Values kTen = {12.1, 11.9, 12.4, 12.0, 13.1, 12.2, 12.3, 11.8, 12.5, 12.0};

double olympic(const Values& values) { return *olympic_mean(std::span(values)); }

TEST(Mean, DoesNotLoseSmallValuesBesideLargeOnes) {
  EXPECT_EQ(mean(Values{1e16, 1, -1e16, 1}), 0.5);
  EXPECT_EQ(mean(Values{3}), 3);
  EXPECT_DEATH(mean(Values{}), "the mean of nothing");
}

TEST(Median, IsTheMiddleOrHalfwayBetweenTheTwoMiddles) {
  EXPECT_EQ(median(Values{5, 1, 3}), 3);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Values{7}), 7);
}

TEST(SampleStdev, DividesByOneLessThanTheCount) {
  EXPECT_NEAR(sample_stdev(kTen), 0.3772709017845575, 1e-14);
  // A large common offset must not swamp the spread.
  Values shifted = kTen;
  for (double& value : shifted) value += 1e9;
  EXPECT_NEAR(sample_stdev(shifted), 0.3772709017845575, 1e-6);
  EXPECT_EQ(sample_stdev(Values{2, 2, 2}), 0);
  EXPECT_DEATH(sample_stdev(Values{1}), "two values");
}

TEST(TrimmedMean, DropsTheShareAtEachEnd) {
  EXPECT_NEAR(*trimmed_mean(kTen, 0.1), 12.175, 1e-12);
  EXPECT_NEAR(*trimmed_mean(kTen, 0.25), 12.166666666666666, 1e-12);  // two of ten
  EXPECT_EQ(*trimmed_mean(kTen, 0), mean(kTen));
  EXPECT_FALSE(trimmed_mean(kTen, 0.5).ok());
  EXPECT_FALSE(trimmed_mean(kTen, std::nan("")).ok());
}

// Run lists and scores published by MLCommons, DGX-1 with eight V100, minutes
// (mlcommons/training_results_v0.5 c71f2e7, _v0.6 f312518, _v0.7 0a8a85a).
TEST(OlympicMean, GivesThePublishedScores) {
  EXPECT_NEAR(olympic({134.97, 135.13, 134.01, 133.70, 134.70}), 134.56, 0.01);
  EXPECT_NEAR(olympic({115.34, 115.17, 108.14, 115.16, 115.58}), 115.22, 0.01);
  EXPECT_NEAR(olympic({26.96, 27.03, 26.71, 26.68, 26.97}), 26.88, 0.01);
  EXPECT_NEAR(olympic({22.46, 22.34, 22.29, 22.33, 22.42}), 22.36, 0.01);
  EXPECT_NEAR(olympic({20.68, 20.71, 20.65, 20.76, 20.68}), 20.69, 0.01);
  EXPECT_NEAR(olympic({192.93, 207.81, 206.84, 208.46, 207.78}), 207.48, 0.01);
  EXPECT_NEAR(olympic({152.74, 153.86, 153.46, 155.17, 154.01}), 153.78, 0.01);
  EXPECT_NEAR(olympic({18.29, 18.28, 18.28, 18.28, 18.23, 18.26, 18.32, 18.22, 18.27, 18.20}),
              18.26, 0.01);
  EXPECT_NEAR(olympic({20.42, 20.61, 20.61, 20.30, 20.53, 25.83, 20.68, 20.54, 20.55, 20.50}),
              20.55, 0.01);
  EXPECT_NEAR(olympic({18.52, 18.54, 18.47, 18.46, 18.47, 23.23, 18.62, 18.32, 18.47, 18.47}),
              18.50, 0.01);
  EXPECT_NEAR(olympic({30.28, 30.29, 40.23, 40.18, 30.25, 30.11, 30.29, 30.05, 30.05, 40.08}),
              32.69, 0.01);
  EXPECT_NEAR(olympic({19.58, 25.91, 19.55, 19.64, 19.57, 19.58, 19.48, 19.39, 26.09, 19.45}),
              20.34, 0.01);
  EXPECT_NEAR(olympic({17.84, 17.85, 17.97, 24.02, 17.98, 17.96, 23.96, 18.00, 18.10, 18.68}),
              18.81, 0.01);
  EXPECT_NEAR(olympic({7.36, 10.87, 10.91, 10.91, 10.88, 10.87, 10.90, 10.90, 7.38, 10.90}), 10.45,
              0.01);
  EXPECT_NEAR(olympic({24.88, 16.65, 20.72, 16.65, 29.02, 20.73, 16.66, 16.65, 20.73, 16.64}),
              19.21, 0.01);
}

TEST(OlympicMean, IgnoresOneRunThatWentWrong) {
  const Values times = {922.496, 0.464, 0.460, 0.460, 0.463};
  EXPECT_NEAR(olympic(times), 0.462, 0.0005);
  EXPECT_NEAR(mean(times), 184.87, 0.005);
}

TEST(OlympicMean, TakesARunThatDidNotConvergeForTheSlowest) {
  std::vector<TimedRun> bert;
  for (const double time :
       {178.332, 171.324, 153.787, 154.276, 176.169, 172.974, 153.336, 174.202, 156.233}) {
    bert.push_back({time, true});
  }
  bert.push_back({170.645, false});
  EXPECT_NEAR(*olympic_mean(std::span<const TimedRun>(bert)), 167.162, 0.0005);

  const std::vector<TimedRun> resnet = {{71.506, false}, {71.437}, {71.145}, {63.675}, {71.253}};
  EXPECT_NEAR(*olympic_mean(std::span<const TimedRun>(resnet)), 71.28, 0.01);

  bert[0].converged = false;
  const auto two = olympic_mean(std::span<const TimedRun>(bert));
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().message, HasSubstr("2 of 10 runs did not converge"));
}

// Published reference results and seeds of MLPerf v0.5 (mlcommons/training 7788f8d7), seconds.
TEST(OlympicMean, AndMedianAndSpreadDescribeTheReferenceRuns) {
  struct Row {
    Values seeds;
    double published;
    double cv_percent;
    double olympic;
  };
  const Row rows[] = {
      {{530571, 529438, 530373, 523480, 529877}, 529877, 0.56, 529896.0},
      {{298906, 299971, 300471, 298915, 327101}, 299971, 4.04, 299785.7},
      {{111790, 112187, 111760, 112879, 149175}, 112187, 13.85, 112285.3},
      {{405780, 532790, 450667, 412417, 344806}, 412417, 16.12, 422954.7},
      {{2823, 2802, 2803, 2912, 2541}, 2803, 5.01, 2809.3},
      {{287, 207, 210, 214, 324}, 214, 21.66, 237.0},
      {{279252, 277831, 223113, 260951, 263322}, 263322, 8.69, 267368.0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(median(row.seeds), row.published);
    EXPECT_NEAR(100 * coefficient_of_variation(row.seeds), row.cv_percent, 0.005);
    EXPECT_NEAR(olympic(row.seeds), row.olympic, 0.05);
  }
}

TEST(OlympicMean, NeedsSomethingLeft) {
  EXPECT_FALSE(olympic_mean(std::span<const double>(Values{1, 2})).ok());
  EXPECT_FALSE(olympic_mean(std::span<const double>(kTen), 5).ok());
  EXPECT_EQ(*olympic_mean(std::span<const double>(Values{3, 1, 2})), 2);
}

// Monte-Carlo values of the variance for standard normal data: .2270, .1057, .0265.
TEST(OlympicMean, HasTheKnownVarianceOnNormalData) {
  struct Row {
    size_t n;
    size_t drop;
    double variance;
    int rounds;
  };
  RandomStream random(RandomKey(21));
  for (const Row& row :
       {Row{5, 1, 0.2270, 60000}, Row{10, 1, 0.1057, 40000}, Row{40, 4, 0.0265, 20000}}) {
    Values scores(static_cast<size_t>(row.rounds));
    Values sample(row.n);
    for (double& score : scores) {
      for (double& value : sample) value = random.normal();
      score = *olympic_mean(std::span<const double>(sample), row.drop);
    }
    EXPECT_NEAR(sample_variance(scores), row.variance, 0.004) << row.n;
  }
}

TEST(Percentile, InterpolatesAsNumpyDoes) {
  Values hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_DOUBLE_EQ(percentile(hundred, 50)->value, 50.5);
  EXPECT_DOUBLE_EQ(percentile(hundred, 90)->value, 90.1);
  EXPECT_DOUBLE_EQ(percentile(kTen, 50)->value, 12.15);
  EXPECT_DOUBLE_EQ(percentile(kTen, 33.3)->value, 12.0);
}

TEST(Percentile, TakesItsIntervalFromTheBinomialRanks) {
  const auto bounds = [](int n, double percent) {
    Values ranks(static_cast<size_t>(n));
    std::iota(ranks.begin(), ranks.end(), 1);
    const Interval interval = percentile(ranks, percent)->interval;
    EXPECT_EQ(interval.method, "order-statistics");
    return std::pair(interval.low, interval.high);
  };
  // By enumeration of the binomial tails with SciPy.
  EXPECT_EQ(bounds(100, 50), std::pair(40.0, 61.0));
  EXPECT_EQ(bounds(100, 90), std::pair(84.0, 96.0));
  EXPECT_EQ(bounds(1000, 99), std::pair(983.0, 997.0));
  EXPECT_EQ(bounds(400, 99), std::pair(392.0, 400.0));
  EXPECT_EQ(bounds(6, 50), std::pair(1.0, 6.0));
  EXPECT_EQ(bounds(5000, 99.9), std::pair(4990.0, 5000.0));
}

TEST(Percentile, IsRefusedWhereTheSampleCannotSupportIt) {
  const Values hundred(100, 1.0);
  const auto tail = percentile(hundred, 99.9);
  ASSERT_FALSE(tail.ok());
  EXPECT_EQ(tail.error().message, "p99.9 needs at least 3688 samples, there are 100");
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 10.0}) {
    const auto needed = static_cast<size_t>(samples_for_percentile(percent));
    EXPECT_TRUE(percentile(Values(needed, 1.0), percent).ok()) << percent;
    EXPECT_FALSE(percentile(Values(needed - 1, 1.0), percent).ok()) << percent;
  }
  EXPECT_FALSE(percentile(Values{}, 50).ok());
  EXPECT_FALSE(percentile(hundred, 100).ok());
  EXPECT_FALSE(percentile(hundred, 0).ok());
}

TEST(Percentile, CoversTheTruthAsOftenAsPromised) {
  RandomStream random(RandomKey(22));
  int covered = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    Values sample(200);
    for (double& value : sample) value = -std::log(1 - random.uniform());
    const Interval interval = percentile(sample, 90)->interval;
    covered += interval.low <= std::log(10) && std::log(10) <= interval.high ? 1 : 0;
  }
  // At least 95 %, and not much more, for the ranks are discrete.
  EXPECT_GE(covered, kRounds * 0.94);
  EXPECT_LE(covered, kRounds * 0.985);
}

TEST(PercentileName, IsTheFieldNameOfTheContract) {
  EXPECT_EQ(percentile_name(99.9), "p99_9");
  EXPECT_EQ(percentile_name(50), "p50");
}

}  // namespace
}  // namespace assay
