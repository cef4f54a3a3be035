// SPDX-License-Identifier: Apache-2.0
#include "serve/early_stopping.h"

#include <algorithm>

#include "measure/distribution.h"

namespace assay {
namespace {

constexpr double kRisk = 0.01;

bool enough(int64_t under, int64_t over, double percentile) {
  return incomplete_beta(static_cast<double>(under), static_cast<double>(over + 1), percentile) <
         kRisk;
}

}  // namespace

int64_t queries_under_needed(int64_t over, double percentile) {
  int64_t high = 1;
  while (!enough(high, over, percentile)) high *= 2;
  int64_t low = high / 2;  // not enough, or 0
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (enough(middle, over, percentile) ? high : low) = middle;
  }
  return high;
}

int64_t queries_to_estimate(double percentile) { return queries_under_needed(1, percentile) + 1; }

std::optional<int64_t> most_over(int64_t queries, double percentile) {
  // queries >= h(t) + t is the same as: queries - t under ones are enough.
  const auto passes = [&](int64_t over) {
    return over < queries && enough(queries - over, over, percentile);
  };
  if (!passes(0)) return std::nullopt;
  int64_t low = 0;
  int64_t high = queries;  // does not pass: there would be none under
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (passes(middle) ? low : high) = middle;
  }
  return low;
}

std::optional<PercentileEstimate> early_stopping_estimate(std::span<const int64_t> sorted_ns,
                                                          double percentile) {
  const auto count = static_cast<int64_t>(sorted_ns.size());
  const auto over = most_over(count, percentile);
  if (over.value_or(0) < 1) return std::nullopt;
  return PercentileEstimate{sorted_ns[static_cast<size_t>(count - *over)], *over - 1};
}

}  // namespace assay
