// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(BoundedQueue, HandsItemsOverInOrderThroughASmallCapacity) {
  BoundedQueue<int> queue(2);
  std::thread producer([&queue] {
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(queue.push(i));
    queue.close();
  });
  std::vector<int> got;
  while (auto item = queue.pop()) got.push_back(*item);
  producer.join();
  ASSERT_EQ(got.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
}

TEST(BoundedQueue, WakesABlockedProducerWhenClosed) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1));
  bool second = true;
  std::thread producer([&] { second = queue.push(2); });
  queue.close();
  producer.join();
  EXPECT_FALSE(second);
  EXPECT_EQ(queue.pop(), 1);  // what was in stays readable
  EXPECT_EQ(queue.pop(), std::nullopt);
}

}  // namespace
}  // namespace assay
