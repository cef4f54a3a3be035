// SPDX-License-Identifier: Apache-2.0
//
// LoadPlan: which samples are loaded, which samples each query has and when it arrives, all drawn
// before the run from the seeds, equal to MLPerf's LoadGen 6.0.17 to the last bit (golden tests).
// Cost: about 20 ns and 4 bytes a sample, 8 bytes more a server query.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "serve/settings.h"

namespace assay {

// Samples that are in memory together.
struct LoadedSet {
  std::vector<uint32_t> indices;  // as loaded; multi-stream repeats its first ones at the end
  uint32_t distinct = 0;          // without those
};

// One set for a performance run; for an accuracy run as many as it takes, every sample in one.
std::vector<LoadedSet> loaded_sets(const LoadSettings& asked, const EffectiveSettings& effective);

struct QueryPlan {
  int64_t samples_per_query = 1;
  std::vector<uint32_t> samples;      // indices into the library, query after query
  std::vector<Nanoseconds> arrivals;  // of server queries, from the start
  Nanoseconds duration{0};            // until the arrival after the last

  int64_t queries() const { return static_cast<int64_t>(samples.size()) / samples_per_query; }
  std::span<const uint32_t> query(int64_t number) const {
    return {samples.data() + number * samples_per_query, static_cast<size_t>(samples_per_query)};
  }
};

QueryPlan plan_queries(const LoadSettings& asked, const EffectiveSettings& effective,
                       const LoadedSet& set);

// Which of the first `count` samples of a performance run keep their response, ascending.
std::vector<uint32_t> logged_samples(uint64_t seed, double probability, int64_t count);

}  // namespace assay
