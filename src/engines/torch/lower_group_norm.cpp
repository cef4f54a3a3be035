// SPDX-License-Identifier: Apache-2.0
//
// Normalisations within a sample.
#include <algorithm>

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/div.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros_like.h>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {
namespace {

void run_instance_norm(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::instance_norm(step.in(registers, 0), step.in(registers, 1), step.in(registers, 2), {}, {},
                        /*use_input_stats=*/true, 0, step.as<double>(), /*cudnn_enabled=*/true);
}
Result<Step> lower_instance_norm(const Lowering& lowering) {
  return lowering.step_with(run_instance_norm, "aten::instance_norm",
                            static_cast<double>(lowering.attributes().number("epsilon")));
}

struct GroupData {
  int64_t groups = 1;
  double epsilon = 1e-5;
};

void run_group_norm(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<GroupData>();
  step.out(registers) = at::group_norm(step.in(registers, 0), data.groups, step.in(registers, 1),
                                       step.in(registers, 2), data.epsilon, /*cudnn_enabled=*/true);
}
Result<Step> lower_group_norm(const Lowering& lowering) {
  return lowering.step_with(
      run_group_norm, "aten::group_norm",
      GroupData{lowering.attributes().integer("num_groups"),
                static_cast<double>(lowering.attributes().number("epsilon"))});
}

struct LpData {
  int64_t axis = -1;
  int64_t p = 2;
};

void run_lp_normalization(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<LpData>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor length = at::norm(x, static_cast<double>(data.p), {data.axis}, /*keepdim=*/true);
  step.out(registers) = at::div(x, length);
}
Result<Step> lower_lp_normalization(const Lowering& lowering) {
  return lowering.step_with(
      run_lp_normalization, "aten::norm, aten::div",
      LpData{lowering.attributes().integer("axis"), lowering.attributes().integer("p")});
}

// (x - mean) / (standard deviation + 1e-9): the function body that ONNX gives.
void run_mean_variance(const Step& step, at::Tensor* registers) {
  const auto& axes = step.as<std::vector<int64_t>>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor mean = at::mean(x, axes, /*keepdim=*/true);
  const at::Tensor squares = at::mean(at::square(x), axes, /*keepdim=*/true);
  const at::Tensor deviation = at::sqrt(at::sub(squares, at::square(mean)));
  step.out(registers) = at::div(at::sub(x, mean), at::add(deviation, 1e-9));
}
Result<Step> lower_mean_variance(const Lowering& lowering) {
  return lowering.step_with(run_mean_variance, "aten::mean, aten::sqrt, aten::div",
                            std::vector<int64_t>(lowering.attributes().integers("axes")));
}

struct LrnData {
  int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double bias = 1;
};

// Squares summed over `size` neighbouring channels.
void run_lrn(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<LrnData>();
  const at::Tensor& x = step.in(registers, 0);
  const int64_t before = (data.size - 1) / 2;
  std::vector<int64_t> pads(static_cast<size_t>(2 * (x.dim() - 1)), 0);
  pads[pads.size() - 2] = before;
  pads[pads.size() - 1] = data.size - 1 - before;
  const at::Tensor squares = at::constant_pad_nd(at::square(x), pads);
  at::Tensor sum = at::zeros_like(x);
  for (int64_t i = 0; i < data.size; ++i) sum = at::add(sum, squares.narrow(1, i, x.size(1)));
  const at::Tensor scale =
      at::add(at::mul(sum, data.alpha / static_cast<double>(data.size)), data.bias);
  step.out(registers) = at::div(x, at::pow(scale, data.beta));
}
Result<Step> lower_lrn(const Lowering& lowering) {
  const Attributes& a = lowering.attributes();
  return lowering.step_with(
      run_lrn, "aten::square, aten::add, aten::pow, aten::div",
      LrnData{a.integer("size"), static_cast<double>(a.number("alpha")),
              static_cast<double>(a.number("beta")), static_cast<double>(a.number("bias"))});
}

}  // namespace

void add_group_norm_lowerings(LoweringTable& table) {
  table.add("InstanceNormalization", lower_instance_norm, OutputMemory::kOwn);
  table.add("GroupNormalization", lower_group_norm, OutputMemory::kOwn);
  table.add("LpNormalization", lower_lp_normalization, OutputMemory::kKept);
  table.add("MeanVarianceNormalization", lower_mean_variance, OutputMemory::kKept);
  table.add("LRN", lower_lrn, OutputMemory::kKept);
}

}  // namespace assay::torch_engine
