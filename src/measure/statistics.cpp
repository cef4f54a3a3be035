// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "measure/distribution.h"

namespace assay {
namespace {

// Neumaier's compensated sum.
double sum_of(std::span<const double> values) {
  double sum = 0;
  double lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::fabs(sum) >= std::fabs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return std::isfinite(lost) ? sum + lost : sum;
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The order statistics x(low) ... x(high), counted from 1, that bracket the quantile `share`: the
// largest low with P(B < low) <= tail and the smallest high with P(B >= high) <= tail, B being the
// number of samples below the quantile. 0 and n + 1 when there are none.
struct Ranks {
  int64_t low = 0;
  int64_t high = 0;
};

Ranks ranks_around(int64_t n, double share, double tail) {
  int64_t low = 0;  // always satisfies P(B <= low - 1) <= tail
  for (int64_t step = int64_t{1} << 40; step > 0; step /= 2) {
    if (low + step <= n && binomial_cdf(low + step - 1, n, share) <= tail) low += step;
  }
  int64_t high = n + 1;  // always satisfies P(B > high - 1) <= tail
  for (int64_t step = int64_t{1} << 40; step > 0; step /= 2) {
    // P(B >= r) = P(n - B <= n - r) keeps the precision of the small tail.
    if (high - step >= 1 && binomial_cdf(n - (high - step), n, 1 - share) <= tail) high -= step;
  }
  return {low, high};
}

}  // namespace

double mean(std::span<const double> values) {
  ASSAY_ASSERT(!values.empty(), "the mean of nothing");
  return sum_of(values) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  ASSAY_ASSERT(!values.empty(), "the median of nothing");
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  const double below = *std::max_element(copy.begin(), middle);
  return below + (*middle - below) / 2;
}

double sample_variance(std::span<const double> values) {
  ASSAY_ASSERT(values.size() >= 2, "a spread needs two values");
  const double center = mean(values);
  double squares = 0;
  double rest = 0;  // corrects the rounding of the mean (Chan, Golub, LeVeque 1983)
  for (const double value : values) {
    squares += (value - center) * (value - center);
    rest += value - center;
  }
  const auto n = static_cast<double>(values.size());
  return std::max(0.0, (squares - rest * rest / n) / (n - 1));
}

double sample_stdev(std::span<const double> values) { return std::sqrt(sample_variance(values)); }

double coefficient_of_variation(std::span<const double> values) {
  const double center = mean(values);
  ASSAY_ASSERT(center != 0, "the spread relative to a mean of 0");
  return sample_stdev(values) / std::fabs(center);
}

Result<double> trimmed_mean(std::span<const double> values, double fraction) {
  if (!(fraction >= 0 && fraction < 0.5)) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("cannot trim the share {} at each end", fraction)};
  }
  return olympic_mean(values, static_cast<size_t>(fraction * static_cast<double>(values.size())));
}

Result<double> olympic_mean(std::span<const double> times, size_t drop) {
  if (times.size() < 2 * drop + 1) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} values leave none when {} are dropped at each "
                             "end",
                             times.size(), drop)};
  }
  const std::vector<double> sorted = sorted_copy(times);
  return mean(std::span(sorted).subspan(drop, sorted.size() - 2 * drop));
}

Result<double> olympic_mean(std::span<const TimedRun> runs, size_t drop) {
  std::vector<double> times;
  times.reserve(runs.size());
  size_t not_converged = 0;
  for (const TimedRun& run : runs) {
    if (!run.converged) ++not_converged;
    times.push_back(run.converged ? run.time : std::numeric_limits<double>::infinity());
  }
  if (not_converged > drop) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} of {} runs did not converge, at most {} can be "
                             "dropped",
                             not_converged, runs.size(), drop)};
  }
  return olympic_mean(std::span<const double>(times), drop);
}

Result<Percentile> percentile(std::span<const double> values, double percent, double confidence) {
  const std::vector<double> sorted = sorted_copy(values);
  return percentile_of_sorted(sorted, percent, confidence);
}

Result<Percentile> percentile_of_sorted(std::span<const double> sorted, double percent,
                                        double confidence) {
  ASSAY_ASSERT(confidence > 0 && confidence < 1, "a confidence is between 0 and 1");
  if (!(percent > 0 && percent < 100)) {
    return Error{ErrorCode::kInvalid, fmt::format("there is no percentile {}", percent)};
  }
  const auto n = static_cast<int64_t>(sorted.size());
  const double share = percent / 100;
  const Ranks ranks = ranks_around(n, share, (1 - confidence) / 2);
  if (ranks.low < 1 || ranks.high > n) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("p{} needs at least {} samples, there are {}", shortest(percent),
                             samples_for_percentile(percent, confidence), n)};
  }
  const double place = static_cast<double>(n - 1) * share;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  Percentile result;
  result.value = sorted[below] + part * (sorted[above] - sorted[below]);
  result.interval = {sorted[static_cast<size_t>(ranks.low - 1)],
                     sorted[static_cast<size_t>(ranks.high - 1)], confidence, "order-statistics"};
  return result;
}

int64_t samples_for_percentile(double percent, double confidence) {
  // x(1) and x(n) must both exclude the quantile: (1 - p)^n and p^n at most the tail.
  const double share = percent / 100;
  const double rarer = std::max(share, 1 - share);
  const double tail = (1 - confidence) / 2;
  return static_cast<int64_t>(std::ceil(std::log(tail) / std::log(rarer) - 1e-9));
}

std::string percentile_name(double percent) {
  std::string name = "p" + shortest(percent);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace assay
