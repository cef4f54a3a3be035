// SPDX-License-Identifier: Apache-2.0
//
// What the load generator itself costs, against a system that answers at once: nanoseconds a query,
// and how late server queries leave (the bar is 50 us at the 99th percentile of 2,000 arrivals a
// second).
#include <malloc.h>

#include <algorithm>
#include <vector>

#include <benchmark/benchmark.h>

#include "serve/run.h"

namespace assay {
namespace {

class Null final : public SystemUnderTest {
 public:
  std::string name() const override { return "null"; }
  Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
    done.complete(query);
    return {};
  }
  Result<void> drain() override { return {}; }
  void abandon() override {}
};

class Nothing final : public SampleLibrary {
 public:
  std::string name() const override { return "nothing"; }
  int64_t total_count() const override { return 1024; }
  int64_t performance_count() const override { return 1024; }
  Result<void> load(std::span<const uint32_t> /*indices*/) override { return {}; }
  void unload(std::span<const uint32_t> /*indices*/) override {}
};

LoadReport run(const LoadSettings& settings, benchmark::State& state) {
  const SteadyClock clock;
  Null system;
  Nothing library;
  auto report = run_load(system, library, settings, clock);
  if (!report.ok()) {
    state.SkipWithError(report.error().text().c_str());
    return {};
  }
  return std::move(report).value();
}

// As fast as queries can be issued and answered.
void queries(benchmark::State& state) {
  LoadSettings settings;
  settings.scenario = static_cast<Scenario>(state.range(0));
  settings.min_query_count = 1'000'000;
  settings.min_duration = std::chrono::milliseconds(0);
  settings.multi_stream_samples_per_query = 8;
  settings.server_target_qps = 1e9;  // always overdue: nothing is waited for
  settings.offline_expected_qps = 1;
  double busy_s = 0;
  double count = 0;
  size_t bytes = 0;
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    const LoadReport report = run(settings, state);
    bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    busy_s += Seconds(report.times.all_done).count();
    count += static_cast<double>(settings.scenario == Scenario::kOffline
                                     ? static_cast<int64_t>(report.times.latency_ns.size())
                                     : report.times.queries);
  }
  state.counters["ns_per_query"] = 1e9 * busy_s / count;
  state.counters["queries_per_s"] = count / busy_s;
  state.counters["kept_bytes_per_query"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(queries)
    ->ArgName("scenario")
    ->DenseRange(0, 3)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// How late queries leave at a rate a system could bear.
void punctuality(benchmark::State& state) {
  LoadSettings settings;
  settings.scenario = Scenario::kServer;
  settings.server_target_qps = static_cast<double>(state.range(0));
  settings.min_duration = std::chrono::seconds(5);
  std::vector<int64_t> delays;
  for (auto _ : state) {
    LoadReport report = run(settings, state);
    delays.insert(delays.end(), report.issue_delay_ns.begin(), report.issue_delay_ns.end());
  }
  if (delays.empty()) return;
  std::sort(delays.begin(), delays.end());
  const auto at = [&](double share) {
    return static_cast<double>(
        delays[static_cast<size_t>(share * static_cast<double>(delays.size()))]);
  };
  state.counters["late_p50_ns"] = at(0.50);
  state.counters["late_p99_ns"] = at(0.99);
  state.counters["late_p99_9_ns"] = at(0.999);
}
BENCHMARK(punctuality)
    ->ArgName("per_s")
    ->Arg(2000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace assay
