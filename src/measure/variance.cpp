// SPDX-License-Identifier: Apache-2.0
#include "measure/variance.h"

#include <vector>

#include <fmt/format.h>

#include "measure/statistics.h"

namespace assay {

Result<VarianceParts> decompose_variance(std::span<const double> epochs,
                                         std::span<const double> time_per_epoch) {
  const size_t n = epochs.size();
  if (n != time_per_epoch.size() || n < 2) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("a decomposition needs two runs with both numbers, not {} and {}", n,
                             time_per_epoch.size())};
  }
  std::vector<double> products(n);
  for (size_t i = 0; i < n; ++i) {
    if (!(epochs[i] > 0) || !(time_per_epoch[i] > 0)) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("run {} has no positive time or epochs", i + 1)};
    }
    products[i] = epochs[i] * time_per_epoch[i];
  }
  const auto squared = [](double value) { return value * value; };
  const double mean_epochs = mean(epochs);
  const double mean_time = mean(time_per_epoch);
  double cross = 0;
  for (size_t i = 0; i < n; ++i) {
    cross += (epochs[i] / mean_epochs - 1) * (time_per_epoch[i] / mean_time - 1);
  }
  VarianceParts parts;
  parts.total = squared(coefficient_of_variation(products));
  parts.epochs = squared(coefficient_of_variation(epochs));
  parts.per_epoch = squared(coefficient_of_variation(time_per_epoch));
  parts.covariance = 2 * cross / static_cast<double>(n - 1);
  parts.residual = parts.total - parts.epochs - parts.per_epoch - parts.covariance;
  return parts;
}

}  // namespace assay
