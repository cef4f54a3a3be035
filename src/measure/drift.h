// SPDX-License-Identifier: Apache-2.0
//
// Marks on a series of samples in the order they were taken: does it drift, does it hold outliers?
// A mark is a sentence with its numbers, made for Record::marks. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct Trend {
  double change = 0;   // from the first to the last sample, relative to the median (Theil-Sen)
  double p_value = 1;  // two-sided, Mann-Kendall with correction for ties
  size_t batches = 0;  // the test is on means of batches as long as the autocorrelation asks for
};

// Nothing for fewer than 8 batches. O(n + batches^2), at most 64 batches.
std::optional<Trend> trend(std::span<const double> values);

// "drift: +3.2 % over the series (Mann-Kendall p = 0.0004 on 64 batches)" when p < 0.01 and the
// change is at least 1 %.
std::optional<std::string> drift_mark(std::span<const double> values);

// Indices of values further from the median than 5 scaled median absolute deviations (1.4826 MAD,
// but at least 0.1 % of the median).
std::vector<size_t> outliers(std::span<const double> values);

// "outliers: 3 of 500 samples beyond 5 scaled MADs (largest 4.2 x median)" when there are any.
std::optional<std::string> outlier_mark(std::span<const double> values);

}  // namespace assay
