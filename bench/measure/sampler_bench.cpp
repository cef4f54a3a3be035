// SPDX-License-Identifier: Apache-2.0
//
// What measuring itself costs. The bar: at most a microsecond a call with all book-keeping on.
#include <cmath>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "measure/contention.h"
#include "measure/sampler.h"
#include "measure/stopping.h"

namespace assay {
namespace {

// Everything the sampler does around one call of an empty subject, two clock readings included.
void cost_of_a_sample(benchmark::State& state) {
  const SteadyClock clock;
  SamplerOptions options;
  options.shortest_sample = Nanoseconds(0);
  options.warmup_time_s = 0.001;
  options.stopping.max_samples = 200'000;
  options.stopping.min_samples = options.stopping.max_samples;
  options.stopping.max_time_s = 100;
  const Subject nothing = [] { return Result<void>(); };
  double seconds = 0;
  double samples = 0;
  for (auto _ : state) {
    const auto series = sample(nothing, clock, options);
    seconds += series->elapsed_s;
    samples += static_cast<double>(series->values_ns.size());
  }
  state.counters["ns_per_sample"] = 1e9 * seconds / samples;
}
BENCHMARK(cost_of_a_sample)->Unit(benchmark::kMillisecond);

void combined_rule_add(benchmark::State& state) {
  RandomStream random(RandomKey(1));
  std::vector<double> values(1024);
  for (double& value : values) value = 1e6 * (1 + 0.1 * random.normal());
  CombinedRule rule(StoppingOptions{});
  size_t i = 0;
  for (auto _ : state) {
    ++i;
    rule.add(values[i % values.size()], Nanoseconds(static_cast<int64_t>(i) * 1000));
    benchmark::DoNotOptimize(rule.finished());
  }
}
BENCHMARK(combined_rule_add);

void clock_now(benchmark::State& state) {
  const SteadyClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.now());
}
BENCHMARK(clock_now);

void contention_reading(benchmark::State& state) {
  const SteadyClock clock;
  const ContentionProbe probe(clock);
  for (auto _ : state) benchmark::DoNotOptimize(probe.read());
}
BENCHMARK(contention_reading);

}  // namespace
}  // namespace assay
