// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "record/sample_records.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(Record, SurvivesTheTripThroughJsonText) {
  const Record record = sample_records::trained();
  const auto json = parse_json(to_json(record).dump(), "test");
  ASSERT_TRUE(json.ok());
  const auto back = record_from_json(*json);
  ASSERT_TRUE(back.ok()) << back.error().text();
  sample_records::expect_equal(*back, record);
}

TEST(Record, WritesNumbersThatAreNotFiniteAsText) {
  Record record = sample_records::trained();
  const double infinity = std::numeric_limits<double>::infinity();
  record.add("loss", std::nan(""), Interval{-infinity, infinity, 0.95, "t"});
  const Json json = to_json(record);
  const std::string text = json.dump();
  EXPECT_THAT(text, HasSubstr(R"({"name":"loss","value":"nan","interval":{"low":"-inf",)"));
  const auto back = record_from_json(*parse_json(text, "test"));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(back->metric("loss")->value));
  EXPECT_EQ(back->metric("loss")->interval->high, infinity);
}

TEST(Record, KeepsSeedsOfSixtyFourBits) {
  Record record;
  record.measured_case = *Case().with("seed", "18446744073709551615");
  const Json json = to_json(record);
  EXPECT_EQ(json["case"], "v1:seed=18446744073709551615");
  EXPECT_EQ(record_from_json(json)->measured_case.unsigned_integer("seed"), 18446744073709551615U);
}

TEST(Record, FindsMetricsAndSamplesByName) {
  const Record record = sample_records::trained();
  ASSERT_NE(record.metric("quality"), nullptr);
  EXPECT_EQ(record.metric("nothing"), nullptr);
  ASSERT_NE(record.samples_named("step_time_ns"), nullptr);
  EXPECT_EQ(record.samples_named("nothing"), nullptr);
}

TEST(Record, RefusesJsonOfAnotherShape) {
  const auto error = [](const char* pointer, Json value) {
    Json json = to_json(sample_records::trained());
    json[Json::json_pointer(pointer)] = std::move(value);
    const auto result = record_from_json(json);
    return result.ok() ? std::string("accepted") : result.error().text();
  };
  EXPECT_THAT(error("/case", "v9:"), HasSubstr("v1:"));
  EXPECT_THAT(error("/case", 3), HasSubstr("case"));
  EXPECT_THAT(error("/status", "great"), HasSubstr("unknown status 'great'"));
  EXPECT_THAT(error("/metrics", "none"), HasSubstr("metrics"));
  EXPECT_THAT(error("/metrics/0", 5), HasSubstr("metrics"));
  EXPECT_THAT(error("/metrics/0/value", "many"), HasSubstr("metrics.value"));
  EXPECT_THAT(error("/metrics/0/interval", Json::array()), HasSubstr("metrics.interval"));
  EXPECT_THAT(error("/facts", Json::array()), HasSubstr("facts"));
  EXPECT_THAT(error("/facts/item", 1), HasSubstr("facts.item"));
  EXPECT_THAT(error("/marks", {1}), HasSubstr("marks"));
  EXPECT_THAT(error("/samples/0/values", {"x"}), HasSubstr("samples.values"));
  EXPECT_THAT(error("/samples/0", Json::array()), HasSubstr("samples"));
  EXPECT_THAT(error("/id", 1.5), HasSubstr("id"));
  EXPECT_THAT(error("/duration_s", Json::object()), HasSubstr("duration_s"));
  EXPECT_FALSE(record_from_json(Json::array()).ok());
}

TEST(Status, HasOneNameEach) {
  for (int i = 0; i <= static_cast<int>(Status::kShortOfTarget); ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(*parse_status(status_name(status)), status);
  }
  EXPECT_EQ(status_name(Status::kShortOfTarget), "short-of-target");
  EXPECT_FALSE(parse_status("Measured").ok());
}

TEST(Status, SaysWhichMakeACommandFail) {
  EXPECT_TRUE(is_failure(Status::kCrashed));
  EXPECT_TRUE(is_failure(Status::kShortOfTarget));
  EXPECT_FALSE(is_failure(Status::kSkipped));
  EXPECT_FALSE(is_failure(Status::kUnsupported));
  EXPECT_FALSE(is_failure(Status::kNoisy));
}

}  // namespace
}  // namespace assay
