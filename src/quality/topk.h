// SPDX-License-Identifier: Apache-2.0
//
// Top-k accuracy: the share of items whose label is among the k classes of largest score. Scores
// are outputs[0], f32, f16 or bf16 [items, classes]. Ties go to the smaller class index, so top-1
// equals label == numpy.argmax(scores); a label's rank is the number of classes that score more, or
// the same at a smaller index. One pass over the scores. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "quality/evaluator.h"

namespace assay {

class TopKAccuracy final : public Evaluator {
 public:
  // Labels are batch.inputs[label_input], i64 [items].
  explicit TopKAccuracy(int64_t k, size_t label_input = 1);

  void reset() override;
  // kDiverged when a score is not a number; kInvalid when shapes, types or labels do not fit. A
  // failed batch counts for nothing.
  Result<void> add(const Batch& batch, std::span<const Tensor> outputs) override;
  Result<double> value() const override;
  int64_t items() const override { return items_; }
  int64_t correct() const { return correct_; }

 private:
  int64_t k_;
  size_t label_input_;
  int64_t items_ = 0;
  int64_t correct_ = 0;
};

}  // namespace assay
