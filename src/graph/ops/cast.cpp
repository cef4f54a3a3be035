// SPDX-License-Identifier: Apache-2.0
//
// Cast.
#include <cmath>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

bool castable(DType dtype) {
  return dtype_bits(dtype) >= 8 && (!is_floating(dtype) || dtype_bits(dtype) >= 16);
}

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

// Floating to integer truncates and saturates (ONNX leaves what is out of range open); anything to
// bool is "not zero"; integer to integer keeps the low bits.
template <class From, class To>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
  }
  return static_cast<To>(value);
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

Result<void> kernel_cast(const KernelContext& context) {
  const Tensor& from = *context.inputs[0];
  Tensor& to = context.outputs[0];
  if (from.dtype() == to.dtype()) return copy_bytes(context);
  if (!castable(from.dtype())) return no_kernel_for(from.dtype());
  if (!castable(to.dtype())) return no_kernel_for(to.dtype());
  const Tensor source = is_16bit_floating(from.dtype()) ? widened(from) : from;
  Tensor target = is_16bit_floating(to.dtype()) ? Tensor::allocate(DType::kF32, to.shape()) : to;
  Result<void> status;
  ASSAY_TRY(dispatch_arithmetic(source.dtype(), [&]<class From>() {
    status =
        dispatch_arithmetic(target.dtype(), [&]<class To>() { convert<From, To>(source, target); });
  }));
  ASSAY_TRY(std::move(status));
  if (is_16bit_floating(to.dtype())) narrow_into(target, to);
  return {};
}

}  // namespace

void add_cast_ops(OpTable& table) {
  table.add({.type = "Cast",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"to", AttributeType::kInt, {}, true},
                            {"saturate", AttributeType::kInt, int64_t{1}}},
             .infer = infer_cast,
             .kernel = kernel_cast});
}

}  // namespace assay
