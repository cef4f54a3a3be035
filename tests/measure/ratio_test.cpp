// SPDX-License-Identifier: Apache-2.0
#include "measure/ratio.h"

#include <array>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "measure/variance.h"

namespace assay {
namespace {

using Values = std::vector<double>;

const Values kOurs = {10.1, 10.4, 9.9, 10.2, 10.0};
const Values kPeer = {10.9, 11.4, 10.8, 11.3, 11.1};

TEST(PairedRatio, IsTheTIntervalOfTheLogarithms) {
  const auto ratio = paired_ratio(kOurs, kPeer, Quantity::kTime);
  ASSERT_TRUE(ratio.ok());
  // By SciPy: scipy.stats.t.interval on log(peer / ours).
  EXPECT_NEAR(ratio->ratio, 1.0967642593917495, 1e-12);
  EXPECT_NEAR(ratio->interval.low, 1.08113787, 5e-9);
  EXPECT_NEAR(ratio->interval.high, 1.11261651, 5e-9);
  EXPECT_EQ(ratio->verdict, Verdict::kFaster);
  EXPECT_EQ(ratio->interval.method, "paired t");
}

TEST(PairedRatio, TurnsOverWhenTheSidesOrTheQuantityDo) {
  const auto forward = paired_ratio(kOurs, kPeer, Quantity::kTime);
  const auto backward = paired_ratio(kPeer, kOurs, Quantity::kTime);
  const auto as_rates = paired_ratio(kOurs, kPeer, Quantity::kRate);
  EXPECT_NEAR(forward->ratio * backward->ratio, 1, 1e-12);
  EXPECT_NEAR(forward->interval.low * backward->interval.high, 1, 1e-12);
  EXPECT_EQ(backward->verdict, Verdict::kSlower);
  EXPECT_NEAR(as_rates->ratio, backward->ratio, 1e-12);
}

TEST(PairedRatio, SaysInconclusiveWhenOneIsWithinTheInterval) {
  const auto ratio =
      paired_ratio(Values{10, 11, 10, 11}, Values{11, 10, 10.5, 10.4}, Quantity::kTime);
  EXPECT_EQ(ratio->verdict, Verdict::kInconclusive);
  EXPECT_EQ(verdict_name(ratio->verdict), "inconclusive");
  EXPECT_EQ(verdict_name(Verdict::kFaster), "faster");
  EXPECT_EQ(verdict_name(Verdict::kSlower), "slower");
}

TEST(PairedRatio, IsNotFooledByADisturbanceThatMeetsBothSides) {
  RandomStream random(RandomKey(41));
  Values ours;
  Values peer;
  for (int round = 0; round < 40; ++round) {
    const double machine = std::exp(0.3 * random.normal());  // a noisy machine, the same for both
    ours.push_back(machine * std::exp(0.005 * random.normal()));
    peer.push_back(1.02 * machine * std::exp(0.005 * random.normal()));
  }
  EXPECT_EQ(paired_ratio(ours, peer, Quantity::kTime)->verdict, Verdict::kFaster);
  EXPECT_EQ(unpaired_ratio(ours, peer, Quantity::kTime)->verdict, Verdict::kInconclusive);
}

TEST(PairedRatio, RefusesWhatCannotBeCompared) {
  EXPECT_FALSE(paired_ratio(Values{1, 2}, Values{1}, Quantity::kTime).ok());
  EXPECT_FALSE(paired_ratio(Values{1}, Values{1}, Quantity::kTime).ok());
  EXPECT_FALSE(paired_ratio(Values{1, 0}, Values{1, 1}, Quantity::kTime).ok());
  EXPECT_FALSE(paired_ratio(Values{1, -1}, Values{1, 1}, Quantity::kTime).ok());
  EXPECT_FALSE(paired_ratio(Values{1, INFINITY}, Values{1, 1}, Quantity::kTime).ok());
}

TEST(UnpairedRatio, IsWelchsTOfTheLogarithms) {
  const Values peer = {10.9, 11.4, 10.8, 11.3, 11.1, 10.7};
  const auto ratio = unpaired_ratio(kOurs, peer, Quantity::kTime);
  ASSERT_TRUE(ratio.ok());
  // By SciPy: scipy.stats.ttest_ind(equal_var=False) on the logarithms.
  EXPECT_NEAR(ratio->ratio, 1.090114295456903, 1e-12);
  EXPECT_NEAR(ratio->interval.low, 1.057563439605696, 1e-10);
  EXPECT_NEAR(ratio->interval.high, 1.1236670375089424, 1e-10);
  EXPECT_NEAR(ratio->degrees_of_freedom, 8.930993813082058, 1e-9);
  EXPECT_FALSE(unpaired_ratio(Values{1}, peer, Quantity::kTime).ok());
  EXPECT_EQ(unpaired_ratio(Values{2, 2}, Values{4, 4}, Quantity::kTime)->ratio, 2);
}

TEST(CombinedRatio, IsTheGeometricMeanOfTheCases) {
  const auto up = *paired_ratio(Values{1, 1, 1}, Values{2, 2.02, 1.98}, Quantity::kTime);
  const auto down = *paired_ratio(Values{2, 2.02, 1.98}, Values{1, 1, 1}, Quantity::kTime);
  const std::vector<SpeedRatio> cases = {up, down};
  const auto both = combined_ratio(cases);
  ASSERT_TRUE(both.ok());
  EXPECT_NEAR(both->ratio, 1, 1e-12);
  EXPECT_EQ(both->verdict, Verdict::kInconclusive);
  // Equal spreads: half the variance, twice the degrees of freedom.
  EXPECT_NEAR(both->log_stderr, up.log_stderr / std::sqrt(2), 1e-12);
  EXPECT_NEAR(both->degrees_of_freedom, 4, 1e-9);
  EXPECT_FALSE(combined_ratio({}).ok());
  EXPECT_NEAR(combined_ratio(std::vector<SpeedRatio>{up})->interval.low, up.interval.low, 1e-12);
}

TEST(MeetsBar, AllowsTwoHundredthsBelowTheBar) {
  SpeedRatio ratio;
  ratio.ratio = 1.01;
  ratio.interval.low = 0.985;
  EXPECT_TRUE(meets_bar(ratio, 1.00));
  EXPECT_FALSE(meets_bar(ratio, 1.01));
  ratio.interval.low = 0.979;
  EXPECT_FALSE(meets_bar(ratio, 1.00));
}

TEST(SignFlip, CountsEveryPattern) {
  EXPECT_DOUBLE_EQ(*sign_flip_p_value(Values{0.3, 0.5, -0.1, 0.4, 0.6}), 0.125);
  // Five seeds that all agree cannot say more than 2 / 32.
  EXPECT_DOUBLE_EQ(*sign_flip_p_value(Values{1, 2, 3, 4, 5}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(*sign_flip_p_value(Values{1, -1}), 1);
  EXPECT_FALSE(sign_flip_p_value(Values{}).ok());
  EXPECT_FALSE(sign_flip_p_value(Values(21, 1.0)).ok());
}

TEST(SeedsNeeded, GivesTheTable) {
  struct Row {
    double cv;
    std::array<int64_t, 4> seeds;  // for 1, 2.5, 5 and 10 %
  };
  const Row rows[] = {
      {0.002, {3, 2, 2, 2}},    {0.005, {4, 3, 2, 2}},       {0.01, {7, 3, 3, 2}},
      {0.02, {18, 5, 3, 3}},    {0.05, {99, 18, 7, 4}},      {0.08, {249, 42, 13, 5}},
      {0.10, {387, 64, 18, 7}}, {0.145, {811, 132, 35, 11}}, {0.20, {1540, 249, 64, 18}},
  };
  const std::array<double, 4> widths = {0.01, 0.025, 0.05, 0.1};
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      EXPECT_EQ(seeds_needed(row.cv, widths[i]), row.seeds[i]) << row.cv << " " << widths[i];
    }
  }
  EXPECT_EQ(seeds_needed(0, 0.01), 2);
}

// Run lists published by MLCommons: minutes and epochs. The coefficients are of the ratios' spread.
TEST(DecomposeVariance, FindsThatEpochsMakeTheSpreadOfTimeToTrain) {
  struct Row {
    Values times;
    Values epochs;
    double total;
    double epochs_cv;
    double per_epoch;
  };
  const Row rows[] = {
      {{30.28, 30.29, 40.23, 40.18, 30.25, 30.11, 30.29, 30.05, 30.05, 40.08},
       {3, 3, 4, 4, 3, 3, 3, 3, 3, 4},
       14.52,
       14.64,
       0.34},
      {{24.88, 16.65, 20.72, 16.65, 29.02, 20.73, 16.66, 16.65, 20.73, 16.64},
       {6, 4, 5, 4, 7, 5, 4, 4, 5, 4},
       21.35,
       21.52,
       0.21},
      {{7.36, 10.87, 10.91, 10.91, 10.88, 10.87, 10.90, 10.90, 7.38, 10.90},
       {2, 3, 3, 3, 3, 3, 3, 3, 2, 3},
       14.58,
       15.06,
       0.65},
      {{18.29, 18.28, 18.28, 18.28, 18.23, 18.26, 18.32, 18.22, 18.27, 18.20},
       Values(10, 3.0),
       0.19,
       0,
       0.19},
      {{134.97, 135.13, 134.01, 133.70, 134.70}, Values(5, 63.0), 0.46, 0, 0.46},
      {{26.96, 27.03, 26.71, 26.68, 26.97}, Values(5, 49.0), 0.61, 0, 0.61},
  };
  for (const Row& row : rows) {
    Values per_epoch = row.times;
    for (size_t i = 0; i < per_epoch.size(); ++i) per_epoch[i] /= row.epochs[i];
    const auto parts = decompose_variance(row.epochs, per_epoch);
    ASSERT_TRUE(parts.ok());
    // To the rounding of the published minutes.
    EXPECT_NEAR(100 * std::sqrt(parts->total), row.total, 0.02);
    EXPECT_NEAR(100 * std::sqrt(parts->epochs), row.epochs_cv, 0.02);
    EXPECT_NEAR(100 * std::sqrt(parts->per_epoch), row.per_epoch, 0.02);
    // The first order leaves out at most a fiftieth.
    EXPECT_NEAR(parts->total, parts->epochs + parts->per_epoch + parts->covariance,
                0.021 * parts->total);
    EXPECT_NEAR(parts->residual,
                parts->total - parts->epochs - parts->per_epoch - parts->covariance, 1e-15);
  }
}

TEST(DecomposeVariance, ShowsACovarianceThatHidesTheSpread) {
  // Every run takes the same time: what epochs add, faster epochs take away.
  const auto parts = decompose_variance(Values{10, 11, 12}, Values{6.6, 6.0, 5.5});
  ASSERT_TRUE(parts.ok());
  EXPECT_NEAR(parts->total, 0, 1e-20);
  EXPECT_LT(parts->covariance, -1.5 * parts->epochs);
}

TEST(DecomposeVariance, NeedsTwoCompleteRuns) {
  EXPECT_FALSE(decompose_variance(Values{1}, Values{1}).ok());
  EXPECT_FALSE(decompose_variance(Values{1, 2}, Values{1}).ok());
  EXPECT_FALSE(decompose_variance(Values{1, 0}, Values{1, 1}).ok());
}

}  // namespace
}  // namespace assay
