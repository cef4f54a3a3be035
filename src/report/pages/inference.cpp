// SPDX-License-Identifier: Apache-2.0
//
// Inference: throughput and latency over batch sizes and precisions, with the quality beside.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "record/formats.h"
#include "report/figure.h"
#include "report/pages.h"

namespace assay::pages {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One series a precision; `scale` turns the metric into the unit of the axis.
std::vector<PlotSeries> series_of(const InferenceGroup& group, const std::string& metric,
                                  double scale, const std::string& suffix) {
  std::vector<PlotSeries> all;
  for (const Record* run : group.runs) {
    const Metric* value = run->metric(metric);
    const auto batch = used_number(*run, "batch");
    if (value == nullptr || !batch) continue;
    const std::string name = run->measured_case.get("precision") + suffix;
    if (all.empty() || all.back().name != name) all.push_back({name, {}, {}, {}, {}});
    PlotSeries& series = all.back();
    series.x.push_back(*batch);
    series.y.push_back(value->value * scale);
    series.low.push_back(value->interval ? value->interval->low * scale : kNan);
    series.high.push_back(value->interval ? value->interval->high * scale : kNan);
  }
  return all;
}

bool is_a_curve(const std::vector<PlotSeries>& series) {
  return std::any_of(series.begin(), series.end(), [](const PlotSeries& s) {
    return s.x.size() > 1 && s.x.front() < s.x.back();
  });
}

void write_throughput(Html& html, const InferenceGroup& group, const std::string& item) {
  Plot plot;
  plot.series = series_of(group, "throughput_per_s", 1, "");
  if (!is_a_curve(plot.series)) return;
  plot.title = "Throughput over batch size: " + group.label;
  plot.x_label = "batch (" + item + "s a call)";
  plot.y_label = item + "s a second";
  plot.x_is_log2 = true;
  plot.y_from_zero = true;
  write_figure(html, plot, {});
}

void write_latency(Html& html, const InferenceGroup& group, const std::string& item) {
  double largest = 0;
  for (const Record* run : group.runs) {
    for (const char* name : {"latency_p50_ns", "latency_p99_ns"}) {
      if (const Metric* value = run->metric(name)) largest = std::max(largest, value->value);
    }
  }
  const bool in_microseconds = largest < 1e6;
  const double scale = in_microseconds ? 1e-3 : 1e-6;
  Plot plot;
  plot.series = series_of(group, "latency_p50_ns", scale, " p50");
  std::map<std::string, int> colours;  // a precision has one, the median and the tail alike
  for (size_t i = 0; i < plot.series.size(); ++i) {
    plot.series[i].colour = static_cast<int>(i);
    colours[plot.series[i].name.substr(0, plot.series[i].name.find(' '))] = plot.series[i].colour;
  }
  for (PlotSeries& series : series_of(group, "latency_p99_ns", scale, " p99")) {
    const auto found = colours.find(series.name.substr(0, series.name.find(' ')));
    if (found != colours.end()) series.colour = found->second;
    series.dashed = true;
    plot.series.push_back(std::move(series));
  }
  if (!is_a_curve(plot.series)) return;
  for (PlotSeries& series : plot.series) {  // intervals of percentiles are in the database
    series.low.clear();
    series.high.clear();
  }
  plot.title = "Latency over batch size: " + group.label;
  plot.x_label = "batch (" + item + "s a call)";
  plot.y_label = in_microseconds ? "time of a call (us)" : "time of a call (ms)";
  plot.x_is_log2 = true;
  plot.y_from_zero = true;
  write_figure(html, plot, {});
}

// Quality of the full precision, which the others are held against.
const Metric* reference_quality(const InferenceGroup& group) {
  for (const Record* run : group.runs) {
    if (run->measured_case.get("precision") != "f32") continue;
    if (const Metric* quality = run->metric("quality")) return quality;
  }
  return nullptr;
}

HtmlCell against_reference(const Record& run, const Metric* reference) {
  const Metric* quality = run.metric("quality");
  if (run.measured_case.get("precision") == "f32" || quality == nullptr || reference == nullptr) {
    return text_cell("");
  }
  HtmlCell cell =
      number_cell("quality-difference", unit_field(""), quality->value - reference->value);
  cell.record = run.id;
  if (quality->value > reference->value) cell.text = "+" + cell.text;
  return cell;
}

HtmlTable table_of(const InferenceGroup& group) {
  std::string metric = fact_of(group.runs, "metric");
  if (metric.empty()) metric = "quality";
  HtmlTable table{
      "Throughput with its 95 % interval, latency of a call, " + metric + " on the evaluation set",
      {"precision", "used", "batch", "throughput", "mean latency", "p50", "p90", "p99", "p99.9",
       metric, "− f32", "status", "case"},
      {}};
  const Metric* reference = reference_quality(group);
  for (const Record* run : group.runs) {
    const RecordRow row(*run);
    HtmlCell used = text_cell("");
    const auto fact = run->facts.find("precision_used");
    if (fact != run->facts.end() && fact->second != run->measured_case.get("precision")) {
      used = text_cell(fact->second);
    }
    table.rows.push_back(
        {row.cell("precision"), std::move(used), row.cell("batch"), row.cell("throughput_per_s"),
         row.cell("latency_mean_ns"), row.cell("latency_p50_ns"), row.cell("latency_p90_ns"),
         row.cell("latency_p99_ns"), row.cell("latency_p99_9_ns"), row.cell("quality"),
         against_reference(*run, reference), status_cell(run->status), case_cell(*run)});
    for (const size_t with_range : {4U, 5U, 6U, 7U, 8U})
      table.rows.back()[with_range].range.clear();
  }
  return table;
}

bool applies(const ReportData& data) { return !data.inference.empty(); }

void write(const ReportData& data, Html& html) {
  html.element(
      "p",
      "A speed is worth what it costs in quality: each precision stands beside the quality "
      "it reached on the evaluation set.");
  for (const InferenceGroup& group : data.inference) {
    html.element("h3", group.label);
    std::string item = fact_of(group.runs, "item");
    if (item.empty()) item = "item";
    html.open("div", {{"class", "figures"}});
    write_throughput(html, group, item);
    write_latency(html, group, item);
    html.close();
    write_table(html, table_of(group));
  }
}

}  // namespace

Page inference() { return {"inference", "Throughput and latency", applies, write}; }

}  // namespace assay::pages
