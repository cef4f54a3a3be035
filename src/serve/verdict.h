// SPDX-License-Identifier: Apache-2.0
//
// Verdict: what a performance run may claim, from its times. The rules are those of MLPerf's
// LoadGen 6.0 (golden tests replay its runs); percentiles are its too: of n ascending values the
// one at floor(n p), counted from 0. Pure; sorts a copy of the latencies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "serve/early_stopping.h"
#include "serve/settings.h"

namespace assay {

// Times of a performance run, from its start.
struct LoadTimes {
  int64_t samples_per_query = 1;
  std::vector<int64_t> latency_ns;  // of every answered sample, in the order issued
  int64_t queries = 0;              // answered whole
  Nanoseconds last_issue{0};
  Nanoseconds last_scheduled{0};
  Nanoseconds all_done{0};
};

constexpr std::array<double, 6> kLoadPercentiles{0.50, 0.90, 0.95, 0.97, 0.99, 0.999};

struct LatencySummary {
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t mean_ns = 0;                      // cut to whole nanoseconds
  std::array<int64_t, 6> percentiles_ns{};  // kLoadPercentiles
};

struct LoadVerdict {
  bool valid = false;
  bool min_duration_met = false;
  bool min_queries_met = false;
  bool performance_met = true;  // server: the latency at the percentile is within the limit
  bool early_stopping_met = true;

  int64_t queries = 0;
  int64_t samples = 0;
  LatencySummary sample_latency;
  LatencySummary query_latency;      // of a query: its slowest sample
  int64_t target_percentile_ns = 0;  // of queries, at the percentile asked for

  // single-stream and multi-stream
  std::optional<PercentileEstimate> estimate;      // at the percentile asked for
  std::optional<PercentileEstimate> estimate_p99;  // single-stream
  double queries_per_s = 0;                        // as issued
  double queries_per_s_system = 0;                 // as the system alone would have
  // server
  int64_t over_latency = 0;
  int64_t more_queries_needed = 0;  // for early stopping, all of them in time
  double scheduled_per_s = 0;
  double completed_per_s = 0;
  // offline
  double samples_per_s = 0;

  // The number that MLPerf compares: an estimate in ns, or a rate.
  double headline() const;
  Scenario scenario = Scenario::kSingleStream;
};

// At least one answered query.
LoadVerdict judge(const EffectiveSettings& settings, const LoadTimes& times);

// What decided against the run, in words: "the 99 % latency is 12.1 ms, the limit 10 ms". Empty for
// a valid one.
std::vector<std::string> invalid_reasons(const EffectiveSettings& settings,
                                         const LoadVerdict& verdict);

}  // namespace assay
