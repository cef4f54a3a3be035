// SPDX-License-Identifier: Apache-2.0
//
// The parts of a backward pass, as gradient() writes it, by libtorch's own backward kernels.
#include <array>

#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/avg_pool2d_backward.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/nll_loss2d_backward.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/zeros.h>

#include "engines/torch/lowering.h"
#include "engines/torch/window.h"

namespace assay::torch_engine {
namespace {

void run_relu_gradient(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::threshold_backward(step.in(registers, 0), step.in(registers, 1), 0);
}
Result<Step> lower_relu_gradient(const Lowering& lowering) {
  return lowering.step(run_relu_gradient, "aten::threshold_backward");
}

void run_gelu_gradient(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::gelu_backward(step.in(registers, 0), step.in(registers, 1), step.as<std::string>());
}
Result<Step> lower_gelu_gradient(const Lowering& lowering) {
  return lowering.step_with(run_gelu_gradient, "aten::gelu_backward",
                            std::string(lowering.attributes().string("approximate")));
}

template <bool kLogarithm>
void run_softmax_gradient(const Step& step, at::Tensor* registers) {
  const at::Tensor& dy = step.in(registers, 0);
  const at::Tensor& y = step.in(registers, 1);
  const auto axis = step.as<int64_t>();
  step.out(registers) = kLogarithm ? at::_log_softmax_backward_data(dy, y, axis, y.scalar_type())
                                   : at::_softmax_backward_data(dy, y, axis, y.scalar_type());
}
template <bool kLogarithm>
Result<Step> lower_softmax_gradient(const Lowering& lowering) {
  return lowering.step_with(
      run_softmax_gradient<kLogarithm>,
      kLogarithm ? "aten::_log_softmax_backward_data" : "aten::_softmax_backward_data",
      lowering.attributes().integer("axis"));
}

struct LikelihoodData {
  int64_t reduction = 1;
  int64_t ignore_index = -100;
};

// The sum of the weights of the labels that count: what a mean divides by.
at::Tensor total_weight(const at::Tensor& labels, const at::Tensor& weight, const at::Tensor& like,
                        const LikelihoodData& data) {
  const at::Tensor counted = labels.ne(data.ignore_index);
  if (!weight.defined()) return counted.sum().to(like.scalar_type());
  const at::Tensor safe = labels.where(counted, 0);
  const at::Tensor each = weight.index_select(0, safe.reshape({-1}));
  return each.mul(counted.reshape({-1})).sum();
}

void run_likelihood(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<LikelihoodData>();
  const at::Tensor& log_prob = step.in(registers, 1);
  const at::Tensor labels = step.in(registers, 2).to(at::kLong);
  const at::Tensor weight = step.optional_in(registers, 3);
  at::Tensor dy = step.in(registers, 0);
  const at::Tensor total = total_weight(labels, weight, log_prob, data);
  if (log_prob.dim() == 2) {
    step.out(registers) = at::nll_loss_backward(dy, log_prob, labels, weight, data.reduction,
                                                data.ignore_index, total);
    return;
  }
  const int64_t n = log_prob.size(0);
  const int64_t c = log_prob.size(1);
  if (data.reduction == 0) dy = dy.reshape({n, 1, -1});
  step.out(registers) =
      at::nll_loss2d_backward(dy, log_prob.reshape({n, c, 1, -1}), labels.reshape({n, 1, -1}),
                              weight, data.reduction, data.ignore_index, total)
          .reshape(log_prob.sizes());
}

Result<Step> lower_likelihood(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  const std::string& reduction = attributes.string("reduction");
  LikelihoodData data;
  data.reduction = reduction == "none" ? 0 : reduction == "mean" ? 1 : 2;
  if (attributes.has("ignore_index")) data.ignore_index = attributes.integer("ignore_index");
  return lowering.step_with(run_likelihood, "aten::nll_loss_backward", data);
}

void run_batch_norm_gradient(const Step& step, at::Tensor* registers) {
  auto [dx, dscale, dbias] = at::native_batch_norm_backward(
      step.in(registers, 0), step.in(registers, 1), step.in(registers, 4), {}, {},
      step.in(registers, 2), step.in(registers, 3), /*train=*/true, 1e-5,
      {step.wants(0), step.wants(1), step.wants(2)});
  step.set(registers, 0, std::move(dx));
  step.set(registers, 1, std::move(dscale));
  step.set(registers, 2, std::move(dbias));
}
Result<Step> lower_batch_norm_gradient(const Lowering& lowering) {
  return lowering.step(run_batch_norm_gradient, "aten::native_batch_norm_backward");
}

void run_layer_norm_gradient(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 1);
  const auto axis = step.as<int64_t>();
  const at::Tensor& scale = step.in(registers, 4);
  auto [dx, dscale, dbias] = at::native_layer_norm_backward(
      step.in(registers, 0), x, x.sizes().slice(static_cast<size_t>(axis)), step.in(registers, 2),
      step.in(registers, 3), scale, scale, {step.wants(0), step.wants(1), step.wants(2)});
  step.set(registers, 0, std::move(dx));
  step.set(registers, 1, std::move(dscale));
  step.set(registers, 2, std::move(dbias));
}
Result<Step> lower_layer_norm_gradient(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(1));
  int64_t axis = lowering.attributes().integer("axis");
  if (axis < 0) axis += rank;
  if (lowering.type(4).shape &&
      static_cast<int64_t>(lowering.type(4).shape->rank()) != rank - axis) {
    return Lowering::unsupported("a scale that is broadcast");
  }
  return lowering.step_with(run_layer_norm_gradient, "aten::native_layer_norm_backward", axis);
}

