// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/trainer.h"

#include <string>
#include <utility>

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include "base/json.h"
#include "engine/weights.h"
#include "engines/torch/device.h"
#include "engines/torch/gradient_hook.h"
#include "engines/torch/guarded.h"
#include "engines/torch/memory_peak.h"
#include "engines/torch/program.h"
#include "engines/torch/tensors.h"
#include "engines/torch/torch_engine.h"

namespace assay::torch_engine {

TorchTrainer::TorchTrainer(std::unique_ptr<Executable> executable,
                           std::shared_ptr<WeightStore> store, const OptimizerConfig& optimizer,
                           Plan plan)
    : executable_(std::move(executable)),
      store_(std::move(store)),
      optimizer_(optimizer),
      plan_(plan) {
  const Graph& graph = executable_->graph();
  for (const Parameter& parameter : graph.parameters()) {
    if (!parameter.trainable) continue;
    const Value& value = graph.value(parameter.value);
    optimizer_.add(value.name, value.type, store_->tensors.at(value.name));
  }
}

Result<void> TorchTrainer::accumulate(std::span<const TensorView> inputs, RandomKey key,
                                      float weight) {
  return guarded(executable_->graph().name(), [&]() -> Result<void> {
    use_threads(plan_.threads);
    if (peak_) return backward(inputs, key, weight);
    const MemoryPeak peak;
    ASSAY_TRY(backward(inputs, key, weight));
    peak_ = Bytes{peak.bytes()};
    return {};
  });
}

Result<void> TorchTrainer::backward(std::span<const TensorView> inputs, RandomKey key,
                                    float weight) {
  ASSAY_TRY(executable_->run(inputs, key));
  const at::Tensor loss = executable_->output(0);
  executable_->release();
  loss_ = loss.detach();
  if (weight == 1.0F) {
    loss.backward();
    return {};
  }
  if (!weight_.defined() || weight_.item<float>() != weight) {
    weight_ = at::full({}, weight, loss_.options());
  }
  loss.backward(weight_.expand_as(loss_));
  return {};
}

Result<void> TorchTrainer::apply(double rate) {
  return guarded(executable_->graph().name(), [&]() -> Result<void> {
    use_threads(plan_.threads);
    ASSAY_TRY(optimizer_.step(rate));
    ++store_->version;
    return {};
  });
}

Result<double> TorchTrainer::loss() {
  return guarded(executable_->graph().name(), [&]() -> Result<double> {
    if (!loss_.defined()) return Error{ErrorCode::kInvalid, "loss() before accumulate()", ""};
    return loss_.item<double>();
  });
}

Result<NamedTensors> TorchTrainer::state() {
  return guarded(executable_->graph().name(), [&]() -> Result<NamedTensors> {
    NamedTensors all;
    for (const auto& [name, tensor] : store_->tensors) all[name] = to_host(tensor);
    optimizer_.save(all);
    return all;
  });
}

Result<void> TorchTrainer::set_state(const NamedTensors& state) {
  return guarded(executable_->graph().name(), [&]() -> Result<void> {
    ASSAY_TRY(check_complete(executable_->graph(), state));
    ASSAY_TRY(optimizer_.load(state));
    const c10::AutoGradMode no_gradient(false);
    for (auto& [name, tensor] : store_->tensors) {
      const Tensor& given = state.at(name);
      ASSAY_ASSIGN(const at::Tensor source, alias(given.view(), at::kCPU));
      tensor.copy_(source);
    }
    optimizer_.clear_gradients();
    ++store_->version;
    return {};
  });
}

Result<std::unique_ptr<Program>> TorchTrainer::program(const Graph& inference) {
  return make_program(inference, plan_, store_, /*frozen=*/false, RandomKey(0));
}

void TorchTrainer::on_gradient(GradientCallback callback) {
  const Graph& graph = executable_->graph();
  for (const Parameter& parameter : graph.parameters()) {
    if (!parameter.trainable) continue;
    const std::string& name = graph.value(parameter.value).name;
    if (!callback) {
      set_gradient_hook(store_->tensors.at(name), {});
      continue;
    }
    set_gradient_hook(store_->tensors.at(name),
                      [name, callback, device = plan_.device](const at::Tensor& leaf) {
                        callback(name, view_of(leaf.grad(), device));
                      });
  }
}

MemoryUse TorchTrainer::memory() const {
  MemoryUse use;
  use.parameters = store_->bytes();
  use.gradients = optimizer_.gradient_bytes();
  use.optimizer = optimizer_.bytes();
  if (peak_) use.activations = Bytes{std::max<int64_t>(0, peak_->count - use.gradients->count)};
  return use;
}

}  // namespace assay::torch_engine
