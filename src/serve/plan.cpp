// SPDX-License-Identifier: Apache-2.0
#include "serve/plan.h"

#include <algorithm>
#include <numeric>

#include "serve/draws.h"

namespace assay {
namespace {

// Positions 0, stride, 2 stride ... below `end`, shuffled.
std::vector<uint32_t> shuffled_starts(uint32_t end, uint32_t stride, Draws& draws) {
  std::vector<uint32_t> starts;
  for (uint64_t i = 0; i < end; i += stride) starts.push_back(static_cast<uint32_t>(i));
  draws.shuffle(starts);
  return starts;
}

// Shuffles of one and the same list, one after the other, `least` items or more.
std::vector<uint32_t> permutations(std::vector<uint32_t> items, uint64_t least, Draws& draws) {
  std::vector<uint32_t> all;
  const uint64_t length = items.size();
  for (uint64_t done = 0; done < least; done += length) {
    draws.shuffle(items);
    all.insert(all.end(), items.begin(), items.end());
  }
  return all;
}

std::vector<uint32_t> numbers_below(size_t end) {
  std::vector<uint32_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

// How the first sample of each query is chosen. The three ways share one generator, and the two
// that shuffle do so whether they are used or not.
class Chooser {
 public:
  Chooser(const LoadSettings& asked, LoadMode mode, const LoadedSet& set, uint32_t stride,
          uint64_t min_queries)
      : draws_(asked.sample_index_rng_seed), range_(set.distinct) {
    once_ = shuffled_starts(set.distinct, stride, draws_);
    passes_ = permutations(numbers_below(set.indices.size()), min_queries, draws_);
    same_ = static_cast<uint32_t>(asked.performance_issue_same_index);
    if (mode == LoadMode::kAccuracy || asked.performance_issue_unique) {
      way_ = Way::kOnce;
    } else if (asked.performance_issue_same) {
      way_ = Way::kSame;
    } else if (asked.sample_concatenate_permutation && asked.scenario != Scenario::kMultiStream) {
      way_ = Way::kPasses;  // a multi-stream run only gets longer
    }
  }

  uint32_t next() {
    switch (way_) {
      case Way::kOnce:
        return once_[used_++ % once_.size()];
      case Way::kSame:
        return same_;
      case Way::kPasses:
        return passes_[used_++ % passes_.size()];
      case Way::kRandom:
        break;
    }
    return draws_.below(range_);
  }

 private:
  enum class Way { kRandom, kOnce, kSame, kPasses };
  Draws draws_;
  uint32_t range_;
  std::vector<uint32_t> once_;
  std::vector<uint32_t> passes_;
  uint32_t same_ = 0;
  Way way_ = Way::kRandom;
  size_t used_ = 0;
};

// The one query of an offline run.
QueryPlan plan_offline(const LoadSettings& asked, const EffectiveSettings& effective,
                       const LoadedSet& set) {
  QueryPlan plan;
  const size_t loaded = set.indices.size();
  auto count = static_cast<size_t>(effective.samples_per_query);
  if (effective.mode == LoadMode::kAccuracy || asked.performance_issue_unique) count = loaded;
  if (effective.mode != LoadMode::kAccuracy && asked.performance_issue_same) {
    const auto index = static_cast<size_t>(asked.performance_issue_same_index);
    plan.samples.assign(count, set.indices[index]);
  } else if (effective.mode != LoadMode::kAccuracy && asked.sample_concatenate_permutation) {
    Draws draws(asked.sample_index_rng_seed);
    shuffled_starts(set.distinct, 1, draws);
    count = round_up(count, loaded);
    permutations(numbers_below(loaded), 1, draws);
    while (plan.samples.size() < count) {
      std::vector<uint32_t> pass = set.indices;
      draws.shuffle(pass);
      plan.samples.insert(plan.samples.end(), pass.begin(), pass.end());
    }
  } else {
    plan.samples.resize(count);
    for (size_t i = 0; i < count; ++i) plan.samples[i] = set.indices[i % loaded];
  }
  plan.samples_per_query = static_cast<int64_t>(count);
  plan.duration = std::chrono::duration_cast<Nanoseconds>(Seconds(1 / effective.target_qps));
  return plan;
}

}  // namespace

std::vector<LoadedSet> loaded_sets(const LoadSettings& asked, const EffectiveSettings& effective) {
  const bool accuracy = effective.mode == LoadMode::kAccuracy;
  const auto memory = static_cast<size_t>(effective.performance_sample_count);
  std::vector<uint32_t> order =
      numbers_below(accuracy ? static_cast<size_t>(effective.accuracy_sample_count) : memory);
  Draws draws(asked.qsl_rng_seed);
  draws.shuffle(order);
  std::vector<LoadedSet> sets;
  for (size_t begin = 0; begin < order.size(); begin += memory) {
    const size_t end = std::min(order.size(), begin + memory);
    LoadedSet set;
    set.indices.assign(order.begin() + static_cast<ptrdiff_t>(begin),
                       order.begin() + static_cast<ptrdiff_t>(end));
    set.distinct = static_cast<uint32_t>(end - begin);
    if (effective.scenario == Scenario::kMultiStream) {
      const auto padding = static_cast<size_t>(effective.samples_per_query - 1);
      for (size_t i = 0; i < padding; ++i) set.indices.push_back(set.indices[i % set.distinct]);
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

QueryPlan plan_queries(const LoadSettings& asked, const EffectiveSettings& effective,
                       const LoadedSet& set) {
  if (effective.scenario == Scenario::kOffline) return plan_offline(asked, effective, set);
  const bool server = effective.scenario == Scenario::kServer;
  QueryPlan plan;
  plan.samples_per_query = effective.samples_per_query;
  Nanoseconds wanted = (server ? 1 : 2) * effective.target_duration;
  auto min_queries = static_cast<uint64_t>(effective.min_query_count);
  if (effective.mode == LoadMode::kAccuracy || asked.performance_issue_unique) {
    wanted = Nanoseconds(0);
    min_queries = set.indices.size() / static_cast<uint64_t>(plan.samples_per_query);
  } else if (asked.sample_concatenate_permutation) {
    min_queries = round_up(min_queries, set.indices.size());
  }
  Chooser chooser(asked, effective.mode, set, static_cast<uint32_t>(plan.samples_per_query),
                  min_queries);
  Draws schedule(asked.schedule_rng_seed);
  const auto period = std::chrono::duration_cast<Nanoseconds>(Seconds(1 / effective.target_qps));
  Nanoseconds arrival{0};
  Nanoseconds last{0};
  for (uint64_t queries = 0; last < wanted || queries < min_queries; ++queries) {
    const uint32_t first = chooser.next();
    for (int64_t i = 0; i < plan.samples_per_query; ++i) {
      plan.samples.push_back(set.indices[first + static_cast<size_t>(i)]);
    }
    if (server) plan.arrivals.push_back(arrival);
    last = arrival;
    arrival += server ? schedule.arrival_gap(effective.target_qps) : period;
  }
  plan.duration = arrival;
  return plan;
}

std::vector<uint32_t> logged_samples(uint64_t seed, double probability, int64_t count) {
  std::vector<uint32_t> kept;
  if (probability <= 0) return kept;
  // Every sample has a number that no seed changes; the seed turns the circle they lie on.
  Draws numbers(std::mt19937::default_seed);
  const double turn = Draws(seed).real();
  for (int64_t i = 0; i < count; ++i) {
    double number = numbers.real() + turn;
    if (number >= 1) number -= 1;
    if (number <= probability) kept.push_back(static_cast<uint32_t>(i));
  }
  return kept;
}

}  // namespace assay
