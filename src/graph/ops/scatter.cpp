// SPDX-License-Identifier: Apache-2.0
//
// ScatterElements, ScatterND: a tensor with some elements replaced by, or combined with, updates.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

Result<void> check_reduction(const InferContext& context) {
  const std::string& reduction = context.attributes.string("reduction");
  for (const char* known : {"none", "add", "mul", "max", "min"}) {
    if (reduction == known) return {};
  }
  return invalid("attribute 'reduction' is '" + reduction + "', not none, add, mul, max or min");
}

Result<Types> infer_scatter_elements(const InferContext& context) {
  ASSAY_TRY(check_reduction(context));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  ASSAY_TRY(normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  ASSAY_TRY(expect_rank(context, 1, x.shape->rank()));
  ASSAY_TRY(expect_rank(context, 2, x.shape->rank()));
  if (context.type(1).known() && context.type(2).known() &&
      *context.type(1).shape != *context.type(2).shape) {
    return invalid("indices of shape " + context.type(1).shape->text() + " and updates of shape " +
                   context.type(2).shape->text());
  }
  return Types{x};
}

Result<Types> infer_scatter_nd(const InferContext& context) {
  ASSAY_TRY(check_reduction(context));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const TensorType& x = context.type(0);
  if (!x.shape || !context.type(1).shape || !context.type(2).shape) return Types{x};
  const Shape& indices = *context.type(1).shape;
  const Shape& updates = *context.type(2).shape;
  if (indices.rank() == 0) return invalid("input 1 (indices) is a scalar");
  const Dim& depth = indices[indices.rank() - 1];
  if (!depth.known()) return Types{x};
  if (depth.size() < 0 || depth.size() > static_cast<int64_t>(x.shape->rank())) {
    return invalid("input 1 (indices) has tuples of " + depth.text() + " for shape " +
                   x.shape->text());
  }
  Shape wanted;
  for (size_t i = 0; i + 1 < indices.rank(); ++i) wanted.append(indices[i]);
  for (size_t i = static_cast<size_t>(depth.size()); i < x.shape->rank(); ++i) {
    wanted.append((*x.shape)[i]);
  }
  bool fits = wanted.rank() == updates.rank();
  for (size_t i = 0; fits && i < wanted.rank(); ++i) fits = may_equal(wanted[i], updates[i]);
  if (fits) return Types{x};
  return invalid("input 2 (updates) has shape " + updates.text() + " where " + wanted.text() +
                 " is needed");
}

// The updates and indices are read, and what is combined; the untouched rest is copied.
Cost cost_scatter(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const bool combines = context.attributes.string("reduction") != "none";
  if (combines && is_floating(context.inputs[0]->dtype)) cost.flops = context.input_elements(2);
  return cost;
}

// y = combine(y, update), by name.
template <class T>
T combined(const std::string& reduction, T y, T update) {
  if (reduction == "max") return update > y || update != update ? update : y;
  if (reduction == "min") return update < y || update != update ? update : y;
  if constexpr (std::is_floating_point_v<T>) {
    if (reduction == "add") return y + update;
    if (reduction == "mul") return y * update;
  } else {
    if (reduction == "add") return wrapped<T>(bits_of(y) + bits_of(update));
    if (reduction == "mul") return wrapped<T>(bits_of(y) * bits_of(update));
  }
  return update;
}

// Writes runs of `length` updates at `starts` of the output, in order: the last one wins.
template <class T>
void write_updates(const KernelContext& context, const Sizes& starts, int64_t length) {
  const std::string& reduction = context.attributes.string("reduction");
  const T* updates = input_data<T>(context, 2);
  T* y = output_data<T>(context, 0);
  for (const int64_t start : starts) {
    for (int64_t i = 0; i < length; ++i) {
      T& place = y[start + i];
      place = reduction == "none" ? *updates : combined(reduction, place, *updates);
      ++updates;
    }
  }
}

Result<void> scatter(const KernelContext& context, const Sizes& starts, int64_t length) {
  ASSAY_TRY(copy_bytes(context));
  const DType dtype = context.inputs[0]->dtype();
  if (context.attributes.string("reduction") == "none") {
    return dispatch_width(dtype, [&]<class T>() { write_updates<T>(context, starts, length); });
  }
  return dispatch_arithmetic(dtype, [&]<class T>() { write_updates<T>(context, starts, length); });
}

Error outside(int64_t index, int64_t size) {
  return invalid("input 1 (indices) holds " + std::to_string(index) + ", outside a dimension of " +
                 std::to_string(size));
}

Result<void> kernel_scatter_elements(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const Sizes& index_shape = input_shape(context, 1);
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && index_shape[i] > shape[i]) {
      return invalid("input 1 (indices) is larger than the data along axis " + std::to_string(i));
    }
  }
  ASSAY_ASSIGN(const Sizes indices, as_integers(*context.inputs[1]));
  Sizes strides = packed_strides(shape);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  Sizes starts;
  starts.reserve(indices.size());
  std::optional<int64_t> bad;
  walk<1>(index_shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    const int64_t index = indices[static_cast<size_t>(i)];
    if (index < -shape[axis] || index >= shape[axis]) bad = index;
    starts.push_back(at[0] + (index < 0 ? index + shape[axis] : index) * step);
  });
  if (bad) return outside(*bad, shape[axis]);
  return scatter(context, starts, 1);
}

Result<void> kernel_scatter_nd(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const Sizes strides = packed_strides(shape);
  const auto depth = static_cast<size_t>(input_shape(context, 1).back());
  const Sizes row(shape.begin() + static_cast<ptrdiff_t>(depth), shape.end());
  ASSAY_ASSIGN(const Sizes tuples, as_integers(*context.inputs[1]));
  Sizes leading = input_shape(context, 1);
  leading.pop_back();
  Sizes starts(static_cast<size_t>(element_count(leading)), 0);
  for (size_t i = 0; i < starts.size(); ++i) {
    for (size_t d = 0; d < depth; ++d) {
      const int64_t index = tuples[i * depth + d];
      if (index < -shape[d] || index >= shape[d]) return outside(index, shape[d]);
      starts[i] += (index < 0 ? index + shape[d] : index) * strides[d];
    }
  }
  return scatter(context, starts, element_count(row));
}

}  // namespace

void add_scatter_ops(OpTable& table) {
  const AttributeSpec reduction{"reduction", AttributeType::kString, "none"};
  table.add({.type = "ScatterElements",
             .since_version = 18,
             .min_inputs = 3,
             .max_inputs = 3,
             .attributes = {{"axis", AttributeType::kInt, int64_t{0}}, reduction},
             .infer = infer_scatter_elements,
             .cost = cost_scatter,
             .kernel = widen16<kernel_scatter_elements>});
  table.add({.type = "ScatterND",
             .since_version = 18,
             .min_inputs = 3,
             .max_inputs = 3,
             .attributes = {reduction},
             .infer = infer_scatter_nd,
             .cost = cost_scatter,
             .kernel = widen16<kernel_scatter_nd>});
}

}  // namespace assay
