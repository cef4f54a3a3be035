// SPDX-License-Identifier: Apache-2.0
//
// Early stopping: how many queries it takes to say, at 99 % confidence, that a share p of all
// queries is under a latency, when t of those seen were not. By the binomial: least h such that of
// h + t queries at most t are over with a probability below 0.01 if a share 1 - p of all were,
// which is I_p(h, t + 1) < 0.01 (MLPerf Inference rules, "Early stopping"). Pure; 10 to 100 us.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay {

// That h, for t = over >= 0 and 0 < percentile < 1.
int64_t queries_under_needed(int64_t over, double percentile);
// The queries without which no percentile can be estimated: 64 at 90 %, 662 at 99 %.
int64_t queries_to_estimate(double percentile);
// The most queries over the limit with which `queries` queries still pass; nothing when not even 0.
std::optional<int64_t> most_over(int64_t queries, double percentile);

struct PercentileEstimate {
  int64_t value_ns = 0;
  int64_t discarded = 0;  // queries above it
};
// An upper bound of the percentile at that confidence; nothing when there are too few queries.
std::optional<PercentileEstimate> early_stopping_estimate(std::span<const int64_t> sorted_ns,
                                                          double percentile);

}  // namespace assay
