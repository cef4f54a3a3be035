// SPDX-License-Identifier: Apache-2.0
//
// What the shape inference functions of all families share. Every function survives any input:
// arithmetic on outside numbers is checked.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/operator.h"

namespace assay {

using Types = std::vector<TensorType>;

// kInvalid with this message.
Error invalid(std::string message);

// "input 1 (W)" must have one of these element types.
Result<void> expect_dtype(const InferContext& context, size_t input,
                          std::initializer_list<DType> allowed);
Result<void> expect_floating(const InferContext& context, size_t input);
// Inputs `a` and `b` have the same element type (when both are given).
Result<void> expect_same_dtype(const InferContext& context, size_t a, size_t b);
// Inputs `a` and `b` have the same shape, as far as both are known.
Result<void> expect_same_shape(const InferContext& context, size_t a, size_t b);
// Class labels [N, ...] beside scores [N, C, ...].
Result<void> expect_labels_fit(const Shape& scores, const Shape& labels);
// Input's rank is `rank` when it is known at all.
Result<void> expect_rank(const InferContext& context, size_t input, size_t rank);
// A vector whose length is `length`, when both are known.
Result<void> expect_vector(const InferContext& context, size_t input, const Dim& length,
                           std::string_view name);

// An integer attribute that must be at least 1, and one of these words.
Result<void> expect_positive(const InferContext& context, std::string_view attribute);
Result<void> expect_word(const InferContext& context, std::string_view attribute,
                         std::initializer_list<std::string_view> allowed);

// An axis in -rank ... rank-1, made non-negative.
Result<size_t> normalized_axis(int64_t axis, size_t rank, std::string_view attribute = "axis");
// Distinct axes, ascending.
Result<std::vector<size_t>> normalized_axes(const std::vector<int64_t>& axes, size_t rank);

// The product of dims[first, last): a symbol survives multiplication by ones only.
Result<Dim> product(const Shape& shape, size_t first, size_t last);
// False only when both are known and differ.
bool may_equal(const Dim& a, const Dim& b);

// The values of a constant i64 or i32 input; nothing when it is not a constant.
std::optional<std::vector<int64_t>> constant_integers(const InferContext& context, size_t input);
// The length of an input that must be a vector, when known.
Result<std::optional<int64_t>> vector_length(const InferContext& context, size_t input);

// Output 0 has input 0's type.
Result<Types> infer_same(const InferContext& context);
// The same, for floating inputs.
Result<Types> infer_same_floating(const InferContext& context);

}  // namespace assay
