// SPDX-License-Identifier: Apache-2.0
#include "data/epoch_order.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<int32_t> items_of(EpochOrder& order, int64_t step) {
  const auto items = order.items(step);
  return {items.begin(), items.end()};
}

TEST(EpochOrder, TrainingVisitsEachItemAtMostOnceAnEpochInWholeBatches) {
  auto order = EpochOrder::training(10, 3, RandomKey(1));
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->steps_per_epoch(), 3);
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    std::set<int32_t> seen;
    for (int64_t step = 3 * epoch; step < 3 * epoch + 3; ++step) {
      EXPECT_EQ(order->epoch(step), epoch);
      const auto items = items_of(*order, step);
      EXPECT_THAT(items, SizeIs(3));
      seen.insert(items.begin(), items.end());
    }
    EXPECT_THAT(seen, SizeIs(9));
    EXPECT_TRUE(*seen.begin() >= 0 && *seen.rbegin() < 10);
  }
}

TEST(EpochOrder, EveryItemIsTrainedOnInTheLongRun) {
  auto order = EpochOrder::training(10, 3, RandomKey(1));
  std::set<int32_t> seen;
  for (int64_t step = 0; step < 60; ++step) {
    for (const int32_t item : items_of(*order, step)) seen.insert(item);
  }
  EXPECT_THAT(seen, SizeIs(10));
}

TEST(EpochOrder, DependsOnTheSeedAndTheEpochOnly) {
  auto once = EpochOrder::training(1000, 100, RandomKey(7));
  auto again = EpochOrder::training(1000, 100, RandomKey(7));
  auto other = EpochOrder::training(1000, 100, RandomKey(8));
  const auto late = items_of(*again, 25);  // straight to the third epoch
  for (int64_t step = 0; step < 25; ++step) once->items(step);
  EXPECT_EQ(items_of(*once, 25), late);
  EXPECT_NE(items_of(*other, 25), late);
  EXPECT_NE(items_of(*again, 5), late);
  EXPECT_EQ(items_of(*again, 25), late);  // and back
}

TEST(EpochOrder, EvaluationVisitsEveryItemOnceInOrder) {
  auto order = EpochOrder::evaluation(5, 2);
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->steps_per_epoch(), 3);
  EXPECT_THAT(items_of(*order, 0), ElementsAre(0, 1));
  EXPECT_THAT(items_of(*order, 2), ElementsAre(4));
  EXPECT_THAT(items_of(*order, 3), IsEmpty());
}

TEST(EpochOrder, ShufflesUniformly) {
  // Where item 0 ends up over 2,000 epochs of 4 items: 500 each, standard deviation 19.4.
  auto order = EpochOrder::training(4, 1, RandomKey(3));
  std::vector<int> places(4, 0);
  for (int64_t epoch = 0; epoch < 2000; ++epoch) {
    for (int64_t place = 0; place < 4; ++place) {
      if (order->items(4 * epoch + place)[0] == 0) ++places[static_cast<size_t>(place)];
    }
  }
  for (const int count : places) EXPECT_NEAR(count, 500, 97);  // five standard deviations
}

TEST(EpochOrder, RefusesBatchesThatCannotBe) {
  EXPECT_FALSE(EpochOrder::training(10, 0, RandomKey(1)).ok());
  EXPECT_FALSE(EpochOrder::training(10, -1, RandomKey(1)).ok());
  EXPECT_FALSE(EpochOrder::training(10, 11, RandomKey(1)).ok());
  EXPECT_FALSE(EpochOrder::training(0, 1, RandomKey(1)).ok());
  EXPECT_FALSE(EpochOrder::evaluation(10, 0).ok());
  EXPECT_TRUE(EpochOrder::evaluation(10, 11).ok());
}

}  // namespace
}  // namespace assay
