// SPDX-License-Identifier: Apache-2.0
//
// Time to target: every seed, then what they say together.
#include <algorithm>

#include "record/formats.h"
#include "report/figure.h"
#include "report/pages.h"
#include "report/target_statistics.h"

namespace assay::pages {
namespace {

HtmlTable seeds_table(const TrainingGroup& group) {
  HtmlTable table{"Every run",
                  {"seed", "reached", "time to target", "time", "epochs", "quality", "target",
                   "throughput", "energy", "status", "case"},
                  {}};
  for (const Record* run : group.runs) {
    const RecordRow row(*run);
    table.rows.push_back({row.cell("seed"), row.cell("reached"), row.cell("time_to_target_s"),
                          row.cell("time_s"), row.cell("epochs"), row.cell("quality"),
                          row.cell("target"), row.cell("throughput_per_s"),
                          row.cell("energy_joules"), status_cell(run->status), case_cell(*run)});
    table.rows.back()[0].is_number = true;
  }
  return table;
}

HtmlTable statistics_table(const TrainingGroup& group) {
  HtmlTable table{
      "All runs together", {"statistic", "value", "95 % interval", "method or remark"}, {}};
  for (const TargetStatistic& statistic : target_statistics(group)) {
    const Field unit = unit_field(statistic.unit);
    HtmlCell interval = text_cell("");
    interval.is_number = true;
    if (statistic.low || statistic.high) {
      const auto end = [&](const std::optional<double>& value) {
        return value ? human_value(unit, Json(*value)) : std::string("unknown");
      };
      interval.text = end(statistic.low) + " to " + end(statistic.high);
    }
    table.rows.push_back({text_cell(statistic.label),
                          number_cell(statistic.name, unit, statistic.value, statistic.missing),
                          std::move(interval), text_cell(statistic.method)});
  }
  return table;
}

// Only where runs were censored does the curve say more than the table.
void write_survival(Html& html, const TrainingGroup& group, const TargetTimes& times) {
  if (times.censored() == 0) return;
  const Result<SurvivalCurve> curve = kaplan_meier(times.observations);
  if (!curve.ok() || curve->steps.empty()) return;
  Plot plot;
  plot.title = "Share of runs still short of the target: " + group.label;
  plot.x_label = "time (s)";
  plot.y_label = "share still short of target";
  plot.kind = PlotKind::kSteps;
  plot.y_from_zero = true;
  PlotSeries series{"all seeds", {0}, {1}, {}, {}};
  HtmlTable numbers{"Kaplan–Meier estimate",
                    {"time", "runs at risk", "reached", "share still short", "95 % interval"},
                    {}};
  for (const SurvivalStep& step : curve->steps) {
    series.x.push_back(step.time);
    series.y.push_back(step.survival);
    const Field share = unit_field("share");
    HtmlCell interval = text_cell(human_value(share, Json(step.interval.low)) + " to " +
                                  human_value(share, Json(step.interval.high)));
    interval.is_number = true;
    numbers.rows.push_back(
        {number_cell("survival-time", unit_field("s"), step.time),
         number_cell("at-risk", unit_field(""), static_cast<double>(step.at_risk)),
         number_cell("reached", unit_field(""), static_cast<double>(step.reached)),
         number_cell("survival", share, step.survival), std::move(interval)});
  }
  double last = 0;  // the curve holds until the last run was watched
  for (const Observation& run : times.observations) last = std::max(last, run.time);
  series.x.push_back(last);
  series.y.push_back(curve->steps.back().survival);
  plot.series.push_back(std::move(series));
  html.open("div", {{"class", "figures"}});
  write_figure(html, plot, numbers);
  html.close();
}

bool group_applies(const TrainingGroup& group) {
  return std::any_of(group.runs.begin(), group.runs.end(),
                     [](const Record* run) { return has_target(*run); });
}

bool applies(const ReportData& data) {
  return std::any_of(data.training.begin(), data.training.end(), group_applies);
}

void write(const ReportData& data, Html& html) {
  for (const TrainingGroup& group : data.training) {
    if (!group_applies(group)) continue;
    html.element("h3", group.label);
    const TargetTimes times = target_times(group);
    write_table(html, seeds_table(group));
    if (!times.without_result.empty()) {
      html.element("p",
                   std::to_string(times.without_result.size()) +
                       " of the runs above ended without a result; they are left out of the "
                       "statistics and named under Failures and remarks.",
                   {{"class", "note"}});
    }
    const HtmlTable together = statistics_table(group);
    if (!together.rows.empty()) write_table(html, together);
    write_survival(html, group, times);
  }
}

}  // namespace

Page time_to_target() { return {"time-to-target", "Time to target", applies, write}; }

}  // namespace assay::pages
