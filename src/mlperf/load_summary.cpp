// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "mlperf/load_lines.h"
#include "mlperf/load_log.h"

namespace assay {
namespace {

constexpr const char* kRule = "================================================\n";

class Summary {
 public:
  explicit Summary(const LoadReport& report)
      : report_(report), asked_(report.asked), effective_(report.effective) {}

  std::string text() {
    if (report_.verdict) {
      const LoadVerdict& verdict = *report_.verdict;
      title("MLPerf Results Summary");
      line("SUT name : {}\n", report_.system);
      line("Scenario : {}\n", scenario_name(effective_.scenario));
      line("Mode     : {}\n", load_mode_name(effective_.mode));
      headline(verdict);
      outcome(verdict);
      out_ += '\n';
      title("Additional Stats");
      statistics(verdict);
      out_ += '\n';
      title("Test Parameters Used");
      parameters();
    }
    remarks();
    return std::move(out_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> form, T&&... values) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<T>(values)...);
  }
  void title(const char* name) { line("{0}{1}\n{0}", kRule, name); }
  static const char* yes(bool value) { return value ? "Yes" : "NO"; }

  void headline(const LoadVerdict& verdict) {
    switch (effective_.scenario) {
      case Scenario::kSingleStream:
      case Scenario::kMultiStream:
        line("{:.1f}th percentile latency (ns) : {}\n", 100 * effective_.percentile,
             verdict.target_percentile_ns);
        break;
      case Scenario::kServer:
        line("Completed samples per second    : {:.2f}\n", verdict.completed_per_s);
        break;
      case Scenario::kOffline:
        line("Samples per second: {:.6g}\n", verdict.samples_per_s);
        break;
    }
  }

  void outcome(const LoadVerdict& verdict) {
    line("Result is : {}\n", report_.valid() ? "VALID" : "INVALID");
    if (effective_.scenario == Scenario::kServer) {
      line("  Performance constraints satisfied : {}\n", yes(verdict.performance_met));
    }
    line("  Min duration satisfied : {}\n", yes(verdict.min_duration_met));
    line("  Min queries satisfied : {}\n", yes(verdict.min_queries_met));
    line("  Early stopping satisfied: {}\n", yes(verdict.early_stopping_met));
    const auto reasons = load_reasons(report_);
    if (!reasons.empty()) line("Recommendations:\n");
    for (const std::string& reason : reasons) line(" * {}\n", reason);
    const auto early = early_stopping_lines(report_);
    if (!early.empty()) line("Early Stopping Result:\n");
    for (const std::string& text : early) line(" * {}\n", text);
  }

  void latencies(const LatencySummary& latency) {
    line("Min latency (ns)                : {}\n", latency.min_ns);
    line("Max latency (ns)                : {}\n", latency.max_ns);
    line("Mean latency (ns)               : {}\n", latency.mean_ns);
    for (size_t i = 0; i < kLoadPercentiles.size(); ++i) {
      line("{:.2f} percentile latency (ns)   : {}\n", 100 * kLoadPercentiles[i],
           latency.percentiles_ns[i]);
    }
  }

  void statistics(const LoadVerdict& verdict) {
    switch (effective_.scenario) {
      case Scenario::kSingleStream:
        line("QPS w/ loadgen overhead         : {:.2f}\n", verdict.queries_per_s);
        line("QPS w/o loadgen overhead        : {:.2f}\n\n", verdict.queries_per_s_system);
        break;
      case Scenario::kMultiStream:
        line("Per-query latency:  \n");
        break;
      case Scenario::kServer:
        line("Scheduled samples per second : {:.2f}\n", verdict.scheduled_per_s);
        break;
      case Scenario::kOffline:
        break;
    }
    latencies(effective_.scenario == Scenario::kMultiStream ? verdict.query_latency
                                                            : verdict.sample_latency);
  }

