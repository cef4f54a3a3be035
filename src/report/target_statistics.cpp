// SPDX-License-Identifier: Apache-2.0
#include "report/target_statistics.h"

#include "measure/interval.h"
#include "measure/statistics.h"
#include "measure/survival.h"
#include "measure/variance.h"

namespace assay {
namespace {

// Below five runs a bootstrap of the mean covers far less than it claims.
constexpr size_t kRunsForBootstrap = 5;
// The bootstrap's own draws: fixed, so that a page is the same each time it is made.
constexpr RandomKey kBootstrapKey{0x7461726765740001};

void add_interval(TargetStatistic& statistic, const Result<Interval>& interval) {
  if (!interval.ok()) return;
  statistic.low = interval->low;
  statistic.high = interval->high;
  statistic.method = interval->method;
}

TargetStatistic plain_median(const TargetTimes& times) {
  TargetStatistic out{"median", "Median", "s", median(times.reached), {}, {}, "", ""};
  const Result<Percentile> ordered = percentile(times.reached, 50);
  if (ordered.ok()) {
    add_interval(out, ordered->interval);
  } else {
    out.method = "too few runs for an interval of the median";
  }
  return out;
}

TargetStatistic mean_of(const TargetTimes& times) {
  TargetStatistic out{"mean", "Mean", "s", {}, {}, {}, "", ""};
  if (times.censored() > 0) {
    out.missing = "runs that never reached the target have no time to average";
    return out;
  }
  out.value = mean(times.reached);
  add_interval(out, t_interval(times.reached));
  if (out.method.empty()) out.method = "one run has no interval";
  return out;
}

TargetStatistic olympic(const TargetTimes& times) {
  TargetStatistic out{
      "olympic-mean", "Olympic mean (fastest and slowest dropped)", "s", {}, {}, {}, "", ""};
  std::vector<TimedRun> runs;
  for (const Observation& run : times.observations) runs.push_back({run.time, run.reached});
  const Result<double> value = olympic_mean(runs);
  if (value.ok()) {
    out.value = *value;
    out.method = "MLPerf's score, without an interval";
  } else {
    out.missing = value.error().message;
  }
  return out;
}

void add_bootstrap(std::vector<TargetStatistic>& out, const TargetTimes& times) {
  if (times.censored() > 0 || times.reached.size() < kRunsForBootstrap) return;
  TargetStatistic statistic{
      "mean-bootstrap", "Mean, by bootstrap", "s", mean(times.reached), {}, {}, "", ""};
  add_interval(statistic, bca_interval(
                              times.reached, [](std::span<const double> v) { return mean(v); },
                              kBootstrapKey));
  if (statistic.low) out.push_back(std::move(statistic));
}

void add_survival(std::vector<TargetStatistic>& out, const TargetTimes& times) {
  const Result<SurvivalCurve> curve = kaplan_meier(times.observations);
  if (!curve.ok()) return;
  const CensoredEstimate& half = curve->median;
  TargetStatistic middle{"median",  "Median (Kaplan–Meier)", "s", half.value, half.low,
                         half.high, "Brookmeyer–Crowley",    ""};
  if (!half.value) middle.missing = "fewer than half of the runs reached the target";
  out.push_back(std::move(middle));
  const RestrictedMean& restricted = curve->restricted_mean;
  out.push_back({"restricted-mean", "Mean within the time observed", "s", restricted.value,
                 restricted.interval.low, restricted.interval.high, restricted.interval.method,
                 ""});
}

// T = E tau: is the spread in the number of epochs, or in the time of one?
void add_spread(std::vector<TargetStatistic>& out, const TrainingGroup& group) {
  std::vector<double> epochs;
  std::vector<double> per_epoch;
  for (const Record* run : group.runs) {
    const Metric* count = run->metric("epochs");
    const Metric* time = run->metric("time_to_target_s");
    if (count == nullptr || time == nullptr || count->value <= 0) continue;
    epochs.push_back(count->value);
    per_epoch.push_back(time->value / count->value);
  }
  if (epochs.size() < 2) return;
  out.push_back({"epochs-cv",
                 "Spread of epochs (CV)",
                 "share",
                 coefficient_of_variation(epochs),
                 {},
                 {},
                 "seeds change how many epochs are needed",
                 ""});
  out.push_back({"time-per-epoch-cv",
                 "Spread of time per epoch (CV)",
                 "share",
                 coefficient_of_variation(per_epoch),
                 {},
                 {},
                 "the machine's own noise",
                 ""});
}

}  // namespace

std::vector<TargetStatistic> target_statistics(const TrainingGroup& group) {
  const TargetTimes times = target_times(group);
  std::vector<TargetStatistic> out;
  if (times.observations.empty()) return out;
  if (times.censored() > 0) {
    add_survival(out, times);
  } else {
    out.push_back(plain_median(times));
  }
  out.push_back(mean_of(times));
  add_bootstrap(out, times);
  out.push_back(olympic(times));
  add_spread(out, group);
  return out;
}

}  // namespace assay
