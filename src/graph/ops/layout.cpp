// SPDX-License-Identifier: Apache-2.0
//
// Transpose, Expand, Concat, Split: whole tensors, rearranged.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// ---- Transpose ----

Result<std::vector<size_t>> permutation(const Attributes& attributes, size_t rank) {
  std::vector<size_t> perm(rank);
  if (!attributes.has("perm")) {
    std::iota(perm.rbegin(), perm.rend(), size_t{0});
    return perm;
  }
  const std::vector<int64_t>& given = attributes.integers("perm");
  std::vector<bool> seen(rank, false);
  bool valid = given.size() == rank;
  for (size_t i = 0; valid && i < rank; ++i) {
    valid = given[i] >= 0 && given[i] < static_cast<int64_t>(rank) &&
            !seen[static_cast<size_t>(given[i])];
    if (!valid) break;
    perm[i] = static_cast<size_t>(given[i]);
    seen[perm[i]] = true;
  }
  if (valid) return perm;
  return invalid("attribute 'perm' is not a permutation of the " + std::to_string(rank) + " axes");
}

Result<Types> infer_transpose(const InferContext& context) {
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{TensorType::unranked(x.dtype)};
  ASSAY_ASSIGN(const auto perm, permutation(context.attributes, x.shape->rank()));
  Shape y;
  for (const size_t axis : perm) y.append((*x.shape)[axis]);
  return Types{TensorType(x.dtype, std::move(y))};
}

Result<void> kernel_transpose(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const auto perm, permutation(context.attributes, shape.size()));
  const Sizes packed = packed_strides(shape);
  Sizes strides;
  strides.reserve(perm.size());
  for (const size_t axis : perm) strides.push_back(packed[axis]);
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    walk<1>(output_shape(context, 0), {strides},
            [&](int64_t i, const std::array<int64_t, 1>& at) { y[i] = x[at[0]]; });
  });
}

// ---- Expand ----

Result<Types> infer_expand(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  ASSAY_ASSIGN(const auto rank, vector_length(context, 1));
  if (!rank || !x.shape) return Types{TensorType::unranked(x.dtype)};
  const auto wanted = constant_integers(context, 1);
  if (!wanted) {
    const size_t out = std::max(x.shape->rank(), static_cast<size_t>(*rank));
    return Types{TensorType(x.dtype, Shape(std::vector<Dim>(out)))};
  }
  if (std::ranges::any_of(*wanted, [](int64_t size) { return size < 0; })) {
    return invalid("input 1 (shape) holds a negative size");
  }
  ASSAY_ASSIGN(Shape y, broadcast(*x.shape, Shape::of(*wanted)));
  return Types{TensorType(x.dtype, std::move(y))};
}

Result<void> kernel_expand(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    walk<1>(shape, {broadcast_strides(input_shape(context, 0), shape)},
            [&](int64_t i, const std::array<int64_t, 1>& at) { y[i] = x[at[0]]; });
  });
}

// ---- Concat ----

Result<Dim> sum(const Dim& a, const Dim& b) {
  if (!a.known() || !b.known()) return Dim();
  int64_t size = 0;
  if (__builtin_add_overflow(a.size(), b.size(), &size)) {
    return invalid("the concatenated dimension is too large");
  }
  return Dim(size);
}

Result<Types> infer_concat(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (!context.has(i)) return invalid("input " + std::to_string(i) + " is required");
    ASSAY_TRY(expect_same_dtype(context, 0, i));
    if (!context.type(i).shape) return Types{TensorType::unranked(dtype)};
  }
  Shape y = *context.type(0).shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), y.rank()));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const Shape& x = *context.type(i).shape;
    ASSAY_TRY(expect_rank(context, i, y.rank()));
    for (size_t d = 0; d < y.rank(); ++d) {
      if (d == axis) {
        ASSAY_ASSIGN(y[d], sum(y[d], x[d]));
      } else if (!may_equal(y[d], x[d])) {
        return invalid("shapes " + context.type(0).shape->text() + " and " + x.text() +
                       " differ outside axis " + std::to_string(axis));
      } else if (!y[d].known()) {
        y[d] = x[d];
      }
    }
  }
  return Types{TensorType(dtype, std::move(y))};
}

// Copies the pieces of tensors that lie side by side along an axis, in one direction or the other.
template <class Copy>
void for_pieces(const AxisView& whole, std::span<const int64_t> sizes, int64_t width, Copy&& copy) {
  for (int64_t outer = 0; outer < whole.outer; ++outer) {
    int64_t start = outer * whole.size * whole.inner * width;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t bytes = sizes[i] * whole.inner * width;
      copy(i, outer * bytes, start, bytes);
      start += bytes;
    }
  }
}

