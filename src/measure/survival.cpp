// SPDX-License-Identifier: Apache-2.0
#include "measure/survival.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "measure/distribution.h"

namespace assay {
namespace {

// S^exp(+-z se(log(-log S))), with S's own ends where the logarithm has none.
Interval log_log_interval(double survival, double greenwood, double z, double confidence) {
  Interval interval{survival, survival, confidence, "greenwood-log-log"};
  if (survival <= 0 || survival >= 1) return interval;
  const double spread = z * std::sqrt(greenwood) / std::fabs(std::log(survival));
  interval.low = std::pow(survival, std::exp(spread));
  interval.high = std::pow(survival, std::exp(-spread));
  return interval;
}

std::vector<SurvivalStep> product_limit(std::span<const Observation> sorted, double confidence) {
  const double z = normal_quantile((1 + confidence) / 2);
  std::vector<SurvivalStep> steps;
  double survival = 1;
  double greenwood = 0;  // sum of d / (n (n - d))
  for (size_t i = 0; i < sorted.size();) {
    const double time = sorted[i].time;
    const auto at_risk = static_cast<int64_t>(sorted.size() - i);
    int64_t reached = 0;
    for (; i < sorted.size() && sorted[i].time == time; ++i) reached += sorted[i].reached ? 1 : 0;
    if (reached == 0) continue;
    const auto risk = static_cast<double>(at_risk);
    const auto events = static_cast<double>(reached);
    survival *= 1 - events / risk;
    // With nobody left the sum has no value and the curve is 0 without error.
    if (reached < at_risk) greenwood += events / (risk * (risk - events));
    if (reached == at_risk) survival = 0;
    steps.push_back({time, at_risk, reached, survival, survival * std::sqrt(greenwood),
                     log_log_interval(survival, greenwood, z, confidence)});
  }
  return steps;
}

// Where the curve is exactly one half over an interval, the middle of it is as good as its start:
// the start is taken, the earliest time by which half have reached the target.
CensoredEstimate median_of(std::span<const SurvivalStep> steps, double confidence) {
  constexpr double kHalf = 0.5 + 1e-12;  // products of fractions round
  CensoredEstimate median;
  median.confidence = confidence;
  for (const SurvivalStep& step : steps) {
    if (!median.low && step.interval.low <= kHalf) median.low = step.time;
    if (!median.value && step.survival <= kHalf) median.value = step.time;
    if (!median.high && step.interval.high <= kHalf) median.high = step.time;
  }
  return median;
}

RestrictedMean restricted_mean_of(std::span<const SurvivalStep> steps, double horizon,
                                  double confidence) {
  RestrictedMean mean;
  mean.horizon = horizon;
  // From the right, so that the area beyond each step is at hand for its variance.
  double variance = 0;
  double area = 0;
  double end = horizon;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    area += step->survival * (end - step->time);
    end = step->time;
    const auto risk = static_cast<double>(step->at_risk);
    const auto events = static_cast<double>(step->reached);
    if (step->reached < step->at_risk) variance += area * area * events / (risk * (risk - events));
  }
  mean.value = area + end;
  mean.standard_error = std::sqrt(variance);
  const double half = normal_quantile((1 + confidence) / 2) * mean.standard_error;
  mean.interval = {mean.value - half, mean.value + half, confidence, "greenwood"};
  return mean;
}

}  // namespace

Result<SurvivalCurve> kaplan_meier(std::span<const Observation> observations, double confidence) {
  if (observations.empty()) return Error{ErrorCode::kInvalid, "a survival curve of no run"};
  std::vector<Observation> sorted(observations.begin(), observations.end());
  SurvivalCurve curve;
  for (const Observation& observation : sorted) {
    if (!(observation.time >= 0) || !std::isfinite(observation.time)) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("a run cannot have taken the time {}", observation.time)};
    }
    curve.censored += observation.reached ? 0 : 1;
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Observation& a, const Observation& b) { return a.time < b.time; });
  curve.observations = static_cast<int64_t>(sorted.size());
  curve.steps = product_limit(sorted, confidence);
  curve.median = median_of(curve.steps, confidence);
  curve.restricted_mean = restricted_mean_of(curve.steps, sorted.back().time, confidence);
  return curve;
}

}  // namespace assay
