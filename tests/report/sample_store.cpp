// SPDX-License-Identifier: Apache-2.0
#include "report/sample_store.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "measure/interval.h"
#include "measure/statistics.h"
#include "record/digest.h"
#include "record/record.h"

namespace assay::sample_store {
namespace {

constexpr int64_t kStart = 1'796'119'200'000;

Case parsed(const std::string& text) {
  Result<Case> result = Case::parse(text);
  EXPECT_TRUE(result.ok()) << text;
  return *result;
}

std::vector<double> noisy_series(RandomStream& random, size_t count, double typical) {
  std::vector<double> values(count);
  double slow = 0;
  for (double& value : values) {
    slow = 0.7 * slow + 0.01 * random.normal();
    const bool disturbed = random.bernoulli(0.01);
    value = std::round(typical * (1 + slow + 0.02 * std::fabs(random.normal())) *
                       (disturbed ? 1.6 : 1));
  }
  return values;
}

Record opened(const std::string& text, int64_t second, const std::string& environment) {
  Record record;
  record.run_id = "20261201T110000-7f3a";
  record.measured_case = parsed(text);
  record.digest = digest_of("graph", "recipe", "fashion-mnist");
  record.status = Status::kMeasured;
  record.environment_id = environment;
  record.code_version = "0.1.0+g1860386";
  record.started_at = std::chrono::milliseconds(kStart + 1000 * second);
  record.facts = {{"item", "image"}, {"metric", "top1"}};
  record.missing = {{"energy_joules", "unavailable (no RAPL: this is a virtual machine)"},
                    {"cost_usd", "no price was given"}};
  return record;
}

Record trained(int seed, const std::string& precision, double step_ns, int64_t second,
               const std::string& environment) {
  Record record = opened("v1:activity=train workload=image-classification precision=" + precision +
                             " seed=" + std::to_string(seed),
                         second, environment);
  RandomStream random{RandomKey(17).derive(static_cast<uint64_t>(seed)).derive(precision)};
  const bool stays_short = precision == "f32" && seed == 4;
  constexpr double kTarget = 0.915;
  constexpr int kStepsPerEpoch = 60;
  std::vector<double> steps;
  Samples epoch{"eval_epoch", {}};
  Samples time{"eval_time_s", {}};
  Samples quality{"eval_quality", {}};
  double elapsed = 0;
  const int epochs = stays_short ? 9 : 5 + (seed * 2 + (precision == "f32" ? 0 : 1)) % 4;
  for (int e = 1; e <= epochs; ++e) {
    for (const double step : noisy_series(random, kStepsPerEpoch, step_ns)) {
      steps.push_back(step);
      elapsed += step * 1e-9;
    }
    elapsed += 0.8;
    const double reached = stays_short ? 0.9135 : 0.9195;
    const double value = reached - 0.16 * std::exp(-0.75 * e) + 0.001 * random.normal();
    epoch.values.push_back(e);
    time.values.push_back(elapsed);
    quality.values.push_back(e == epochs && !stays_short ? std::max(value, 0.9152)
                                                         : std::min(value, 0.9146));
  }
  const double mean_ns = mean(steps);
  const auto interval = series_interval(steps);
  record.add("batch", 128);
  record.add("threads", 2);
  record.add("steps", static_cast<double>(steps.size()));
  record.add("epochs", epochs);
  record.add("time_s", elapsed);
  record.add("quality", quality.values.back());
  record.add("target", kTarget);
  record.add("final_loss", 0.1873);
  record.add("throughput_per_s", 128e9 / mean_ns,
             Interval{128e9 / interval->high, 128e9 / interval->low, 0.95, interval->method});
  record.add("step_mean_ns", mean_ns, *interval);
  record.add("wait_share", 0.0031);
  record.add("evaluation_s", 0.8 * epochs);
  record.add("overhead_share", 0.0042);
  record.add("peak_rss_bytes", 612.0 * 1024 * 1024);
  record.facts["reached"] = stays_short ? "false" : "true";
  if (stays_short) {
    record.status = Status::kShortOfTarget;
    record.reason = "quality 0.9135 is below the target 0.915 after 9 epochs";
    record.missing["time_to_target_s"] = "the target was not reached in 9 epochs";
  } else {
    record.add("time_to_target_s", elapsed);
  }
  record.duration_s = elapsed + 1.7;
  record.samples = {
      {"step_time_ns", std::move(steps)}, std::move(epoch), std::move(time), std::move(quality)};
  return record;
}

Record inferred(const std::string& precision, int batch, int64_t second,
                const std::string& environment) {
  Record record = opened("v1:activity=infer workload=image-classification precision=" + precision +
                             " batch=" + std::to_string(batch),
                         second, environment);
  RandomStream random{RandomKey(23).derive(precision).derive(static_cast<uint64_t>(batch))};
  const double speed = precision == "bf16" ? 2.1 : 1.0;
  const double typical = 310'000 + 118'000.0 * batch / speed;
  std::vector<double> latencies = noisy_series(random, batch > 16 ? 260 : 1200, typical);
  const double mean_ns = mean(latencies);
  const auto interval = series_interval(latencies);
  record.add("threads", 2);
  record.add(
      "throughput_per_s", batch * 1e9 / mean_ns,
      Interval{batch * 1e9 / interval->high, batch * 1e9 / interval->low, 0.95, interval->method});
  record.add("latency_mean_ns", mean_ns, *interval);
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    const std::string name = "latency_" + percentile_name(percent) + "_ns";
    const auto found = percentile(latencies, percent);
    if (found.ok()) {
      record.add(name, found->value, found->interval);
    } else {
      record.missing[name] = found.error().message;
    }
  }
  record.add("quality", precision == "bf16" ? 0.9157 : 0.9162);
  record.add("samples", static_cast<double>(latencies.size()));
  record.facts["precision_used"] = precision;
  record.duration_s = 2.5;
  record.samples = {{"latency_ns", std::move(latencies)}};
  return record;
}

// Two nodes of a network that was counted and not run.
Record counted(int64_t second, const std::string& environment) {
  Record record =
      opened("v1:activity=profile workload=image-classification batch=256", second, environment);
  const std::vector<std::pair<const char*, double>> metrics{{"batch", 256},
                                                            {"nodes", 21},
                                                            {"parameters", 54'242},
                                                            {"macs", 1.5e9},
                                                            {"flops", 3.2e9},
                                                            {"read_bytes", 60'000'000},
                                                            {"write_bytes", 40'000'000},
                                                            {"intensity_flop_per_byte", 32},
                                                            {"activation_bytes", 40'000'000},
                                                            {"peak_bytes", 26'020'000},
                                                            {"peak_parameter_bytes", 216'968},
                                                            {"peak_state_bytes", 1'024},
                                                            {"peak_constant_bytes", 0},
                                                            {"peak_input_bytes", 802'816},
                                                            {"peak_activation_bytes", 24'999'192},
                                                            {"peak_workspace_bytes", 0}};
  for (const auto& [name, value] : metrics) record.add(name, value);
  record.facts["peak_node"] = "stage1.relu";
  const std::map<std::string, std::string> stem{{"rank", "1"},
                                                {"node", "stage2.conv"},
                                                {"op_type", "Conv"},
                                                {"output", "f32[256, 32, 14, 14]"}};
  const std::map<std::string, std::string> hostile{
      {"rank", "2"}, {"node", kHostile}, {"op_type", "Gemm"}, {"output", "f32[256, 10]"}};
  record.metrics.push_back({"node_flops", 2.4e9, std::nullopt, stem});
  record.metrics.push_back({"node_bytes", 7'000'000, std::nullopt, stem});
  record.metrics.push_back({"node_flops", 8e8, std::nullopt, hostile});
  record.metrics.push_back({"node_bytes", 50'000, std::nullopt, hostile});
  record.duration_s = 0.02;
  return record;
}

Json environment() {
  return {{"cpu_model", "Example Xeon 8481C @ 2.70GHz"},
          {"cores", 2},
          {"threads", 2},
          {"isa", {"avx2", "avx512f", "amx-bf16"}},
          {"caches",
           {{{"level", 1}, {"kind", "data"}, {"bytes", 49152}},
            {{"level", 2}, {"kind", "unified"}, {"bytes", 2097152}}}},
          {"memory_bytes", 16'779'309'056},
          {"gpus", Json::array()},
          {"governor", nullptr},
          {"virtualised", "kvm"},
          {"kernel", "Linux 6.1.0-44-amd64"},
          {"compiler", "GCC 12.2.0 -O3"},
          {"engines", {{{"name", "torch"}, {"version", "2.15.0"}}}},
          {"details", {{"container", "none"}, {"turbo", true}}}};
}

void append(Store& store, const Record& record) {
  const auto id = store.append(record);
  ASSERT_TRUE(id.ok()) << id.error().text();
}

}  // namespace

void fill(const std::filesystem::path& path) {
  Result<Store> opened_store = Store::open(path);
  ASSERT_TRUE(opened_store.ok()) << opened_store.error().text();
  Store& store = *opened_store;
  const std::string machine = *store.put_environment(environment());
  ASSERT_TRUE(store
                  .start_run({"20261201T110000-7f3a", "assay study quick",
                              std::chrono::milliseconds(kStart)})
                  .ok());
  int64_t second = 1;
  for (int seed = 1; seed <= 5; ++seed) {
    append(store, trained(seed, "f32", 29.4e6, second += 60, machine));
  }
  for (int seed = 1; seed <= 3; ++seed) {
    append(store, trained(seed, "bf16", 16.1e6, second += 40, machine));
  }
  for (const char* precision : {"f32", "bf16"}) {
    for (const int batch : {1, 4, 16, 64}) {
      Record record = inferred(precision, batch, second += 5, machine);
      if (std::string(precision) == "f32" && batch == 16) {
        record.status = Status::kNoisy;
        record.reason = "noise 3.4 % is above 1 % after 10 s";
        record.marks = {"contended: 61 % of the expected CPU time", "outliers: 12 of 1200 samples"};
      }
      append(store, record);
    }
  }
  Record crashed =
      opened("v1:activity=infer workload=image-classification precision=bf16 batch=256",
             second += 5, machine);
  crashed.status = Status::kCrashed;
  crashed.reason = std::string("signal 9 (Killed): ") + kHostile;
  crashed.marks = {kHostile};
  crashed.facts.clear();
  append(store, crashed);
  append(store, counted(second += 5, machine));
}

}  // namespace assay::sample_store