struct ConvGradientData {
  Window window;
  int64_t groups = 1;
  std::vector<int64_t> shape;  // of what is computed
};

std::array<at::Tensor, 2> conv_backward(const ConvGradientData& data, const at::Tensor& dy,
                                        const at::Tensor& x, const at::Tensor& weight,
                                        bool of_input) {
  const std::vector<int64_t> none(data.window.kernel.size(), 0);
  auto [dx, dw, unused] = at::convolution_backward(
      dy, x, weight, at::OptionalIntArrayRef(), data.window.strides, data.window.pads,
      data.window.dilations, /*transposed=*/false, none, data.groups, {of_input, !of_input, false});
  return {std::move(dx), std::move(dw)};
}

// The other operand is asked for its sizes and layout only.
at::Tensor stand_in(const std::vector<int64_t>& shape, const at::Tensor& like) {
  return at::empty(shape, like.options().memory_format(like.suggest_memory_format()));
}

void run_input_gradient(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ConvGradientData>();
  const at::Tensor& dy = step.in(registers, 0);
  step.out(registers) =
      conv_backward(data, dy, stand_in(data.shape, dy), step.in(registers, 1), true)[0];
}
void run_weight_gradient(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ConvGradientData>();
  const at::Tensor& x = step.in(registers, 0);
  step.out(registers) =
      conv_backward(data, step.in(registers, 1), x, stand_in(data.shape, x), false)[1];
}

Result<Step> lower_conv_gradient(const Lowering& lowering, StepFunction run, const Shape* kernel) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an unknown size");
  ConvGradientData data;
  data.shape = lowering.output_type().shape->sizes();
  std::vector<int64_t> window;
  if (kernel == nullptr) {
    window.assign(data.shape.begin() + 2, data.shape.end());
  } else {
    if (!kernel->known()) return Lowering::unsupported("an unknown size");
    const std::vector<int64_t> sizes = kernel->sizes();
    window.assign(sizes.begin() + 2, sizes.end());
  }
  ASSAY_ASSIGN(data.window, decode_window(lowering, std::move(window)));
  if (data.window.padded()) return Lowering::unsupported("unequal pads");
  data.groups = lowering.attributes().integer("group");
  return lowering.step_with(run, "aten::convolution_backward", std::move(data));
}

Result<Step> lower_input_gradient(const Lowering& lowering) {
  if (lowering.attributes().string("auto_pad").starts_with("SAME")) {
    return Lowering::unsupported("attribute 'auto_pad'");
  }
  ASSAY_TRY(lowering.rank(1));
  return lower_conv_gradient(lowering, run_input_gradient, &*lowering.type(1).shape);
}
Result<Step> lower_weight_gradient(const Lowering& lowering) {
  return lower_conv_gradient(lowering, run_weight_gradient, nullptr);
}

