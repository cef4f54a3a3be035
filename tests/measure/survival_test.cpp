// SPDX-License-Identifier: Apache-2.0
#include "measure/survival.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

// Remission of 21 leukaemia patients on 6-MP, weeks (Freireich et al., Blood 21, 1963), the
// standard example of the textbooks (Klein and Moeschberger, Survival Analysis, tables 4.1
// and 4.2).
const std::vector<Observation> kRemission = {
    {6},         {6},         {6},         {6, false},  {7},         {9, false},  {10},
    {10, false}, {11, false}, {13},        {16},        {17, false}, {19, false}, {20, false},
    {22},        {23},        {25, false}, {32, false}, {32, false}, {34, false}, {35, false}};

// Maintained group of the acute myelogenous leukaemia data (Miller 1981; R's survival::aml).
const std::vector<Observation> kMaintained = {
    {9}, {13}, {13, false}, {18}, {23}, {28, false}, {31}, {34}, {45, false}, {48}, {161, false}};

TEST(KaplanMeier, GivesTheTextbookCurve) {
  const auto curve = kaplan_meier(kRemission);
  ASSERT_TRUE(curve.ok());
  struct Row {
    double time;
    int64_t at_risk;
    int64_t reached;
    double survival;
    double error;
    double low;
    double high;
  };
  const std::array<Row, 7> rows = {Row{6, 21, 3, 0.8571, 0.0764, 0.6197, 0.9516},
                                   Row{7, 17, 1, 0.8067, 0.0869, 0.5631, 0.9228},
                                   Row{10, 15, 1, 0.7529, 0.0963, 0.5032, 0.8894},
                                   Row{13, 12, 1, 0.6902, 0.1068, 0.4316, 0.8491},
                                   Row{16, 11, 1, 0.6275, 0.1141, 0.3675, 0.8049},
                                   Row{22, 7, 1, 0.5378, 0.1282, 0.2678, 0.7468},
                                   Row{23, 6, 1, 0.4482, 0.1346, 0.1881, 0.6801}};
  ASSERT_EQ(curve->steps.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const SurvivalStep& step = curve->steps[i];
    EXPECT_EQ(step.time, rows[i].time);
    EXPECT_EQ(step.at_risk, rows[i].at_risk);
    EXPECT_EQ(step.reached, rows[i].reached);
    EXPECT_NEAR(step.survival, rows[i].survival, 5e-5);
    EXPECT_NEAR(step.stderr_survival, rows[i].error, 5e-5);
    EXPECT_NEAR(step.interval.low, rows[i].low, 5e-5);
    EXPECT_NEAR(step.interval.high, rows[i].high, 5e-5);
  }
  EXPECT_EQ(curve->median.value, 23);
  EXPECT_EQ(curve->median.low, 13);
  EXPECT_EQ(curve->median.high, std::nullopt);  // the upper bound never falls to one half
  EXPECT_EQ(curve->observations, 21);
  EXPECT_EQ(curve->censored, 12);
}

TEST(KaplanMeier, GivesTheRestrictedMeanOfRsSurvivalPackage) {
  const auto curve = kaplan_meier(kMaintained);
  ASSERT_TRUE(curve.ok());
  EXPECT_NEAR(curve->restricted_mean.value, 52.645, 0.0005);  // *rmean 52.6, *se(rmean) 19.83
  EXPECT_NEAR(curve->restricted_mean.standard_error, 19.8286, 0.00005);
  EXPECT_EQ(curve->restricted_mean.horizon, 161);
  EXPECT_NEAR(curve->restricted_mean.interval.high, 52.645 + 1.96 * 19.8286, 0.005);
  EXPECT_EQ(curve->median.value, 31);
}

TEST(KaplanMeier, IsTheEmpiricalDistributionWhenNothingIsCensored) {
  const std::vector<Observation> runs = {{3}, {1}, {2}, {4}};
  const auto curve = kaplan_meier(runs);
  ASSERT_EQ(curve->steps.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(curve->steps[i].survival, 1 - 0.25 * static_cast<double>(i + 1), 1e-15);
  }
  EXPECT_EQ(curve->median.value, 2);
  EXPECT_NEAR(curve->restricted_mean.value, 2.5, 1e-15);  // the plain mean
  EXPECT_EQ(curve->steps[3].stderr_survival, 0);
}

TEST(KaplanMeier, DoesNotPretendAMedianThatWasNotReached) {
  const std::vector<Observation> runs = {{10}, {20, false}, {20, false}, {20, false}};
  const auto curve = kaplan_meier(runs);
  EXPECT_EQ(curve->median.value, std::nullopt);
  EXPECT_NEAR(curve->restricted_mean.value, 10 + 0.75 * 10, 1e-12);
  const std::vector<Observation> none = {{5, false}, {7, false}};
  EXPECT_TRUE(kaplan_meier(none)->steps.empty());
  EXPECT_EQ(kaplan_meier(none)->restricted_mean.value, 7);
}

TEST(KaplanMeier, CountsACensoredRunAsAtRiskAtItsOwnTime) {
  const std::vector<Observation> runs = {{5, false}, {5}, {6}};
  EXPECT_EQ(kaplan_meier(runs)->steps[0].at_risk, 3);
}

TEST(KaplanMeier, RefusesTimesThatCannotBe) {
  EXPECT_FALSE(kaplan_meier({}).ok());
  EXPECT_FALSE(kaplan_meier(std::vector<Observation>{{-1}}).ok());
  EXPECT_FALSE(kaplan_meier(std::vector<Observation>{{NAN}}).ok());
  EXPECT_FALSE(kaplan_meier(std::vector<Observation>{{INFINITY}}).ok());
}

}  // namespace
}  // namespace assay
