// SPDX-License-Identifier: Apache-2.0
#include "quality/topk.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace assay {
namespace {

float as_float(float value) { return value; }

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
float as_float(Bf16 value) { return bf16_to_f32(value.bits); }
float as_float(F16 value) { return f16_to_f32(value.bits); }

// How many of the items have their label among the first k.
template <class T>
Result<int64_t> count_correct(const T* scores, int64_t classes, std::span<const int64_t> labels,
                              int64_t k) {
  int64_t correct = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const T* row = scores + static_cast<int64_t>(i) * classes;
    const int64_t label = labels[i];
    if (label < 0 || label >= classes) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("label {} of item {} is not below {} classes", label, i, classes),
                   "evaluation"};
    }
    const float own = as_float(row[label]);
    int64_t rank = 0;
    bool numbers = true;
    for (int64_t c = 0; c < classes; ++c) {
      const float score = as_float(row[c]);
      rank += score > own || (score == own && c < label);
      numbers &= !std::isnan(score);
    }
    if (!numbers) {
      return Error{ErrorCode::kDiverged, fmt::format("a score of item {} is not a number", i),
                   "evaluation"};
    }
    correct += rank < k;
  }
  return correct;
}

}  // namespace

TopKAccuracy::TopKAccuracy(int64_t k, size_t label_input) : k_(k), label_input_(label_input) {
  ASSAY_ASSERT(k > 0, "k is not positive");
}

void TopKAccuracy::reset() {
  items_ = 0;
  correct_ = 0;
}

Result<void> TopKAccuracy::add(const Batch& batch, std::span<const Tensor> outputs) {
  if (outputs.empty() || batch.inputs.size() <= label_input_) {
    return Error{ErrorCode::kInvalid, "an evaluation batch has no scores or no labels",
                 "evaluation"};
  }
  const Tensor& scores = outputs[0];
  const Tensor& labels = batch.inputs[label_input_];
  if (labels.dtype() != DType::kI64 || labels.shape().size() != 1 || scores.shape().size() != 2 ||
      scores.shape()[0] != labels.shape()[0] || batch.items != labels.shape()[0]) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("top-{} needs scores [items, classes] and labels i64[items], got {} "
                             "and {} for {} items",
                             k_, scores.type().text(), labels.type().text(), batch.items),
                 "evaluation"};
  }
  const int64_t classes = scores.shape()[1];
  const auto counted = [&]() -> Result<int64_t> {
    const std::span<const int64_t> truth = labels.values<int64_t>();
    switch (scores.dtype()) {
      case DType::kF32:
        return count_correct(scores.values<float>().data(), classes, truth, k_);
      case DType::kBF16:
        return count_correct(scores.values<Bf16>().data(), classes, truth, k_);
      case DType::kF16:
        return count_correct(scores.values<F16>().data(), classes, truth, k_);
      default:
        return Error{
            ErrorCode::kInvalid,
            fmt::format("top-{} cannot read scores of type {}", k_, dtype_name(scores.dtype())),
            "evaluation"};
    }
  }();
  if (!counted.ok()) return counted.error();
  correct_ += *counted;
  items_ += batch.items;
  return {};
}

Result<double> TopKAccuracy::value() const {
  if (items_ == 0) {
    return Error{ErrorCode::kInvalid, "nothing was evaluated: accuracy has no value", "evaluation"};
  }
  return static_cast<double>(correct_) / static_cast<double>(items_);
}

}  // namespace assay
