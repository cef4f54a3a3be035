// SPDX-License-Identifier: Apache-2.0
//
// Quality against time: one curve a seed, and the target.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/figure.h"
#include "report/pages.h"

namespace assay::pages {
namespace {

struct Curve {
  const Record* run;
  const std::vector<double>* time;
  const std::vector<double>* quality;
  const std::vector<double>* epoch;  // null when it was not recorded
};

std::vector<Curve> curves_of(const TrainingGroup& group) {
  std::vector<Curve> curves;
  for (const Record* run : group.runs) {
    const Samples* time = run->samples_named("eval_time_s");
    const Samples* quality = run->samples_named("eval_quality");
    if (time == nullptr || quality == nullptr || time->values.empty() ||
        time->values.size() != quality->values.size()) {
      continue;
    }
    const Samples* epoch = run->samples_named("eval_epoch");
    const bool has_epoch = epoch != nullptr && epoch->values.size() == time->values.size();
    curves.push_back({run, &time->values, &quality->values, has_epoch ? &epoch->values : nullptr});
  }
  return curves;
}

HtmlTable numbers(const std::vector<Curve>& curves, const std::string& metric) {
  HtmlTable table{"Every evaluation", {"seed", "epoch", "time", metric, "case"}, {}};
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < curve.time->size(); ++i) {
      HtmlCell epoch = text_cell("");
      if (curve.epoch != nullptr) {
        epoch = number_cell("eval_epoch", unit_field(""), (*curve.epoch)[i]);
      }
      HtmlCell time = number_cell("eval_time_s", unit_field("s"), (*curve.time)[i]);
      HtmlCell quality = number_cell("eval_quality", unit_field(""), (*curve.quality)[i]);
      for (HtmlCell* cell : {&epoch, &time, &quality}) cell->record = curve.run->id;
      table.rows.push_back({text_cell(curve.run->measured_case.get("seed")), std::move(epoch),
                            std::move(time), std::move(quality),
                            i == 0 ? case_cell(*curve.run) : text_cell("")});
    }
  }
  return table;
}

void write_group(Html& html, const TrainingGroup& group) {
  const std::vector<Curve> curves = curves_of(group);
  if (curves.empty()) return;
  std::string metric = fact_of(group.runs, "metric");
  if (metric.empty()) metric = "quality";
  Plot plot;
  plot.title = metric + " against time: " + group.label;
  plot.x_label = "time (s)";
  plot.y_label = metric;
  for (const Curve& curve : curves) {
    plot.series.push_back(
        {"seed " + curve.run->measured_case.get("seed"), *curve.time, *curve.quality, {}, {}});
    if (const Metric* target = curve.run->metric("target")) plot.target = target->value;
  }
  if (plot.target) plot.target_label = "target " + shortest(*plot.target);
  write_figure(html, plot, numbers(curves, metric));
}

bool applies(const ReportData& data) {
  return std::any_of(data.training.begin(), data.training.end(),
                     [](const TrainingGroup& group) { return !curves_of(group).empty(); });
}

void write(const ReportData& data, Html& html) {
  html.element(
      "p",
      "Each point is one evaluation on the whole evaluation set. The clock starts when the "
      "first batch is asked for and includes every evaluation.");
  html.open("div", {{"class", "figures"}});
  for (const TrainingGroup& group : data.training) write_group(html, group);
  html.close();
}

}  // namespace

Page quality() { return {"quality", "Quality against time", applies, write}; }

}  // namespace assay::pages
