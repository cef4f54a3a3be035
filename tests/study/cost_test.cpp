// SPDX-License-Identifier: Apache-2.0
#include "study/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

Record record_of(const char* text) {
  Record record;
  record.measured_case = Case::parse(text).value();
  record.add("throughput_per_s", 1000, Interval{800, 1250, 0.95, "t"});
  return record;
}

TEST(Cost, OfTrainingIsThatOfTheTimeToTarget) {
  Record record = record_of("v1:activity=train workload=w");
  record.add("target", 0.9);
  record.add("time_s", 2000);
  record.add("time_to_target_s", 1800);
  add_cost(record, 4.0);
  EXPECT_DOUBLE_EQ(record.metric("cost_usd")->value, 2.0);
  EXPECT_EQ(record.metric("price_per_hour_usd")->value, 4.0);
}

TEST(Cost, OfStepsIsThatOfTheirTime) {
  Record record = record_of("v1:activity=train workload=w steps=10");
  record.add("time_s", 900);
  add_cost(record, 4.0);
  EXPECT_DOUBLE_EQ(record.metric("cost_usd")->value, 1.0);
}

TEST(Cost, OfATargetMissedIsUnknown) {
  Record record = record_of("v1:activity=train workload=w");
  record.add("target", 0.9);
  record.add("time_s", 2000);
  add_cost(record, 4.0);
  EXPECT_EQ(record.metric("cost_usd"), nullptr);
  EXPECT_THAT(record.missing.at("cost_usd"), HasSubstr("not reached"));
}

TEST(Cost, OfInferenceIsThatOfEveryTimedCall) {
  Record record = record_of("v1:activity=infer workload=w");
  record.samples.push_back({"latency_ns", {1e9, 2e9}});
  record.facts["latency_calls_per_sample"] = "3";
  add_cost(record, 3600);
  EXPECT_DOUBLE_EQ(record.metric("cost_usd")->value, 9.0);
}

TEST(Cost, OfAMillionItemsFollowsTheirRate) {
  Record record = record_of("v1:activity=infer workload=w");
  add_cost(record, 3.6);
  const Metric* cost = record.metric("cost_per_million_usd");
  EXPECT_DOUBLE_EQ(cost->value, 1.0);  // 1,000 s at a tenth of a cent
  EXPECT_DOUBLE_EQ(cost->interval->low, 0.8);
  EXPECT_DOUBLE_EQ(cost->interval->high, 1.25);
}

TEST(Cost, WithoutAPriceSaysWhatWouldGiveOne) {
  Record record = record_of("v1:activity=infer workload=w");
  add_cost(record, std::nullopt);
  EXPECT_EQ(record.metric("cost_usd"), nullptr);
  for (const char* field : {"cost_usd", "cost_per_million_usd"})
    EXPECT_THAT(record.missing.at(field), HasSubstr("--price"));
}

}  // namespace
}  // namespace assay
