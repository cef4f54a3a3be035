// SPDX-License-Identifier: Apache-2.0
//
// BatchNormalization, LayerNormalization. Scales and statistics may be f32 where the data is a
// 16-bit type: statistics are f32 inside anyway.
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// The element type of a scale: the data's, or f32 beside 16-bit data.
Result<void> expect_scale_dtype(const InferContext& context, size_t input) {
  if (!context.has(input)) return {};
  const DType data = context.type(0).dtype;
  if (is_16bit_floating(data)) return expect_dtype(context, input, {data, DType::kF32});
  return expect_dtype(context, input, {data});
}

Result<Types> infer_batch_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const bool training = context.attributes.integer("training_mode") != 0;
  if (!training && context.output_count > 1) {
    return invalid("attribute 'training_mode' is 0: there is one output, not " +
                   std::to_string(context.output_count));
  }
  for (size_t i = 1; i < 5; ++i) ASSAY_TRY(expect_scale_dtype(context, i));
  ASSAY_TRY(expect_same_dtype(context, 3, 4));
  const TensorType& x = context.type(0);
  Dim channels;
  if (x.shape) {
    if (x.shape->rank() < 2) {
      return invalid("input 0 has shape " + x.shape->text() + ", not [N, C, ...]");
    }
    channels = (*x.shape)[1];
  }
  constexpr std::string_view kNames[] = {"", "scale", "B", "input_mean", "input_var"};
  for (size_t i = 1; i < 5; ++i) ASSAY_TRY(expect_vector(context, i, channels, kNames[i]));
  TensorType saved(is_16bit_floating(x.dtype) ? DType::kF32 : x.dtype, Shape{channels});
  return Types{x, context.type(3), context.type(4), saved, saved};
}

Cost cost_batch_norm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double elements = context.input_elements(0);
  const bool training = context.attributes.integer("training_mode") != 0;
  // One multiply and one add; in training also the mean (1) and the variance (3). What is done
  // once a channel is not counted, but for the square root.
  cost.flops = elements * (training ? 6 : 2);
  cost.transcendentals = context.input_elements(1);
  return cost;
}

// Mean and population variance of channel c.
template <class T>
std::pair<double, double> channel_statistics(const T* x, const AxisView& view, int64_t c) {
  const auto visit = [&](auto&& f) {
    for (int64_t n = 0; n < view.outer; ++n) {
      const T* plane = x + (n * view.size + c) * view.inner;
      for (int64_t i = 0; i < view.inner; ++i) f(static_cast<double>(plane[i]));
    }
  };
  const auto count = static_cast<double>(view.outer * view.inner);
  double sum = 0;
  visit([&](double value) { sum += value; });
  const double mean = sum / count;
  double squares = 0;
  visit([&](double value) { squares += (value - mean) * (value - mean); });
  return {mean, squares / count};
}

template <class T>
void batch_norm(const KernelContext& context, const AxisView& view) {
  const bool training = context.attributes.integer("training_mode") != 0;
  const auto epsilon = static_cast<double>(context.attributes.number("epsilon"));
  const auto momentum = static_cast<double>(context.attributes.number("momentum"));
  const T* x = input_data<T>(context, 0);
  T* y = output_data<T>(context, 0);
  for (int64_t c = 0; c < view.size; ++c) {
    auto mean = static_cast<double>(input_data<T>(context, 3)[c]);
    auto variance = static_cast<double>(input_data<T>(context, 4)[c]);
    if (training) {
      const auto [batch_mean, batch_variance] = channel_statistics(x, view, c);
      if (context.outputs.size() > 1) {
        output_data<T>(context, 1)[c] =
            static_cast<T>(mean * momentum + batch_mean * (1 - momentum));
      }
      if (context.outputs.size() > 2) {
        output_data<T>(context, 2)[c] =
            static_cast<T>(variance * momentum + batch_variance * (1 - momentum));
      }
      mean = batch_mean;
      variance = batch_variance;
      if (context.outputs.size() > 3) output_data<T>(context, 3)[c] = static_cast<T>(mean);
      if (context.outputs.size() > 4) {
        output_data<T>(context, 4)[c] = static_cast<T>(1 / std::sqrt(variance + epsilon));
      }
    }
    const double scale =
        static_cast<double>(input_data<T>(context, 1)[c]) / std::sqrt(variance + epsilon);
    const double shift = static_cast<double>(input_data<T>(context, 2)[c]) - mean * scale;
    for (int64_t n = 0; n < view.outer; ++n) {
      const int64_t start = (n * view.size + c) * view.inner;
      for (int64_t i = start; i < start + view.inner; ++i) {
        y[i] = static_cast<T>(static_cast<double>(x[i]) * scale + shift);
      }
    }
  }
}

Result<void> kernel_batch_norm(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), 1);
  return dispatch_floating(context.inputs[0]->dtype(),
                           [&]<class T>() { batch_norm<T>(context, view); });
}

