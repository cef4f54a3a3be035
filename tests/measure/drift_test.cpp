// SPDX-License-Identifier: Apache-2.0
#include "measure/drift.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

Values ar1(RandomStream& random, size_t n, double phi, double slope) {
  Values values(n);
  double state = random.normal() / std::sqrt(1 - phi * phi);
  for (size_t i = 0; i < n; ++i) {
    values[i] = 100 + state + slope * static_cast<double>(i);
    state = phi * state + random.normal();
  }
  return values;
}

TEST(Trend, IsMannKendallWithTheSlopeOfTheilAndSen) {
  const Values rising = {5.1, 5.3, 5.2, 5.6, 5.5, 5.7, 5.9, 5.8, 6.1, 6.0};
  const auto found = trend(rising);
  ASSERT_TRUE(found.has_value());
  // S = 37 of 45; the slope 0.1 is SciPy's theilslopes.
  EXPECT_NEAR(found->p_value, 0.0012821837418053048, 1e-12);
  EXPECT_NEAR(found->change, 0.1 * 9 / 5.65, 1e-12);
  EXPECT_EQ(found->batches, 10U);
}

TEST(Trend, CorrectsForTies) {
  const std::optional<Trend> constant = trend(Values(20, 1.0));
  ASSERT_TRUE(constant.has_value());
  EXPECT_EQ(constant->p_value, 1);
  // It goes to and fro around its slope, so that no rounding makes it look correlated.
  const std::optional<Trend> climbing = trend(Values{1, 2, 1, 3, 2, 4, 3, 4, 3, 5, 4, 5});
  ASSERT_TRUE(climbing.has_value());
  EXPECT_NEAR(climbing->p_value, 0.001979585736923497, 1e-12);
  EXPECT_EQ(trend(Values{1, 2, 3, 4, 5, 6, 7}), std::nullopt);  // too few to say
}

TEST(DriftMark, SaysHowMuchASeriesDrifts) {
  RandomStream random(RandomKey(51));
  const auto mark = drift_mark(ar1(random, 500, 0.3, 0.02));
  ASSERT_TRUE(mark.has_value());
  EXPECT_THAT(*mark, testing::MatchesRegex(
                         "drift: \\+(8|9|10)\\.[0-9] % over the series \\(Mann-Kendall p = .*"));
  EXPECT_THAT(*drift_mark(ar1(random, 500, 0.3, -0.02)), HasSubstr("drift: -"));
}

TEST(DriftMark, LeavesSteadyAndMerelyCorrelatedSeriesAlone) {
  RandomStream random(RandomKey(52));
  int marked = 0;
  for (int round = 0; round < 300; ++round) {
    marked += drift_mark(ar1(random, 1000, 0.8, 0)).has_value() ? 1 : 0;
  }
  EXPECT_LE(marked, 9);  // three times the 1 % that chance allows
  // A change that is certain but tiny is not worth a mark.
  Values tiny(200);
  for (size_t i = 0; i < tiny.size(); ++i) tiny[i] = 100 + 0.001 * static_cast<double>(i);
  EXPECT_EQ(drift_mark(tiny), std::nullopt);
}

TEST(Outliers, AreFarFromTheMedianInScaledDeviations) {
  Values values = {10.0, 10.1, 9.9, 10.2, 9.8, 10.0, 42.0, 10.1, 9.9};
  EXPECT_THAT(outliers(values), ElementsAre(6));
  EXPECT_EQ(*outlier_mark(values),
            "outliers: 1 of 9 samples beyond 5 scaled MADs (furthest 4.2 x median)");
  values[6] = 4400.0;
  EXPECT_THAT(*outlier_mark(values), testing::HasSubstr("(furthest 440 x median)"));
  values[6] = 10.05;
  EXPECT_EQ(outlier_mark(values), std::nullopt);
}

TEST(Outliers, DoNotAppearFromTheResolutionOfAClock) {
  Values values(100, 1000.0);
  values[3] = 1000.5;  // most values are equal, so the deviation is 0
  EXPECT_TRUE(outliers(values).empty());
  values[3] = 1100;
  EXPECT_THAT(outliers(values), ElementsAre(3));
  EXPECT_TRUE(outliers(Values{1, 100}).empty());
}

TEST(Outliers, AreRareInNormalData) {
  RandomStream random(RandomKey(53));
  Values values(10000);
  for (double& value : values) value = 100 + random.normal();
  EXPECT_LE(outliers(values).size(), 1U);
}

}  // namespace
}  // namespace assay
