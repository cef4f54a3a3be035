// SPDX-License-Identifier: Apache-2.0
#include "measure/interval.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/statistics.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

// x[i] = phi x[i-1] + noise around `center`: autocorrelation phi^lag, time (1 + phi) / (1 - phi).
Values ar1(RandomStream& random, size_t n, double phi, double center = 10) {
  Values values(n);
  double state = random.normal() / std::sqrt(1 - phi * phi);
  for (double& value : values) {
    value = center + state;
    state = phi * state + random.normal();
  }
  return values;
}

// The share of `rounds` AR(1) series whose interval holds the true mean.
template <class Method>
double coverage(uint64_t seed, int rounds, size_t n, double phi, Method method) {
  RandomStream random((RandomKey(seed)));
  int covered = 0;
  for (int round = 0; round < rounds; ++round) {
    const Values values = ar1(random, n, phi);
    const Result<Interval> interval = method(values, round);
    covered += interval.ok() && interval->low <= 10 && 10 <= interval->high ? 1 : 0;
  }
  return static_cast<double>(covered) / rounds;
}

Result<Interval> by_t(const Values& values, int) { return t_interval(values); }
Result<Interval> by_batches(const Values& values, int) { return batch_means_interval(values); }
Result<Interval> by_blocks(const Values& values, int round) {
  return block_bootstrap_interval(values, RandomKey(1).derive(static_cast<uint64_t>(round)), 0.95,
                                  200);
}

TEST(TInterval, IsTheTextbookOne) {
  const auto interval = t_interval(Values{2823, 2802, 2803, 2912, 2541});
  ASSERT_TRUE(interval.ok());
  EXPECT_EQ(interval->method, "t");
  // Half-width 6.2 % of the mean (MLPerf v0.5 reference runs of NCF).
  EXPECT_NEAR((interval->high - interval->low) / 2 / 2776.2, 0.062, 0.0005);
  EXPECT_NEAR((interval->high + interval->low) / 2, 2776.2, 1e-9);
  EXPECT_FALSE(t_interval(Values{1}).ok());
  EXPECT_EQ(t_interval(Values{2, 2})->low, 2);
}

TEST(TInterval, CoversIndependentSamplesAndFailsOnCorrelatedOnes) {
  EXPECT_NEAR(coverage(1, 2000, 10, 0, by_t), 0.95, 0.025);
  EXPECT_LT(coverage(2, 400, 1000, 0.9, by_t), 0.5);
}

TEST(Autocorrelation, OfAnAlternatingSeriesIsKnown) {
  const Values alternating = {1, -1, 1, -1, 1, -1, 1, -1};
  EXPECT_DOUBLE_EQ(autocorrelation(alternating, 0), 1);
  EXPECT_DOUBLE_EQ(autocorrelation(alternating, 1), -7.0 / 8);
  EXPECT_DOUBLE_EQ(autocorrelation(alternating, 2), 6.0 / 8);
  EXPECT_EQ(autocorrelation(Values{3, 3, 3}, 1), 0);
  EXPECT_EQ(autocorrelation(alternating, 100), 0);
}

TEST(AutocorrelationTime, FindsTheTimeOfAnAr1Series) {
  RandomStream random(RandomKey(31));
  for (const double phi : {0.0, 0.5, 0.9}) {
    const double expected = (1 + phi) / (1 - phi);
    const Values values = ar1(random, 40000, phi);
    EXPECT_NEAR(autocorrelation_time(values), expected, 0.15 * expected) << phi;
    EXPECT_NEAR(effective_sample_size(values), 40000 / expected, 0.2 * 40000 / expected) << phi;
  }
  EXPECT_EQ(autocorrelation_time(Values(100, 2.0)), 1);
  EXPECT_GE(autocorrelation_time(ar1(random, 1000, -0.5)), 1);  // never better than independent
}

TEST(BatchMeans, CoverCorrelatedSeries) {
  for (const double phi : {0.0, 0.5, 0.8, 0.9}) {
    const double share = coverage(3, 500, 2000, phi, by_batches);
    EXPECT_GT(share, 0.90) << phi;
    EXPECT_LT(share, 0.98) << phi;
  }
  // A long series with a long memory.
  EXPECT_GT(coverage(4, 100, 20000, 0.97, by_batches), 0.88);
}

// Training steps on a shared machine: 1,638 of them hold 10 or 7 autocorrelation times.
TEST(BatchMeans, CoverSeriesOfAFewAutocorrelationTimes) {
  for (const double phi : {0.988, 0.9915}) {
    const double share = coverage(7, 600, 1638, phi, by_batches);
    EXPECT_GT(share, 0.88) << phi;  // a refusal counts against it
    EXPECT_LT(share, 0.98) << phi;
  }
}

