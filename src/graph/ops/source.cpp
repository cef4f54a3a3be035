// SPDX-License-Identifier: Apache-2.0
//
// Constant, ConstantOfShape, Shape, Size, Range: values that come from the graph itself.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// The value of a Constant node; kInvalid unless exactly one attribute gives it.
Result<Tensor> constant_value(const Attributes& attributes) {
  if (attributes.items().size() != 1) {
    return invalid("a Constant takes exactly one of its attributes, not " +
                   std::to_string(attributes.items().size()));
  }
  const auto& [name, value] = *attributes.items().begin();
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->empty()) return invalid("attribute '" + name + "' holds no tensor");
    return *tensor;
  }
  if (const auto* number = std::get_if<float>(&value)) return Tensor::scalar_f32(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return Tensor::from<int64_t>(DType::kI64, {}, std::span(number, 1));
  }
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
    return Tensor::vector_i64(*numbers);
  }
  const auto& numbers = std::get<std::vector<float>>(value);
  return Tensor::from<float>(DType::kF32, {static_cast<int64_t>(numbers.size())},
                             std::span<const float>(numbers));
}

Result<Types> infer_constant(const InferContext& context) {
  ASSAY_ASSIGN(const Tensor value, constant_value(context.attributes));
  return Types{value.type()};
}

std::optional<Tensor> fold_constant(const InferContext& context) {
  return *constant_value(context.attributes);
}

Result<Types> infer_constant_of_shape(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kI64}));
  DType dtype = DType::kF32;
  if (context.attributes.has("value")) {
    const Tensor& value = context.attributes.get<Tensor>("value");
    if (value.empty() || value.elements() != 1) {
      return invalid("attribute 'value' must have one element");
    }
    dtype = value.dtype();
  }
  ASSAY_ASSIGN(const auto rank, vector_length(context, 0));
  if (!rank) return Types{TensorType::unranked(dtype)};
  const auto sizes = constant_integers(context, 0);
  if (!sizes) {
    return Types{TensorType(dtype, Shape(std::vector<Dim>(static_cast<size_t>(*rank))))};
  }
  if (std::ranges::any_of(*sizes, [](int64_t size) { return size < 0; })) {
    return invalid("input 0 (shape) holds a negative size");
  }
  return Types{TensorType(dtype, Shape::of(*sizes))};
}

Result<void> kernel_constant_of_shape(const KernelContext& context) {
  Tensor& y = context.outputs[0];
  if (!context.attributes.has("value")) {
    std::memset(y.data(), 0, static_cast<size_t>(y.bytes()));
    return {};
  }
  const Tensor& value = context.attributes.get<Tensor>("value");
  if (is_4bit(y.dtype())) {
    const int nibble = *static_cast<const uint8_t*>(value.data()) & 0x0f;
    std::memset(y.data(), nibble * 0x11, static_cast<size_t>(y.bytes()));
    return {};
  }
  return dispatch_width(y.dtype(),
                        [&]<class T>() { std::ranges::fill(y.values<T>(), value.values<T>()[0]); });
}

// The range of axes that Shape gives: [start, end) after clamping.
std::pair<size_t, size_t> shape_range(const Attributes& attributes, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  const auto place = [&](int64_t axis) {
    return static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + n : axis, 0, n));
  };
  const size_t start = place(attributes.integer("start"));
  const size_t end = attributes.has("end") ? place(attributes.integer("end")) : rank;
  return {start, std::max(start, end)};
}

Result<Types> infer_shape(const InferContext& context) {
  if (!context.type(0).shape) return Types{TensorType(DType::kI64, Shape{Dim()})};
  const auto [start, end] = shape_range(context.attributes, context.type(0).shape->rank());
  return Types{TensorType(DType::kI64, Shape{static_cast<int64_t>(end - start)})};
}

std::optional<Tensor> fold_shape(const InferContext& context) {
  if (!context.type(0).shape) return std::nullopt;
  const Shape& x = *context.type(0).shape;
  const auto [start, end] = shape_range(context.attributes, x.rank());
  std::vector<int64_t> sizes;
  for (size_t i = start; i < end; ++i) {
    if (!x[i].known()) return std::nullopt;
    sizes.push_back(x[i].size());
  }
  return Tensor::vector_i64(sizes);
}

