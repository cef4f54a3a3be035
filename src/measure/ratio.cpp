// SPDX-License-Identifier: Apache-2.0
#include "measure/ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "measure/distribution.h"
#include "measure/interval.h"
#include "measure/statistics.h"

namespace assay {
namespace {

constexpr double kBarAllowance = 0.02;

Result<std::vector<double>> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("a ratio needs positive values, there is {}", value)};
    }
    logs.push_back(std::log(value));
  }
  return logs;
}

// From the mean of log(speed of first / speed of second) and its interval's two bounds.
SpeedRatio from_logs(double log_mean, double half_width, double log_stderr, double df,
                     double confidence, std::string method) {
  SpeedRatio result;
  result.ratio = std::exp(log_mean);
  result.interval = {std::exp(log_mean - half_width), std::exp(log_mean + half_width), confidence,
                     std::move(method)};
  result.log_stderr = log_stderr;
  result.degrees_of_freedom = df;
  if (result.interval.low > 1) result.verdict = Verdict::kFaster;
  if (result.interval.high < 1) result.verdict = Verdict::kSlower;
  return result;
}

SpeedRatio from_stderr(double log_mean, double log_stderr, double df, double confidence,
                       std::string method) {
  const double half = student_t_quantile((1 + confidence) / 2, df) * log_stderr;
  return from_logs(log_mean, half, log_stderr, df, confidence, std::move(method));
}

double sign_of(Quantity quantity) { return quantity == Quantity::kRate ? 1 : -1; }

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

Result<SpeedRatio> paired_ratio(std::span<const double> first, std::span<const double> second,
                                Quantity quantity, double confidence) {
  if (first.size() != second.size()) {
    return Error{ErrorCode::kInvalid, fmt::format("pairs need equal lengths, not {} and {}",
                                                  first.size(), second.size())};
  }
  ASSAY_ASSIGN(std::vector<double> logs, logarithms(first));
  ASSAY_ASSIGN(const std::vector<double> other, logarithms(second));
  for (size_t i = 0; i < logs.size(); ++i) logs[i] = sign_of(quantity) * (logs[i] - other[i]);
  ASSAY_ASSIGN(const BatchMeans means, series_means(logs));
  const auto n = static_cast<double>(means.values.size());
  const double log_stderr = sample_stdev(means.values) / std::sqrt(n);
  return from_stderr(mean(logs), log_stderr, n - 1, confidence, "paired " + means.method);
}

Result<SpeedRatio> unpaired_ratio(std::span<const double> first, std::span<const double> second,
                                  Quantity quantity, double confidence) {
  if (std::min(first.size(), second.size()) < 2) {
    return Error{ErrorCode::kInvalid, "a ratio needs two values on each side"};
  }
  ASSAY_ASSIGN(const std::vector<double> a, logarithms(first));
  ASSAY_ASSIGN(const std::vector<double> b, logarithms(second));
  const double variance_a = sample_variance(a) / static_cast<double>(a.size());
  const double variance_b = sample_variance(b) / static_cast<double>(b.size());
  const double variance = variance_a + variance_b;
  const double spread = variance_a * variance_a / static_cast<double>(a.size() - 1) +
                        variance_b * variance_b / static_cast<double>(b.size() - 1);
  // Without any spread the number of degrees does not matter.
  const double df =
      spread > 0 ? variance * variance / spread : static_cast<double>(a.size() + b.size() - 2);
  return from_stderr(sign_of(quantity) * (mean(a) - mean(b)), std::sqrt(variance), df, confidence,
                     "welch t");
}

Result<SpeedRatio> combined_ratio(std::span<const SpeedRatio> cases, double confidence) {
  if (cases.empty()) return Error{ErrorCode::kInvalid, "the mean ratio of no case"};
  const auto n = static_cast<double>(cases.size());
  double log_mean = 0;
  double variance = 0;
  double spread = 0;
  double least_df = cases[0].degrees_of_freedom;
  for (const SpeedRatio& one : cases) {
    log_mean += std::log(one.ratio) / n;
    const double part = one.log_stderr * one.log_stderr / (n * n);
    variance += part;
    spread += part * part / one.degrees_of_freedom;
    least_df = std::min(least_df, one.degrees_of_freedom);
  }
  const double df = spread > 0 ? variance * variance / spread : least_df;
  return from_stderr(log_mean, std::sqrt(variance), df, confidence, "combined t");
}

bool meets_bar(const SpeedRatio& ratio, double bar) {
  return ratio.interval.low >= bar - kBarAllowance;
}

Result<double> sign_flip_p_value(std::span<const double> differences) {
  constexpr size_t kMost = 20;
  const size_t n = differences.size();
  if (n == 0 || n > kMost) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("an exact sign-flip test takes 1 to {} differences, not {}", kMost, n)};
  }
  double observed = 0;
  double scale = 0;
  for (const double difference : differences) {
    observed += difference;
    scale += std::fabs(difference);
  }
  // Equal up to rounding counts as equal.
  const double threshold = std::fabs(observed) - 1e-12 * scale;
  const uint32_t patterns = uint32_t{1} << n;
  uint32_t as_extreme = 0;
  for (uint32_t pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
      sum += (pattern >> i & 1U) != 0 ? differences[i] : -differences[i];
    if (std::fabs(sum) >= threshold) ++as_extreme;
  }
  return static_cast<double>(as_extreme) / patterns;
}

int64_t seeds_needed(double cv, double half_width, double confidence) {
  ASSAY_ASSERT(cv >= 0 && half_width > 0, "a spread and a half-width are positive");
  const auto enough = [&](int64_t n) {
    const auto count = static_cast<double>(n);
    return student_t_quantile((1 + confidence) / 2, count - 1) * cv / std::sqrt(count) <=
           half_width;
  };
  // t / sqrt(n) falls with n: double, then halve the gap.
  int64_t high = 2;
  while (!enough(high)) high *= 2;
  int64_t low = high / 2;
  while (high - low > 1 && high > 2) {
    const int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace assay
