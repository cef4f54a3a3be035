// SPDX-License-Identifier: Apache-2.0
#include "serve/run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

// Loads on construction, unloads at the end whatever happens.
class LoadedSamples {
 public:
  LoadedSamples(SampleLibrary& library, const LoadedSet& set)
      : library_(library), indices_(set.indices.data(), set.distinct) {}
  ~LoadedSamples() {
    if (loaded_) library_.unload(indices_);
  }
  LoadedSamples(const LoadedSamples&) = delete;
  LoadedSamples& operator=(const LoadedSamples&) = delete;
  Result<void> load() {
    ASSAY_TRY(library_.load(indices_));
    loaded_ = true;
    return {};
  }

 private:
  SampleLibrary& library_;
  std::span<const uint32_t> indices_;
  bool loaded_ = false;
};

std::vector<uint32_t> kept_ids(const LoadSettings& asked, const EffectiveSettings& effective,
                               uint32_t first, uint32_t count) {
  if (effective.mode != LoadMode::kAccuracy) {
    return logged_samples(asked.accuracy_log_rng_seed, effective.accuracy_log_probability, count);
  }
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

// Turns moments of completion into latencies, in place, and says how the queries stand.
Result<void> take_times(const Issued& issued, std::vector<int64_t> done_at, int64_t step,
                        LoadReport& report) {
  LoadTimes& times = report.times;
  times.samples_per_query = step;
  const size_t asked = issued.scheduled_ns.size() * static_cast<size_t>(step);
  const int64_t start = issued.start.count();
  size_t kept = 0;
  int64_t last_done = 0;
  for (size_t i = 0; i < done_at.size(); ++i) {
    const bool answered = done_at[i] != Completions::kPending;
    if (i >= asked) {
      if (!answered) continue;
      return Error{ErrorCode::kInternal,
                   fmt::format("sample {} was answered before it was asked", i), report.system};
    }
    if (!answered) {
      ++report.unanswered;
      continue;
    }
    const int64_t done = done_at[i] - start;
    last_done = std::max(last_done, done);
    done_at[kept++] = done - issued.scheduled_ns[i / static_cast<size_t>(step)];
  }
  if (report.unanswered > 0 && !issued.abandoned) {
    return Error{ErrorCode::kInternal,
                 fmt::format("{} of {} samples were never answered", report.unanswered, asked),
                 report.system};
  }
  done_at.resize(kept);
  times.latency_ns = std::move(done_at);
  times.queries = static_cast<int64_t>(kept) / step;
  times.last_issue = issued.last_issue;
  times.last_scheduled = Nanoseconds(issued.scheduled_ns.back());
  times.all_done = Nanoseconds(last_done);
  return {};
}

// A wall clock that was set while we measured does no harm to the times, but to what is compared
// with them (power meters, other logs).
void compare_clocks(Nanoseconds steady, std::chrono::milliseconds wall, LoadReport& report) {
  const double difference = std::abs(Seconds(wall).count() - Seconds(steady).count());
  const double share = difference / std::max(Seconds(steady).count(), 1e-9);
  if (difference < 0.002 || share < 0.001) return;
  report.remarks.push_back(
      {share < 0.01 ? LoadRemark::Kind::kWarning : LoadRemark::Kind::kError,
       fmt::format("the wall clock moved by {} s more or less than the steady one",
                   shortest(std::round(1000 * difference) / 1000))});
}

Result<void> run_set(SystemUnderTest& system, SampleLibrary& library, LoadedSet set,
                     const Clock& clock, const LoadOptions& options, uint32_t& next_id,
                     LoadReport& report) {
  const QueryPlan plan = plan_queries(report.asked, report.effective, set);
  LoadedSamples samples(library, set);
  ASSAY_TRY(samples.load());
  const auto count = static_cast<uint32_t>(plan.samples.size());
  Completions done(clock, {next_id, count},
                   kept_ids(report.asked, report.effective, next_id, count));
  const auto wall = clock.unix_time();
  if (report.sets.empty()) report.started_at = wall;
  ASSAY_ASSIGN(Issued issued,
               issue_queries({system, done, plan, report.effective,
                              report.asked.server_coalesce_queries, next_id, clock, options}));
  const Nanoseconds steady = clock.now() - issued.start;
  report.ended_at = clock.unix_time();
  compare_clocks(steady, report.ended_at - wall, report);
  if (!issued.ended_early.empty()) {
    report.remarks.push_back({LoadRemark::Kind::kError, issued.ended_early});
  }
  for (KeptResponse& kept : done.take_responses()) {
    report.responses.push_back({kept.id, plan.samples[kept.id - next_id], std::move(kept.data)});
  }
  ASSAY_TRY(take_times(issued, done.take_times(), plan.samples_per_query, report));
  report.issue_delay_ns = std::move(issued.delay_ns);
  report.sets.push_back({std::move(set), plan.queries(), plan.samples_per_query, plan.duration,
                         static_cast<int64_t>(issued.scheduled_ns.size())});
  next_id += count;
  return {};
}

Error with_reasons(double rate, const LoadReport& report) {
  std::vector<std::string> reasons;
  if (report.verdict) reasons = invalid_reasons(report.effective, *report.verdict);
  for (const LoadRemark& remark : report.remarks) reasons.push_back(remark.text);
  return {ErrorCode::kInvalid,
          fmt::format("already {} queries a second are not sustained: {}", shortest(rate),
                      join(reasons, "; ")),
          "target_qps", "start from a lower rate"};
}

}  // namespace

