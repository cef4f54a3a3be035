// SPDX-License-Identifier: Apache-2.0
//
// Gather, OneHot: what is chosen by integers.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_gather(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  const TensorType& data = context.type(0);
  if (!data.shape || !context.type(1).shape) return Types{TensorType::unranked(data.dtype)};
  const Shape& x = *data.shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x.rank()));
  Shape y;
  for (size_t i = 0; i < axis; ++i) y.append(x[i]);
  for (const Dim& dim : context.type(1).shape->dims()) y.append(dim);
  for (size_t i = axis + 1; i < x.rank(); ++i) y.append(x[i]);
  return Types{TensorType(data.dtype, std::move(y))};
}

// Only the rows that are chosen are read, and the indices.
Cost cost_gather(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double index_bytes = context.input_elements(1) * dtype_bits(context.inputs[1]->dtype) / 8;
  cost.read_bytes = cost.write_bytes + index_bytes;
  return cost;
}

Result<void> kernel_gather(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  ASSAY_ASSIGN(Sizes indices, as_integers(*context.inputs[1]));
  for (int64_t& index : indices) {
    if (index < -view.size || index >= view.size) {
      return invalid("index " + std::to_string(index) + " is outside a dimension of " +
                     std::to_string(view.size));
    }
    if (index < 0) index += view.size;
  }
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      for (const int64_t index : indices) {
        const T* row = x + (outer * view.size + index) * view.inner;
        y = std::copy(row, row + view.inner, y);
      }
    }
  });
}

Result<Types> infer_one_hot(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_vector(context, 2, 2, "values"));
  const DType dtype = context.type(2).dtype;
  if (!context.type(0).shape) return Types{TensorType::unranked(dtype)};
  Dim depth;
  if (const auto given = constant_integers(context, 1)) {
    if (given->size() != 1) return invalid("input 1 (depth) is not one number");
    if (given->front() < 1) return invalid("input 1 (depth) is " + std::to_string(given->front()));
    depth = given->front();
  }
  std::vector<Dim> dims = context.type(0).shape->dims();
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), dims.size() + 1));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), depth);
  return Types{TensorType(dtype, Shape(std::move(dims)))};
}

Result<void> kernel_one_hot(const KernelContext& context) {
  const AxisView view = view_around(output_shape(context, 0), context.attributes.integer("axis"));
  ASSAY_ASSIGN(const Sizes indices, as_integers(*context.inputs[0]));
  return dispatch_width(context.inputs[2]->dtype(), [&]<class T>() {
    const T off = input_data<T>(context, 2)[0];
    const T on = input_data<T>(context, 2)[1];
    T* y = output_data<T>(context, 0);
    std::fill_n(y, element_count(output_shape(context, 0)), off);
    for (size_t i = 0; i < indices.size(); ++i) {
      // Negative indices count from the end; what is outside stays off.
      const int64_t hot = indices[i] < 0 ? indices[i] + view.size : indices[i];
      if (hot < 0 || hot >= view.size) continue;
      const auto at = static_cast<int64_t>(i);
      y[(at / view.inner * view.size + hot) * view.inner + at % view.inner] = on;
    }
  });
}

}  // namespace

void add_index_ops(OpTable& table) {
  table.add({.type = "Gather",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"axis", AttributeType::kInt, int64_t{0}}},
             .infer = infer_gather,
             .cost = cost_gather,
             .kernel = kernel_gather});
  table.add({.type = "OneHot",
             .since_version = 11,
             .min_inputs = 3,
             .max_inputs = 3,
             .attributes = {{"axis", AttributeType::kInt, int64_t{-1}}},
             .infer = infer_one_hot,
             .kernel = kernel_one_hot});
}

}  // namespace assay
