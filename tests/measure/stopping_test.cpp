// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "measure/interval.h"
#include "measure/statistics.h"

namespace assay {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Feeds samples of 1 ms mean and the given relative noise, one a millisecond, until the rule is
// done.
template <class Rule>
int64_t feed(Rule& rule, double noise, uint64_t seed, int64_t most = 100000) {
  RandomStream random((RandomKey(seed)));
  int64_t samples = 0;
  while (!rule.finished() && samples < most) {
    ++samples;
    rule.add(1e6 * (1 + noise * random.normal()), milliseconds(samples));
  }
  return samples;
}

TEST(CountRule, StopsAfterItsCount) {
  CountRule rule(3);
  EXPECT_FALSE(rule.finished());
  EXPECT_EQ(rule.reason(), "0 of 3 samples");
  EXPECT_EQ(feed(rule, 0, 1), 3);
  EXPECT_EQ(rule.reason(), "3 samples");
}

TEST(TimeRule, StopsAfterItsTime) {
  TimeRule rule(0.25);
  EXPECT_EQ(feed(rule, 0, 1), 250);
  EXPECT_EQ(rule.reason(), "250 ms have passed");
}

TEST(StreamingBatches, KnowMeanAndSpreadOfTheStream) {
  RandomStream random(RandomKey(61));
  StreamingBatches batches;
  std::vector<double> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(50 + random.normal());
    batches.add(all.back());
  }
  EXPECT_EQ(batches.samples(), 5000);
  EXPECT_NEAR(batches.mean(), mean(all), 1e-9);
  EXPECT_NEAR(batches.relative_stdev(), coefficient_of_variation(all), 1e-9);
  const auto interval = t_interval(all);
  const double naive = (interval->high - interval->low) / 2 / mean(all);
  EXPECT_GT(batches.relative_half_width(), 0.7 * naive);
  EXPECT_LT(batches.relative_half_width(), 2 * naive);
}

TEST(StreamingBatches, WidenTheIntervalOfACorrelatedStream) {
  RandomStream random(RandomKey(62));
  StreamingBatches batches;
  std::vector<double> all;
  double state = 0;
  for (int i = 0; i < 20000; ++i) {
    state = 0.95 * state + random.normal();
    all.push_back(100 + state);
    batches.add(all.back());
  }
  const auto naive = t_interval(all);
  // The autocorrelation time is 39: the naive interval is six times too narrow.
  EXPECT_GT(batches.relative_half_width(), 4 * (naive->high - naive->low) / 2 / mean(all));
}

TEST(StreamingBatches, KnowNothingFromOneSample) {
  StreamingBatches batches;
  EXPECT_TRUE(std::isinf(batches.relative_half_width()));
  batches.add(1);
  EXPECT_TRUE(std::isinf(batches.relative_half_width()));
  EXPECT_EQ(batches.relative_stdev(), 0);
}

TEST(RelativeNoiseRule, StopsWhenTheIntervalIsNarrowEnough) {
  RelativeNoiseRule rule(0.01);
  const int64_t samples = feed(rule, 0.05, 2);
  EXPECT_TRUE(rule.finished());
  // 99 independent samples are needed; batches are more careful.
  EXPECT_GT(samples, 50);
  EXPECT_LT(samples, 800);
  EXPECT_THAT(rule.reason(), testing::MatchesRegex("noise .* % is at most 1 %"));
}

TEST(RelativeNoiseRule, StopsAtTheLeastSamplesWhenThereIsNoNoise) {
  RelativeNoiseRule rule(0.01, 12);
  EXPECT_THAT(rule.reason(), HasSubstr("too few samples"));
  EXPECT_EQ(feed(rule, 0, 3), 12);
  EXPECT_EQ(rule.noise(), 0);
}

TEST(ConvergedNoiseRule, StopsWhenTheNoiseIsSteadyAndTheGoalOutOfReach) {
  ConvergedNoiseRule rule(0.001, 10);
  const int64_t samples = feed(rule, 0.3, 4);
  EXPECT_TRUE(rule.finished());
  EXPECT_LT(samples, 5000);
  EXPECT_THAT(rule.reason(), StartsWith("the noise has settled at"));
  EXPECT_THAT(rule.reason(), HasSubstr("10.0 s are allowed"));
}

TEST(ConvergedNoiseRule, GoesOnWhileTheGoalIsWithinReach) {
  ConvergedNoiseRule rule(0.01, 1000);
  EXPECT_EQ(feed(rule, 0.05, 5, 20000), 20000);
  EXPECT_FALSE(rule.finished());
  EXPECT_THAT(rule.reason(), HasSubstr("has not settled"));
}

TEST(CombinedRule, StopsWhenQuietAfterTheLeastTimeAndSamples) {
  StoppingOptions options;
  options.min_time_s = 0.1;
  CombinedRule rule(options);
  EXPECT_EQ(feed(rule, 0.001, 6), 100);  // quiet at once, but asked to stay a while
  EXPECT_TRUE(rule.quiet());
  EXPECT_THAT(rule.reason(), HasSubstr("is at most 1 %"));
}

TEST(CombinedRule, NeverPassesTheMostTime) {
  StoppingOptions options;
  options.max_time_s = 0.5;
  options.max_noise = 0.02;
  CombinedRule rule(options);
  EXPECT_EQ(feed(rule, 0.25, 7), 500);
  EXPECT_FALSE(rule.quiet());
  EXPECT_THAT(rule.reason(), StartsWith("500 ms have passed; noise"));
}

TEST(CombinedRule, NeverPassesTheMostSamples) {
  StoppingOptions options;
  options.max_samples = 77;
  CombinedRule rule(options);
  EXPECT_EQ(feed(rule, 0.25, 8), 77);
  EXPECT_THAT(rule.reason(), StartsWith("77 samples; noise"));
}

TEST(CombinedRule, GivesUpEarlyWhenTheNoiseIsHopeless) {
  StoppingOptions options;
  options.max_noise = 1e-5;
  options.max_time_s = 100;
  CombinedRule rule(options);
  EXPECT_LT(feed(rule, 0.3, 9), 20000);
  EXPECT_FALSE(rule.quiet());
  EXPECT_THAT(rule.reason(), StartsWith("the noise has settled"));
}

TEST(CombinedRule, SaysWhatIsMissingWhileItGoesOn) {
  CombinedRule rule(StoppingOptions{});
  EXPECT_EQ(rule.reason(), "0 of 10 samples");
  for (int i = 1; i <= 10; ++i) rule.add(1, milliseconds(i));
  EXPECT_THAT(rule.reason(), StartsWith("10.0 ms of"));
}

}  // namespace
}  // namespace assay
