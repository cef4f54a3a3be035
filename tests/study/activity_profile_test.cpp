// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "study/activity.h"

namespace assay {
namespace {

using testing::HasSubstr;

Result<Record> profiled(const std::string& text) {
  RunRequest request;
  request.requested = Case::parse(text).value();
  const SteadyClock clock;
  LoadedEngines engines;
  const std::atomic<bool> cancelled = false;
  std::string digest;
  const ActivityContext context{request,
                                clock,
                                engines,
                                cancelled,
                                [](const Progress&) {},
                                [&digest](const std::string& d) { digest = d; }};
  Result<Record> record = run_activity(context);
  if (record.ok()) {
    EXPECT_EQ(record->digest, digest);
  }
  return record;
}

double value(const Record& record, std::string_view name) {
  const Metric* metric = record.metric(name);
  EXPECT_NE(metric, nullptr) << name;
  return metric == nullptr ? 0 : metric->value;
}

TEST(ProfileActivity, CountsAWorkloadWithoutItsData) {
  const auto record =
      profiled("v1:activity=profile workload=image-classification variant=small batch=8");
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->status, Status::kMeasured);
  EXPECT_EQ(value(*record, "batch"), 8);
  EXPECT_GT(value(*record, "macs"), 0);
  double purposes = 0;
  for (const char* purpose :
       {"parameter", "state", "constant", "input", "activation", "workspace"}) {
    purposes += value(*record, "peak_" + std::string(purpose) + "_bytes");
  }
  EXPECT_EQ(value(*record, "peak_bytes"), purposes);
  EXPECT_FALSE(record->facts.at("peak_node").empty());
}

TEST(ProfileActivity, NamesTheTenHeaviestNodesInOrder) {
  const auto record = profiled("v1:activity=profile model=resnet50 variant=reference batch=1");
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(value(*record, "parameters"), 25'557'032);
  EXPECT_EQ(value(*record, "macs"), 4'089'184'256);
  std::vector<double> flops;
  for (const Metric& metric : record->metrics) {
    if (metric.name == "node_flops") flops.push_back(metric.value);
  }
  EXPECT_EQ(flops.size(), 10U);
  EXPECT_TRUE(std::is_sorted(flops.rbegin(), flops.rend()));
}

TEST(ProfileActivity, RefusesACaseAboutNothing) {
  const auto record = profiled("v1:activity=profile");
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().text(), HasSubstr("neither a workload nor a model"));
}

}  // namespace
}  // namespace assay
