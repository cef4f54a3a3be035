// SPDX-License-Identifier: Apache-2.0
//
// Summary: what was measured, how fast, how sure; in sentences that can be read aloud.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "measure/interval.h"
#include "measure/ratio.h"
#include "measure/statistics.h"
#include "record/formats.h"
#include "report/pages.h"
#include "report/table.h"
#include "report/target_statistics.h"

namespace assay::pages {
namespace {

std::string plural(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// A number in a sentence, traceable like those in tables.
void write_number(Html& html, const std::string& field, const Field& unit, double value,
                  const std::string& after = "") {
  html.element("b", unbroken(human_value(unit, Json(value)) + after),
               {{"data-field", field}, {"data-value", shortest(value)}});
}

std::string interval_words(const Field& unit, double low, double high, const std::string& method) {
  return unbroken(human_value(unit, Json(low))) + " to " + unbroken(human_value(unit, Json(high))) +
         ", 95\u00a0% (" + method + ")";
}

// --- what was measured -------------------------------------------------------------------------

std::string machine_words(const ReportData& data) {
  if (data.environments.empty()) return "";
  if (data.environments.size() > 1) {
    return " on " + std::to_string(data.environments.size()) + " environments";
  }
  const Json& environment = data.environments.begin()->second;
  const auto model = environment.find("cpu_model");
  if (model == environment.end() || !model->is_string()) return "";
  std::string words = " on " + model->get<std::string>();
  const auto cores = environment.find("cores");
  if (cores != environment.end() && cores->is_number_integer()) {
    words += " (" + plural(cores->get<size_t>(), "core") + ")";
  }
  return words;
}

std::string subjects(const ReportData& data) {
  std::set<std::string> names;
  for (const Record& record : data.records) {
    for (const char* key : {"workload", "model", "file"}) {
      const std::string& name = record.measured_case.get(key);
      if (name.empty()) continue;
      names.insert(name);
      break;
    }
  }
  const std::vector<std::string> list(names.begin(), names.end());
  return list.empty() ? "cases without a name" : join(list, ", ");
}

// "2026-12-01 10:01", or only "10:01" on the same day.
std::string moment(std::chrono::milliseconds time, const std::string& day) {
  const std::string text = iso8601(time);  // 2026-12-01T10:01:33Z
  const std::string clock = text.substr(11, 5);
  return text.substr(0, 10) == day ? clock : unbroken(text.substr(0, 10) + " " + clock);
}

void write_scope(Html& html, const ReportData& data) {
  auto first = data.records.front().started_at;
  auto last = first;
  std::array<size_t, 9> statuses{};
  for (const Record& record : data.records) {
    first = std::min(first, record.started_at);
    last = std::max(last, record.started_at);
    ++statuses.at(static_cast<size_t>(record.status));
  }
  std::vector<std::string> counts;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses.at(i) == 0) continue;
    counts.push_back(std::to_string(statuses.at(i)) + " " +
                     std::string(status_name(static_cast<Status>(i))));
  }
  html.open("p", {{"class", "lead"}});
  html.text(plural(data.records.size(), "record") + " of " + subjects(data) + machine_words(data) +
            ", started between " + moment(first, "") + " and " +
            moment(last, iso8601(first).substr(0, 10)) + " UTC: " + join(counts, ", ") + ".");
  html.close();
}

// --- how fast ----------------------------------------------------------------------------------

struct Figure {
  std::string label;
  std::string field;
  Field unit;
  double value = 0;
  std::string after;   // "images"
  std::string remark;  // its interval, and of what
};

std::optional<Figure> time_figure(const TrainingGroup& group) {
  const TargetTimes times = target_times(group);
  const std::vector<TargetStatistic> statistics = target_statistics(group);
  if (statistics.empty() || !statistics.front().value) return std::nullopt;
  const Field seconds = unit_field("s");
  Figure figure{"Median time to target", "median", seconds, *statistics.front().value, "", ""};
  figure.remark = fmt::format("{} of {} runs reached it", times.reached.size(), group.runs.size());
  for (const TargetStatistic& statistic : statistics) {
    if (statistic.name != "mean" || !statistic.value || !statistic.low) continue;
    figure.remark += "; mean " + human_value(seconds, Json(*statistic.value)) + ", " +
                     interval_words(seconds, *statistic.low, *statistic.high, statistic.method);
  }
  return figure;
}

std::vector<double> rates_of(const TrainingGroup& group) {
  std::vector<double> rates;
  for (const Record* run : group.runs) {
    if (const Metric* rate = run->metric("throughput_per_s")) rates.push_back(rate->value);
  }
  return rates;
}

// The same training in full precision, to hold a lower one against.
const TrainingGroup* full_precision(const ReportData& data, const TrainingGroup& group) {
  const Record& run = *group.runs.front();
  const auto key = [](const Record& record) {
    const Case& measured = record.measured_case;
    return measured.with("seed", "0")->with("precision", "f32")->text() + record.environment_id;
  };
  if (run.measured_case.get("precision") == "f32") return nullptr;
  for (const TrainingGroup& other : data.training) {
    const Record& candidate = *other.runs.front();
    const bool is_full = candidate.measured_case.get("precision") == "f32";
    if (is_full && key(candidate) == key(run)) return &other;
  }
  return nullptr;
}

// "1.82 x f32 (1.78 to 1.86, faster)", by Welch's test on logarithms.
std::string against_full_precision(const ReportData& data, const TrainingGroup& group) {
  const TrainingGroup* full = full_precision(data, group);
  if (full == nullptr) return "";
  const auto ratio = unpaired_ratio(rates_of(group), rates_of(*full), Quantity::kRate);
  if (!ratio.ok()) return "";
  return fmt::format("; {:.2f}\u00a0× f32 ({:.2f} to {:.2f}, {})", ratio->ratio,
                     ratio->interval.low, ratio->interval.high, verdict_name(ratio->verdict));
}

// Seeds are independent repeats: their mean, with Student's interval; one run has its own.
std::optional<Figure> training_rate(const ReportData& data, const TrainingGroup& group) {
  const std::vector<double> rates = rates_of(group);
  if (rates.empty()) return std::nullopt;
  const Field& unit = schema_field("throughput_per_s");
  const std::string item = fact_of(group.runs, "item");
  Figure figure{"Training throughput",
                "throughput-mean",
                unit,
                mean(rates),
                item.empty() ? "" : " " + item + "s",
                "one run, without an interval"};
  std::optional<Interval> interval;
  if (rates.size() == 1) {
    for (const Record* run : group.runs) {
      if (const Metric* rate = run->metric("throughput_per_s")) interval = rate->interval;
    }
  } else {
    const Result<Interval> of_runs = t_interval(rates);
    interval = of_runs.ok() ? std::optional<Interval>(*of_runs) : std::nullopt;
  }
  if (interval) {
    figure.remark = interval_words(unit, interval->low, interval->high, interval->method) +
                    " over " + plural(rates.size(), "run");
  }
  figure.remark += against_full_precision(data, group);
  return figure;
}

const Record* fastest(const InferenceGroup& group) {
  const Record* best = nullptr;
  for (const Record* run : group.runs) {
    const Metric* rate = run->metric("throughput_per_s");
    if (rate == nullptr) continue;
    if (best == nullptr || rate->value > best->metric("throughput_per_s")->value) best = run;
  }
  return best;
}

std::string quality_words(const InferenceGroup& group, const Record& run) {
  const Metric* quality = run.metric("quality");
  if (quality == nullptr) return "";
  std::string metric = fact_of(group.runs, "metric");
  if (metric.empty()) metric = "quality";
  const Field plain = unit_field("");
  std::string words = ", " + metric + " " + human_value(plain, Json(quality->value));
  if (run.measured_case.get("precision") == "f32") return words;
  for (const Record* other : group.runs) {
    const Metric* reference = other->metric("quality");
    if (other->measured_case.get("precision") != "f32" || reference == nullptr) continue;
    return words + " (f32: " + human_value(plain, Json(reference->value)) + ")";
  }
  return words;
}

std::optional<Figure> inference_rate(const InferenceGroup& group) {
  const Record* best = fastest(group);
  if (best == nullptr) return std::nullopt;
  const Metric& rate = *best->metric("throughput_per_s");
  const Field& unit = schema_field("throughput_per_s");
  const std::string item = fact_of(group.runs, "item");
  Figure figure{"Fastest inference",
                "throughput_per_s",
                unit,
                rate.value,
                item.empty() ? "" : " " + item + "s",
                best->measured_case.get("precision")};
  if (const auto batch = used_number(*best, "batch")) {
    figure.remark += ", batch " + shortest(*batch);
  }
  figure.remark += quality_words(group, *best);
  if (best->status == Status::kNoisy) figure.remark += "; noisy";
  if (rate.interval) {
    figure.remark +=
        "; " + interval_words(unit, rate.interval->low, rate.interval->high, rate.interval->method);
  }
  return figure;
}

// The smallest median latency of a call, which a single user would see.
std::optional<Figure> shortest_latency(const InferenceGroup& group) {
  const Record* best = nullptr;
  for (const Record* run : group.runs) {
    const Metric* latency = run->metric("latency_p50_ns");
    if (latency == nullptr) continue;
    if (best == nullptr || latency->value < best->metric("latency_p50_ns")->value) best = run;
  }
  if (best == nullptr) return std::nullopt;
  const Field& unit = schema_field("latency_p50_ns");
  Figure figure{"Shortest latency (median)",
                "latency_p50_ns",
                unit,
                best->metric("latency_p50_ns")->value,
                "",
                best->measured_case.get("precision")};
  if (const auto batch = used_number(*best, "batch")) {
    figure.remark += ", batch " + shortest(*batch);
  }
  if (const Metric* tail = best->metric("latency_p99_ns")) {
    figure.remark += "; p99 " + human_value(unit, Json(tail->value));
  }
  if (best->status == Status::kNoisy) figure.remark += "; noisy";
  return figure;
}

void write_figures(Html& html, const std::string& label,
                   const std::vector<std::optional<Figure>>& figures) {
  if (std::none_of(figures.begin(), figures.end(), [](const auto& f) { return f.has_value(); })) {
    return;
  }
  html.element("h3", label);
  html.open("dl", {{"class", "key"}});
  for (const std::optional<Figure>& figure : figures) {
    if (!figure) continue;
    html.open("div").element("dt", figure->label).open("dd");
    std::string after = figure->after;
    std::string value = human_value(figure->unit, Json(figure->value));
    if (!after.empty() && value.ends_with("/s")) {  // "4,321 images/s"
      value.resize(value.size() - 2);
      after += "/s";
    }
    html.element("b", unbroken(value + after),
                 {{"data-field", figure->field}, {"data-value", shortest(figure->value)}});
    html.element("small", figure->remark).close().close();
  }
  html.close();
}

// --- how sure ----------------------------------------------------------------------------------

void write_confidence(Html& html, const ReportData& data) {
  size_t with_remarks = 0;
  size_t without_result = 0;
  for (const Record& record : data.records) {
    if (!record.marks.empty()) ++with_remarks;
    if (is_failure(record.status) && record.status != Status::kShortOfTarget) ++without_result;
  }
  html.element("h3", "How sure");
  html.open("ul");
  for (const TrainingGroup& group : data.training) {
    const TargetTimes times = target_times(group);
    if (times.observations.empty()) continue;
    html.open("li").text(group.label + ": ");
    html.text(plural(times.reached.size(), "run") + " reached the target");
    if (!times.reached.empty()) {
      const auto [low, high] = std::minmax_element(times.reached.begin(), times.reached.end());
      html.text(" in ");
      write_number(html, "fastest", unit_field("s"), *low);
      html.text(" to ");
      write_number(html, "slowest", unit_field("s"), *high);
    }
    if (times.censored() > 0) {
      html.text("; " + plural(static_cast<size_t>(times.censored()), "run") +
                " stopped short of it and counts as longer than observed");
    }
    html.text(".").close();
  }
  html.open("li").text(with_remarks == 0
                           ? "No record carries a mark of contention, drift or outliers"
                           : plural(with_remarks, "record") +
                                 (with_remarks == 1 ? " carries" : " carry") +
                                 " a mark (contention, drift, outliers …)");
  html.text(without_result == 0
                ? ", and none ended without a result. "
                : "; " + std::to_string(without_result) + " ended without a result. ");
  if (with_remarks + without_result > 0) {
    html.element("a", "See Failures and remarks", {{"href", "#remarks"}}).text(".");
  }
  html.close();
  html.element(
      "li",
      "Intervals are at 95 % and name their method. The raw samples behind every number are "
      "kept in the database; the # beside a number leads to its case line, which measures "
      "it again.");
  html.close();
}

bool applies(const ReportData&) { return true; }

void write(const ReportData& data, Html& html) {
  write_scope(html, data);
  for (const TrainingGroup& group : data.training) {
    write_figures(html, group.label, {time_figure(group), training_rate(data, group)});
  }
  for (const InferenceGroup& group : data.inference) {
    write_figures(html, group.label, {inference_rate(group), shortest_latency(group)});
  }
  write_confidence(html, data);
}

}  // namespace

Page summary() { return {"summary", "Summary", applies, write}; }

}  // namespace assay::pages
