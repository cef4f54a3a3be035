// SPDX-License-Identifier: Apache-2.0
#include "measure/interval.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "measure/distribution.h"
#include "measure/statistics.h"

namespace assay {
namespace {

constexpr double kBatchTimes = 8;  // batch length in autocorrelation times, if there are enough
constexpr size_t kMostBatches = 64;
constexpr size_t kLeastBatches = 4;
constexpr size_t kSeriesLength = 20;  // from here on samples are treated as a time series

Error too_small(std::string_view what, size_t needed, size_t there) {
  return {ErrorCode::kInvalid,
          fmt::format("{} needs at least {} values, there are {}", what, needed, there)};
}

// mean +- half-width from the spread of `parts`, whose mean is nearly `center`.
Interval t_around(double center, std::span<const double> parts, double confidence,
                  std::string method) {
  const auto n = static_cast<double>(parts.size());
  const double half =
      student_t_quantile((1 + confidence) / 2, n - 1) * sample_stdev(parts) / std::sqrt(n);
  return {center - half, center + half, confidence, std::move(method)};
}

// The percentile interval of bootstrap replicates; sorts them.
Interval between(std::vector<double>& replicates, double low_share, double high_share,
                 double confidence, std::string method) {
  std::sort(replicates.begin(), replicates.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(replicates.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, replicates.size() - 1);
    return replicates[below] +
           (place - static_cast<double>(below)) * (replicates[above] - replicates[below]);
  };
  return {at(low_share), at(high_share), confidence, std::move(method)};
}

}  // namespace

Result<Interval> t_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return too_small("a t interval", 2, values.size());
  return t_around(mean(values), values, confidence, "t");
}

Result<BatchMeans> batch_means(std::span<const double> values) {
  const size_t n = values.size();
  if (n < kLeastBatches) return too_small("a batch-means interval", kLeastBatches, n);
  const double time = autocorrelation_time(values);
  // Never fewer batches than four: t with three degrees of freedom forgives what correlation is
  // left between them, down to batches of one autocorrelation time.
  const auto count = static_cast<double>(n);
  if (count < static_cast<double>(kLeastBatches) * time) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} samples are too few for their autocorrelation time of {:.1f}: "
                             "batch means need about {:.0f}",
                             n, time, std::ceil(static_cast<double>(kLeastBatches) * time))};
  }
  // Independent samples need no batches longer than one.
  const double length = time > 1 ? kBatchTimes * time : 1;
  const size_t batches =
      std::clamp(static_cast<size_t>(count / length), kLeastBatches, kMostBatches);
  BatchMeans means{std::vector<double>(batches), "batch-means"};
  for (size_t batch = 0; batch < batches; ++batch) {
    const size_t begin = batch * n / batches;
    const size_t end = (batch + 1) * n / batches;
    means.values[batch] = mean(values.subspan(begin, end - begin));
  }
  return means;
}

Result<BatchMeans> series_means(std::span<const double> values) {
  if (values.size() >= kSeriesLength) return batch_means(values);
  if (values.size() < 2) return too_small("a t interval", 2, values.size());
  return BatchMeans{{values.begin(), values.end()}, "t"};
}

Result<Interval> batch_means_interval(std::span<const double> values, double confidence) {
  ASSAY_ASSIGN(const BatchMeans means, batch_means(values));
  return t_around(mean(values), means.values, confidence, means.method);
}

Result<Interval> block_bootstrap_interval(std::span<const double> values, RandomKey key,
                                          double confidence, size_t resamples) {
  const size_t n = values.size();
  if (n < 16) return too_small("a block bootstrap", 16, n);
  // Sums of circular blocks from running sums: a block costs O(1), whatever its length.
  const double center = mean(values);
  std::vector<double> sums(2 * n + 1);
  for (size_t i = 0; i < 2 * n; ++i) sums[i + 1] = sums[i] + (values[i % n] - center);
  const double log_continue = std::log1p(-1 / std::max(bootstrap_block_length(values), 1.0 + 1e-9));
  RandomStream random(key);
  std::vector<double> replicates(resamples);
  for (double& replicate : replicates) {
    double sum = 0;
    for (size_t filled = 0; filled < n;) {
      const size_t start = random.below(n);
      const double drawn = std::floor(std::log(1 - random.uniform()) / log_continue);
      const size_t length =
          1 + static_cast<size_t>(std::min(drawn, static_cast<double>(n - filled - 1)));
      sum += sums[start + length] - sums[start];
      filled += length;
    }
    replicate = center + sum / static_cast<double>(n);
  }
  const double tail = (1 - confidence) / 2;
  return between(replicates, tail, 1 - tail, confidence, "block-bootstrap");
}

Result<Interval> bca_interval(std::span<const double> values, const Statistic& statistic,
                              RandomKey key, double confidence, size_t resamples) {
  const size_t n = values.size();
  if (n < 3) return too_small("a BCa interval", 3, n);
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; })) {
    return Error{ErrorCode::kInvalid, "a BCa interval of equal values has no width"};
  }
  const double observed = statistic(values);
  RandomStream random(key);
  std::vector<double> sample(n);
  std::vector<double> replicates(resamples);
  double below = 0;
  for (double& replicate : replicates) {
    for (double& value : sample) value = values[random.below(n)];
    replicate = statistic(sample);
    below += replicate < observed ? 1 : replicate == observed ? 0.5 : 0;
  }
  // The acceleration, from the skewness of the jackknife.
  std::vector<double> left_out(n);
  sample.resize(n - 1);
  for (size_t i = 0; i < n; ++i) {
    std::copy(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), sample.begin());
    std::copy(values.begin() + static_cast<std::ptrdiff_t>(i) + 1, values.end(),
              sample.begin() + static_cast<std::ptrdiff_t>(i));
    left_out[i] = statistic(sample);
  }
  const double center = mean(left_out);
  double squares = 0;
  double cubes = 0;
  for (const double value : left_out) {
    squares += (center - value) * (center - value);
    cubes += (center - value) * (center - value) * (center - value);
  }
  const double acceleration = squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
  const auto count = static_cast<double>(resamples);
  const double bias = normal_quantile(std::clamp(below / count, 0.5 / count, 1 - 0.5 / count));
  const auto adjusted = [&](double share) {
    const double shifted = bias + normal_quantile(share);
    return normal_cdf(bias + shifted / (1 - acceleration * shifted));
  };
  const double tail = (1 - confidence) / 2;
  return between(replicates, adjusted(tail), adjusted(1 - tail), confidence, "bca");
}

Result<Interval> series_interval(std::span<const double> values, double confidence) {
  ASSAY_ASSIGN(const BatchMeans means, series_means(values));
  return t_around(mean(values), means.values, confidence, means.method);
}

}  // namespace assay
