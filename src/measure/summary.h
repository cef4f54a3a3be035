// SPDX-License-Identifier: Apache-2.0
//
// From samples to the fields of a record, the same for every command. Pure.
#pragma once

#include <span>
#include <string>

#include "measure/sampler.h"
#include "record/record.h"

namespace assay {

// Adds a metric; where there is no interval, Record::missing["NAME.interval"] says why.
void add_with_interval(Record& record, const std::string& name, double value,
                       const Result<Interval>& interval);

// The interval of scale / x from that of x.
Result<Interval> reciprocal(const Result<Interval>& interval, double scale);

// Adds PREFIX_mean_ns with its series interval, PREFIX_p50_ns ... PREFIX_p99_9_ns with theirs (or
// Record::missing with the reason), e.g. for PREFIX "latency".
void add_percentiles(Record& record, const std::string& prefix, std::span<const double> values_ns);

// The whole of a series: the percentiles, the raw samples as PREFIX_ns, its marks and what was
// missing, the facts PREFIX_stop_reason and PREFIX_calls_per_sample; status kNoisy with the reason
// when it was not quiet and the record was kMeasured.
void add_series(Record& record, const std::string& prefix, const SampleSeries& series);

}  // namespace assay