  void parameters() {
    line("samples_per_query : {}\n", effective_.samples_per_query);
    line("target_qps : {:.6g}\n", effective_.target_qps);
    line("target_latency (ns): {}\n", effective_.target_latency.count());
    line("max_async_queries : {}\n", effective_.max_async_queries);
    line("min_duration (ms): {}\n", effective_.min_duration.count());
    line("max_duration (ms): {}\n", effective_.max_duration.count());
    line("min_query_count : {}\n", effective_.min_query_count);
    line("max_query_count : {}\n", effective_.max_query_count);
    line("qsl_rng_seed : {}\n", asked_.qsl_rng_seed);
    line("sample_index_rng_seed : {}\n", asked_.sample_index_rng_seed);
    line("schedule_rng_seed : {}\n", asked_.schedule_rng_seed);
    line("accuracy_log_rng_seed : {}\n", asked_.accuracy_log_rng_seed);
    line("accuracy_log_probability : {:.6g}\n", asked_.accuracy_log_probability);
    line("accuracy_log_sampling_target : {}\n", asked_.accuracy_log_sampling_target);
    line("print_timestamps : 0\n");
    line("performance_issue_unique : {}\n", int{asked_.performance_issue_unique});
    line("performance_issue_same : {}\n", int{asked_.performance_issue_same});
    line("performance_issue_same_index : {}\n", asked_.performance_issue_same_index);
    line("performance_sample_count : {}\n", effective_.performance_sample_count);
    line("accuracy_sample_count : {}\n", effective_.accuracy_sample_count);
  }

  void count(int64_t number, const char* none, const char* one, const char* many) {
    if (number == 0) {
      line("\nNo {} encountered during test.\n", none);
    } else {
      line("\n{} {} encountered. See detailed log.\n", number, number == 1 ? one : many);
    }
  }

  void remarks() {
    count(load_remarks(report_, LoadRemark::Kind::kWarning), "warnings", "warning", "warnings");
    count(load_remarks(report_, LoadRemark::Kind::kError), "errors", "ERROR", "ERRORS");
    for (const std::string& reason : report_.unofficial) line("Unofficial: {}\n", reason);
  }

  const LoadReport& report_;
  const LoadSettings& asked_;
  const EffectiveSettings& effective_;
  std::string out_;
};

}  // namespace

int64_t load_remarks(const LoadReport& report, LoadRemark::Kind kind) {
  return std::count_if(report.remarks.begin(), report.remarks.end(),
                       [&](const LoadRemark& remark) { return remark.kind == kind; });
}

std::vector<std::string> load_reasons(const LoadReport& report) {
  if (!report.verdict) return {};
  std::vector<std::string> reasons = invalid_reasons(report.effective, *report.verdict);
  for (const LoadRemark& remark : report.remarks) {
    if (remark.kind == LoadRemark::Kind::kError && !report.valid()) reasons.push_back(remark.text);
  }
  return reasons;
}

std::vector<std::string> early_stopping_lines(const LoadReport& report) {
  if (!report.verdict) return {};
  const LoadVerdict& verdict = *report.verdict;
  const EffectiveSettings& settings = report.effective;
  std::vector<std::string> lines;
  if (settings.scenario == Scenario::kOffline) return lines;
  if (settings.scenario == Scenario::kServer) {
    if (verdict.early_stopping_met) return {"Run successful."};
    lines.emplace_back("Run unsuccessful.");
    lines.push_back(
        fmt::format("Queries: {}, over the limit: {}", verdict.queries, verdict.over_latency));
    lines.push_back(
        fmt::format("More queries needed, none of them late: {}", verdict.more_queries_needed));
    return lines;
  }
  const int64_t needed = queries_to_estimate(settings.percentile);
  if (!verdict.estimate) {
    return {fmt::format("Queries: {}, needed for an estimate: {}", verdict.queries, needed)};
  }
  lines.push_back(fmt::format("Queries: {}, needed for an estimate: {}", verdict.queries, needed));
  lines.push_back(fmt::format("Discarded highest latencies: {}", verdict.estimate->discarded));
  const auto estimate = [&](double percentile, const PercentileEstimate& value) {
    lines.push_back(fmt::format("Early stopping {:.1f}th percentile estimate: {}", 100 * percentile,
                                value.value_ns));
  };
  estimate(settings.percentile, *verdict.estimate);
  if (verdict.estimate_p99) {
    estimate(0.99, *verdict.estimate_p99);
  } else if (settings.scenario == Scenario::kSingleStream) {
    lines.push_back(fmt::format("Queries needed for a 99.0th percentile estimate: {}",
                                queries_to_estimate(0.99)));
  }
  return lines;
}

std::string load_summary(const LoadReport& report) { return Summary(report).text(); }

}  // namespace assay
