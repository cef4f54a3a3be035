// SPDX-License-Identifier: Apache-2.0
//
// Identity, Flatten, Reshape, Squeeze, Unsqueeze: the same data with another shape. They are views:
// no traffic and no memory of their own.
#include <algorithm>
#include <cstring>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_flatten(const InferContext& context) {
  const TensorType& x = context.type(0);
  const int64_t axis = context.attributes.integer("axis");
  if (!x.shape) return Types{TensorType(x.dtype, Shape{Dim(), Dim()})};
  const auto rank = static_cast<int64_t>(x.shape->rank());
  if (axis < -rank || axis > rank) {
    return invalid("attribute 'axis' is " + std::to_string(axis) + ", outside a tensor of rank " +
                   std::to_string(rank));
  }
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  ASSAY_ASSIGN(Dim outer, product(*x.shape, 0, split));
  ASSAY_ASSIGN(Dim inner, product(*x.shape, split, x.shape->rank()));
  return Types{TensorType(x.dtype, Shape{std::move(outer), std::move(inner)})};
}

// What a -1 stands for: the input's elements over the product of the other dimensions, as far as
// both are known. Unknown dimensions cancel by name.
Result<Dim> inferred_dim(const Shape& input, const Shape& output, size_t hole) {
  std::vector<Dim> unknown;
  int64_t have = 1;
  int64_t taken = 1;
  for (const Dim& dim : input.dims()) {
    if (!dim.known()) {
      unknown.push_back(dim);
    } else if (__builtin_mul_overflow(have, dim.size(), &have)) {
      return invalid("shape " + input.text() + " is too large");
    }
  }
  for (size_t i = 0; i < output.rank(); ++i) {
    if (i == hole) continue;
    if (!output[i].known()) {
      const auto same = std::ranges::find(unknown, output[i]);
      if (output[i].name().empty() || same == unknown.end()) return Dim();
      unknown.erase(same);
    } else if (__builtin_mul_overflow(taken, output[i].size(), &taken)) {
      return invalid("the new shape " + output.text() + " is too large");
    }
  }
  if (unknown.empty()) {
    if (taken == 0 || have % taken != 0) {
      return invalid("shape " + input.text() + " cannot become " + output.text());
    }
    return Dim(have / taken);
  }
  return unknown.size() == 1 && have == taken ? unknown[0] : Dim();
}

Result<Types> infer_reshape(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const DType dtype = context.type(0).dtype;
  ASSAY_ASSIGN(const auto rank, vector_length(context, 1));
  if (!rank) return Types{TensorType::unranked(dtype)};
  const auto wanted = constant_integers(context, 1);
  if (!wanted) {
    return Types{TensorType(dtype, Shape(std::vector<Dim>(static_cast<size_t>(*rank))))};
  }
  const auto& input = context.type(0).shape;
  const bool allow_zero = context.attributes.integer("allowzero") != 0;
  Shape y;
  std::optional<size_t> hole;
  for (size_t i = 0; i < wanted->size(); ++i) {
    const int64_t size = (*wanted)[i];
    if (size < -1) return invalid("input 1 (shape) holds " + std::to_string(size));
    if (size == -1 && hole) return invalid("input 1 (shape) holds -1 twice");
    if (size == -1) hole = i;
    const bool copied = size == 0 && !allow_zero;
    if (copied && input && i >= input->rank()) {
      return invalid("input 1 (shape) copies dimension " + std::to_string(i) + " of " +
                     input->text());
    }
    y.append(size == -1 ? Dim() : !copied ? Dim(size) : input ? (*input)[i] : Dim());
  }
  if (!input) return Types{TensorType(dtype, std::move(y))};
  if (hole) {
    ASSAY_ASSIGN(y[*hole], inferred_dim(*input, y, *hole));
  } else if (input->known() && y.known()) {
    ASSAY_ASSIGN(const int64_t before, input->elements());
    ASSAY_ASSIGN(const int64_t after, y.elements());
    if (before != after) return invalid("shape " + input->text() + " cannot become " + y.text());
  }
  return Types{TensorType(dtype, std::move(y))};
}

Result<Types> infer_squeeze(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{TensorType::unranked(x.dtype)};
  std::vector<size_t> axes;
  if (context.has(1)) {
    const auto given = constant_integers(context, 1);
    if (!given) return Types{TensorType::unranked(x.dtype)};
    ASSAY_ASSIGN(axes, normalized_axes(*given, x.shape->rank()));
  } else {
    for (size_t i = 0; i < x.shape->rank(); ++i) {
      if (!(*x.shape)[i].known()) return Types{TensorType::unranked(x.dtype)};
      if ((*x.shape)[i] == Dim(1)) axes.push_back(i);
    }
  }
  Shape y;
  for (size_t i = 0; i < x.shape->rank(); ++i) {
    const Dim& dim = (*x.shape)[i];
    if (!std::ranges::binary_search(axes, i)) {
      y.append(dim);
    } else if (!may_equal(dim, 1)) {
      return invalid("dimension " + std::to_string(i) + " of " + x.shape->text() + " is not 1");
    }
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

Result<Types> infer_unsqueeze(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  ASSAY_ASSIGN(const auto count, vector_length(context, 1));
  if (!x.shape || !count) return Types{TensorType::unranked(x.dtype)};
  const size_t rank = x.shape->rank() + static_cast<size_t>(*count);
  const auto given = constant_integers(context, 1);
  if (!given) return Types{TensorType(x.dtype, Shape(std::vector<Dim>(rank)))};
  ASSAY_ASSIGN(const std::vector<size_t> axes, normalized_axes(*given, rank));
  Shape y;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    y.append(std::ranges::binary_search(axes, i) ? Dim(1) : (*x.shape)[next++]);
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

}  // namespace

void add_reshape_ops(OpTable& table) {
  const auto add = [&](const char* type, size_t min_inputs, size_t max_inputs, InferFunction infer,
                       std::vector<AttributeSpec> attributes = {}) {
    table.add({.type = type,
               .since_version = 21,
               .min_inputs = min_inputs,
               .max_inputs = max_inputs,
               .attributes = std::move(attributes),
               .infer = infer,
               .kernel = copy_bytes,
               .is_view = true});
  };
  add("Identity", 1, 1, infer_same);
  add("Flatten", 1, 1, infer_flatten, {{"axis", AttributeType::kInt, int64_t{1}}});
  add("Reshape", 2, 2, infer_reshape, {{"allowzero", AttributeType::kInt, int64_t{0}}});
  add("Squeeze", 1, 2, infer_squeeze);
  add("Unsqueeze", 2, 2, infer_unsqueeze);
}

}  // namespace assay
