// SPDX-License-Identifier: Apache-2.0
#include "measure/drift.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "measure/distribution.h"
#include "measure/interval.h"
#include "measure/statistics.h"
#include "measure/two_digits.h"

namespace assay {
namespace {

constexpr size_t kLeastBatches = 8;
constexpr size_t kMostBatches = 64;
constexpr double kBatchTimes = 5;  // batch length in autocorrelation times
constexpr double kSignificant = 0.01;
constexpr double kNoticeable = 0.01;    // relative change
constexpr double kOutlierDistance = 5;  // scaled MADs
constexpr double kScaledMad = 1.4826;   // of a normal distribution: the standard deviation
constexpr double kLeastScale = 1e-3;    // of the median: a clock's resolution makes no outliers

// The trend itself would look like autocorrelation: the straight line is taken out first.
double detrended_autocorrelation_time(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double center = mean(values);
  const double middle = (n - 1) / 2;
  double cross = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    cross += (static_cast<double>(i) - middle) * (values[i] - center);
  }
  const double slope = cross * 12 / (n * (n * n - 1));
  std::vector<double> rest(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    rest[i] = values[i] - center - slope * (static_cast<double>(i) - middle);
  }
  return autocorrelation_time(rest);
}

std::vector<double> batches_of(std::span<const double> values) {
  const size_t n = values.size();
  const double time = detrended_autocorrelation_time(values);
  const double length = time > 1 ? kBatchTimes * time : 1;
  const size_t count = std::min(kMostBatches, static_cast<size_t>(static_cast<double>(n) / length));
  std::vector<double> means(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * n / count;
    means[i] = mean(values.subspan(begin, (i + 1) * n / count - begin));
  }
  return means;
}

// Two-sided p of the Mann-Kendall statistic S with ties and continuity correction (Mann 1945,
// Kendall 1975).
double mann_kendall_p(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double s = 0;
  std::map<double, double> ties;
  for (size_t i = 0; i < values.size(); ++i) {
    ties[values[i]] += 1;
    for (size_t j = i + 1; j < values.size(); ++j) {
      s += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  double variance = n * (n - 1) * (2 * n + 5);
  for (const auto& [value, count] : ties) variance -= count * (count - 1) * (2 * count + 5);
  variance /= 18;
  if (variance <= 0 || s == 0) return 1;
  const double z = (std::fabs(s) - 1) / std::sqrt(variance);
  return 2 * normal_cdf(-z);
}

// The median of the slopes of all pairs (Theil 1950, Sen 1968), a step being one batch.
double theil_sen_slope(std::span<const double> values) {
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median(slopes);
}

}  // namespace

std::optional<Trend> trend(std::span<const double> values) {
  if (values.size() < kLeastBatches) return std::nullopt;
  const std::vector<double> batches = batches_of(values);
  const double center = median(values);
  if (batches.size() < kLeastBatches || center == 0) return std::nullopt;
  Trend result;
  result.batches = batches.size();
  result.p_value = mann_kendall_p(batches);
  const auto steps = static_cast<double>(batches.size() - 1);
  result.change = theil_sen_slope(batches) * steps / std::fabs(center);
  return result;
}

std::optional<std::string> drift_mark(std::span<const double> values) {
  const std::optional<Trend> found = trend(values);
  if (!found || found->p_value >= kSignificant || std::fabs(found->change) < kNoticeable) {
    return std::nullopt;
  }
  return fmt::format("drift: {:+.1f} % over the series (Mann-Kendall p = {:.1g} on {} batches)",
                     100 * found->change, found->p_value, found->batches);
}

std::vector<size_t> outliers(std::span<const double> values) {
  std::vector<size_t> found;
  if (values.size() < 3) return found;
  const double center = median(values);
  std::vector<double> distances(values.size());
  for (size_t i = 0; i < values.size(); ++i) distances[i] = std::fabs(values[i] - center);
  const double scale = std::max(kScaledMad * median(distances), kLeastScale * std::fabs(center));
  for (size_t i = 0; i < values.size(); ++i) {
    if (distances[i] > kOutlierDistance * scale) found.push_back(i);
  }
  return found;
}

std::optional<std::string> outlier_mark(std::span<const double> values) {
  const std::vector<size_t> found = outliers(values);
  if (found.empty()) return std::nullopt;
  const double center = median(values);
  double furthest = center;
  for (const size_t index : found) {
    if (std::fabs(values[index] - center) > std::fabs(furthest - center)) furthest = values[index];
  }
  std::string mark = fmt::format("outliers: {} of {} samples beyond {} scaled MADs", found.size(),
                                 values.size(), kOutlierDistance);
  if (center != 0) {
    fmt::format_to(std::back_inserter(mark), " (furthest {} x median)",
                   two_digits(furthest / center));
  }
  return mark;
}

}  // namespace assay