Result<LoadReport> run_load(SystemUnderTest& system, SampleLibrary& library,
                            const LoadSettings& settings, const Clock& clock,
                            const LoadOptions& options) {
  if (settings.mode != LoadMode::kAccuracy && settings.mode != LoadMode::kPerformance) {
    return Error{ErrorCode::kInvalid, "one run is an accuracy or a performance run", "mode"};
  }
  LoadReport report;
  report.asked = settings;
  report.system = system.name();
  report.library = library.name();
  report.library_total = library.total_count();
  report.library_performance = library.performance_count();
  ASSAY_ASSIGN(report.effective,
               derive(settings, report.library_total, report.library_performance));
  report.unofficial = unofficial_reasons(settings, report.effective);
  uint32_t next_id = 0;
  for (LoadedSet& set : loaded_sets(settings, report.effective)) {
    ASSAY_TRY(run_set(system, library, std::move(set), clock, options, next_id, report));
  }
  if (settings.mode == LoadMode::kPerformance && report.times.queries > 0) {
    report.verdict = judge(report.effective, report.times);
  }
  return report;
}

Result<Peak> find_peak(SystemUnderTest& system, SampleLibrary& library,
                       const LoadSettings& settings, const Clock& clock,
                       const LoadOptions& options) {
  constexpr int kMostTries = 64;
  LoadSettings at = settings;
  ASSAY_TRY(derive(at, library.total_count(), library.performance_count()));
  if (!(settings.server_find_peak_step > 0) || settings.server_find_peak_decimals < 0 ||
      settings.server_find_peak_decimals > 6) {
    return Error{ErrorCode::kInvalid, "a step above 0 and 0 to 6 decimals are needed",
                 "server_find_peak_qps"};
  }
  at.mode = LoadMode::kPerformance;
  Peak peak;
  const auto sustained = [&](double rate) -> Result<bool> {
    at.server_target_qps = rate;
    ASSAY_ASSIGN(LoadReport report, run_load(system, library, at, clock, options));
    const bool valid = report.valid();
    peak.tries.push_back({rate, valid, report.verdict.value_or(LoadVerdict{})});
    if (valid || peak.tries.size() == 1) {
      if (valid) peak.rate = rate;
      peak.best = std::move(report);
    }
    return valid;
  };
  ASSAY_ASSIGN(bool valid, sustained(settings.server_target_qps));
  if (!valid) return with_reasons(settings.server_target_qps, peak.best);
  double fails = 0;
  while (fails == 0) {
    if (peak.tries.size() >= kMostTries) {
      return Error{ErrorCode::kInvalid, "no rate fails", "target_qps"};
    }
    const double rate = peak.rate * (1 + settings.server_find_peak_step);
    ASSAY_ASSIGN(valid, sustained(rate));
    if (!valid) fails = rate;
  }
  const double unit = std::pow(10.0, -settings.server_find_peak_decimals);
  while (peak.tries.size() < kMostTries) {
    const double middle = std::round((peak.rate + fails) / 2 / unit) * unit;
    if (middle <= peak.rate || middle >= fails) break;
    ASSAY_ASSIGN(valid, sustained(middle));
    if (!valid) fails = middle;
  }
  return peak;
}

}  // namespace assay
