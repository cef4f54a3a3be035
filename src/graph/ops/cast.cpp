// SPDX-License-Identifier: Apache-2.0
//
// Cast, CastLike: between any two element types.
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

Result<Types> infer_cast(const InferContext& context) {
  const auto to = dtype_from_onnx(context.attributes.integer("to"));
  if (!to) {
    return invalid("attribute 'to' is " + std::to_string(context.attributes.integer("to")) +
                   ", not a number of a tensor element type");
  }
  TensorType type = context.type(0);
  type.dtype = *to;
  return Types{type};
}

Result<Types> infer_cast_like(const InferContext& context) {
  TensorType type = context.type(0);
  type.dtype = context.type(1).dtype;
  return Types{type};
}

// The second operand is not looked at.
Cost cost_cast_like(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.read_bytes = context.input_elements(0) * dtype_bits(context.inputs[0]->dtype) / 8;
  return cost;
}

// Floating to integer truncates and saturates (ONNX leaves what is out of range open); anything to
// bool is "not zero"; integer to integer keeps the low bits.
template <class From, class To>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return from_double<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convert(const Tensor& from, Tensor& to) {
  const auto x = from.values<From>();
  const auto y = to.values<To>();
  const bool boolean = to.dtype() == DType::kBool;
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = boolean ? static_cast<To>(x[i] != From{0}) : converted<From, To>(x[i]);
  }
}

// f32 numbers, rounded into an 8-bit floating type.
void narrow_float8(const Tensor& from, Tensor& to, bool saturate) {
  const auto x = from.values<float>();
  const auto y = to.values<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = f32_to_f8(to.dtype(), x[i], saturate);
}

Result<void> kernel_cast(const KernelContext& context) {
  const Tensor& from = *context.inputs[0];
  Tensor& to = context.outputs[0];
  if (from.dtype() == to.dtype()) return copy_bytes(context);
  const Tensor source = widened(from);
  const bool narrow = widened(to.dtype()) != to.dtype();
  Tensor target = narrow ? Tensor::allocate(widened(to.dtype()), to.shape()) : to;
  Result<void> status;
  ASSAY_TRY(dispatch_arithmetic(source.dtype(), [&]<class From>() {
    status =
        dispatch_arithmetic(target.dtype(), [&]<class To>() { convert<From, To>(source, target); });
  }));
  ASSAY_TRY(std::move(status));
  if (is_8bit_floating(to.dtype())) {
    narrow_float8(target, to, context.attributes.integer("saturate") != 0);
  } else if (narrow) {
    narrow_into(target, to);
  }
  return {};
}

}  // namespace

void add_cast_ops(OpTable& table) {
  const AttributeSpec saturate{"saturate", AttributeType::kInt, int64_t{1}};
  table.add({.type = "Cast",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"to", AttributeType::kInt, {}, true}, saturate},
             .infer = infer_cast,
             .kernel = kernel_cast});
  table.add({.type = "CastLike",
             .since_version = 21,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {saturate},
             .infer = infer_cast_like,
             .cost = cost_cast_like,
             .kernel = kernel_cast});
}

}  // namespace assay
