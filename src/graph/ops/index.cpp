// SPDX-License-Identifier: Apache-2.0
//
// Gather, GatherElements, GatherND, OneHot: what is chosen by integers.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

Error outside(int64_t index, int64_t size) {
  return invalid("index " + std::to_string(index) + " is outside a dimension of " +
                 std::to_string(size));
}

// Negative indices count from the end.
Result<Sizes> positions(const Tensor& indices, int64_t size) {
  ASSAY_ASSIGN(Sizes result, as_integers(indices));
  for (int64_t& index : result) {
    if (index < -size || index >= size) return outside(index, size);
    if (index < 0) index += size;
  }
  return result;
}

// Only the elements that are chosen are read, and the indices.
template <size_t indices>
Cost cost_gather(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double bits = dtype_bits(context.inputs[indices]->dtype);
  cost.read_bytes = cost.write_bytes + context.input_elements(indices) * bits / 8;
  return cost;
}

// ---- Gather ----

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

Result<void> kernel_gather(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  ASSAY_ASSIGN(const Sizes indices, positions(*context.inputs[1], view.size));
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

// ---- GatherElements ----

Result<Types> infer_gather_elements(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  const TensorType& x = context.type(0);
  const TensorType& indices = context.type(1);
  if (x.shape && indices.shape) {
    const size_t rank = x.shape->rank();
    ASSAY_TRY(expect_rank(context, 1, rank));
    ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), rank));
    for (size_t i = 0; i < rank; ++i) {
      const Dim& wanted = (*indices.shape)[i];
      const Dim& there = (*x.shape)[i];
      if (i != axis && wanted.known() && there.known() && wanted.size() > there.size()) {
        return invalid("input 1 (indices) has shape " + indices.shape->text() + ", which exceeds " +
                       x.shape->text());
      }
    }
  }
  TensorType type = indices;
  type.dtype = x.dtype;
  return Types{type};
}

Result<void> kernel_gather_elements(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), shape.size()));
  ASSAY_ASSIGN(const Sizes indices, positions(*context.inputs[1], shape[axis]));
  Sizes strides = packed_strides(shape);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    walk<1>(output_shape(context, 0), {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
      y[i] = x[at[0] + indices[static_cast<size_t>(i)] * step];
    });
  });
}

// ---- GatherND ----

Result<Types> infer_gather_nd(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& data = context.type(0);
  if (!data.shape || !context.type(1).shape) return Types{TensorType::unranked(data.dtype)};
  const Shape& x = *data.shape;
  const Shape& indices = *context.type(1).shape;
  const int64_t batch = context.attributes.integer("batch_dims");
  const auto smallest = static_cast<int64_t>(std::min(x.rank(), indices.rank()));
  if (batch < 0 || batch >= smallest) {
    return invalid("attribute 'batch_dims' is " + std::to_string(batch) + ", outside 0 ... " +
                   std::to_string(smallest - 1));
  }
  const auto b = static_cast<size_t>(batch);
  for (size_t i = 0; i < b; ++i) {
    if (!may_equal(x[i], indices[i])) {
      return invalid("shapes " + x.text() + " and " + indices.text() +
                     " differ in a batch dimension");
    }
  }
  const Dim& depth = indices[indices.rank() - 1];
  if (!depth.known()) return Types{TensorType::unranked(data.dtype)};
  if (depth.size() < 1 || depth.size() > static_cast<int64_t>(x.rank() - b)) {
    return invalid("input 1 (indices) has tuples of " + depth.text() + " for shape " + x.text());
  }
  Shape y;
  for (size_t i = 0; i + 1 < indices.rank(); ++i) y.append(indices[i]);
  for (size_t i = b + static_cast<size_t>(depth.size()); i < x.rank(); ++i) y.append(x[i]);
  return Types{TensorType(data.dtype, std::move(y))};
}

