// SPDX-License-Identifier: Apache-2.0
//
// Numbers that describe a sample. Pure functions; those that order the values copy them (O(n log n)
// or O(n)), the others are one or two passes. docs/method/statistics.md derives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "record/record.h"

namespace assay {

// Of at least one value. Sums are compensated (Neumaier), so the order of the values hardly
// matters.
double mean(std::span<const double> values);
double median(std::span<const double> values);
// Of at least two values; the divisor is n - 1.
double sample_variance(std::span<const double> values);
double sample_stdev(std::span<const double> values);
// sample_stdev / |mean|; the mean must not be 0.
double coefficient_of_variation(std::span<const double> values);

// The mean of what is left when floor(fraction * n) values are dropped at each end. kInvalid when
// nothing would be left or fraction is not in [0, 0.5).
Result<double> trimmed_mean(std::span<const double> values, double fraction);

// One timed run; a run that did not converge is slower than every run that did, whatever its time.
struct TimedRun {
  double time = 0;
  bool converged = true;
};

// MLPerf's score: the mean after the `drop` fastest and the `drop` slowest runs are dropped.
// kInvalid when nothing is left or when a run that did not converge would be counted.
Result<double> olympic_mean(std::span<const double> times, size_t drop = 1);
Result<double> olympic_mean(std::span<const TimedRun> runs, size_t drop = 1);

// A percentile with its distribution-free interval.
struct Percentile {
  double value = 0;
  Interval interval;  // method "order-statistics"
};

// The value is Hyndman and Fan's type 7 (NumPy's and R's default): linear between the order
// statistics x[floor(h)], x[floor(h) + 1] with h = (n - 1) percent / 100, from 0. The interval is
// from x(l) to x(u), the narrowest ranks whose binomial tails are each at most (1 - confidence)
// / 2. kInvalid when the sample is too small for such ranks to exist; the message says how many
// samples are needed (6 for p50, 36 for p90, 368 for p99, 3688 for p99.9 at 95 %). Assumes
// independent samples.
Result<Percentile> percentile(std::span<const double> values, double percent,
                              double confidence = 0.95);
// Several at once for one sort; `sorted` must be ascending.
Result<Percentile> percentile_of_sorted(std::span<const double> sorted, double percent,
                                        double confidence = 0.95);
// The smallest sample that percentile() accepts.
int64_t samples_for_percentile(double percent, double confidence = 0.95);
// 99.9 -> "p99_9": the field name of CONTRACT.
std::string percentile_name(double percent);

}  // namespace assay
