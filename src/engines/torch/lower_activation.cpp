// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/add.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tanh.h>

#include "engines/torch/unary.h"

namespace assay::torch_engine {
namespace {

void run_gelu(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::gelu(step.in(registers, 0), step.as<std::string>());
}

Result<Step> lower_gelu(const Lowering& lowering) {
  return lowering.step_with(run_gelu, "aten::gelu",
                            std::string(lowering.attributes().string("approximate")));
}

void run_leaky_relu(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::leaky_relu(step.in(registers, 0), step.as<float>());
}

Result<Step> lower_leaky_relu(const Lowering& lowering) {
  return lowering.step_with(run_leaky_relu, "aten::leaky_relu",
                            lowering.attributes().number("alpha"));
}

void run_elu(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::elu(step.in(registers, 0), step.as<float>());
}

Result<Step> lower_elu(const Lowering& lowering) {
  return lowering.step_with(run_elu, "aten::elu", lowering.attributes().number("alpha"));
}

struct HardSigmoidData {
  float alpha;
  float beta;
};

void run_hard_sigmoid(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<HardSigmoidData>();
  step.out(registers) =
      at::clamp(at::add(at::mul(step.in(registers, 0), data.alpha), data.beta), 0, 1);
}

Result<Step> lower_hard_sigmoid(const Lowering& lowering) {
  return lowering.step_with(
      run_hard_sigmoid, "aten::mul, aten::add, aten::clamp",
      HardSigmoidData{lowering.attributes().number("alpha"), lowering.attributes().number("beta")});
}

void run_prelu(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  step.out(registers) =
      at::add(at::clamp_min(x, 0), at::mul(step.in(registers, 1), at::clamp_max(x, 0)));
}

Result<Step> lower_prelu(const Lowering& lowering) {
  return lowering.step(run_prelu, "aten::clamp_min, aten::clamp_max, aten::mul, aten::add");
}

void run_clip(const Step& step, at::Tensor* registers) {
  std::optional<at::Tensor> low;
  std::optional<at::Tensor> high;
  if (step.has(1)) low = step.in(registers, 1);
  if (step.has(2)) high = step.in(registers, 2);
  step.out(registers) =
      low || high ? at::clamp(step.in(registers, 0), low, high) : step.in(registers, 0);
}

Result<Step> lower_clip(const Lowering& lowering) { return lowering.step(run_clip, "aten::clamp"); }

at::Tensor softplus(const at::Tensor& x) { return at::softplus(x); }

}  // namespace

void add_activation_lowerings(LoweringTable& table) {
  table.add("Relu", lower_unary<at::relu, at::relu_>, OutputMemory::kKept, "aten::relu");
  table.add("Sigmoid", lower_unary<at::sigmoid, at::sigmoid_>, OutputMemory::kKept,
            "aten::sigmoid");
  table.add("Tanh", lower_unary<at::tanh, at::tanh_>, OutputMemory::kKept, "aten::tanh");
  table.add("Softplus", lower_unary_out<softplus>, OutputMemory::kOwn, "aten::softplus");
  table.add("HardSwish", lower_unary_out<at::hardswish>, OutputMemory::kOwn, "aten::hardswish");
  table.add("HardSigmoid", lower_hard_sigmoid, OutputMemory::kOwn);
  table.add("Gelu", lower_gelu, OutputMemory::kOwn);
  table.add("LeakyRelu", lower_leaky_relu, OutputMemory::kOwn);
  table.add("Elu", lower_elu, OutputMemory::kOwn);
  table.add("PRelu", lower_prelu, OutputMemory::kOwn);
  table.add("Clip", lower_clip);
}

}  // namespace assay::torch_engine
