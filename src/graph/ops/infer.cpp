// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/infer.h"

#include <algorithm>

namespace assay {

Error invalid(std::string message) { return Error{ErrorCode::kInvalid, std::move(message)}; }

namespace {

std::string input_label(size_t input) { return "input " + std::to_string(input); }

Error dtype_error(const InferContext& context, size_t input, std::string_view allowed) {
  return invalid(input_label(input) + " has element type " +
                 std::string(dtype_name(context.type(input).dtype)) + " where " +
                 std::string(allowed) + " is needed");
}

}  // namespace

Result<void> expect_dtype(const InferContext& context, size_t input,
                          std::initializer_list<DType> allowed) {
  if (!context.has(input)) return {};
  std::string names;
  for (const DType dtype : allowed) {
    if (context.type(input).dtype == dtype) return {};
    names += (names.empty() ? "" : " or ") + std::string(dtype_name(dtype));
  }
  return dtype_error(context, input, names);
}

Result<void> expect_floating(const InferContext& context, size_t input) {
  return expect_dtype(context, input, {DType::kF32, DType::kF64, DType::kF16, DType::kBF16});
}

Result<void> expect_same_dtype(const InferContext& context, size_t a, size_t b) {
  if (!context.has(a) || !context.has(b)) return {};
  if (context.type(a).dtype == context.type(b).dtype) return {};
  return invalid(input_label(a) + " and " + input_label(b) + " have different element types, " +
                 std::string(dtype_name(context.type(a).dtype)) + " and " +
                 std::string(dtype_name(context.type(b).dtype)));
}

Result<void> expect_same_shape(const InferContext& context, size_t a, size_t b) {
  if (!context.has(a) || !context.has(b)) return {};
  if (!context.type(a).shape || !context.type(b).shape) return {};
  const Shape& left = *context.type(a).shape;
  const Shape& right = *context.type(b).shape;
  if (std::ranges::equal(left.dims(), right.dims(), may_equal)) return {};
  return invalid("input " + std::to_string(a) + " has shape " + left.text() + " and input " +
                 std::to_string(b) + " " + right.text() + " where they must be the same");
}

Result<void> expect_labels_fit(const Shape& scores, const Shape& labels) {
  bool fits = labels.rank() + 1 == scores.rank() && may_equal(scores[0], labels[0]);
  for (size_t i = 1; fits && i < labels.rank(); ++i) fits = may_equal(scores[i + 1], labels[i]);
  if (fits) return {};
  return invalid("labels of shape " + labels.text() + " do not fit scores of shape " +
                 scores.text());
}

Result<void> expect_rank(const InferContext& context, size_t input, size_t rank) {
  if (!context.has(input) || !context.type(input).shape) return {};
  if (context.type(input).shape->rank() == rank) return {};
  return invalid(input_label(input) + " has shape " + context.type(input).shape->text() +
                 " where rank " + std::to_string(rank) + " is needed");
}

Result<void> expect_vector(const InferContext& context, size_t input, const Dim& length,
                           std::string_view name) {
  if (!context.has(input) || !context.type(input).shape) return {};
  const Shape& shape = *context.type(input).shape;
  if (shape.rank() == 1 && may_equal(shape[0], length)) return {};
  return invalid(input_label(input) + " (" + std::string(name) + ") has shape " + shape.text() +
                 " where [" + length.text() + "] is needed");
}

Result<void> expect_positive(const InferContext& context, std::string_view attribute) {
  const int64_t value = context.attributes.integer(attribute);
  if (value >= 1) return {};
  return invalid("attribute '" + std::string(attribute) + "' is " + std::to_string(value) +
                 " where at least 1 is needed");
}

Result<void> expect_word(const InferContext& context, std::string_view attribute,
                         std::initializer_list<std::string_view> allowed) {
  const std::string& word = context.attributes.string(attribute);
  std::string list;
  for (const std::string_view each : allowed) {
    if (word == each) return {};
    list += (list.empty() ? "" : ", ") + std::string(each);
  }
  return invalid("attribute '" + std::string(attribute) + "' is '" + word + "', not one of " +
                 list);
}

Result<size_t> normalized_axis(int64_t axis, size_t rank, std::string_view attribute) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) {
    return invalid("attribute '" + std::string(attribute) + "' is " + std::to_string(axis) +
                   ", outside a tensor of rank " + std::to_string(rank));
  }
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

Result<std::vector<size_t>> normalized_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> result;
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN(const size_t a, normalized_axis(axis, rank, "axes"));
    result.push_back(a);
  }
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) {
    return invalid("attribute 'axes' names an axis twice");
  }
  return result;
}

Result<Dim> product(const Shape& shape, size_t first, size_t last) {
  int64_t size = 1;
  bool unknown = false;
  Dim symbol;
  size_t symbols = 0;
  for (size_t i = first; i < last; ++i) {
    if (!shape[i].known()) {
      unknown = true;
      symbol = shape[i];
      ++symbols;
    } else if (__builtin_mul_overflow(size, shape[i].size(), &size)) {
      return invalid("the product of dimensions of " + shape.text() + " is too large");
    }
  }
  if (!unknown) return Dim(size);
  return symbols == 1 && size == 1 ? symbol : Dim();
}

bool may_equal(const Dim& a, const Dim& b) {
  return !a.known() || !b.known() || a.size() == b.size();
}

std::optional<std::vector<int64_t>> constant_integers(const InferContext& context, size_t input) {
  const Tensor* data = context.constant(input);
  if (data == nullptr) return std::nullopt;
  if (data->dtype() == DType::kI64) {
    const auto values = data->values<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  if (data->dtype() == DType::kI32) {
    const auto values = data->values<int32_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  return std::nullopt;
}

Result<std::optional<int64_t>> vector_length(const InferContext& context, size_t input) {
  if (!context.has(input) || !context.type(input).shape) return std::optional<int64_t>();
  ASSAY_TRY(expect_rank(context, input, 1));
  const Dim& length = (*context.type(input).shape)[0];
  if (!length.known()) return std::optional<int64_t>();
  if (length.size() > 64) return invalid(input_label(input) + " has more than 64 elements");
  return std::optional<int64_t>(length.size());
}

Result<Types> infer_same(const InferContext& context) { return Types{context.type(0)}; }

Result<Types> infer_same_floating(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  return Types{context.type(0)};
}

}  // namespace assay
