// SPDX-License-Identifier: Apache-2.0
#include "workload/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

Schedule schedule(ScheduleKind kind) {
  Schedule s;
  s.kind = kind;
  s.rate = 0.2;
  return s;
}

TEST(Schedule, RisesLinearlyToThePeakDuringTheWarmUp) {
  Schedule s = schedule(ScheduleKind::kLinear);
  s.warmup_fraction = 0.2;
  EXPECT_DOUBLE_EQ(s.at(0, 100), 0.01);
  EXPECT_DOUBLE_EQ(s.at(9, 100), 0.1);
  EXPECT_DOUBLE_EQ(s.at(19, 100), 0.2);
  EXPECT_DOUBLE_EQ(s.at(20, 100), 0.2);
  EXPECT_DOUBLE_EQ(s.at(60, 100), 0.1);
  EXPECT_NEAR(s.at(99, 100), 0.2 / 80, 1e-15);
}

TEST(Schedule, FallsToTheEndRate) {
  for (const ScheduleKind kind :
       {ScheduleKind::kLinear, ScheduleKind::kCosine, ScheduleKind::kPolynomial}) {
    Schedule s = schedule(kind);
    s.end_rate = 0.02;
    EXPECT_DOUBLE_EQ(s.at(0, 50), 0.2) << schedule_name(kind);
    EXPECT_DOUBLE_EQ(s.at(50, 50), 0.02) << schedule_name(kind);
    EXPECT_DOUBLE_EQ(s.at(1000, 50), 0.02) << schedule_name(kind);
  }
}

TEST(Schedule, StaysWhenConstant) {
  const Schedule s = schedule(ScheduleKind::kConstant);
  EXPECT_DOUBLE_EQ(s.at(0, 10), 0.2);
  EXPECT_DOUBLE_EQ(s.at(9, 10), 0.2);
}

TEST(Schedule, IsHalfWayDownInTheMiddleOfACosine) {
  EXPECT_NEAR(schedule(ScheduleKind::kCosine).at(50, 100), 0.1, 1e-12);
}

TEST(Schedule, FollowsThePowerOfAPolynomial) {
  Schedule s = schedule(ScheduleKind::kPolynomial);
  s.power = 2;
  EXPECT_DOUBLE_EQ(s.at(50, 100), 0.05);
}

TEST(Schedule, DropsAtEachBoundary) {
  Schedule s = schedule(ScheduleKind::kStep);
  s.boundaries = {30.0 / 90, 60.0 / 90, 80.0 / 90};
  EXPECT_DOUBLE_EQ(s.at(29, 90), 0.2);
  EXPECT_DOUBLE_EQ(s.at(30, 90), 0.02);
  EXPECT_DOUBLE_EQ(s.at(59, 90), 0.02);
  EXPECT_NEAR(s.at(60, 90), 0.002, 1e-15);
  EXPECT_NEAR(s.at(80, 90), 0.0002, 1e-15);
}

// The reference recipe writes thirds as decimals; the drop must still fall on the epoch.
TEST(Schedule, DropsOnTheExactStepDespiteRoundedFractions) {
  Schedule s = schedule(ScheduleKind::kStep);
  s.boundaries = {0.333333333333};
  const int64_t per_epoch = 5004;
  EXPECT_DOUBLE_EQ(s.at(30 * per_epoch - 1, 90 * per_epoch), 0.2);
  EXPECT_DOUBLE_EQ(s.at(30 * per_epoch, 90 * per_epoch), 0.02);
}

TEST(Schedule, NamesParseBackAndSlipsAreNamed) {
  for (const char* name : {"constant", "linear", "cosine", "polynomial", "step"}) {
    EXPECT_EQ(schedule_name(parse_schedule(name).value()), name);
  }
  const auto slip = parse_schedule("cosin");
  ASSERT_FALSE(slip.ok());
  EXPECT_THAT(slip.error().hint, ::testing::HasSubstr("cosine"));
}

}  // namespace
}  // namespace assay