void run_gather_gradient(const Step& step, at::Tensor* registers) {
  const auto& [shape, axis] = step.as<std::pair<std::vector<int64_t>, int64_t>>();
  const at::Tensor& dy = step.in(registers, 0);
  at::Tensor places = step.in(registers, 1).to(at::kLong).reshape({-1});
  const int64_t size = shape[static_cast<size_t>(axis)];
  places = places.where(places.ge(0), places.add(size));
  std::vector<int64_t> rows = shape;
  rows[static_cast<size_t>(axis)] = places.numel();
  step.out(registers) =
      at::index_add(at::zeros(shape, dy.options()), axis, places, dy.reshape(rows));
}
Result<Step> lower_gather_gradient(const Lowering& lowering) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an unknown size");
  std::vector<int64_t> shape = lowering.output_type().shape->sizes();
  int64_t axis = lowering.attributes().integer("axis");
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  return lowering.step_with(run_gather_gradient, "aten::index_add",
                            std::pair(std::move(shape), axis));
}

void run_max_pool_gradient(const Step& step, at::Tensor* registers) {
  const auto& shape = step.as<std::vector<int64_t>>();
  const at::Tensor& dy = step.in(registers, 0);
  at::Tensor dx = at::zeros(shape, dy.options());
  dx.view({-1}).index_add_(0, step.in(registers, 1).reshape({-1}), dy.reshape({-1}));
  step.out(registers) = std::move(dx);
}
Result<Step> lower_max_pool_gradient(const Lowering& lowering) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an unknown size");
  if (lowering.attributes().integer("storage_order") != 0) {
    return Lowering::unsupported("attribute 'storage_order' 1");
  }
  return lowering.step_with(run_max_pool_gradient, "aten::index_add",
                            lowering.output_type().shape->sizes());
}

struct PoolGradientData {
  Window window;
  std::vector<int64_t> shape;
  bool ceil_mode = false;
  bool count_include_pad = false;
};

void run_average_pool_gradient(const Step& step, at::Tensor* registers) {
  const auto& [w, shape, ceil_mode, include_pad] = step.as<PoolGradientData>();
  const at::Tensor& dy = step.in(registers, 0);
  const at::Tensor x = stand_in(shape, dy);
  step.out(registers) =
      w.kernel.size() == 3
          ? at::avg_pool3d_backward(dy, x, w.kernel, w.strides, w.pads, ceil_mode, include_pad, {})
          : at::avg_pool2d_backward(dy, x, w.kernel, w.strides, w.pads, ceil_mode, include_pad, {});
}
Result<Step> lower_average_pool_gradient(const Lowering& lowering) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an unknown size");
  const Attributes& attributes = lowering.attributes();
  PoolGradientData data;
  data.shape = lowering.output_type().shape->sizes();
  if (data.shape.size() < 4) return Lowering::unsupported("pools along one axis");
  if (attributes.string("auto_pad").starts_with("SAME")) {
    return Lowering::unsupported("attribute 'auto_pad'");
  }
  ASSAY_ASSIGN(data.window, decode_window(lowering, attributes.integers("kernel_shape")));
  for (size_t i = 0; i < data.window.kernel.size(); ++i) {
    if (data.window.dilations[i] != 1) return Lowering::unsupported("dilated average pools");
    if (2 * data.window.pads[i] > data.window.kernel[i]) {
      return Lowering::unsupported("libtorch pads at most half of a pool's window");
    }
  }
  if (data.window.padded()) return Lowering::unsupported("unequal pads");
  data.ceil_mode = attributes.integer("ceil_mode") != 0;
  data.count_include_pad = attributes.integer("count_include_pad") != 0;
  return lowering.step_with(run_average_pool_gradient, "aten::avg_pool2d_backward",
                            std::move(data));
}

}  // namespace

void add_backward_lowerings(LoweringTable& table) {
  const auto add = [&](const char* type, LowerFunction lower) {
    table.add(type, lower, OutputMemory::kOwn);
  };
  add("assay.ReluGradient", lower_relu_gradient);
  add("assay.GeluGradient", lower_gelu_gradient);
  add("assay.SoftmaxGradient", lower_softmax_gradient<false>);
  add("assay.LogSoftmaxGradient", lower_softmax_gradient<true>);
  add("assay.NegativeLogLikelihoodGradient", lower_likelihood);
  add("assay.BatchNormGradient", lower_batch_norm_gradient);
  add("assay.LayerNormGradient", lower_layer_norm_gradient);
  add("assay.ConvInputGradient", lower_input_gradient);
  add("assay.ConvWeightGradient", lower_weight_gradient);
  add("assay.GatherGradient", lower_gather_gradient);
  add("assay.MaxPoolGradient", lower_max_pool_gradient);
  add("assay.AveragePoolGradient", lower_average_pool_gradient);
}

}  // namespace assay::torch_engine