TEST(BatchMeans, RefuseASeriesShorterThanItsMemory) {
  Values ramp(50);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>(i);
  const auto interval = batch_means_interval(ramp);
  ASSERT_FALSE(interval.ok());
  EXPECT_THAT(interval.error().message, HasSubstr("too few for their autocorrelation time"));
  EXPECT_FALSE(batch_means_interval(Values{1, 2, 3}).ok());
}

TEST(BatchMeans, OfAConstantSeriesHaveNoWidth) {
  const auto interval = batch_means_interval(Values(100, 4.5));
  ASSERT_TRUE(interval.ok());
  EXPECT_EQ(interval->low, 4.5);
  EXPECT_EQ(interval->high, 4.5);
}

TEST(BlockBootstrap, CoversCorrelatedSeries) {
  EXPECT_NEAR(coverage(5, 200, 400, 0, by_blocks), 0.94, 0.05);
  EXPECT_GT(coverage(6, 200, 2000, 0.8, by_blocks), 0.87);
}

TEST(BlockBootstrap, IsAFunctionOfItsKey) {
  RandomStream random(RandomKey(32));
  const Values values = ar1(random, 200, 0.5);
  const auto once = block_bootstrap_interval(values, RandomKey(9));
  const auto again = block_bootstrap_interval(values, RandomKey(9));
  const auto other = block_bootstrap_interval(values, RandomKey(10));
  ASSERT_TRUE(once.ok() && again.ok() && other.ok());
  EXPECT_EQ(once->low, again->low);
  EXPECT_NE(once->low, other->low);
  EXPECT_EQ(once->method, "block-bootstrap");
  EXPECT_LT(once->low, mean(values));
  EXPECT_GT(once->high, mean(values));
  EXPECT_FALSE(block_bootstrap_interval(Values(15, 1.0), RandomKey(1)).ok());
}

TEST(BootstrapBlockLength, GrowsWithTheMemoryOfTheSeries) {
  RandomStream random(RandomKey(33));
  const double independent = bootstrap_block_length(ar1(random, 2000, 0));
  const double correlated = bootstrap_block_length(ar1(random, 2000, 0.9));
  EXPECT_LT(independent, 6);
  EXPECT_GT(correlated, 20);
  EXPECT_EQ(bootstrap_block_length(Values(100, 1.0)), 1);
}

// Spatial test data of Efron and Tibshirani, An Introduction to the Bootstrap (1993), table 14.1:
// 90 % BCa interval of the variance (divisor n) is (115.8, 259.6).
TEST(Bca, GivesTheTextbookIntervalOfAVariance) {
  const Values data = {48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
                       0,  33, 28, 34, 4,  32, 24, 47, 41, 24, 26, 30, 41};
  const Statistic variance = [](std::span<const double> values) {
    const auto n = static_cast<double>(values.size());
    return sample_variance(values) * (n - 1) / n;
  };
  const auto interval = bca_interval(data, variance, RandomKey(34), 0.9, 20000);
  ASSERT_TRUE(interval.ok());
  EXPECT_EQ(interval->method, "bca");
  EXPECT_NEAR(interval->low, 115.8, 3);
  EXPECT_NEAR(interval->high, 259.6, 4);
}

TEST(Bca, AgreesWithScipyForAFewSeeds) {
  const Statistic average = [](std::span<const double> values) { return mean(values); };
  const auto interval =
      bca_interval(Values{2541, 2803, 2802, 2823, 2912}, average, RandomKey(35), 0.95, 20000);
  ASSERT_TRUE(interval.ok());
  EXPECT_NEAR(interval->low, 2645.4, 8);
  EXPECT_NEAR(interval->high, 2854.4, 8);
}

TEST(Bca, RefusesWhatHasNoSpread) {
  const Statistic average = [](std::span<const double> values) { return mean(values); };
  EXPECT_FALSE(bca_interval(Values{1, 2}, average, RandomKey(1)).ok());
  EXPECT_FALSE(bca_interval(Values{2, 2, 2}, average, RandomKey(1)).ok());
}

TEST(SeriesInterval, TakesShortSeriesAsIndependent) {
  RandomStream random(RandomKey(36));
  EXPECT_EQ(series_interval(ar1(random, 19, 0))->method, "t");
  EXPECT_EQ(series_interval(ar1(random, 500, 0.3))->method, "batch-means");
}

}  // namespace
}  // namespace assay
