// SPDX-License-Identifier: Apache-2.0
//
// Step times of training: their distribution, and where the time went.
#include <algorithm>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "record/formats.h"
#include "report/figure.h"
#include "report/pages.h"

namespace assay::pages {
namespace {

std::vector<double> pooled_steps(const TrainingGroup& group) {
  std::vector<double> all;
  for (const Record* run : group.runs) {
    if (const Samples* steps = run->samples_named("step_time_ns")) {
      all.insert(all.end(), steps->values.begin(), steps->values.end());
    }
  }
  return all;
}

HtmlTable bins_table(const Histogram& bins, double scale, const std::string& unit) {
  HtmlTable table{"Steps by time", {"from (" + unit + ")", "to (" + unit + ")", "steps"}, {}};
  for (size_t i = 0; i < bins.edges.size(); ++i) {
    const bool is_open = i + 1 == bins.edges.size() && bins.last_is_open;
    HtmlCell to = text_cell(is_open ? "and more"
                                    : fmt::format("{:.4g}", (bins.edges[i] + bins.width) * scale));
    to.is_number = true;
    HtmlCell low = text_cell(fmt::format("{:.4g}", bins.edges[i] * scale));
    low.is_number = true;
    table.rows.push_back(
        {std::move(low), std::move(to), number_cell("steps", unit_field("count"), bins.counts[i])});
  }
  return table;
}

void write_histogram(Html& html, const TrainingGroup& group) {
  const std::vector<double> steps = pooled_steps(group);
  if (steps.size() < 10) return;
  const Histogram bins = histogram(steps);
  const bool in_microseconds = bins.edges.back() < 1e6;
  const double scale = in_microseconds ? 1e-3 : 1e-6;
  const std::string unit = in_microseconds ? "us" : "ms";
  Plot plot;
  plot.title = fmt::format("Step times of {} steps: {}{}", steps.size(), group.label,
                           bins.last_is_open ? "; the last bar also has all slower ones" : "");
  plot.x_label = "time of a step (" + unit + ")";
  plot.y_label = "steps";
  plot.kind = PlotKind::kBars;
  plot.bar_width = bins.width * scale;
  PlotSeries series{"steps", bins.edges, bins.counts, {}, {}};
  for (double& edge : series.x) edge *= scale;
  plot.series.push_back(std::move(series));
  write_figure(html, plot, bins_table(bins, scale, unit));
}

HtmlCell percentile_cell(const Record& run, const std::vector<double>& sorted, double percent) {
  const Field unit = unit_field("ns");
  const std::string name = "step_" + percentile_name(percent) + "_ns";
  const Result<Percentile> found = percentile_of_sorted(sorted, percent);
  HtmlCell cell = found.ok() ? number_cell(name, unit, found->value)
                             : number_cell(name, unit, {}, found.error().message);
  cell.record = run.id;
  return cell;
}

HtmlTable table_of(const TrainingGroup& group) {
  HtmlTable table{"Steps: " + group.label,
                  {"seed", "steps", "mean", "p50", "p90", "p99", "slowest", "waiting", "evaluation",
                   "overhead", "case"},
                  {}};
  for (const Record* run : group.runs) {
    const Samples* steps = run->samples_named("step_time_ns");
    if (steps == nullptr || steps->values.empty()) continue;
    std::vector<double> sorted = steps->values;
    std::sort(sorted.begin(), sorted.end());
    const RecordRow row(*run);
    HtmlCell slowest = number_cell("step_max_ns", unit_field("ns"), sorted.back());
    slowest.record = run->id;
    table.rows.push_back(
        {row.cell("seed"),
         number_cell("step_count", unit_field("count"), static_cast<double>(sorted.size())),
         row.cell("step_mean_ns"), percentile_cell(*run, sorted, 50),
         percentile_cell(*run, sorted, 90), percentile_cell(*run, sorted, 99), std::move(slowest),
         row.cell("wait_share"), row.cell("evaluation_s"), row.cell("overhead_share"),
         case_cell(*run)});
    table.rows.back()[0].is_number = true;
    table.rows.back()[1].record = run->id;
  }
  return table;
}

bool applies(const ReportData& data) {
  return std::any_of(data.training.begin(), data.training.end(),
                     [](const TrainingGroup& group) { return !table_of(group).rows.empty(); });
}

void write(const ReportData& data, Html& html) {
  html.element("p",
               "Step times follow one another, so the interval of a mean is made from batch means; "
               "a percentile is given only where the sample supports it.");
  html.open("div", {{"class", "figures"}});
  for (const TrainingGroup& group : data.training) write_histogram(html, group);
  html.close();
  for (const TrainingGroup& group : data.training) {
    const HtmlTable table = table_of(group);
    if (!table.rows.empty()) write_table(html, table);
  }
}

}  // namespace

Page steps() { return {"steps", "Step times", applies, write}; }

}  // namespace assay::pages
