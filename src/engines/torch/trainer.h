// SPDX-License-Identifier: Apache-2.0
//
// TorchTrainer: training by libtorch's own autograd, as its users do. accumulate() runs the graph
// with recording on and loss.backward(); apply() is one fused optimiser step.
#pragma once

#include <memory>
#include <optional>

#include "engine/engine.h"
#include "engines/torch/executable.h"
#include "engines/torch/optimizer.h"

namespace assay::torch_engine {

class TorchTrainer final : public Trainer, public GradientHooks, public MemoryReport {
 public:
  // `plan.threads` is resolved: not 0.
  TorchTrainer(std::unique_ptr<Executable> executable, std::shared_ptr<WeightStore> store,
               const OptimizerConfig& optimizer, Plan plan);

  Result<void> accumulate(std::span<const TensorView> inputs, RandomKey key, float weight) override;
  Result<void> apply(double rate) override;
  Result<double> loss() override;
  Result<NamedTensors> state() override;
  Result<void> set_state(const NamedTensors& state) override;
  Result<std::unique_ptr<Program>> program(const Graph& inference) override;

  void on_gradient(GradientCallback callback) override;
  MemoryUse memory() const override;

 private:
  Result<void> backward(std::span<const TensorView> inputs, RandomKey key, float weight);

  std::unique_ptr<Executable> executable_;
  std::shared_ptr<WeightStore> store_;
  Optimizer optimizer_;
  Plan plan_;
  at::Tensor loss_;
  at::Tensor weight_;          // the gradient of the loss, when it is not 1
  std::optional<Bytes> peak_;  // of the first batch
};

}  // namespace assay::torch_engine
