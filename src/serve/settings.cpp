// SPDX-License-Identifier: Apache-2.0
#include "serve/settings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

struct ScenarioNames {
  Scenario scenario;
  std::string_view name;
  std::string_view option;
};
constexpr std::array<ScenarioNames, 4> kScenarios{{
    {Scenario::kSingleStream, "SingleStream", "single-stream"},
    {Scenario::kMultiStream, "MultiStream", "multi-stream"},
    {Scenario::kServer, "Server", "server"},
    {Scenario::kOffline, "Offline", "offline"},
}};

constexpr int64_t kMostSamples = int64_t{1} << 31;
constexpr double kOfflineSlack = 1.1;
constexpr double kPermutationSlack = 2.0;

Error invalid(std::string message, std::string field) {
  return Error{ErrorCode::kInvalid, std::move(message), std::move(field)};
}

Result<void> check_count(int64_t value, int64_t least, const char* field) {
  if (value >= least && value <= kMostSamples) return {};
  return invalid(fmt::format("{} is outside {} ... {}", value, least, kMostSamples), field);
}

Result<void> check(const LoadSettings& asked, int64_t total, int64_t loaded) {
  ASSAY_TRY(check_count(total, 1, "samples of the library"));
  ASSAY_TRY(check_count(loaded, 0, "samples that fit into memory"));
  ASSAY_TRY(check_count(asked.min_query_count, 1, "min_query_count"));
  ASSAY_TRY(check_count(asked.max_query_count, 0, "max_query_count"));
  ASSAY_TRY(check_count(asked.multi_stream_samples_per_query, 1, "samples_per_query"));
  ASSAY_TRY(check_count(asked.server_max_async_queries, 0, "max_async_queries"));
  ASSAY_TRY(
      check_count(asked.performance_sample_count_override, 0, "performance_sample_count_override"));
  ASSAY_TRY(check_count(asked.accuracy_sample_count_override, 0, "accuracy_sample_count_override"));
  ASSAY_TRY(check_count(asked.accuracy_log_sampling_target, 0, "accuracy_log_sampling_target"));
  ASSAY_TRY(check_count(asked.min_duration.count(), 0, "min_duration"));
  ASSAY_TRY(check_count(asked.max_duration.count(), 0, "max_duration"));
  if (!(asked.accuracy_log_probability >= 0 && asked.accuracy_log_probability <= 1)) {
    return invalid(fmt::format("{} is no probability", asked.accuracy_log_probability),
                   "accuracy_log_probability");
  }
  if (asked.performance_issue_unique && asked.performance_issue_same) {
    return invalid("every sample once and always the same sample exclude each other",
                   "performance_issue_unique, performance_issue_same");
  }
  return {};
}

struct PerScenario {
  int64_t samples_per_query = 1;
  double target_qps = 0;
  double percentile = 0;
  Nanoseconds target_latency{0};
  int64_t max_async_queries = 1;
};

PerScenario per_scenario(const LoadSettings& asked) {
  const auto rate_of = [](Nanoseconds latency) {
    return 1e9 / static_cast<double>(latency.count());
  };
  switch (asked.scenario) {
    case Scenario::kSingleStream:
      return {1, rate_of(asked.single_stream_expected_latency), asked.single_stream_percentile};
    case Scenario::kMultiStream:
      return {asked.multi_stream_samples_per_query, rate_of(asked.multi_stream_expected_latency),
              asked.multi_stream_percentile};
    case Scenario::kServer:
      return {1, asked.server_target_qps, asked.server_percentile, asked.server_target_latency,
              asked.server_max_async_queries};
    case Scenario::kOffline:
      return {1, asked.offline_expected_qps, 0.99};
  }
  return {};
}

// The number of queries an offline run or a run of whole permutations needs at the expected rate.
double expected_queries(const EffectiveSettings& effective, double slack) {
  return slack * (static_cast<double>(effective.min_duration.count()) / 1000) *
         effective.target_qps;
}

// The share of samples whose responses are kept.
double log_probability(const LoadSettings& asked, const EffectiveSettings& effective) {
  if (asked.accuracy_log_sampling_target == 0) return asked.accuracy_log_probability;
  double samples =
      effective.target_qps * std::chrono::duration<double>(effective.min_duration).count();
  if (effective.scenario != Scenario::kOffline) {
    samples *= static_cast<double>(effective.samples_per_query);
  }
  samples = std::max(samples, static_cast<double>(effective.min_sample_count));
  return std::min(1.0, static_cast<double>(asked.accuracy_log_sampling_target) / samples);
}

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

Result<void> size_run(const LoadSettings& asked, EffectiveSettings& run) {
  if (run.scenario == Scenario::kOffline) {
    const double expected = expected_queries(run, kOfflineSlack);
    if (expected > static_cast<double>(kMostSamples)) {
      return invalid(fmt::format("a query of {} samples", shortest(expected)), "target_qps");
    }
    run.samples_per_query = asked.performance_issue_unique
                                ? run.performance_sample_count
                                : std::max(asked.min_query_count, static_cast<int64_t>(expected));
    run.min_query_count = 1;
    run.target_duration = std::chrono::milliseconds(0);
  } else if (run.scenario == Scenario::kSingleStream && asked.sample_concatenate_permutation) {
    const double expected = std::max(static_cast<double>(run.min_query_count),
                                     std::floor(expected_queries(run, kPermutationSlack)));
    if (expected > static_cast<double>(kMostSamples)) {
      return invalid(fmt::format("{} queries", shortest(expected)), "min_duration");
    }
    run.min_query_count = round_up(static_cast<int64_t>(expected), run.performance_sample_count);
  }
  run.min_sample_count = run.min_query_count * run.samples_per_query;
  // A schedule lies in memory before the run starts.
  const double planned = 2 * run.target_qps * static_cast<double>(run.samples_per_query) *
                         std::chrono::duration<double>(run.target_duration).count();
  if (std::max(planned, static_cast<double>(run.min_sample_count)) >
      static_cast<double>(kMostSamples)) {
    return invalid("the run would have more than 2147483648 samples", "target_qps, min_duration");
  }
  return {};
}

}  // namespace

std::string_view scenario_name(Scenario scenario) {
  return kScenarios[static_cast<size_t>(scenario)].name;
}

std::string_view scenario_option(Scenario scenario) {
  return kScenarios[static_cast<size_t>(scenario)].option;
}

std::optional<Scenario> scenario_of(std::string_view name_or_option) {
  for (const ScenarioNames& row : kScenarios) {
    if (row.name == name_or_option || row.option == name_or_option) return row.scenario;
  }
  return std::nullopt;
}

std::string_view load_mode_name(LoadMode mode) {
  constexpr std::array<std::string_view, 4> kNames{"SubmissionRun", "AccuracyOnly",
                                                   "PerformanceOnly", "FindPeakPerformance"};
  return kNames[static_cast<size_t>(mode)];
}

Result<EffectiveSettings> derive(const LoadSettings& asked, int64_t total, int64_t loaded) {
  ASSAY_TRY(check(asked, total, loaded));
  const PerScenario own = per_scenario(asked);
  if (!(own.target_qps > 0) || !std::isfinite(own.target_qps)) {
    return invalid(fmt::format("a rate of {} queries a second", shortest(own.target_qps)),
                   "target_qps");
  }
  if (!(own.percentile > 0 && own.percentile < 1)) {
    return invalid(fmt::format("the percentile {} is not between 0 and 1", own.percentile),
                   "target_latency_percentile");
  }
  if (asked.scenario == Scenario::kServer && own.target_latency <= Nanoseconds(0)) {
    return invalid("the latency limit must be positive", "target_latency");
  }
  if (asked.mode == LoadMode::kFindPeak && asked.scenario != Scenario::kServer) {
    return invalid("only the server scenario has a peak rate to find", "mode");
  }
  EffectiveSettings run;
  run.scenario = asked.scenario;
  run.mode = asked.mode;
  run.samples_per_query = own.samples_per_query;
  run.target_qps = own.target_qps;
  run.target_latency = own.target_latency;
  run.percentile = own.percentile;
  run.max_async_queries = own.max_async_queries;
  run.min_duration = run.target_duration = asked.min_duration;
  run.max_duration = asked.max_duration;
  run.min_query_count = asked.min_query_count;
  run.max_query_count = asked.max_query_count;
  const auto given_or = [](int64_t given, int64_t other) { return given > 0 ? given : other; };
  run.performance_sample_count =
      std::min(total, given_or(asked.performance_sample_count_override, given_or(loaded, total)));
  run.accuracy_sample_count =
      std::min(total, given_or(asked.accuracy_sample_count_override, total));
  if (asked.scenario == Scenario::kMultiStream && asked.mode != LoadMode::kAccuracy &&
      run.performance_sample_count < run.samples_per_query) {
    return invalid(fmt::format("{} samples cannot fill a query of {}", run.performance_sample_count,
                               run.samples_per_query),
                   "samples_per_query");
  }
  if (asked.performance_issue_same &&
      (asked.performance_issue_same_index < 0 ||
       asked.performance_issue_same_index >= run.performance_sample_count)) {
    return invalid(fmt::format("there is no sample {} among {}", asked.performance_issue_same_index,
                               run.performance_sample_count),
                   "performance_issue_same_index");
  }
  ASSAY_TRY(size_run(asked, run));
  run.accuracy_log_probability = log_probability(asked, run);
  return run;
}

std::vector<std::string> unofficial_reasons(const LoadSettings& asked,
                                            const EffectiveSettings& effective) {
  std::vector<std::string> reasons;
  constexpr std::chrono::milliseconds kLeast{600'000};
  if (asked.min_duration < kLeast) {
    reasons.push_back(fmt::format("min_duration is {} s, the rules ask for 600 s",
                                  shortest(Seconds(asked.min_duration).count())));
  }
  if (asked.qsl_rng_seed != 2085463073848966840ULL ||
      asked.sample_index_rng_seed != 2747215439041700203ULL ||
      asked.schedule_rng_seed != 16159082839903944936ULL) {
    reasons.emplace_back("the seeds are not those of v6.1");
  }
  const double percentile = asked.scenario == Scenario::kSingleStream ? 0.90 : 0.99;
  if (effective.percentile < percentile) {
    reasons.push_back(fmt::format("the percentile is {}, the rules ask for {}",
                                  shortest(100 * effective.percentile),
                                  shortest(100 * percentile)));
  }
  if (asked.scenario == Scenario::kMultiStream && asked.multi_stream_samples_per_query != 8) {
    reasons.emplace_back("a multi-stream query has 8 samples");
  }
  if (asked.scenario == Scenario::kOffline) {
    const int64_t least = std::min<int64_t>(24'576, effective.accuracy_sample_count);
    if (effective.samples_per_query < least) {
      reasons.push_back(
          fmt::format("{} samples, the rules ask for {}", effective.samples_per_query, least));
    }
  }
  if (asked.performance_issue_unique || asked.performance_issue_same) {
    reasons.emplace_back("the samples are chosen for an audit");
  }
  return reasons;
}

}  // namespace assay
