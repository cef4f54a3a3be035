// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/gradient.h"

#include <array>

#include "graph/ops/loops.h"

namespace assay {
namespace {

Tensor scalar_of(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::kF64:
      return Tensor::from<double>(dtype, {}, std::array{value});
    case DType::kBF16:
      return Tensor::from<uint16_t>(dtype, {}, std::array{f32_to_bf16(single)});
    case DType::kF16:
      return Tensor::from<uint16_t>(dtype, {}, std::array{f32_to_f16(single)});
    default:
      ASSAY_ASSERT(dtype == DType::kF32, "a floating constant of another type");
      return Tensor::scalar_f32(single);
  }
}

// The axes of `grown` over which a tensor of shape `from` was repeated.
Result<std::vector<int64_t>> repeated_axes(const Shape& from, const Shape& grown) {
  std::vector<int64_t> axes;
  const size_t lead = grown.rank() - from.rank();
  for (size_t i = 0; i < grown.rank(); ++i) {
    if (i < lead) {
      axes.push_back(static_cast<int64_t>(i));
      continue;
    }
    const Dim& before = from[i - lead];
    const bool same = before == grown[i] && (before.known() || !before.name().empty());
    if (same) continue;
    if (!before.known()) {
      return Error{ErrorCode::kUnsupported, "the gradient of a broadcast of unknown size " +
                                                from.text() + " to " + grown.text()};
    }
    if (before.size() == 1) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

}  // namespace

Result<Shape> Adjoint::shape(ValueId value) const {
  if (type(value).shape) return *type(value).shape;
  return Error{ErrorCode::kUnsupported,
               "the gradient of " + node_.op->type + " on a value of unknown rank"};
}

Result<std::vector<int64_t>> Adjoint::constant_integers(size_t input, std::string_view name) const {
  const Tensor* data = context_.builder.peek().constant_data(x(input));
  if (data == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "the gradient of " + node_.op->type + " with computed " + std::string(name)};
  }
  return as_integers(*data);
}

ValueId Adjoint::integers(const std::vector<int64_t>& values) const {
  return context_.builder.constant(node_.name + ".axes", Tensor::vector_i64(values));
}

ValueId Adjoint::number(double value, ValueId like) const {
  const DType dtype = type(like).dtype;
  if (dtype == DType::kF32) return context_.builder.scalar(static_cast<float>(value));
  return context_.builder.constant(node_.name + ".number", scalar_of(dtype, value));
}

ValueId Adjoint::cast(ValueId value, ValueId like) const {
  const DType to = type(like).dtype;
  return type(value).dtype == to ? value : add("Cast", {value}, {{"to", dtype_to_onnx(to)}});
}

ValueId Adjoint::reshaped(ValueId value, ValueId like) const {
  if (type(value).known() && type(value).shape == type(like).shape) return value;
  return add("Reshape", {value, add("Shape", {like})}, {{"allowzero", int64_t{1}}});
}

Result<void> Adjoint::give(size_t input, ValueId gradient) const {
  if (!wants(input)) return {};
  ASSAY_ASSIGN(const Shape from, shape(x(input)));
  ASSAY_ASSIGN(const Shape grown, shape(gradient));
  ASSAY_ASSIGN(const std::vector<int64_t> axes, repeated_axes(from, grown));
  if (!axes.empty()) {
    gradient = add("ReduceSum", {gradient, integers(axes)});
    const auto lead = static_cast<int64_t>(grown.rank() - from.rank());
    if (lead > 0) {
      const std::vector<int64_t> leading(axes.begin(), axes.begin() + lead);
      gradient = add("Squeeze", {gradient, integers(leading)});
    }
  }
  context_.input_gradients[input] = cast(gradient, x(input));
  return {};
}

void add_gradients(OpTable& table) {
  add_elementwise_gradients(table);
  add_activation_gradients(table);
  add_layout_gradients(table);
  add_reduction_gradients(table);
  add_matrix_gradients(table);
  add_network_gradients(table);
}

}  // namespace assay
