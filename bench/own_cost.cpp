// SPDX-License-Identifier: Apache-2.0
//
// What measuring and training cost beside the engine: the null engine with all book-keeping on. The
// bars: 1 us an inference call, 2 us a training step.
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "engine/null.h"
#include "measure/contention.h"
#include "measure/sampler.h"
#include "quality/evaluator.h"
#include "train/train.h"
#include "workload/workload.h"

namespace assay {
namespace {

template <class T>
T must(Result<T> result) {
  ASSAY_ASSERT(result.ok(), result.ok() ? "" : result.error().text());
  return std::move(result).value();
}

const WorkloadVariant& small() {
  static const Workload kWorkload =
      must(read_workload(std::string(ASSAY_SOURCE_DIR) + "/workloads/image-classification.toml"));
  return *kWorkload.variant("small");
}

Batch one_batch(int64_t items) {
  Batch batch;
  batch.inputs = {Tensor::zeros(DType::kF32, {items, 1, 28, 28}),
                  Tensor::zeros(DType::kI64, {items})};
  batch.items = items;
  return batch;
}

// Hands out the same batch for ever, at no cost.
class SameBatch final : public BatchSource {
 public:
  explicit SameBatch(int64_t items) : batch_(one_batch(items)) {}
  Result<bool> next(Batch& batch) override {
    if (batch.inputs.empty()) batch = batch_;
    batch.step = step_++;
    return true;
  }
  Result<void> skip_to(int64_t step) override {
    step_ = step;
    return {};
  }

 private:
  Batch batch_;
  int64_t step_ = 0;
};

class SameTask final : public Task {
 public:
  const Graph& training_graph() const override { return training_; }
  const Graph& inference_graph() const override { return inference_; }
  TaskItems items() const override { return {60000, 10000}; }
  Result<std::unique_ptr<BatchSource>> training_batches(int64_t batch, RandomKey) const override {
    return std::unique_ptr<BatchSource>(std::make_unique<SameBatch>(batch));
  }
  Result<std::unique_ptr<BatchSource>> evaluation_batches(int64_t batch) const override {
    return std::unique_ptr<BatchSource>(std::make_unique<SameBatch>(batch));
  }
  std::unique_ptr<Evaluator> evaluator() const override { return nullptr; }

 private:
  Graph training_ = must(variant_graph(small(), Phase::kTraining));
  Graph inference_ = must(variant_graph(small(), Phase::kInference));
};

// Everything the training loop does a step: batch, schedule, step, loss, clocks, series.
void cost_of_a_training_step(benchmark::State& state) {
  const SameTask task;
  const auto engine = must(make_null_engine("null"));
  const SteadyClock clock;
  TrainOptions options;
  options.recipe = small().recipe;
  options.max_steps = 100'000;
  Plan plan;
  plan.device = engine->devices().front();
  double busy_s = 0;
  double wait_s = 0;
  double steps = 0;
  while (state.KeepRunning()) {
    const auto trainer = must(engine->trainer(task.training_graph(), options.recipe.optimizer, plan,
                                              RandomKey(1), nullptr));
    const TrainOutcome outcome = must(train(*trainer, nullptr, task, options, clock));
    busy_s += outcome.total_s - outcome.wait_s;
    wait_s += outcome.wait_s;
    steps += static_cast<double>(outcome.steps);
  }
  state.counters["ns_per_step"] = 1e9 * busy_s / steps;
  state.counters["ns_waiting_for_batch"] = 1e9 * wait_s / steps;
}
BENCHMARK(cost_of_a_training_step)->Unit(benchmark::kMillisecond);

// Everything the sampler does a call, around a run of the null engine.
void cost_of_an_inference_call(benchmark::State& state) {
  const auto engine = must(make_null_engine("null"));
  const Graph graph = must(variant_graph(small(), Phase::kInference));
  Plan plan;
  plan.device = engine->devices().front();
  const auto program = must(engine->compile(graph, plan, {}, RandomKey(1)));
  const Batch batch = one_batch(1);
  const Tensor logits = Tensor::zeros(DType::kF32, {1, 10});
  const std::vector<TensorView> inputs = {batch.inputs[0].view()};
  const std::vector<TensorView> outputs = {logits.view()};
  const SteadyClock clock;
  const ContentionProbe probe(clock);
  SamplerOptions options;
  options.shortest_sample = Nanoseconds(0);
  options.warmup_time_s = 0.001;
  options.stopping.max_samples = 200'000;
  options.stopping.min_samples = options.stopping.max_samples;
  options.stopping.max_time_s = 100;
  double seconds = 0;
  double calls = 0;
  while (state.KeepRunning()) {
    const auto series =
        must(sample([&] { return program->run(inputs, outputs); }, clock, options, &probe));
    seconds += series.elapsed_s;
    calls += static_cast<double>(series.values_ns.size());
  }
  state.counters["ns_per_call"] = 1e9 * seconds / calls;
}
BENCHMARK(cost_of_an_inference_call)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay
