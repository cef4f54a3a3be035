// SPDX-License-Identifier: Apache-2.0
//
// Compress, NonZero, Unique: as many elements as the data says. Their kernels size their outputs.
#include <algorithm>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// ---- NonZero ----

Result<Types> infer_nonzero(const InferContext& context) {
  const auto& shape = context.type(0).shape;
  if (!shape) return Types{TensorType(DType::kI64, Shape{Dim(), Dim()})};
  return Types{TensorType(DType::kI64, Shape{static_cast<int64_t>(shape->rank()), Dim()})};
}

Result<void> kernel_nonzero(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<double> x, as_doubles(*context.inputs[0]));
  const Sizes& shape = input_shape(context, 0);
  const auto count =
      static_cast<int64_t>(std::ranges::count_if(x, [](double value) { return value != 0; }));
  Tensor y = Tensor::allocate(DType::kI64, {static_cast<int64_t>(shape.size()), count});
  const Sizes strides = packed_strides(shape);
  int64_t* out = y.values<int64_t>().data();
  int64_t found = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      out[static_cast<int64_t>(axis) * count + found] =
          static_cast<int64_t>(i) / strides[axis] % shape[axis];
    }
    ++found;
  }
  context.outputs[0] = std::move(y);
  return {};
}

// ---- Compress ----

Result<Types> infer_compress(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kBool}));
  ASSAY_TRY(expect_rank(context, 1, 1));
  const TensorType& x = context.type(0);
  if (!context.attributes.has("axis")) return Types{TensorType(x.dtype, Shape{Dim()})};
  if (!x.shape) return Types{x};
  Shape y = *x.shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), y.rank()));
  y[axis] = Dim();
  return Types{TensorType(x.dtype, std::move(y))};
}

Result<void> kernel_compress(const KernelContext& context) {
  const Tensor& x = *context.inputs[0];
  const bool flat = !context.attributes.has("axis");
  Sizes shape = flat ? Sizes{x.elements()} : x.shape();
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(flat ? 0 : context.attributes.integer("axis"), shape.size()));
  const AxisView view = view_around(shape, static_cast<int64_t>(axis));
  const auto condition = context.inputs[1]->values<uint8_t>();
  if (static_cast<int64_t>(condition.size()) > view.size) {
    return invalid("input 1 (condition) is longer than the dimension of " +
                   std::to_string(view.size));
  }
  Sizes kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  shape[axis] = static_cast<int64_t>(kept.size());
  Tensor y = Tensor::allocate(x.dtype(), shape);
  ASSAY_TRY(dispatch_width(x.dtype(), [&]<class T>() {
    const T* from = x.values<T>().data();
    T* to = y.values<T>().data();
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      for (const int64_t i : kept) {
        to = std::copy_n(from + (outer * view.size + i) * view.inner, view.inner, to);
      }
    }
  }));
  context.outputs[0] = std::move(y);
  return {};
}

// ---- Unique ----

Result<Types> infer_unique(const InferContext& context) {
  const TensorType& x = context.type(0);
  ASSAY_TRY(x.dtype == DType::kBool ? Result<void>() : expect_numbers(context));
  const TensorType found(DType::kI64, Shape{Dim()});
  Types types{TensorType(x.dtype, Shape{Dim()}), found, found, found};
  if (!context.attributes.has("axis")) return types;
  types[0] = x;
  if (!x.shape) return types;
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  (*types[0].shape)[axis] = Dim();
  return types;
}

// The slices of a tensor along one axis, compared element by element.
template <class T>
struct Slices {
  const T* data;
  AxisView view;

  int compare(int64_t a, int64_t b) const {
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      const T* x = data + (outer * view.size + a) * view.inner;
      const T* y = data + (outer * view.size + b) * view.inner;
      for (int64_t i = 0; i < view.inner; ++i) {
        if (x[i] < y[i]) return -1;
        if (y[i] < x[i]) return 1;
      }
    }
    return 0;
  }
};

// Distinct slices: where each first appears, how often it does, and which one each slice is.
struct Distinct {
  Sizes first, counts, inverse;
};

template <class T>
Distinct distinct_slices(const Slices<T>& slices, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(slices.view.size));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  std::vector<std::vector<int64_t>> groups;  // of equal slices, each in order of appearance
  for (const int64_t slice : order) {
    if (groups.empty() || slices.compare(groups.back()[0], slice) != 0) groups.emplace_back();
    groups.back().push_back(slice);
  }
  if (!sorted) {
    std::ranges::sort(groups, {}, [](const std::vector<int64_t>& group) { return group[0]; });
  }
  Distinct distinct;
  distinct.inverse.resize(order.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    distinct.first.push_back(groups[g][0]);
    distinct.counts.push_back(static_cast<int64_t>(groups[g].size()));
    for (const int64_t slice : groups[g]) {
      distinct.inverse[static_cast<size_t>(slice)] = static_cast<int64_t>(g);
    }
  }
  return distinct;
}

template <class T>
void unique(const KernelContext& context) {
  const Tensor& x = *context.inputs[0];
  const bool flat = !context.attributes.has("axis");
  Sizes shape = flat ? Sizes{x.elements()} : x.shape();
  const int64_t axis = flat ? 0 : context.attributes.integer("axis");
  const Slices<T> slices{x.values<T>().data(), view_around(shape, axis)};
  const Distinct distinct = distinct_slices(slices, context.attributes.integer("sorted") != 0);
  shape[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)] =
      static_cast<int64_t>(distinct.first.size());
  Tensor y = Tensor::allocate(x.dtype(), shape);
  T* to = y.values<T>().data();
  for (int64_t outer = 0; outer < slices.view.outer; ++outer) {
    for (const int64_t slice : distinct.first) {
      const T* from = slices.data + (outer * slices.view.size + slice) * slices.view.inner;
      to = std::copy_n(from, slices.view.inner, to);
    }
  }
  context.outputs[0] = std::move(y);
  const Sizes* others[] = {&distinct.first, &distinct.inverse, &distinct.counts};
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    context.outputs[i] = Tensor::vector_i64(*others[i - 1]);
  }
}

Result<void> kernel_unique(const KernelContext& context) {
  if (!is_16bit_floating(context.inputs[0]->dtype())) {
    return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() { unique<T>(context); });
  }
  const Tensor wide = widened(*context.inputs[0]);
  const Tensor* input = &wide;
  unique<float>({{&input, 1}, context.outputs, context.attributes});
  Tensor narrow = Tensor::allocate(context.inputs[0]->dtype(), context.outputs[0].shape());
  narrow_into(context.outputs[0], narrow);
  context.outputs[0] = std::move(narrow);
  return {};
}

}  // namespace

void add_select_ops(OpTable& table) {
  table.add({.type = "NonZero",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_nonzero,
             .kernel = kernel_nonzero,
             .sizes_outputs = true});
  table.add({.type = "Compress",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"axis", AttributeType::kInt, {}}},
             .infer = infer_compress,
             .kernel = kernel_compress,
             .sizes_outputs = true});
  table.add({.type = "Unique",
             .since_version = 11,
             .min_inputs = 1,
             .max_inputs = 1,
             .max_outputs = 4,
             .attributes = {{"axis", AttributeType::kInt, {}},
                            {"sorted", AttributeType::kInt, int64_t{1}}},
             .infer = infer_unique,
             .kernel = kernel_unique,
             .sizes_outputs = true});
}

}  // namespace assay
