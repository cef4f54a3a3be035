// SPDX-License-Identifier: Apache-2.0
//
// A task small enough to follow by hand and a trainer that really trains it: softmax regression on
// points of the plane whose label says on which side of a line they lie.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/epoch_order.h"
#include "data/image_source.h"
#include "engine/engine.h"
#include "engine/optimizer_step.h"
#include "graph/builder.h"
#include "quality/topk.h"
#include "workload/task.h"
#include "workload/workload.h"

namespace assay::toy {

inline constexpr int64_t kTrainingItems = 400;
inline constexpr int64_t kEvaluationItems = 130;

struct Point {
  std::array<float, 2> x;
  int64_t label;
};

inline Point point(int64_t item, bool training) {
  RandomStream random(RandomKey(training ? 1 : 2).derive(static_cast<uint64_t>(item)));
  Point p{{static_cast<float>(random.normal()), static_cast<float>(random.normal())}, 0};
  p.label = p.x[0] - 0.5F * p.x[1] > 0 ? 1 : 0;
  return p;
}

class Source final : public BatchSource {
 public:
  Source(EpochOrder order, bool training) : order_(std::move(order)), training_(training) {}

  Result<bool> next(Batch& batch) override {
    const auto items = order_.items(step_);
    if (items.empty()) return false;
    const auto count = static_cast<int64_t>(items.size());
    reuse_tensor(batch, 0, DType::kF32, {count, 2});
    reuse_tensor(batch, 1, DType::kI64, {count});
    for (size_t i = 0; i < items.size(); ++i) {
      const Point p = point(items[i], training_);
      batch.inputs[0].values<float>()[2 * i] = p.x[0];
      batch.inputs[0].values<float>()[2 * i + 1] = p.x[1];
      batch.inputs[1].values<int64_t>()[i] = p.label;
    }
    batch.items = count;
    batch.epoch = order_.epoch(step_);
    batch.step = step_++;
    return true;
  }
  Result<void> skip_to(int64_t step) override {
    step_ = step;
    return {};
  }

 private:
  EpochOrder order_;
  bool training_;
  int64_t step_ = 0;
};

inline Graph graph(bool training) {
  GraphBuilder b(training ? "toy-training" : "toy");
  const Dim batch = Dim::symbol("batch");
  const ValueId x = b.input("x", {DType::kF32, {batch, 2}});
  const ValueId w = b.parameter("weight", {DType::kF32, {2, 2}}, Initializer::normal(0, 0.1F));
  const ValueId scores = b.add("MatMul", {x, w});
  if (training) {
    const ValueId label = b.input("label", {DType::kI64, {batch}});
    b.output(b.add_multi("SoftmaxCrossEntropyLoss", {scores, label}, 1)[0], "loss");
  } else {
    b.output(scores, "scores");
  }
  return std::move(b).build();
}

class ToyTask final : public Task {
 public:
  const Graph& training_graph() const override { return training_; }
  const Graph& inference_graph() const override { return inference_; }
  TaskItems items() const override { return {kTrainingItems, kEvaluationItems}; }
  Result<std::unique_ptr<BatchSource>> training_batches(int64_t batch,
                                                        RandomKey seed) const override {
    ASSAY_ASSIGN(EpochOrder order, EpochOrder::training(kTrainingItems, batch, seed));
    return std::unique_ptr<BatchSource>(std::make_unique<Source>(std::move(order), true));
  }
  Result<std::unique_ptr<BatchSource>> evaluation_batches(int64_t batch) const override {
    ASSAY_ASSIGN(EpochOrder order, EpochOrder::evaluation(kEvaluationItems, batch));
    return std::unique_ptr<BatchSource>(std::make_unique<Source>(std::move(order), false));
  }
  std::unique_ptr<Evaluator> evaluator() const override {
    return std::make_unique<TopKAccuracy>(1);
  }

