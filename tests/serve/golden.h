// SPDX-License-Identifier: Apache-2.0
//
// The golden files that make_golden.py wrote with MLCommons LoadGen.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "serve/settings.h"
#include "serve/verdict.h"

namespace assay::golden {

inline Json load(const std::string& name) {
  const auto text = read_file(std::string(ASSAY_SOURCE_DIR) + "/tests/serve/golden/" + name);
  EXPECT_TRUE(text.ok());
  return parse_json(text.value(), name).value();
}

// The settings that were asked for, from their names in LoadGen's interface.
inline LoadSettings settings(const Json& asked) {
  LoadSettings to;
  to.scenario = scenario_of(asked["scenario"].get<std::string>()).value();
  to.mode = asked["mode"] == "AccuracyOnly" ? LoadMode::kAccuracy : LoadMode::kPerformance;
  const auto number = [&](const char* name, auto& field) {
    if (asked.contains(name)) field = asked[name].get<std::decay_t<decltype(field)>>();
  };
  const auto nanoseconds = [&](const char* name, Nanoseconds& field) {
    if (asked.contains(name)) field = Nanoseconds(asked[name].get<int64_t>());
  };
  const auto milliseconds = [&](const char* name, std::chrono::milliseconds& field) {
    if (asked.contains(name)) field = std::chrono::milliseconds(asked[name].get<int64_t>());
  };
  const auto seed = [&](const char* name, uint64_t& field) {
    if (asked.contains(name)) field = parse_uint(asked[name].get<std::string>()).value();
  };
  nanoseconds("single_stream_expected_latency_ns", to.single_stream_expected_latency);
  number("single_stream_target_latency_percentile", to.single_stream_percentile);
  nanoseconds("multi_stream_expected_latency_ns", to.multi_stream_expected_latency);
  number("multi_stream_target_latency_percentile", to.multi_stream_percentile);
  number("multi_stream_samples_per_query", to.multi_stream_samples_per_query);
  number("server_target_qps", to.server_target_qps);
  nanoseconds("server_target_latency_ns", to.server_target_latency);
  number("server_target_latency_percentile", to.server_percentile);
  number("server_coalesce_queries", to.server_coalesce_queries);
  number("offline_expected_qps", to.offline_expected_qps);
  milliseconds("min_duration_ms", to.min_duration);
  milliseconds("max_duration_ms", to.max_duration);
  number("min_query_count", to.min_query_count);
  number("max_query_count", to.max_query_count);
  seed("qsl_rng_seed", to.qsl_rng_seed);
  seed("sample_index_rng_seed", to.sample_index_rng_seed);
  seed("schedule_rng_seed", to.schedule_rng_seed);
  seed("accuracy_log_rng_seed", to.accuracy_log_rng_seed);
  number("accuracy_log_probability", to.accuracy_log_probability);
  number("accuracy_log_sampling_target", to.accuracy_log_sampling_target);
  number("performance_issue_unique", to.performance_issue_unique);
  number("performance_issue_same", to.performance_issue_same);
  number("performance_issue_same_index", to.performance_issue_same_index);
  number("performance_sample_count_override", to.performance_sample_count_override);
  number("accuracy_sample_count_override", to.accuracy_sample_count_override);
  number("sample_concatenate_permutation", to.sample_concatenate_permutation);
  return to;
}

// The times of one row of results.json.
inline LoadTimes times(const Json& row, const EffectiveSettings& settings) {
  LoadTimes result;
  result.latency_ns = row["latencies_ns"].get<std::vector<int64_t>>();
  const auto scheduled = row["scheduled_ns"].get<std::vector<int64_t>>();
  result.samples_per_query = settings.samples_per_query;
  result.queries = static_cast<int64_t>(scheduled.size());
  result.last_issue = result.last_scheduled = Nanoseconds(scheduled.back());
  for (size_t i = 0; i < result.latency_ns.size(); ++i) {
    const int64_t issued = scheduled[i / static_cast<size_t>(result.samples_per_query)];
    result.all_done = std::max(result.all_done, Nanoseconds(issued + result.latency_ns[i]));
  }
  return result;
}

}  // namespace assay::golden
