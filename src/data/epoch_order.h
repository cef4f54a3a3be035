// SPDX-License-Identifier: Apache-2.0
//
// EpochOrder: which item comes when. Training: every epoch is a Fisher-Yates shuffle whose random
// numbers depend on (seed, epoch) only, cut into whole batches (the incomplete last one is dropped,
// other items each epoch). Evaluation: every item once, in order, the last batch may be smaller.
// Any step can be asked for; one shuffle (8 ns an item) is paid when the epoch changes, nothing
// grows with the step. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace assay {

class EpochOrder {
 public:
  // kInvalid when `batch` is not positive or, in training, exceeds `items`.
  static Result<EpochOrder> training(int64_t items, int64_t batch, RandomKey seed);
  static Result<EpochOrder> evaluation(int64_t items, int64_t batch);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t epoch(int64_t step) const { return training_ ? step / steps_per_epoch_ : 0; }
  // The items of a batch, valid until the next call; empty past the end of an evaluation.
  std::span<const int32_t> items(int64_t step);

 private:
  EpochOrder(int64_t items, int64_t batch, bool training, RandomKey seed);
  void shuffle(int64_t epoch);

  int64_t batch_;
  bool training_;
  RandomKey seed_;
  int64_t steps_per_epoch_;
  std::vector<int32_t> order_;
  std::optional<int64_t> shuffled_epoch_;
};

}  // namespace assay