 private:
  Graph training_ = graph(true);
  Graph inference_ = graph(false);
};

// The class of a point's scores and its probability of class 1.
inline double probability_of_one(std::span<const float> w, const float* x) {
  const double difference =
      static_cast<double>(x[0]) * (w[1] - w[0]) + static_cast<double>(x[1]) * (w[3] - w[2]);
  return 1 / (1 + std::exp(-difference));
}

class ToyProgram final : public Program {
 public:
  ToyProgram(const Tensor& weight, std::function<void()> on_run)
      : weight_(weight), on_run_(std::move(on_run)) {}
  Result<Ticket> enqueue(std::span<const TensorView> inputs,
                         std::span<const TensorView> outputs) override {
    const std::span<const float> w = weight_.values<float>();
    for (int64_t i = 0; i < inputs[0].shape[0]; ++i) {
      const float* x = inputs[0].as<const float>() + 2 * i;
      float* scores = outputs[0].as<float>() + 2 * i;
      scores[0] = x[0] * w[0] + x[1] * w[2];
      scores[1] = x[0] * w[1] + x[1] * w[3];
    }
    if (on_run_) on_run_();
    return Ticket{0};
  }
  Result<void> wait(Ticket /*ticket*/) override { return {}; }
  Json as_compiled() const override { return Json::object(); }
  MemoryUse memory() const override { return {}; }

 private:
  const Tensor& weight_;
  std::function<void()> on_run_;
};

class ToyTrainer final : public Trainer {
 public:
  ToyTrainer(OptimizerConfig config, RandomKey seed) : config_(config) {
    OptimizedParameter parameter;
    const Graph g = graph(true);
    parameter.value =
        materialize(g.parameters()[0].initializer, {DType::kF32, {2, 2}}, seed, "weight").value();
    parameter.gradient = Tensor::zeros(DType::kF32, {2, 2});
    parameters_.push_back(std::move(parameter));
  }

  Result<void> accumulate(std::span<const TensorView> inputs, RandomKey /*key*/,
                          float weight) override {
    if (on_accumulate) on_accumulate();
    const int64_t count = inputs[0].shape[0];
    const auto w = parameters_[0].value.values<float>();
    const auto g = parameters_[0].gradient.values<float>();
    double loss = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float* x = inputs[0].as<const float>() + 2 * i;
      const int64_t label = inputs[1].as<const int64_t>()[i];
      const double p = probability_of_one(w, x);
      loss -= std::log(label == 1 ? p : 1 - p);
      const double error = (p - static_cast<double>(label)) / static_cast<double>(count);
      for (size_t axis = 0; axis < 2; ++axis) {
        const auto push = static_cast<float>(error * static_cast<double>(x[axis])) * weight;
        g[2 * axis] -= push;
        g[2 * axis + 1] += push;
      }
    }
    loss_ = loss / static_cast<double>(count);
    if (steps_ == nan_at) loss_ = NAN;
    return {};
  }
  Result<void> apply(double rate) override {
    rates.push_back(rate);
    optimizer_step(config_, rate, steps_++, parameters_);
    for (float& g : parameters_[0].gradient.values<float>()) g = 0;
    return {};
  }
  Result<double> loss() override { return loss_; }
  Result<NamedTensors> state() override {
    NamedTensors all;
    all["weight"] = parameters_[0].value.clone();
    if (!parameters_[0].first.empty()) {
      all["optimizer.weight.momentum"] = parameters_[0].first.clone();
    }
    all["optimizer.step"] = Tensor::vector_i64(std::array<int64_t, 1>{steps_});
    return all;
  }
  Result<void> set_state(const NamedTensors& state) override {
    parameters_[0].value = state.at("weight").clone();
    parameters_[0].first = state.at("optimizer.weight.momentum").clone();
    steps_ = state.at("optimizer.step").values<int64_t>()[0];
    return {};
  }
  Result<std::unique_ptr<Program>> program(const Graph& /*inference*/) override {
    return std::unique_ptr<Program>(
        std::make_unique<ToyProgram>(parameters_[0].value, on_evaluation_batch));
  }

  std::function<void()> on_accumulate;
  std::function<void()> on_evaluation_batch;
  int64_t nan_at = -1;
  std::vector<double> rates;  // of every step

 private:
  OptimizerConfig config_;
  std::vector<OptimizedParameter> parameters_;
  int64_t steps_ = 0;
  double loss_ = 0;
};

// 10 steps an epoch, 40 in all; the line is found well before.
inline Recipe recipe() {
  Recipe r;
  r.batch = 40;
  r.epochs = 4;
  r.evaluations_per_epoch = 2;
  r.evaluation_batch = 50;  // 50, 50, 30
  r.target = 0.95;
  r.schedule.kind = ScheduleKind::kLinear;
  r.schedule.rate = 0.5;
  r.schedule.warmup_fraction = 0.1;
  return r;
}

}  // namespace assay::toy
