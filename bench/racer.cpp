// SPDX-License-Identifier: Apache-2.0
//
// Our side of a race (bench/race.py): runs the small image-classification network through the torch
// engine with data in memory, in runs of as many steps as it is told, so that start-up never
// counts. It prints {"ready": true, "startup_bytes": n} and then, for every line "K" on stdin, runs
// K steps and prints {"seconds": s, "cpu_seconds": c, "peak_bytes": p}.
//   usage: assay_racer train|infer PRECISION THREADS BATCH WORKLOAD.toml
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/random.h"
#include "engine/plugin.h"
#include "graph/builder.h"
#include "graph/passes/passes.h"
#include "workload/workload.h"

namespace assay {
namespace {

constexpr int64_t kBatches = 8;  // as many different ones, used in turn

[[noreturn]] void give_up(const std::string& message) {
  std::cerr << "error: " << message << '\n';
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) give_up(result.error().text());
  return std::move(result).value();
}

void must(const Result<void>& result) {
  if (!result.ok()) give_up(result.error().text());
}

// A field of /proc/self/status, in bytes.
int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

// The most memory there ever was, without pages of program files: how many of those are in memory
// depends on what start-up touched, and the peer's touches more of libtorch than ours.
int64_t peak_bytes() { return status_bytes("VmHWM") - status_bytes("RssFile"); }

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Race {
  bool training = true;
  Plan plan;
  int64_t batch = 0;
  WorkloadVariant variant;
};

std::vector<std::vector<Tensor>> batches(const Race& race, const Graph& graph) {
  std::vector<std::vector<Tensor>> all;
  RandomStream random(RandomKey(1));
  const Graph bound = must(bind_dimensions(graph, {{"batch", race.batch}}));
  for (int64_t i = 0; i < kBatches; ++i) {
    Tensor images =
        Tensor::allocate(DType::kF32, bound.value(bound.inputs()[0]).type.shape->sizes());
    for (float& v : images.values<float>()) v = static_cast<float>(random.normal());
    all.push_back({images});
    if (!race.training) continue;
    Tensor labels = Tensor::allocate(DType::kI64, {race.batch});
    for (int64_t& v : labels.values<int64_t>()) v = static_cast<int64_t>(random.below(10));
    all.back().push_back(labels);
  }
  return all;
}

std::vector<TensorView> views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> all;
  all.reserve(tensors.size());
  for (const Tensor& tensor : tensors) all.push_back(tensor.view());
  return all;
}

std::function<void(int64_t)> training_step(Engine& engine, const Race& race) {
  const Graph graph = must(variant_graph(race.variant, Phase::kTraining));
  const auto data = batches(race, graph);
  std::shared_ptr<Trainer> trainer =
      must(engine.trainer(graph, race.variant.recipe.optimizer, race.plan, RandomKey(1), nullptr));
  return [trainer, data, rate = race.variant.recipe.schedule.rate](int64_t step) {
    const auto inputs = views(data[static_cast<size_t>(step % kBatches)]);
    must(trainer->accumulate(inputs, RandomKey(static_cast<uint64_t>(step)), 1));
    must(trainer->apply(rate));
  };
}

std::function<void(int64_t)> inference_step(Engine& engine, const Race& race) {
  const Graph graph = must(variant_graph(race.variant, Phase::kInference));
  const auto data = batches(race, graph);
  std::shared_ptr<Program> program = must(engine.compile(graph, race.plan, {}, RandomKey(1)));
  const Tensor logits = Tensor::zeros(DType::kF32, {race.batch, 10});
  return [program, data, logits](int64_t step) {
    const TensorView output = logits.view();
    must(program->run(views(data[static_cast<size_t>(step % kBatches)]), {&output, 1}));
  };
}

// One small convolution: afterwards libtorch and oneDNN are initialised as the peer's are, so that
// what they keep for themselves counts as start-up on both sides.
void warm_library(Engine& engine, const Plan& plan) {
  GraphBuilder builder("warm-up");
  const ValueId x = builder.input("x", TensorType(DType::kF32, {1, 1, 8, 8}));
  const ValueId weight = builder.parameter("weight", TensorType(DType::kF32, {4, 1, 3, 3}),
                                           Initializer::constant(0.5));
  builder.output(builder.add("Relu", {builder.add("Conv", {x, weight})}));
  const auto program = must(engine.compile(std::move(builder).build(), plan, {}, RandomKey(1)));
  const Tensor image = Tensor::zeros(DType::kF32, {1, 1, 8, 8});
  const Tensor result = Tensor::zeros(DType::kF32, {1, 4, 6, 6});
  const TensorView input = image.view();
  const TensorView output = result.view();
  must(program->run({&input, 1}, {&output, 1}));
}

int race(int argc, char** argv) {
  if (argc != 6) give_up("usage: assay_racer train|infer PRECISION THREADS BATCH WORKLOAD.toml");
  Race race;
  race.training = std::string(argv[1]) == "train";
  race.plan.precision = must(parse_precision(argv[2]));
  race.plan.threads = std::stoi(argv[3]);
  race.batch = std::stoll(argv[4]);
  const Workload workload = must(read_workload(argv[5]));
  race.variant = *workload.variant("small");
  const EngineHandle engine = must(load_engine("torch"));
  warm_library(*engine, race.plan);
  const int64_t startup = status_bytes("RssAnon");
  const auto step = race.training ? training_step(*engine, race) : inference_step(*engine, race);
  std::printf("{\"ready\": true, \"startup_bytes\": %lld}\n", static_cast<long long>(startup));
  std::fflush(stdout);
  const SteadyClock clock;
  int64_t done = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const int64_t count = std::stoll(line);
    const double cpu = cpu_seconds();
    const auto begin = clock.now();
    for (int64_t i = 0; i < count; ++i) step(done++);
    const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
    std::printf("{\"seconds\": %.9f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld}\n", seconds,
                cpu_seconds() - cpu, static_cast<long long>(peak_bytes()));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::race(argc, argv); }