Result<void> kernel_shape(const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const auto [start, end] = shape_range(context.attributes, x.size());
  int64_t* y = output_data<int64_t>(context, 0);
  for (size_t i = start; i < end; ++i) *y++ = x[i];
  return {};
}

Result<Types> infer_size(const InferContext& /*context*/) {
  return Types{TensorType(DType::kI64, Shape())};
}

std::optional<Tensor> fold_size(const InferContext& context) {
  if (!context.type(0).known()) return std::nullopt;
  const int64_t size = *context.type(0).shape->elements();
  return Tensor::from<int64_t>(DType::kI64, {}, std::span(&size, 1));
}

Result<void> kernel_size(const KernelContext& context) {
  *output_data<int64_t>(context, 0) = context.inputs[0]->elements();
  return {};
}

// ---- Range ----

// max(ceil((limit - start) / delta), 0).
Result<int64_t> range_length(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  ASSAY_ASSIGN(const std::vector<double> from, as_doubles(start));
  ASSAY_ASSIGN(const std::vector<double> to, as_doubles(limit));
  ASSAY_ASSIGN(const std::vector<double> step, as_doubles(delta));
  if (from.size() != 1 || to.size() != 1 || step.size() != 1) {
    return invalid("start, limit and delta must be one number each");
  }
  if (step[0] == 0) return invalid("input 2 (delta) is 0");
  const double length = std::ceil((to[0] - from[0]) / step[0]);
  if (!(length < 0x1p62)) return invalid("the range never ends");
  return static_cast<int64_t>(std::max(length, 0.0));
}

Result<Types> infer_range(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  for (size_t i = 1; i < 3; ++i) ASSAY_TRY(expect_same_dtype(context, 0, i));
  Dim length;
  if (context.constant(0) && context.constant(1) && context.constant(2)) {
    ASSAY_ASSIGN(length,
                 range_length(*context.constant(0), *context.constant(1), *context.constant(2)));
  }
  return Types{TensorType(context.type(0).dtype, Shape{length})};
}

Result<void> kernel_range(const KernelContext& context) {
  return dispatch_arithmetic(context.outputs[0].dtype(), [&]<class T>() {
    const T start = input_data<T>(context, 0)[0];
    const T delta = input_data<T>(context, 2)[0];
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        y[i] = static_cast<T>(static_cast<double>(start) +
                              static_cast<double>(i) * static_cast<double>(delta));
      } else {
        y[i] = wrapped<T>(bits_of(start) + uint64_t{i} * bits_of(delta));
      }
    }
  });
}

// A multiplication and an addition an element.
Cost cost_range(const CostContext& context) { return cost_elementwise(context, 2, 0); }

// The data is not looked at.
Cost cost_shape(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.read_bytes = 0;
  return cost;
}

}  // namespace

void add_source_ops(OpTable& table) {
  table.add(
      {.type = "Constant",
       .since_version = 21,
       .attributes = {{"value", AttributeType::kTensor, {}},
                      {"value_float", AttributeType::kFloat, {}},
                      {"value_floats", AttributeType::kFloats, {}},
                      {"value_int", AttributeType::kInt, {}},
                      {"value_ints", AttributeType::kInts, {}}},
       .infer = infer_constant,
       .fold = fold_constant,
       .note = "becomes a constant of the graph; strings and sparse values are out of scope"});
  table.add({.type = "ConstantOfShape",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"value", AttributeType::kTensor, {}}},
             .infer = infer_constant_of_shape,
             .kernel = kernel_constant_of_shape});
  table.add(
      {.type = "Shape",
       .since_version = 21,
       .min_inputs = 1,
       .max_inputs = 1,
       .attributes = {{"start", AttributeType::kInt, int64_t{0}}, {"end", AttributeType::kInt, {}}},
       .infer = infer_shape,
       .cost = cost_shape,
       .kernel = kernel_shape,
       .fold = fold_shape,
       .note = "becomes a constant where the shape is known"});
  table.add({.type = "Size",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_size,
             .cost = cost_shape,
             .kernel = kernel_size,
             .fold = fold_size,
             .note = "becomes a constant where the shape is known"});
  table.add({.type = "Range",
             .since_version = 11,
             .min_inputs = 3,
             .max_inputs = 3,
             .infer = infer_range,
             .cost = cost_range,
             .kernel = widen16<kernel_range>});
}

}  // namespace assay
