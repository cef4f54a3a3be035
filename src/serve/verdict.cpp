// SPDX-License-Identifier: Apache-2.0
#include "serve/verdict.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay {
namespace {

// A single-stream run also tells this percentile: multi-stream results are inferred from it.
constexpr double kEstimatePercentile = 0.99;

int64_t at_percentile(std::span<const int64_t> sorted, double percentile) {
  const auto index = static_cast<size_t>(static_cast<double>(sorted.size()) * percentile);
  return sorted[std::min(index, sorted.size() - 1)];
}

LatencySummary summarise(std::span<const int64_t> sorted) {
  LatencySummary summary;
  summary.min_ns = sorted.front();
  summary.max_ns = sorted.back();
  const int64_t sum = std::accumulate(sorted.begin(), sorted.end(), int64_t{0});
  summary.mean_ns = sum / static_cast<int64_t>(sorted.size());
  for (size_t i = 0; i < kLoadPercentiles.size(); ++i) {
    summary.percentiles_ns[i] = at_percentile(sorted, kLoadPercentiles[i]);
  }
  return summary;
}

std::vector<int64_t> query_latencies(const LoadTimes& times) {
  const auto step = static_cast<size_t>(times.samples_per_query);
  std::vector<int64_t> slowest(times.latency_ns.size() / step);
  for (size_t i = 0; i < slowest.size(); ++i) {
    const auto first = times.latency_ns.begin() + static_cast<ptrdiff_t>(i * step);
    slowest[i] = *std::max_element(first, first + static_cast<ptrdiff_t>(step));
  }
  return slowest;
}

double per_second(double count, Nanoseconds time) {
  return time.count() > 0 ? count / Seconds(time).count() : 0;
}

void judge_stream(const EffectiveSettings& settings, const LoadTimes& times,
                  std::span<const int64_t> sorted_queries, LoadVerdict& verdict) {
  verdict.min_duration_met = times.last_issue >= settings.min_duration;
  verdict.estimate = early_stopping_estimate(sorted_queries, settings.percentile);
  verdict.early_stopping_met = verdict.estimate.has_value();
  verdict.queries_per_s = per_second(static_cast<double>(verdict.queries - 1), times.last_issue);
  if (settings.scenario == Scenario::kMultiStream) return;
  verdict.estimate_p99 = early_stopping_estimate(sorted_queries, kEstimatePercentile);
  verdict.queries_per_s_system = per_second(1, Nanoseconds(verdict.sample_latency.mean_ns));
}

void judge_server(const EffectiveSettings& settings, const LoadTimes& times,
                  std::span<const int64_t> sorted_queries, LoadVerdict& verdict) {
  const int64_t limit = settings.target_latency.count();
  verdict.min_duration_met = times.last_scheduled >= settings.min_duration;
  verdict.performance_met = verdict.target_percentile_ns <= limit;
  verdict.over_latency =
      sorted_queries.end() - std::upper_bound(sorted_queries.begin(), sorted_queries.end(), limit);
  const int64_t needed =
      queries_under_needed(verdict.over_latency, settings.percentile) + verdict.over_latency;
  verdict.early_stopping_met = verdict.queries >= needed;
  verdict.more_queries_needed = std::max<int64_t>(0, needed - verdict.queries);
  const auto gaps = static_cast<double>(verdict.queries - 1);
  verdict.scheduled_per_s = per_second(gaps, times.last_scheduled);
  verdict.completed_per_s = per_second(gaps, times.all_done);
}

}  // namespace

double LoadVerdict::headline() const {
  switch (scenario) {
    case Scenario::kSingleStream:
    case Scenario::kMultiStream:
      return static_cast<double>(estimate ? estimate->value_ns : target_percentile_ns);
    case Scenario::kServer:
      return completed_per_s;
    case Scenario::kOffline:
      return samples_per_s;
  }
  return 0;
}

LoadVerdict judge(const EffectiveSettings& settings, const LoadTimes& times) {
  ASSAY_ASSERT(!times.latency_ns.empty() && times.queries > 0, "a verdict on nothing");
  LoadVerdict verdict;
  verdict.scenario = settings.scenario;
  verdict.queries = times.queries;
  verdict.samples = static_cast<int64_t>(times.latency_ns.size());
  std::vector<int64_t> queries;
  if (settings.scenario == Scenario::kMultiStream) queries = query_latencies(times);
  std::vector<int64_t> samples = times.latency_ns;
  std::sort(samples.begin(), samples.end());
  verdict.sample_latency = summarise(samples);
  std::sort(queries.begin(), queries.end());
  const std::span<const int64_t> of_queries = queries.empty() ? samples : queries;
  verdict.query_latency = summarise(of_queries);
  verdict.target_percentile_ns = at_percentile(of_queries, settings.percentile);
  verdict.min_queries_met =
      verdict.queries >= settings.min_query_count && verdict.samples >= settings.min_sample_count;
  switch (settings.scenario) {
    case Scenario::kSingleStream:
    case Scenario::kMultiStream:
      judge_stream(settings, times, of_queries, verdict);
      break;
    case Scenario::kServer:
      judge_server(settings, times, of_queries, verdict);
      break;
    case Scenario::kOffline:
      verdict.min_duration_met =
          verdict.sample_latency.max_ns >= Nanoseconds(settings.min_duration).count();
      verdict.samples_per_s = per_second(static_cast<double>(verdict.samples),
                                         Nanoseconds(verdict.sample_latency.max_ns));
      break;
  }
  verdict.valid = verdict.min_duration_met && verdict.min_queries_met && verdict.performance_met &&
                  verdict.early_stopping_met;
  return verdict;
}

std::vector<std::string> invalid_reasons(const EffectiveSettings& settings,
                                         const LoadVerdict& verdict) {
  std::vector<std::string> reasons;
  const auto time = [](int64_t ns) { return human_seconds(static_cast<double>(ns) * 1e-9); };
  if (!verdict.performance_met) {
    reasons.push_back(
        fmt::format("the {} % latency is {}, the limit {}", shortest(100 * settings.percentile),
                    time(verdict.target_percentile_ns), time(settings.target_latency.count())));
  }
  if (!verdict.min_duration_met) {
    reasons.push_back(
        fmt::format("shorter than {}", human_seconds(Seconds(settings.min_duration).count())));
  }
  if (!verdict.min_queries_met) {
    reasons.push_back(fmt::format("{} samples in {} queries, fewer than {} in {}", verdict.samples,
                                  verdict.queries, settings.min_sample_count,
                                  settings.min_query_count));
  }
  if (!verdict.early_stopping_met && settings.scenario == Scenario::kServer) {
    reasons.push_back(fmt::format(
        "early stopping: {} of {} queries over the limit, {} more in time would be needed",
        verdict.over_latency, verdict.queries, verdict.more_queries_needed));
  } else if (!verdict.early_stopping_met) {
    reasons.push_back(fmt::format("early stopping: {} queries, {} are needed", verdict.queries,
                                  queries_to_estimate(settings.percentile)));
  }
  return reasons;
}

}  // namespace assay
