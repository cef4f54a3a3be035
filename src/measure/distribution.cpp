// SPDX-License-Identifier: Apache-2.0
#include "measure/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace assay {
namespace {

// The continued fraction of the incomplete beta function, by the modified Lentz method. It
// converges within about sqrt(max(a, b)) steps where x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 100'000;
  const auto away_from_zero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    fraction *= step;
    if (std::fabs(step - 1) < 1e-16) break;
  }
  return fraction;
}

// ln Gamma without the global that std::lgamma writes.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  ASSAY_ASSERT(a > 0 && b > 0 && x >= 0 && x <= 1, "outside the domain of the beta function");
  if (x == 0 || x == 1) return x;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double probability) {
  ASSAY_ASSERT(probability > 0 && probability < 1, "a quantile needs 0 < p < 1");
  if (probability > 0.5) return -normal_quantile(1 - probability);
  // Abramowitz and Stegun 26.2.23 (error below 4.5e-4), then Halley's steps.
  const double t = std::sqrt(-2 * std::log(probability));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  for (int step = 0; step < 4; ++step) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double error = (normal_cdf(z) - probability) / density;
    z -= error / (1 + z * error / 2);
  }
  return z;
}

double student_t_cdf(double t, double df) {
  ASSAY_ASSERT(df > 0, "Student's t needs df > 0");
  const double tail = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double probability, double df) {
  ASSAY_ASSERT(probability > 0 && probability < 1, "a quantile needs 0 < p < 1");
  ASSAY_ASSERT(df > 0, "Student's t needs df > 0");
  if (probability == 0.5) return 0;
  // On the lower half, where the tail has full relative precision.
  if (probability > 0.5) return -student_t_quantile(1 - probability, df);
  double low = -1;
  while (student_t_cdf(low, df) > probability) low *= 2;
  double high = low == -1 ? 0 : low / 2;
  const double log_scale =
      log_gamma((df + 1) / 2) - log_gamma(df / 2) - 0.5 * std::log(df * std::numbers::pi);
  double t = std::clamp(normal_quantile(probability), low, high);
  for (int step = 0; step < 100; ++step) {
    const double error = student_t_cdf(t, df) - probability;
    (error > 0 ? high : low) = t;
    const double density = std::exp(log_scale - (df + 1) / 2 * std::log1p(t * t / df));
    double next = t - error / density;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::fabs(next - t) <= 1e-14 * std::fabs(t)) return next;
    t = next;
  }
  return t;
}

double binomial_cdf(int64_t k, int64_t n, double probability) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return incomplete_beta(static_cast<double>(n - k), static_cast<double>(k + 1), 1 - probability);
}

}  // namespace assay
