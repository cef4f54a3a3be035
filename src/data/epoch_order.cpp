// SPDX-License-Identifier: Apache-2.0
#include "data/epoch_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace assay {
namespace {

Result<void> check(int64_t items, int64_t batch) {
  if (items < 1 || items > std::numeric_limits<int32_t>::max()) {
    return Error{ErrorCode::kInvalid, fmt::format("a data set of {} items cannot be read", items)};
  }
  if (batch < 1) {
    return Error{ErrorCode::kInvalid, fmt::format("the batch size {} is not positive", batch)};
  }
  return {};
}

}  // namespace

EpochOrder::EpochOrder(int64_t items, int64_t batch, bool training, RandomKey seed)
    : batch_(batch),
      training_(training),
      seed_(seed.derive("order")),
      steps_per_epoch_(training ? items / batch : (items + batch - 1) / batch),
      order_(static_cast<size_t>(items)) {
  std::iota(order_.begin(), order_.end(), 0);
}

Result<EpochOrder> EpochOrder::training(int64_t items, int64_t batch, RandomKey seed) {
  ASSAY_TRY(check(items, batch));
  if (batch > items) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the batch size {} exceeds the {} training items", batch, items)};
  }
  return EpochOrder(items, batch, true, seed);
}

Result<EpochOrder> EpochOrder::evaluation(int64_t items, int64_t batch) {
  ASSAY_TRY(check(items, batch));
  return EpochOrder(items, batch, false, RandomKey(0));
}

void EpochOrder::shuffle(int64_t epoch) {
  // From the identity, not from the previous epoch: an epoch's order must not depend on the past.
  std::iota(order_.begin(), order_.end(), 0);
  RandomStream(seed_.derive(static_cast<uint64_t>(epoch))).shuffle(std::span(order_));
  shuffled_epoch_ = epoch;
}

std::span<const int32_t> EpochOrder::items(int64_t step) {
  ASSAY_ASSERT(step >= 0, "a step is negative");
  const std::span<const int32_t> all(order_);
  if (!training_) {
    if (step >= steps_per_epoch_) return {};
    const auto first = static_cast<size_t>(step * batch_);
    return all.subspan(first, std::min(static_cast<size_t>(batch_), all.size() - first));
  }
  if (shuffled_epoch_ != epoch(step)) shuffle(epoch(step));
  return all.subspan(static_cast<size_t>(step % steps_per_epoch_ * batch_),
                     static_cast<size_t>(batch_));
}

}  // namespace assay
