// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/optimizer.h"

#include <algorithm>
#include <array>

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include "engines/torch/tensors.h"

namespace assay::torch_engine {

void Optimizer::add(std::string name, const TensorType& type, at::Tensor value) {
  const double decay = config_.decay_for(type);
  auto group = std::find_if(groups_.begin(), groups_.end(),
                            [&](const Group& g) { return g.decay == decay; });
  if (group == groups_.end()) {
    groups_.emplace_back();
    group = groups_.end() - 1;
    group->decay = decay;
  }
  Entry entry;
  entry.name = std::move(name);
  const bool adam = config_.kind != OptimizerKind::kSgd;
  const at::Tensor plain = value.detach();
  // Same strides as the parameter: the fused kernels walk both as one flat array. Zero momentum
  // gives the first step that PyTorch gives by starting from the gradient.
  if (adam || config_.momentum != 0) entry.first = at::zeros_like(plain);
  if (adam) {
    entry.second = at::zeros_like(plain);
    if (!steps_.defined()) steps_ = at::zeros({}, plain.options());
  }
  entry.value = std::move(value);
  group->entries.push_back(std::move(entry));
}

void Optimizer::collect(Group& group) const {
  for (auto* list : {&group.values, &group.gradients, &group.first, &group.second, &group.steps}) {
    list->clear();
  }
  for (const Entry& entry : group.entries) {
    const at::Tensor& gradient = entry.value.grad();
    if (!gradient.defined()) continue;  // this batch did not reach the parameter
    group.values.push_back(entry.value);
    group.gradients.push_back(gradient);
    if (entry.first.defined()) group.first.push_back(entry.first);
    if (entry.second.defined()) {
      group.second.push_back(entry.second);
      group.steps.push_back(steps_);
    }
  }
}

// Multiplies all gradients by limit / (norm + 1e-6) when that is below 1, as PyTorch does.
void Optimizer::clip() {
  std::vector<at::Tensor> norms;
  for (const Group& group : groups_) {
    if (group.gradients.empty()) continue;
    for (at::Tensor& norm : at::_foreach_norm(group.gradients)) norms.push_back(std::move(norm));
  }
  const double norm = at::linalg_vector_norm(at::stack(norms), 2).item<double>();
  const double factor = *config_.clip_norm / (norm + 1e-6);
  if (!(factor < 1)) return;
  for (const Group& group : groups_) {
    if (!group.gradients.empty()) at::_foreach_mul_(group.gradients, factor);
  }
}

void Optimizer::step_group(Group& group, double rate) {
  if (group.values.empty()) return;
  switch (config_.kind) {
    case OptimizerKind::kSgd:
      at::_fused_sgd_(group.values, group.gradients, group.first, group.decay, config_.momentum,
                      rate, /*dampening=*/0, config_.nesterov && config_.momentum != 0,
                      /*maximize=*/false, /*is_first_step=*/false);
      return;
    case OptimizerKind::kAdam:
      at::_fused_adam_(group.values, group.gradients, group.first, group.second, {}, group.steps,
                       rate, config_.beta1, config_.beta2, group.decay, config_.epsilon,
                       /*amsgrad=*/false, /*maximize=*/false);
      return;
    case OptimizerKind::kAdamW:
      at::_fused_adamw_(group.values, group.gradients, group.first, group.second, {}, group.steps,
                        rate, config_.beta1, config_.beta2, group.decay, config_.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
      return;
  }
}

Result<void> Optimizer::step(double rate) {
  const c10::AutoGradMode no_gradient(false);
  bool any = false;
  for (Group& group : groups_) {
    collect(group);
    any = any || !group.values.empty();
  }
  if (!any) return Error{ErrorCode::kInvalid, "apply() without gradients", ""};
  if (config_.clip_norm) clip();
  if (steps_.defined()) steps_.add_(1);
  for (Group& group : groups_) step_group(group, rate);
  ++taken_;
  clear_gradients();
  return {};
}

void Optimizer::clear_gradients() {
  for (Group& group : groups_) {
    group.gradients.clear();
    for (Entry& entry : group.entries) entry.value.mutable_grad().reset();
  }
}

void Optimizer::save(NamedTensors& state) const {
  state["optimizer.step"] = Tensor::vector_i64(std::array<int64_t, 1>{taken_});
  for (const Group& group : groups_) {
    for (const Entry& entry : group.entries) {
      if (entry.first.defined()) state["optimizer.first." + entry.name] = to_host(entry.first);
      if (entry.second.defined()) state["optimizer.second." + entry.name] = to_host(entry.second);
    }
  }
}

namespace {

Result<void> load_one(const NamedTensors& state, const std::string& name, const at::Tensor& into) {
  const auto found = state.find(name);
  if (found == state.end()) return Error{ErrorCode::kInvalid, "'" + name + "' is missing", ""};
  ASSAY_ASSIGN(const at::Tensor source, alias(found->second.view(), at::kCPU));
  if (source.sizes() != into.sizes() || source.scalar_type() != into.scalar_type()) {
    return Error{ErrorCode::kInvalid, "'" + name + "' does not fit its parameter", ""};
  }
  into.copy_(source);
  return {};
}

}  // namespace

Result<void> Optimizer::load(const NamedTensors& state) {
  const auto step = state.find("optimizer.step");
  if (step == state.end() || step->second.dtype() != DType::kI64 || step->second.elements() != 1) {
    return Error{ErrorCode::kInvalid, "'optimizer.step' is missing or not one i64", ""};
  }
  for (const Group& group : groups_) {
    for (const Entry& entry : group.entries) {
      if (entry.first.defined()) {
        ASSAY_TRY(load_one(state, "optimizer.first." + entry.name, entry.first));
      }
      if (entry.second.defined()) {
        ASSAY_TRY(load_one(state, "optimizer.second." + entry.name, entry.second));
      }
    }
  }
  taken_ = step->second.values<int64_t>()[0];
  if (steps_.defined()) steps_.fill_(static_cast<double>(taken_));
  return {};
}

Bytes Optimizer::bytes() const {
  int64_t total = 0;
  for (const Group& group : groups_) {
    for (const Entry& entry : group.entries) {
      if (entry.first.defined()) total += static_cast<int64_t>(entry.first.nbytes());
      if (entry.second.defined()) total += static_cast<int64_t>(entry.second.nbytes());
    }
  }
  return {total};
}

Bytes Optimizer::gradient_bytes() const {
  int64_t total = 0;
  for (const Group& group : groups_) {
    for (const Entry& entry : group.entries) total += static_cast<int64_t>(entry.value.nbytes());
  }
  return {total};
}

}  // namespace assay::torch_engine
