// SPDX-License-Identifier: Apache-2.0
//
// Intervals of a mean. Which one fits depends on how the samples hang together:
//  - independent, roughly normal (repeats by new seeds):      t
//  - a time series (steps of one run):                        batch means, or block bootstrap
//  - a handful of runs, skewed, any statistic:                BCa bootstrap
// Every Interval names its method. kInvalid, with the reason in words, when the sample cannot give
// one. Sources and coverage tests: docs/method/statistics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "record/record.h"

namespace assay {

// The sample autocorrelation at one lag (divisor n). 0 for a constant series.
double autocorrelation(std::span<const double> values, size_t lag);

// tau = 1 + 2 sum of autocorrelations, summed by Geyer's initial monotone positive sequence
// (Statistical Science 7, 1992): Var(mean) is about tau s^2 / n. At least 1; 1 for a constant
// series. O(n * lags summed).
double autocorrelation_time(std::span<const double> values);
double effective_sample_size(std::span<const double> values);  // n / tau

// mean +- t(n - 1) s / sqrt(n). "t". Needs two values.
Result<Interval> t_interval(std::span<const double> values, double confidence = 0.95);

// Values that may be taken as independent, and the name of what was done to get them.
struct BatchMeans {
  std::vector<double> values;
  std::string method;
};

// Means of batches of about 8 tau samples, at most 64 batches and at least 4, which are then
// shorter; kInvalid below 4 tau samples: the series is too short for its autocorrelation.
// "batch-means".
Result<BatchMeans> batch_means(std::span<const double> values);
// The same from 20 samples on; fewer are taken as they are: "t".
Result<BatchMeans> series_means(std::span<const double> values);

// t on the batch means, around the mean of all samples. "batch-means".
Result<Interval> batch_means_interval(std::span<const double> values, double confidence = 0.95);

// The stationary bootstrap (Politis and Romano, JASA 89, 1994) with the automatic mean block length
// of Politis and White (Econometric Reviews 23, 2004; correction by Patton, Politis, White, 2009);
// percentile interval. "block-bootstrap". Needs 16 values. O(n + resamples * n / block length).
Result<Interval> block_bootstrap_interval(std::span<const double> values, RandomKey key,
                                          double confidence = 0.95, size_t resamples = 2000);
// That block length, at least 1.
double bootstrap_block_length(std::span<const double> values);

// Any statistic of a sample of any order.
using Statistic = std::function<double(std::span<const double>)>;

// Bias-corrected and accelerated bootstrap (Efron, JASA 82, 1987) for independent values. "bca".
// Needs 3 values, not all equal. O(resamples * statistic).
Result<Interval> bca_interval(std::span<const double> values, const Statistic& statistic,
                              RandomKey key, double confidence = 0.95, size_t resamples = 4000);

// The interval for step or call times in the order they were taken: batch means from 20 samples on,
// else t.
Result<Interval> series_interval(std::span<const double> values, double confidence = 0.95);

}  // namespace assay