// The shape of scale and bias: dimensions from the axis on.
Result<Types> infer_layer_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_scale_dtype(context, 1));
  ASSAY_TRY(expect_scale_dtype(context, 2));
  if (context.attributes.integer("stash_type") != 1) {
    return Error{ErrorCode::kUnsupported, "attribute 'stash_type' other than 1 (f32)"};
  }
  const TensorType& x = context.type(0);
  const DType stash = x.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  if (!x.shape) return Types{x, TensorType::unranked(stash), TensorType::unranked(stash)};
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  const auto& dims = x.shape->dims();
  const Shape tail(std::vector<Dim>(dims.begin() + static_cast<ptrdiff_t>(axis), dims.end()));
  for (size_t input = 1; input < 3; ++input) {
    if (!context.has(input) || !context.type(input).shape) continue;
    const Shape& scale = *context.type(input).shape;
    auto combined = broadcast(tail, scale);
    if (!combined.ok() || scale.rank() > tail.rank() || (tail.known() && *combined != tail)) {
      return invalid("input " + std::to_string(input) + " has shape " + scale.text() +
                     ", which does not broadcast to " + tail.text());
    }
  }
  Shape statistics = *x.shape;
  for (size_t i = axis; i < statistics.rank(); ++i) statistics[i] = 1;
  return Types{x, TensorType(stash, statistics), TensorType(stash, statistics)};
}

Cost cost_layer_norm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Shape& x = *context.inputs[0]->shape;
  const auto axis = *normalized_axis(context.attributes.integer("axis"), x.rank());
  double rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<double>(x[i].size());
  // Mean 1, difference 1, squares 2, division by the deviation 1, scale 1, bias 1.
  cost.flops = context.input_elements(0) * (context.has(2) ? 7 : 6);
  cost.transcendentals = rows;
  return cost;
}

struct LayerNormSizes {
  int64_t rows, size;
  Sizes scale_strides, bias_strides, tail;
};

template <class T>
void layer_norm(const KernelContext& context, const LayerNormSizes& s) {
  const auto epsilon = static_cast<double>(context.attributes.number("epsilon"));
  const T* scale = input_data<T>(context, 1);
  const T* bias = context.has(2) ? input_data<T>(context, 2) : nullptr;
  for (int64_t row = 0; row < s.rows; ++row) {
    const T* x = input_data<T>(context, 0) + row * s.size;
    T* y = output_data<T>(context, 0) + row * s.size;
    const auto [mean, variance] = channel_statistics(x, AxisView{1, 1, s.size}, 0);
    const double inverse = 1 / std::sqrt(variance + epsilon);
    walk<2>(s.tail, {s.scale_strides, s.bias_strides},
            [&, center = mean](int64_t i, const std::array<int64_t, 2>& at) {
              const double value = (static_cast<double>(x[i]) - center) * inverse;
              y[i] = static_cast<T>(value * static_cast<double>(scale[at[0]]) +
                                    (bias == nullptr ? 0 : static_cast<double>(bias[at[1]])));
            });
    if (context.outputs.size() > 1) output_data<T>(context, 1)[row] = static_cast<T>(mean);
    if (context.outputs.size() > 2) output_data<T>(context, 2)[row] = static_cast<T>(inverse);
  }
}

Result<void> kernel_layer_norm(const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x.size()));
  LayerNormSizes s;
  s.tail.assign(x.begin() + static_cast<ptrdiff_t>(axis), x.end());
  s.size = element_count(s.tail);
  s.rows = element_count(Sizes(x.begin(), x.begin() + static_cast<ptrdiff_t>(axis)));
  s.scale_strides = broadcast_strides(input_shape(context, 1), s.tail);
  s.bias_strides =
      context.has(2) ? broadcast_strides(input_shape(context, 2), s.tail) : s.scale_strides;
  return dispatch_floating(context.inputs[0]->dtype(),
                           [&]<class T>() { layer_norm<T>(context, s); });
}

}  // namespace

void add_normalization_ops(OpTable& table) {
  table.add(
      {.type = "BatchNormalization",
       .since_version = 15,
       .min_inputs = 5,
       .max_inputs = 5,
       .max_outputs = 5,
       .attributes = {{"epsilon", AttributeType::kFloat, 1e-5f},
                      {"momentum", AttributeType::kFloat, 0.9f},
                      {"training_mode", AttributeType::kInt, int64_t{0}}},
       .infer = infer_batch_norm,
       .cost = cost_batch_norm,
       .kernel = widen16<kernel_batch_norm>,
       .note = "running statistics are value * momentum + batch * (1 - momentum) with the "
               "population variance, as ONNX says; PyTorch's running variance is unbiased. Outputs "
               "3 and 4 are ours, for the gradient: the batch's mean and 1 / sqrt(variance + "
               "epsilon)"});
  table.add({.type = "LayerNormalization",
             .since_version = 17,
             .min_inputs = 2,
             .max_inputs = 3,
             .max_outputs = 3,
             .attributes = {{"axis", AttributeType::kInt, int64_t{-1}},
                            {"epsilon", AttributeType::kFloat, 1e-5f},
                            {"stash_type", AttributeType::kInt, int64_t{1}}},
             .infer = infer_layer_norm,
             .cost = cost_layer_norm,
             .kernel = widen16<kernel_layer_norm>});
}

}  // namespace assay
