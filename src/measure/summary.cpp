// SPDX-License-Identifier: Apache-2.0
#include "measure/summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include "measure/interval.h"
#include "measure/statistics.h"

namespace assay {

// The value is known even where it is not known how well.
void add_with_interval(Record& record, const std::string& name, double value,
                       const Result<Interval>& interval) {
  if (interval.ok()) {
    record.add(name, value, *interval);
    return;
  }
  record.add(name, value);
  record.missing[name + ".interval"] = interval.error().text();
}

Result<Interval> reciprocal(const Result<Interval>& interval, double scale) {
  if (!interval.ok()) return interval.error();
  if (!(interval->low > 0))
    return Error{ErrorCode::kInvalid, "the interval of what it is the reciprocal of holds 0"};
  return Interval{scale / interval->high, scale / interval->low, interval->confidence,
                  interval->method};
}

void add_percentiles(Record& record, const std::string& prefix, std::span<const double> values_ns) {
  static constexpr std::array<double, 6> kPercents = {50, 90, 95, 97, 99, 99.9};
  const std::string mean_name = prefix + "_mean_ns";
  if (values_ns.empty())
    record.missing[mean_name] = "no samples";
  else
    add_with_interval(record, mean_name, mean(values_ns), series_interval(values_ns));
  std::vector<double> sorted(values_ns.begin(), values_ns.end());
  std::sort(sorted.begin(), sorted.end());
  for (const double percent : kPercents) {
    const std::string name = prefix + "_" + percentile_name(percent) + "_ns";
    const auto found = percentile_of_sorted(sorted, percent);
    if (found.ok()) {
      record.add(name, found->value, found->interval);
    } else {
      record.missing[name] = found.error().text();
    }
  }
}

void add_series(Record& record, const std::string& prefix, const SampleSeries& series) {
  add_percentiles(record, prefix, series.values_ns);
  record.samples.push_back({prefix + "_ns", series.values_ns});
  record.marks.insert(record.marks.end(), series.marks.begin(), series.marks.end());
  record.missing.insert(series.missing.begin(), series.missing.end());
  record.facts[prefix + "_stop_reason"] = series.stop_reason;
  record.facts[prefix + "_calls_per_sample"] = std::to_string(series.calls_per_sample);
  if (!series.quiet && record.status == Status::kMeasured) {
    record.status = Status::kNoisy;
    if (record.reason.empty()) record.reason = series.stop_reason;
  }
}

}  // namespace assay
