// SPDX-License-Identifier: Apache-2.0
//
// What a load test is asked for, and what follows from it. Fields, defaults and derivation are
// those of MLPerf's load generator (LoadGen 6.0), so that a configuration means the same run here.
// Values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace assay {

enum class Scenario {
  kSingleStream,  // one sample at a time, the next when the last is done
  kMultiStream,   // the same with several samples a query
  kServer,        // queries of one sample arrive as a Poisson process
  kOffline,       // everything at once
};
enum class LoadMode {
  kSubmission,   // accuracy, then performance
  kAccuracy,     // every sample once, responses kept
  kPerformance,  // timed
  kFindPeak,     // the highest server rate that is still valid
};

std::string_view scenario_name(Scenario scenario);    // "SingleStream", as MLPerf writes it
std::string_view scenario_option(Scenario scenario);  // "single-stream"
std::optional<Scenario> scenario_of(std::string_view name_or_option);
std::string_view load_mode_name(LoadMode mode);  // "PerformanceOnly"

struct LoadSettings {
  Scenario scenario = Scenario::kSingleStream;
  LoadMode mode = LoadMode::kPerformance;

  // The expected latencies and the offline rate only size the run.
  Nanoseconds single_stream_expected_latency{1'000'000};
  double single_stream_percentile = 0.90;
  Nanoseconds multi_stream_expected_latency{8'000'000};
  double multi_stream_percentile = 0.99;
  int64_t multi_stream_samples_per_query = 8;
  double server_target_qps = 1;
  Nanoseconds server_target_latency{100'000'000};  // at most this, at the percentile
  double server_percentile = 0.99;
  bool server_coalesce_queries = false;  // overdue queries are issued in one call
  int64_t server_max_async_queries = 0;  // more unanswered ones end the run; 0: any number
  int server_find_peak_decimals = 1;
  double server_find_peak_step = 1;  // the rate grows by this share until a run fails
  double offline_expected_qps = 1;

  std::chrono::milliseconds min_duration{10'000};
  std::chrono::milliseconds max_duration{0};  // 0: no limit
  int64_t min_query_count = 100;
  int64_t max_query_count = 0;  // 0: no limit

  uint64_t qsl_rng_seed = 0;
  uint64_t sample_index_rng_seed = 0;
  uint64_t schedule_rng_seed = 0;
  uint64_t accuracy_log_rng_seed = 0;
  // A share of the responses of a performance run is kept; the target, a number of samples, wins.
  double accuracy_log_probability = 0;
  int64_t accuracy_log_sampling_target = 0;

  bool performance_issue_unique = false;  // every loaded sample once
  bool performance_issue_same = false;    // always the same sample
  int64_t performance_issue_same_index = 0;
  int64_t performance_sample_count_override = 0;  // 0: what the library says
  int64_t accuracy_sample_count_override = 0;
  bool sample_concatenate_permutation = false;  // every sample equally often, in shuffled passes
};

// A run as it will be.
struct EffectiveSettings {
  Scenario scenario = Scenario::kSingleStream;
  LoadMode mode = LoadMode::kPerformance;
  int64_t samples_per_query = 1;
  double target_qps = 0;
  Nanoseconds target_latency{0};  // server only
  double percentile = 0;
  int64_t max_async_queries = 0;
  std::chrono::milliseconds target_duration{0};
  std::chrono::milliseconds min_duration{0};
  std::chrono::milliseconds max_duration{0};
  int64_t min_query_count = 0;
  int64_t max_query_count = 0;
  int64_t min_sample_count = 0;
  int64_t performance_sample_count = 0;
  int64_t accuracy_sample_count = 0;
  double accuracy_log_probability = 0;
};

// kInvalid for rates, percentiles, counts and combinations that no run can follow; `total` and
// `loaded` are the library's counts (loaded 0: all fit into memory).
Result<EffectiveSettings> derive(const LoadSettings& asked, int64_t total, int64_t loaded);

// What keeps a run with these settings from being official under the rules of MLPerf Inference
// v6.1 (closed division, 600 s runs): "min_duration is 60 s, the rules ask for 600 s". Empty when
// nothing does; it says nothing about models and data.
std::vector<std::string> unofficial_reasons(const LoadSettings& asked,
                                            const EffectiveSettings& effective);

}  // namespace assay
