// SPDX-License-Identifier: Apache-2.0
#include "mlperf/load_log.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "mlperf/load_lines.h"
#include "mlperf/log_text.h"

namespace assay {
namespace {

constexpr const char* kPoint = "POINT_IN_TIME";

// "12-01-2026 16:02:45.916", UTC
std::string power_time(std::chrono::milliseconds unix_time) {
  const auto day = std::chrono::floor<std::chrono::days>(unix_time);
  const std::chrono::year_month_day date{std::chrono::sys_days{day}};
  const std::chrono::hh_mm_ss time{unix_time - day};
  return fmt::format("{:02}-{:02}-{:04} {:02}:{:02}:{:02}.{:03}",
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                     time.seconds().count(), time.subseconds().count());
}

class Detail {
 public:
  Detail(const LoadReport& report, const std::string& generator)
      : report_(report),
        asked_(report.asked),
        effective_(report.effective),
        generator_(generator) {}

  std::string text() {
    heading();
    requested();
    effective();
    run();
    if (report_.verdict) results(*report_.verdict);
    return std::move(out_);
  }

 private:
  void write(std::string_view key, const Json& value, const char* event = kPoint,
             LoadRemark::Kind kind = LoadRemark::Kind::kNote, int source_line = __builtin_LINE()) {
    const Json line{{"key", key},
                    {"value", value},
                    {"time_ms", time_ms_},
                    {"namespace", "mlperf::logging"},
                    {"event_type", event},
                    {"metadata",
                     {{"is_error", kind == LoadRemark::Kind::kError},
                      {"is_warning", kind == LoadRemark::Kind::kWarning},
                      {"file", "load_log.cpp"},
                      {"line_no", source_line},
                      {"pid", getpid()},
                      {"tid", gettid()}}}};
    out_ += ":::MLLOG ";
    write_json(line, out_);
    out_ += '\n';
  }
  void asked(const std::string& key, const Json& value) { write("requested_" + key, value); }
  void derived(const std::string& key, const Json& value) { write("effective_" + key, value); }

  void heading() {
    write("loadgen_version", generator_);
    write("test_datetime", iso8601(report_.started_at));
    write("sut_name", report_.system);
    write("qsl_name", report_.library);
    write("qsl_reported_total_count", report_.library_total);
    write("qsl_reported_performance_count", report_.library_performance);
  }

  void requested_of_scenario() {
    switch (asked_.scenario) {
      case Scenario::kSingleStream:
        asked("single_stream_expected_latency_ns", asked_.single_stream_expected_latency.count());
        asked("single_stream_target_latency_percentile", asked_.single_stream_percentile);
        break;
      case Scenario::kMultiStream:
        asked("multi_stream_expected_latency_ns", asked_.multi_stream_expected_latency.count());
        asked("multi_stream_target_latency_percentile", asked_.multi_stream_percentile);
        asked("multi_stream_samples_per_query", asked_.multi_stream_samples_per_query);
        break;
      case Scenario::kServer:
        asked("server_target_qps", asked_.server_target_qps);
        asked("server_target_latency_ns", asked_.server_target_latency.count());
        asked("server_target_latency_percentile", asked_.server_percentile);
        asked("server_coalesce_queries", asked_.server_coalesce_queries);
        asked("server_find_peak_qps_decimals_of_precision", asked_.server_find_peak_decimals);
        asked("server_find_peak_qps_boundary_step_size", asked_.server_find_peak_step);
        asked("server_max_async_queries", asked_.server_max_async_queries);
        asked("server_num_issue_query_threads", 0);
        break;
      case Scenario::kOffline:
        asked("offline_expected_qps", asked_.offline_expected_qps);
        break;
    }
  }

  void requested() {
    asked("scenario", scenario_name(asked_.scenario));
    asked("test_mode", load_mode_name(asked_.mode));
    requested_of_scenario();
    asked("min_duration_ms", asked_.min_duration.count());
    asked("max_duration_ms", asked_.max_duration.count());
    asked("min_query_count", asked_.min_query_count);
    asked("max_query_count", asked_.max_query_count);
    seeds("requested_");
    asked("accuracy_log_probability", asked_.accuracy_log_probability);
    asked("accuracy_log_sampling_target", asked_.accuracy_log_sampling_target);
    audits("requested_");
    asked("performance_sample_count_override", asked_.performance_sample_count_override);
    asked("accuracy_sample_count_override", asked_.accuracy_sample_count_override);
    asked("sample_concatenate_permutation", asked_.sample_concatenate_permutation);
  }

  void effective() {
    derived("scenario", scenario_name(effective_.scenario));
    derived("test_mode", load_mode_name(effective_.mode));
    derived("samples_per_query", effective_.samples_per_query);
    derived("target_qps", effective_.target_qps);
    derived("target_latency_ns", effective_.target_latency.count());
    derived("target_latency_percentile", effective_.percentile);
    derived("max_async_queries", effective_.max_async_queries);
    derived("target_duration_ms", effective_.target_duration.count());
    derived("min_duration_ms", effective_.min_duration.count());
    derived("max_duration_ms", effective_.max_duration.count());
    derived("min_query_count", effective_.min_query_count);
    derived("max_query_count", effective_.max_query_count);
    derived("min_sample_count", effective_.min_sample_count);
    seeds("effective_");
    derived("accuracy_log_probability", asked_.accuracy_log_probability);
    derived("accuracy_log_sampling_target", asked_.accuracy_log_sampling_target);
    audits("effective_");
    derived("performance_sample_count", effective_.performance_sample_count);
    derived("accuracy_sample_count", effective_.accuracy_sample_count);
    derived("sample_concatenate_permutation", asked_.sample_concatenate_permutation);
  }

