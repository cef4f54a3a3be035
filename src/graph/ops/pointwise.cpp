// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pointwise.h"

namespace assay {

Result<void> expect_numbers(const InferContext& context, size_t input) {
  if (!context.has(input)) return {};
  const DType dtype = context.type(input).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, input));
  return {};
}

Result<Types> infer_broadcast(const InferContext& context, DType dtype, size_t first) {
  Shape shape;
  bool ranked = true;
  for (size_t i = first; i < context.inputs.size(); ++i) {
    if (!context.has(i)) return invalid("input " + std::to_string(i) + " is required");
    if (!context.type(i).shape) ranked = false;
    if (!ranked) continue;
    ASSAY_ASSIGN(shape, broadcast(shape, *context.type(i).shape));
  }
  if (!ranked) return Types{TensorType::unranked(dtype)};
  return Types{TensorType(dtype, std::move(shape))};
}

Result<Types> infer_arithmetic(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    ASSAY_TRY(expect_same_dtype(context, 0, i));
  }
  return infer_broadcast(context, context.type(0).dtype);
}

Result<Types> infer_comparison(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  return infer_broadcast(context, DType::kBool);
}

Result<Types> infer_same_number(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  return Types{context.type(0)};
}

Result<Types> infer_same_signed(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0,
                         {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                          DType::kI16, DType::kI32, DType::kI64}));
  return Types{context.type(0)};
}

Cost cost_elementwise(const CostContext& context, double flops, double transcendentals) {
  Cost cost = context.operand_bytes();
  if (!is_floating(context.inputs[0]->dtype)) return cost;
  cost.flops = flops * context.output_elements(0);
  cost.transcendentals = transcendentals * context.output_elements(0);
  return cost;
}

Cost cost_operands(const CostContext& context) {
  return cost_elementwise(context, static_cast<double>(context.inputs.size()) - 1, 0);
}

}  // namespace assay
