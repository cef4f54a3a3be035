// SPDX-License-Identifier: Apache-2.0
//
// Our side of a race (bench/race.py): runs the small image-classification network through the torch
// engine with data in memory, in runs of as many steps as it is told, so that start-up never
// counts. It prints {"ready": true, "startup_bytes": n} and then, for every line "K" on stdin, runs
// K steps and prints {"seconds": s, "cpu_seconds": c, "peak_bytes": p}.
//   usage: assay_racer train|infer PRECISION THREADS BATCH WORKLOAD.toml
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/plugin.h"
#include "graph/builder.h"
#include "graph/passes/passes.h"
#include "race_protocol.h"
#include "workload/workload.h"

namespace assay {
namespace {

constexpr int64_t kBatches = 8;  // as many different ones, used in turn

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
  answer_runs(startup, step);
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::race(argc, argv); }
