// SPDX-License-Identifier: Apache-2.0
#include "serve/plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/json.h"
#include "serve/golden.h"

namespace assay {
namespace {

template <class Numbers>
std::string digest(const Numbers& numbers) {
  std::string text;
  for (const auto& number : numbers) {
    text += (text.empty() ? "" : ",") + std::to_string(number);
  }
  return sha256_hex(text).substr(0, 16);
}

std::vector<int64_t> counts(const std::vector<Nanoseconds>& times) {
  std::vector<int64_t> result;
  for (const Nanoseconds time : times) result.push_back(time.count());
  return result;
}

class AgainstLoadGen : public ::testing::TestWithParam<int> {
 protected:
  static const Json& rows() {
    static const Json all = golden::load("schedules.json");
    return all;
  }
  void SetUp() override {
    row_ = rows()[static_cast<size_t>(GetParam())];
    asked_ = golden::settings(row_["asked"]);
    effective_ = derive(asked_, row_["asked"]["total"].get<int64_t>(),
                        row_["asked"]["loaded"].get<int64_t>())
                     .value();
    SCOPED_TRACE(row_["asked"].dump());
  }
  Json row_;
  LoadSettings asked_;
  EffectiveSettings effective_;
};

TEST_P(AgainstLoadGen, SettingsMeanTheSameRun) {
  const Json& theirs = row_["effective"];
  EXPECT_EQ(effective_.samples_per_query, theirs["samples_per_query"]) << row_["asked"];
  EXPECT_NEAR(effective_.target_qps, theirs["target_qps"].get<double>(),
              1e-5 * effective_.target_qps);  // six digits in the log
  EXPECT_EQ(effective_.target_latency.count(), theirs["target_latency_ns"]);
  EXPECT_EQ(effective_.percentile, theirs["target_latency_percentile"]);
  EXPECT_EQ(effective_.max_async_queries, theirs["max_async_queries"]);
  EXPECT_EQ(effective_.target_duration.count(), theirs["target_duration_ms"]);
  EXPECT_EQ(effective_.min_duration.count(), theirs["min_duration_ms"]);
  EXPECT_EQ(effective_.min_query_count, theirs["min_query_count"]) << row_["asked"];
  EXPECT_EQ(effective_.min_sample_count, theirs["min_sample_count"]);
  EXPECT_EQ(effective_.performance_sample_count, theirs["performance_sample_count"]);
  EXPECT_EQ(effective_.accuracy_sample_count, theirs["accuracy_sample_count"]);
}

TEST_P(AgainstLoadGen, TheSameSamplesAreLoadedAndIssuedAtTheSameTimes) {
  const std::vector<LoadedSet> sets = loaded_sets(asked_, effective_);
  ASSERT_EQ(sets.size(), row_["loaded"].size()) << row_["asked"];
  std::vector<uint32_t> issued;
  std::vector<Nanoseconds> arrivals;
  for (size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(sets[i].indices.size(), row_["loaded"][i]["count"]);
    EXPECT_EQ(digest(sets[i].indices), row_["loaded"][i]["digest"]) << row_["asked"];
    const QueryPlan plan = plan_queries(asked_, effective_, sets[i]);
    EXPECT_EQ(plan.queries(), row_["generated"][i]) << row_["asked"];
    EXPECT_EQ(plan.samples_per_query, row_["samples_per_query"][i]) << row_["asked"];
    issued.insert(issued.end(), plan.samples.begin(), plan.samples.end());
    arrivals = plan.arrivals;
  }
  const auto count = row_["issued"]["count"].get<size_t>();
  if (issued.size() > count) issued.resize(count);
  EXPECT_EQ(digest(issued), row_["issued"]["digest"])
      << row_["asked"] << "\nours " << Json(issued).dump().substr(0, 60) << "\ntheirs "
      << row_["issued"]["first"];
  if (row_.contains("arrivals")) {
    EXPECT_EQ(digest(counts(arrivals)), row_["arrivals"]["digest"]) << row_["asked"];
  }
}

TEST_P(AgainstLoadGen, TheSameResponsesAreLogged) {
  const auto count = row_["issued"]["count"].get<int64_t>();
  if (asked_.mode == LoadMode::kAccuracy) {
    EXPECT_EQ(row_["logged"].size(), static_cast<size_t>(count));
    return;
  }
  const std::vector<uint32_t> kept =
      logged_samples(asked_.accuracy_log_rng_seed, effective_.accuracy_log_probability, count);
  EXPECT_EQ(Json(kept), row_["logged"]) << row_["asked"];
}

INSTANTIATE_TEST_SUITE_P(Settings, AgainstLoadGen, ::testing::Range(0, 54));

TEST(LoadPlan, AllGoldenSettingsAreTried) { EXPECT_EQ(golden::load("schedules.json").size(), 54U); }

}  // namespace
}  // namespace assay
