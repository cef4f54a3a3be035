// SPDX-License-Identifier: Apache-2.0
#include "serve/verdict.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/golden.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Replay {
  Json row;
  EffectiveSettings settings;
  LoadVerdict verdict;
};

Replay replay(size_t number) {
  static const Json kRows = golden::load("results.json");
  Replay result;
  result.row = kRows[number];
  const LoadSettings asked = golden::settings(result.row["asked"]);
  result.settings = derive(asked, result.row["asked"]["total"].get<int64_t>(),
                           result.row["asked"]["loaded"].get<int64_t>())
                        .value();
  result.verdict = judge(result.settings, golden::times(result.row, result.settings));
  return result;
}

class RunsOfLoadGen : public ::testing::TestWithParam<size_t> {};

TEST_P(RunsOfLoadGen, HaveTheSameVerdict) {
  const Replay run = replay(GetParam());
  const Json& theirs = run.row["results"];
  EXPECT_EQ(run.verdict.valid, theirs["result_validity"] == "VALID") << run.row["asked"];
  EXPECT_EQ(run.verdict.min_duration_met, theirs["result_min_duration_met"]) << run.row["asked"];
  EXPECT_EQ(run.verdict.min_queries_met, theirs["result_min_queries_met"]) << run.row["asked"];
  EXPECT_EQ(run.verdict.early_stopping_met, theirs["early_stopping_met"]) << run.row["asked"];
  EXPECT_EQ(run.verdict.queries, theirs["result_query_count"]);
  EXPECT_EQ(invalid_reasons(run.settings, run.verdict).empty(), run.verdict.valid);
  if (run.settings.scenario != Scenario::kServer) return;
  EXPECT_EQ(run.verdict.performance_met, theirs["result_perf_constraints_met"]);
  EXPECT_EQ(run.verdict.over_latency, theirs["result_overlatency_query_count"]);
  const std::string needed = fmt::format("at least {} more", run.verdict.more_queries_needed);
  if (!run.verdict.early_stopping_met) {
    EXPECT_THAT(theirs["early_stopping_result"].get<std::string>(), HasSubstr(needed));
  }
}

TEST_P(RunsOfLoadGen, HaveTheSameLatenciesAndRates) {
  const Replay run = replay(GetParam());
  const Json& theirs = run.row["results"];
  const auto same = [&](const LatencySummary& ours, const std::string& what,
                        const std::string& percentile) {
    EXPECT_EQ(ours.min_ns, theirs["result_min_" + what]);
    EXPECT_EQ(ours.max_ns, theirs["result_max_" + what]);
    EXPECT_EQ(ours.mean_ns, theirs["result_mean_" + what]);
    for (size_t i = 0; i < kLoadPercentiles.size(); ++i) {
      EXPECT_EQ(ours.percentiles_ns[i],
                theirs[fmt::format("result_{:.2f}_{}", 100 * kLoadPercentiles[i], percentile)]);
    }
  };
  same(run.verdict.sample_latency, "latency_ns", "percentile_latency_ns");
  const auto estimate = [](const std::optional<PercentileEstimate>& ours) {
    return ours ? ours->value_ns : 0;
  };
  const auto rate = [&](double ours, const char* name, double precision) {
    const auto value = theirs[name].get<double>();  // six digits in the log
    EXPECT_NEAR(ours, value, precision * value) << name;
  };
  switch (run.settings.scenario) {
    case Scenario::kSingleStream:
      EXPECT_EQ(estimate(run.verdict.estimate), theirs["early_stopping_latency_ss"]);
      EXPECT_EQ(estimate(run.verdict.estimate_p99), theirs["early_stopping_latency_ms"]);
      rate(run.verdict.queries_per_s_system, "result_qps_without_loadgen_overhead", 1e-5);
      // Their start is a moment before the first issue, which is all that their trace shows.
      rate(run.verdict.queries_per_s, "result_qps_with_loadgen_overhead", 1e-2);
      break;
    case Scenario::kMultiStream:
      same(run.verdict.query_latency, "query_latency_ns", "percentile_per_query_latency_ns");
      EXPECT_EQ(estimate(run.verdict.estimate), theirs["early_stopping_latency_ms"]);
      break;
    case Scenario::kServer:
      rate(run.verdict.scheduled_per_s, "result_scheduled_samples_per_sec", 1e-5);
      rate(run.verdict.completed_per_s, "result_completed_samples_per_sec", 1e-5);
      break;
    case Scenario::kOffline:
      rate(run.verdict.samples_per_s, "result_samples_per_second", 1e-5);
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Results, RunsOfLoadGen, ::testing::Range<size_t>(0, 19));

TEST(RunsOfLoadGen, AreAllTried) { EXPECT_EQ(golden::load("results.json").size(), 19U); }

TEST(Verdict, AQueryIsAsSlowAsItsSlowestSample) {
  EffectiveSettings settings;
  settings.scenario = Scenario::kMultiStream;
  settings.percentile = 0.5;
  LoadTimes times;
  times.samples_per_query = 2;
  times.latency_ns = {1, 9, 8, 2};
  times.queries = 2;
  const LoadVerdict verdict = judge(settings, times);
  EXPECT_EQ(verdict.query_latency.min_ns, 8);
  EXPECT_EQ(verdict.query_latency.max_ns, 9);
  EXPECT_EQ(verdict.sample_latency.min_ns, 1);
}

TEST(Verdict, NamesEveryRuleThatWasBroken) {
  EffectiveSettings settings;
  settings.scenario = Scenario::kServer;
  settings.percentile = 0.99;
  settings.target_latency = Nanoseconds(10'000'000);
  settings.min_duration = std::chrono::milliseconds(600'000);
  settings.min_query_count = 270'336;
  settings.min_sample_count = 270'336;
  LoadTimes times;
  times.latency_ns = {20'000'000};
  times.queries = 1;
  const LoadVerdict verdict = judge(settings, times);
  EXPECT_THAT(invalid_reasons(settings, verdict),
              ElementsAre(HasSubstr("the 99 % latency is"), HasSubstr("shorter than"),
                          HasSubstr("fewer than 270336"), HasSubstr("early stopping")));
}

}  // namespace
}  // namespace assay