Result<void> kernel_concat(const KernelContext& context) {
  const DType dtype = context.inputs[0]->dtype();
  if (dtype_bits(dtype) < 8) return no_kernel_for(dtype);
  const int64_t axis = context.attributes.integer("axis");
  Sizes sizes;
  for (const Tensor* input : context.inputs)
    sizes.push_back(view_around(input->shape(), axis).size);
  auto* to = static_cast<std::byte*>(context.outputs[0].data());
  for_pieces(view_around(output_shape(context, 0), axis), sizes, dtype_bits(dtype) / 8,
             [&](size_t i, int64_t piece, int64_t whole, int64_t bytes) {
               const auto* from = static_cast<const std::byte*>(context.inputs[i]->data());
               std::memcpy(to + whole, from + piece, static_cast<size_t>(bytes));
             });
  return {};
}

// ---- Split ----

Result<std::vector<int64_t>> even_parts(const Attributes& attributes, int64_t size, size_t parts) {
  const auto n = static_cast<int64_t>(parts);
  if (attributes.has("num_outputs") && attributes.integer("num_outputs") != n) {
    return invalid("attribute 'num_outputs' is not the number of outputs");
  }
  const int64_t each = size / n + (size % n != 0 ? 1 : 0);
  std::vector<int64_t> sizes(parts, each);
  sizes.back() = size - each * (n - 1);  // the last may be smaller
  if (sizes.back() < 0) {
    return invalid("a dimension of " + std::to_string(size) + " cannot be split into " +
                   std::to_string(n));
  }
  return sizes;
}

Result<Types> infer_split(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  const size_t parts = context.output_count;
  if (!x.shape) return Types(parts, TensorType::unranked(x.dtype));
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  const Dim& whole = (*x.shape)[axis];
  std::optional<std::vector<int64_t>> sizes = constant_integers(context, 1);
  if (sizes) {
    int64_t total = 0;
    for (const int64_t size : *sizes) {
      if (size < 0 || __builtin_add_overflow(total, size, &total)) {
        return invalid("input 1 (split) holds " + std::to_string(size));
      }
    }
    if (sizes->size() != parts || !may_equal(whole, total)) {
      return invalid("input 1 (split) does not divide dimension " + whole.text() + " among " +
                     std::to_string(parts) + " outputs");
    }
  } else if (!context.has(1) && whole.known()) {
    ASSAY_ASSIGN(sizes, even_parts(context.attributes, whole.size(), parts));
  }
  Types types(parts, x);
  for (size_t i = 0; i < parts; ++i) (*types[i].shape)[axis] = sizes ? Dim((*sizes)[i]) : Dim();
  return types;
}

Result<void> kernel_split(const KernelContext& context) {
  const DType dtype = context.inputs[0]->dtype();
  if (dtype_bits(dtype) < 8) return no_kernel_for(dtype);
  const int64_t axis = context.attributes.integer("axis");
  Sizes sizes;
  for (const Tensor& out : context.outputs) sizes.push_back(view_around(out.shape(), axis).size);
  const auto* from = static_cast<const std::byte*>(context.inputs[0]->data());
  for_pieces(view_around(input_shape(context, 0), axis), sizes, dtype_bits(dtype) / 8,
             [&](size_t i, int64_t piece, int64_t whole, int64_t bytes) {
               auto* to = static_cast<std::byte*>(context.outputs[i].data());
               std::memcpy(to + piece, from + whole, static_cast<size_t>(bytes));
             });
  return {};
}

}  // namespace

void add_layout_ops(OpTable& table) {
  table.add({.type = "Transpose",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"perm", AttributeType::kInts, {}}},
             .infer = infer_transpose,
             .kernel = widen4<kernel_transpose>});
  table.add({.type = "Expand",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 2,
             .infer = infer_expand,
             .kernel = widen4<kernel_expand>});
  table.add({.type = "Concat",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = OpEntry::kVariadic,
             .attributes = {{"axis", AttributeType::kInt, {}, true}},
             .infer = infer_concat,
             .kernel = kernel_concat});
  table.add({.type = "Split",
             .since_version = 18,
             .min_inputs = 1,
             .max_inputs = 2,
             .max_outputs = 1024,
             .attributes = {{"axis", AttributeType::kInt, int64_t{0}},
                            {"num_outputs", AttributeType::kInt, {}}},
             .infer = infer_split,
             .kernel = kernel_split});
}

}  // namespace assay
