// SPDX-License-Identifier: Apache-2.0
//
// Where the spread of time to target comes from: T = E tau, epochs times time per epoch, so to
// first order CV^2(T) = CV^2(E) + CV^2(tau) + 2 cov(E, tau) / (mean E mean tau). Pure functions.
#pragma once

#include <span>

#include "base/error.h"

namespace assay {

struct VarianceParts {
  double total = 0;       // CV^2 of the products
  double epochs = 0;      // CV^2 of the epoch counts
  double per_epoch = 0;   // CV^2 of the times per epoch
  double covariance = 0;  // 2 cov, relative to the means
  double residual = 0;    // total less the three: what the first order leaves out
};

// One entry a run. kInvalid when the lengths differ, there are fewer than 2 runs or a value is not
// positive.
Result<VarianceParts> decompose_variance(std::span<const double> epochs,
                                         std::span<const double> time_per_epoch);

}  // namespace assay
