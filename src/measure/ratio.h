// SPDX-License-Identifier: Apache-2.0
//
// Is one thing faster than another? Ratios are taken on logarithms, so that a over b and b over a
// agree; a ratio above 1 says that the first is faster. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "record/record.h"

namespace assay {

enum class Verdict : uint8_t { kFaster, kSlower, kInconclusive };
std::string_view verdict_name(Verdict verdict);

// What the compared numbers are: a shorter time is faster, a larger rate is faster.
enum class Quantity : uint8_t { kTime, kRate };

struct SpeedRatio {
  double ratio = 1;  // geometric mean of speed(first) / speed(second)
  Interval interval;
  Verdict verdict = Verdict::kInconclusive;  // decided when the interval leaves 1 out
  // Of the mean logarithm; what combined_ratio needs.
  double log_stderr = 0;
  double degrees_of_freedom = 0;
};

// Pairs taken side by side (interleaved rounds, equal seeds): t on the logarithms of the pairs'
// ratios; from 20 pairs on, batch means, since rounds may drift together. kInvalid when the lengths
// differ, there are fewer than 2 pairs, or a value is not positive.
Result<SpeedRatio> paired_ratio(std::span<const double> first, std::span<const double> second,
                                Quantity quantity, double confidence = 0.95);

// Unrelated samples of any lengths: Welch's t on the logarithms.
Result<SpeedRatio> unpaired_ratio(std::span<const double> first, std::span<const double> second,
                                  Quantity quantity, double confidence = 0.95);

// The geometric mean over several cases, each weighing the same; the errors of the cases are
// independent (Welch-Satterthwaite degrees of freedom).
Result<SpeedRatio> combined_ratio(std::span<const SpeedRatio> cases, double confidence = 0.95);

// The rule for published bars: met when the lower 95 % bound is at least bar - 0.02.
bool meets_bar(const SpeedRatio& ratio, double bar);

// Exact two-sided sign-flip (paired permutation) test of mean difference 0, for at most 20
// differences: the share of the 2^n sign patterns whose |sum| is at least the observed one.
Result<double> sign_flip_p_value(std::span<const double> differences);

// The smallest n >= 2 with t(n - 1) cv / sqrt(n) <= half_width, both relative to the mean.
int64_t seeds_needed(double cv, double half_width, double confidence = 0.95);

}  // namespace assay
