// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/quantized.h"

#include <string>

namespace assay {

Result<void> expect_one(const InferContext& context, size_t input, std::string_view name) {
  return expect_one_or_vector(context, input, 1, name);
}

Result<void> expect_one_or_vector(const InferContext& context, size_t input, const Dim& length,
                                  std::string_view name) {
  if (!context.has(input) || !context.type(input).shape) return {};
  const Shape& shape = *context.type(input).shape;
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1 && (may_equal(shape[0], 1) || may_equal(shape[0], length))) return {};
  return invalid("input " + std::to_string(input) + " (" + std::string(name) + ") has shape " +
                 shape.text() + " where one number or [" + length.text() + "] is needed");
}

Dim leading_dim(const InferContext& context, size_t input) {
  const auto& shape = context.type(input).shape;
  return shape && shape->rank() > 0 ? (*shape)[0] : Dim();
}

ByteOperand::ByteOperand(const KernelContext& context, size_t data, size_t zero_point)
    : data_(context.inputs[data]->data()),
      is_signed_(context.inputs[data]->dtype() == DType::kI8),
      zeros_(1, 0) {
  if (!context.has(zero_point)) return;
  zeros_.clear();
  const auto zeros = as_doubles(*context.inputs[zero_point]);
  for (const double zero : *zeros) {
    zeros_.push_back(static_cast<int32_t>(zero));
  }
}

Requantizer::Requantizer(const KernelContext& context, size_t a_scale, size_t b_scale,
                         size_t y_scale, size_t y_zero_point)
    : scales_(*as_doubles(*context.inputs[b_scale])),
      zero_point_(as_doubles(*context.inputs[y_zero_point])->front()) {
  const double factor =
      as_doubles(*context.inputs[a_scale])->front() / as_doubles(*context.inputs[y_scale])->front();
  for (double& scale : scales_) scale *= factor;
}

}  // namespace assay