  void seeds(const std::string& prefix) {
    write(prefix + "qsl_rng_seed", asked_.qsl_rng_seed);
    write(prefix + "sample_index_rng_seed", asked_.sample_index_rng_seed);
    write(prefix + "schedule_rng_seed", asked_.schedule_rng_seed);
    write(prefix + "accuracy_log_rng_seed", asked_.accuracy_log_rng_seed);
  }

  void audits(const std::string& prefix) {
    write(prefix + "print_timestamps", false);
    write(prefix + "performance_issue_unique", asked_.performance_issue_unique);
    write(prefix + "performance_issue_same", asked_.performance_issue_same);
    write(prefix + "performance_issue_same_index", asked_.performance_issue_same_index);
  }

  void run() {
    for (const std::string& reason : report_.unofficial) write("assay_unofficial", reason);
    for (const SetReport& set : report_.sets) {
      write("loaded_qsl_set", set.set.indices);
      write("generated_query_count", set.planned_queries);
      write("generated_samples_per_query", set.samples_per_query);
      write("generated_query_duration", set.planned_duration.count());
    }
    time_ms_ = static_cast<double>(report_.times.all_done.count()) * 1e-6;
    for (const LoadRemark& remark : report_.remarks) {
      const char* key = remark.kind == LoadRemark::Kind::kError     ? "error_runtime"
                        : remark.kind == LoadRemark::Kind::kWarning ? "warning_generic_message"
                                                                    : "generic_message";
      write(key, remark.text, kPoint, remark.kind);
    }
    write("power_begin", power_time(report_.started_at), "INTERVAL_START");
    write("power_end", power_time(report_.ended_at), "INTERVAL_END");
  }

  static int64_t value(const std::optional<PercentileEstimate>& estimate) {
    return estimate ? estimate->value_ns : 0;
  }

  void latencies(const LatencySummary& latency, const std::string& unit,
                 const std::string& percentile) {
    write("result_min_" + unit, latency.min_ns);
    write("result_max_" + unit, latency.max_ns);
    write("result_mean_" + unit, latency.mean_ns);
    for (size_t i = 0; i < kLoadPercentiles.size(); ++i) {
      write(fmt::format("result_{:.2f}_{}", 100 * kLoadPercentiles[i], percentile),
            latency.percentiles_ns[i]);
    }
  }

  void results(const LoadVerdict& verdict) {
    const bool server = effective_.scenario == Scenario::kServer;
    write("result_validity", report_.valid() ? "VALID" : "INVALID");
    if (server) write("result_perf_constraints_met", verdict.performance_met);
    write("result_min_duration_met", verdict.min_duration_met);
    write("result_min_queries_met", verdict.min_queries_met);
    write("early_stopping_met", verdict.early_stopping_met);
    if (!report_.valid()) write("result_invalid_reason", join(load_reasons(report_), "; "));
    write("early_stopping_result", join(early_stopping_lines(report_), "; "));
    write("result_query_count", verdict.queries);
    if (server) write("result_overlatency_query_count", verdict.over_latency);
    results_of_scenario(verdict);
    latencies(verdict.sample_latency, "latency_ns", "percentile_latency_ns");
    write("num_errors", load_remarks(report_, LoadRemark::Kind::kError));
  }

  void results_of_scenario(const LoadVerdict& verdict) {
    switch (effective_.scenario) {
      case Scenario::kSingleStream:
        write("result_qps_with_loadgen_overhead", verdict.queries_per_s);
        write("result_qps_without_loadgen_overhead", verdict.queries_per_s_system);
        write("early_stopping_latency_ss", value(verdict.estimate));
        write("early_stopping_latency_ms", value(verdict.estimate_p99));
        break;
      case Scenario::kMultiStream:
        latencies(verdict.query_latency, "query_latency_ns", "percentile_per_query_latency_ns");
        write("early_stopping_latency_ms", value(verdict.estimate));
        break;
      case Scenario::kServer:
        write("result_scheduled_samples_per_sec", verdict.scheduled_per_s);
        write("result_completed_samples_per_sec", verdict.completed_per_s);
        break;
      case Scenario::kOffline:
        write("result_samples_per_second", verdict.samples_per_s);
        break;
    }
  }

  const LoadReport& report_;
  const LoadSettings& asked_;
  const EffectiveSettings& effective_;
  const std::string& generator_;
  double time_ms_ = 0;  // since the start of the test
  std::string out_;
};

}  // namespace

std::string load_detail(const LoadReport& report, const std::string& generator) {
  return Detail(report, generator).text();
}

std::string load_accuracy(const LoadReport& report) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "[\n";
  const char* separator = "";
  for (const LoggedResponse& response : report.responses) {
    out += fmt::format("{}{{ \"seq_id\" : {}, \"qsl_idx\" : {}, \"data\" : \"", separator,
                       response.sequence, response.index);
    for (const char c : response.data) {
      const auto byte = static_cast<unsigned char>(c);
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
    out += "\" }";
    separator = ",\n";
  }
  out += report.responses.empty() ? "]\n" : "\n]\n";
  return out;
}

Result<void> write_load_logs(const LoadReport& report, const std::string& generator,
                             const std::filesystem::path& folder) {
  ASSAY_TRY(write_file(folder / "mlperf_log_summary.txt", load_summary(report)));
  ASSAY_TRY(write_file(folder / "mlperf_log_detail.txt", load_detail(report, generator)));
  return write_file(folder / "mlperf_log_accuracy.json", load_accuracy(report));
}

}  // namespace assay