Result<void> kernel_gather_nd(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const Sizes& index_shape = input_shape(context, 1);
  const auto batch = static_cast<size_t>(context.attributes.integer("batch_dims"));
  const auto depth = static_cast<size_t>(index_shape.back());
  const Sizes batches(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(batch));
  const Sizes row(shape.begin() + static_cast<ptrdiff_t>(batch + depth), shape.end());
  const Sizes strides = packed_strides(shape);
  const int64_t length = element_count(row);
  const int64_t per_batch = batch == 0 ? 0 : strides[batch - 1];
  ASSAY_ASSIGN(const Sizes tuples, as_integers(*context.inputs[1]));
  const auto count = static_cast<int64_t>(tuples.size() / depth);
  const int64_t tuples_per_batch = count / std::max<int64_t>(element_count(batches), 1);
  Sizes starts;
  for (int64_t i = 0; i < count; ++i) {
    int64_t start = tuples_per_batch == 0 ? 0 : i / tuples_per_batch * per_batch;
    for (size_t d = 0; d < depth; ++d) {
      const int64_t index = tuples[static_cast<size_t>(i) * depth + d];
      const int64_t size = shape[batch + d];
      if (index < -size || index >= size) return outside(index, size);
      start += (index < 0 ? index + size : index) * strides[batch + d];
    }
    starts.push_back(start);
  }
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    for (const int64_t start : starts) y = std::copy_n(x + start, length, y);
  });
}

// ---- OneHot ----

// A number of any type, truncated.
Result<Sizes> truncated(const Tensor& tensor) {
  if (is_integer(tensor.dtype()) && dtype_bits(tensor.dtype()) >= 32 &&
      tensor.dtype() != DType::kU32 && tensor.dtype() != DType::kU64) {
    return as_integers(tensor);
  }
  ASSAY_ASSIGN(const std::vector<double> values, as_doubles(tensor));
  Sizes result;
  for (const double value : values) result.push_back(from_double<int64_t>(value));
  return result;
}

Result<Types> infer_one_hot(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context, 0));
  ASSAY_TRY(expect_numbers(context, 1));
  ASSAY_TRY(expect_vector(context, 2, 2, "values"));
  const DType dtype = context.type(2).dtype;
  if (!context.type(0).shape) return Types{TensorType::unranked(dtype)};
  Dim depth;
  if (const Tensor* given = context.constant(1)) {
    ASSAY_ASSIGN(const Sizes values, truncated(*given));
    if (values.size() != 1) return invalid("input 1 (depth) is not one number");
    if (values[0] < 1) return invalid("input 1 (depth) is " + std::to_string(values[0]));
    depth = values[0];
  }
  std::vector<Dim> dims = context.type(0).shape->dims();
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), dims.size() + 1));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), depth);
  return Types{TensorType(dtype, Shape(std::move(dims)))};
}

Result<void> kernel_one_hot(const KernelContext& context) {
  const AxisView view = view_around(output_shape(context, 0), context.attributes.integer("axis"));
  ASSAY_ASSIGN(const Sizes indices, truncated(*context.inputs[0]));
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
  const auto add = [&](const char* type, int version, size_t inputs, AttributeSpec attribute,
                       InferFunction infer, CostFunction cost, KernelFunction kernel) {
    table.add({.type = type,
               .since_version = version,
               .min_inputs = inputs,
               .max_inputs = inputs,
               .attributes = {std::move(attribute)},
               .infer = infer,
               .cost = cost,
               .kernel = kernel});
  };
  add("Gather", 13, 2, {"axis", AttributeType::kInt, int64_t{0}}, infer_gather, cost_gather<1>,
      kernel_gather);
  add("GatherElements", 13, 2, {"axis", AttributeType::kInt, int64_t{0}}, infer_gather_elements,
      cost_gather<1>, kernel_gather_elements);
  add("GatherND", 13, 2, {"batch_dims", AttributeType::kInt, int64_t{0}}, infer_gather_nd,
      cost_gather<1>, kernel_gather_nd);
  add("OneHot", 11, 3, {"axis", AttributeType::kInt, int64_t{-1}}, infer_one_hot, nullptr,
      kernel_one_hot);
}

}  // namespace assay
