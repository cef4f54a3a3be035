// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "measure/interval.h"
#include "measure/statistics.h"

namespace assay {
namespace {

double lagged_product(std::span<const double> values, double center, size_t lag) {
  double sum = 0;
  for (size_t i = 0; i + lag < values.size(); ++i) {
    sum += (values[i] - center) * (values[i + lag] - center);
  }
  return sum;
}

}  // namespace

double autocorrelation(std::span<const double> values, size_t lag) {
  if (values.size() < 2 || lag >= values.size()) return 0;
  const double center = mean(values);
  const double squares = lagged_product(values, center, 0);
  return squares > 0 ? lagged_product(values, center, lag) / squares : 0;
}

double autocorrelation_time(std::span<const double> values) {
  if (values.size() < 4) return 1;
  const double center = mean(values);
  const double squares = lagged_product(values, center, 0);
  if (!(squares > 0)) return 1;
  // Sums of neighbouring pairs are positive and fall in a reversible chain: stop at the first that
  // is not positive, and never let one rise, for then it is noise.
  double time = -1;
  double previous = 2;
  for (size_t lag = 0; lag + 1 < values.size() / 2; lag += 2) {
    double pair =
        (lagged_product(values, center, lag) + lagged_product(values, center, lag + 1)) / squares;
    if (pair <= 0) break;
    pair = std::min(pair, previous);
    time += 2 * pair;
    previous = pair;
  }
  return std::max(1.0, time);
}

double effective_sample_size(std::span<const double> values) {
  return static_cast<double>(values.size()) / autocorrelation_time(values);
}

double bootstrap_block_length(std::span<const double> values) {
  const size_t n = values.size();
  if (n < 16) return 1;
  const double center = mean(values);
  const double squares = lagged_product(values, center, 0);
  if (!(squares > 0)) return 1;
  const auto count = static_cast<double>(n);
  // The smallest m after which kn correlations in a row are insignificant; the window is twice
  // that.
  const auto kn = std::max<size_t>(5, static_cast<size_t>(std::sqrt(std::log10(count))));
  const size_t furthest = std::min(n - 1, static_cast<size_t>(std::ceil(std::sqrt(count))) + kn);
  const double significant = 2 * std::sqrt(std::log10(count) / count);
  size_t quiet = 0;
  size_t m = furthest;
  for (size_t lag = 1; lag <= furthest; ++lag) {
    const double rho = lagged_product(values, center, lag) / squares;
    quiet = std::fabs(rho) < significant ? quiet + 1 : 0;
    if (quiet == kn) {
      m = lag - kn;
      break;
    }
  }
  const size_t window = std::min(2 * std::max<size_t>(1, m), furthest);
  double spectrum = squares / count;  // g(0)
  double slope = 0;                   // G
  for (size_t lag = 1; lag <= window; ++lag) {
    const double place = static_cast<double>(lag) / static_cast<double>(window);
    const double weight = place <= 0.5 ? 1 : 2 * (1 - place);  // the flat-top lag window
    const double covariance = lagged_product(values, center, lag) / count;
    spectrum += 2 * weight * covariance;
    slope += 2 * weight * static_cast<double>(lag) * covariance;
  }
  if (!(spectrum > 0)) return 1;
  const double length = std::cbrt(slope * slope / (spectrum * spectrum)) * std::cbrt(count);
  const double longest = std::ceil(std::min(3 * std::sqrt(count), count / 3));
  return std::clamp(length, 1.0, longest);
}

}  // namespace assay
