// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/add.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {
namespace {

struct BatchNormData {
  double epsilon = 1e-5;
  double momentum = 0.9;
  bool mean_in_place = false;
  bool variance_in_place = false;
};

void run_batch_norm(const Step& step, at::Tensor* registers) {
  step.out(registers) = std::get<0>(at::native_batch_norm(
      step.in(registers, 0), step.in(registers, 1), step.in(registers, 2), step.in(registers, 3),
      step.in(registers, 4), /*training=*/false, 0, step.as<BatchNormData>().epsilon));
}

// running = momentum * running + (1 - momentum) * current, on a handful of channels: a plain loop
// costs less than one call into libtorch.
void move_host(const at::Tensor& running, const at::Tensor& mean, const at::Tensor& invstd,
               bool variance, const BatchNormData& data) {
  float* r = running.mutable_data_ptr<float>();
  const float* source = (variance ? invstd : mean).const_data_ptr<float>();
  const auto keep = static_cast<float>(data.momentum);
  const auto epsilon = data.epsilon;
  for (int64_t i = 0; i < running.numel(); ++i) {
    const double s = source[i];
    const float current =
        variance ? static_cast<float>(1.0 / (s * s) - epsilon) : static_cast<float>(s);
    r[i] = keep * r[i] + (1.0F - keep) * current;
  }
}

// ONNX's running variance takes the population variance of the batch, where libtorch's own update
// takes the unbiased one; so the update is made here, from what the kernel saved.
at::Tensor moved(const Step& step, at::Tensor* registers, size_t input, const at::Tensor& mean,
                 const at::Tensor& invstd, bool in_place) {
  const auto& data = step.as<BatchNormData>();
  const at::Tensor& old = step.in(registers, input);
  const bool variance = input == 4;
  const at::Tensor running = in_place ? old : old.clone();
  if (running.is_cpu() && running.scalar_type() == at::kFloat && running.is_contiguous() &&
      mean.scalar_type() == at::kFloat) {
    move_host(running, mean, invstd, variance, data);
    return running;
  }
  const at::Tensor current = variance ? at::add(at::pow(invstd, -2), -data.epsilon) : mean;
  running.lerp_(current.to(running.scalar_type()), 1.0 - data.momentum);
  return running;
}

void run_training_batch_norm(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<BatchNormData>();
  auto [y, mean, invstd] =
      at::native_batch_norm(step.in(registers, 0), step.in(registers, 1), step.in(registers, 2), {},
                            {}, /*training=*/true, 0, data.epsilon);
  if (step.wants(1)) {
    step.out(registers, 1) =
        moved(step, registers, 3, mean.detach(), invstd.detach(), data.mean_in_place);
  }
  if (step.wants(2)) {
    step.out(registers, 2) =
        moved(step, registers, 4, mean.detach(), invstd.detach(), data.variance_in_place);
  }
  step.set(registers, 3, mean);
  step.set(registers, 4, invstd);
  step.out(registers) = std::move(y);
}

Result<Step> lower_batch_norm(const Lowering& lowering) {
  BatchNormData data;
  data.epsilon = lowering.attributes().number("epsilon");
  data.momentum = lowering.attributes().number("momentum");
  if (lowering.attributes().integer("training_mode") == 0) {
    return lowering.step_with(run_batch_norm, "aten::native_batch_norm", data);
  }
  data.mean_in_place = lowering.updates_state(3, 1);
  data.variance_in_place = lowering.updates_state(4, 2);
  Step step = lowering.step_with(run_training_batch_norm, "aten::native_batch_norm", data);
  if (data.mean_in_place && data.variance_in_place) step.note = "statistics updated in place";
  return step;
}

struct LayerNormData {
  std::vector<int64_t> normalized;
  double epsilon = 1e-5;
};

void run_layer_norm(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<LayerNormData>();
  auto [y, mean, invstd] =
      at::native_layer_norm(step.in(registers, 0), data.normalized, step.in(registers, 1),
                            step.optional_in(registers, 2), data.epsilon);
  step.set(registers, 1, mean);
  step.set(registers, 2, invstd);
  step.out(registers) = std::move(y);
}

Result<Step> lower_layer_norm(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  int64_t axis = lowering.attributes().integer("axis");
  if (axis < 0) axis += rank;
  LayerNormData data;
  data.epsilon = lowering.attributes().number("epsilon");
  const Shape& shape = *lowering.type(0).shape;
  for (int64_t i = axis; i < rank; ++i) {
    const Dim& dim = shape[static_cast<size_t>(i)];
    if (!dim.known()) return Lowering::unsupported("a normalised axis of unknown size");
    data.normalized.push_back(dim.size());
  }
  return lowering.step_with(run_layer_norm, "aten::native_layer_norm", std::move(data));
}

}  // namespace

void add_normalization_lowerings(LoweringTable& table) {
  table.add("BatchNormalization", lower_batch_norm, OutputMemory::kOwn);
  table.add("LayerNormalization", lower_layer_norm, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine
