// SPDX-License-Identifier: Apache-2.0
//
// Gradients of convolution, pooling and normalisation.
#include <numeric>

#include "graph/ops/gradient.h"

namespace assay {
namespace {

// All axes but the channels'.
std::vector<int64_t> all_but_channels(size_t rank) {
  std::vector<int64_t> axes(rank - 1);
  std::iota(axes.begin(), axes.end(), int64_t{1});
  axes.front() = 0;
  return axes;
}

ValueId sum_over_all_but_channels(const Adjoint& a, ValueId value, size_t rank) {
  return a.add("ReduceSum", {value, a.integers(all_but_channels(rank))},
               {{"keepdims", int64_t{0}}});
}

Result<std::vector<int64_t>> spatial_sizes(const Adjoint& a, ValueId value) {
  ASSAY_ASSIGN(const Shape shape, a.shape(value));
  std::vector<int64_t> sizes;
  for (size_t i = 2; i < shape.rank(); ++i) {
    if (!shape[i].known()) {
      return Error{ErrorCode::kUnsupported, "the gradient of a window over an unknown size"};
    }
    sizes.push_back(shape[i].size());
  }
  return sizes;
}

Result<void> gradient_conv(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape y, a.shape(a.dy()));
  if (a.wants(0)) {
    ASSAY_ASSIGN(const std::vector<int64_t> sizes, spatial_sizes(a, a.x(0)));
    ASSAY_TRY(a.give(
        0, a.add("assay.ConvInputGradient", {a.dy(), a.x(1), a.integers(sizes)}, a.attributes())));
  }
  if (a.wants(1)) {
    ASSAY_ASSIGN(const std::vector<int64_t> kernel, spatial_sizes(a, a.x(1)));
    Attributes attributes = a.attributes();
    attributes.set("kernel_shape", kernel);
    ASSAY_TRY(a.give(1, a.add("assay.ConvWeightGradient", {a.x(0), a.dy()}, attributes)));
  }
  if (a.wants(2)) ASSAY_TRY(a.give(2, sum_over_all_but_channels(a, a.dy(), y.rank())));
  return {};
}

Result<void> gradient_max_pool(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.MaxPoolGradient", {a.dy(), a.y(1), a.add("Shape", {a.x()})},
                         {{"storage_order", a.attributes().integer("storage_order")}}));
}

Result<void> gradient_average_pool(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(
      0, a.add("assay.AveragePoolGradient", {a.dy(), a.add("Shape", {a.x()})}, a.attributes()));
}

Result<void> gradient_global_average_pool(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const std::vector<int64_t> sizes, spatial_sizes(a, a.x()));
  const auto count = static_cast<double>(
      std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
  const ValueId share = a.add("Mul", {a.dy(), a.number(1 / count, a.dy())});
  return a.give(0, a.add("Expand", {share, a.add("Shape", {a.x()})}));
}

// A vector over the channels, of a shape that broadcasts over [N, C, ...].
ValueId over_channels(const Adjoint& a, ValueId vector, size_t rank) {
  std::vector<int64_t> axes(rank - 2);
  std::iota(axes.begin(), axes.end(), int64_t{1});
  return axes.empty() ? vector : a.add("Unsqueeze", {vector, a.integers(axes)});
}

// y = (x - mean) inverse scale + bias with fixed statistics.
Result<void> gradient_fixed_batch_norm(const Adjoint& a, size_t rank) {
  if (a.wants(3) || a.wants(4)) {
    return Error{ErrorCode::kUnsupported, "the gradient of batch norm by its statistics"};
  }
  const double epsilon = static_cast<double>(a.attributes().number("epsilon"));
  const ValueId variance = a.add("Add", {a.x(4), a.number(epsilon, a.x(4))});
  const ValueId deviation = a.add("Sqrt", {variance});
  if (a.wants(0)) {
    const ValueId factor = a.cast(a.add("Div", {a.cast(a.x(1), deviation), deviation}), a.dy());
    ASSAY_TRY(a.give(0, a.add("Mul", {a.dy(), over_channels(a, factor, rank)})));
  }
  if (a.wants(1)) {
    const ValueId centred = a.add("Sub", {a.x(0), a.cast(over_channels(a, a.x(3), rank), a.x(0))});
    const ValueId sum = sum_over_all_but_channels(a, a.add("Mul", {a.dy(), centred}), rank);
    ASSAY_TRY(a.give(1, a.add("Div", {a.cast(sum, deviation), deviation})));
  }
  if (a.wants(2)) ASSAY_TRY(a.give(2, sum_over_all_but_channels(a, a.dy(), rank)));
  return {};
}

Result<void> gradient_batch_norm(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape x, a.shape(a.x()));
  if (a.attributes().integer("training_mode") == 0) return gradient_fixed_batch_norm(a, x.rank());
  if (a.dy(1) != kNoValue || a.dy(2) != kNoValue) {
    return Error{ErrorCode::kUnsupported, "the gradient through running statistics"};
  }
  const auto parts =
      a.add_multi("assay.BatchNormGradient", {a.dy(), a.x(0), a.y(3), a.y(4), a.x(1)}, 3);
  for (size_t i = 0; i < 3; ++i) ASSAY_TRY(a.give(i, parts[i]));
  return {};
}

Result<void> gradient_layer_norm(const GradientContext& context) {
  const Adjoint a(context);
  if (a.dy(1) != kNoValue || a.dy(2) != kNoValue) {
    return Error{ErrorCode::kUnsupported, "the gradient through the statistics of layer norm"};
  }
  const auto parts =
      a.add_multi("assay.LayerNormGradient", {a.dy(), a.x(0), a.y(1), a.y(2), a.x(1)}, 3,
                  {{"axis", a.attributes().integer("axis")}});
  for (size_t i = 0; i < a.input_count(); ++i) ASSAY_TRY(a.give(i, parts[i]));
  return {};
}

}  // namespace

void add_network_gradients(OpTable& table) {
  table.set_gradient("", "Conv", gradient_conv);
  table.set_gradient("", "MaxPool", gradient_max_pool);
  table.set_gradient("", "AveragePool", gradient_average_pool);
  table.set_gradient("", "GlobalAveragePool", gradient_global_average_pool);
  table.set_gradient("", "BatchNormalization", gradient_batch_norm);
  table.set_gradient("", "LayerNormalization", gradient_layer_norm);
}

}  // namespace assay
