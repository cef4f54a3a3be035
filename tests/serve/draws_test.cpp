// SPDX-License-Identifier: Apache-2.0
#include "serve/draws.h"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> shuffled(uint32_t count, uint64_t seed) {
  std::vector<uint32_t> items(count);
  std::iota(items.begin(), items.end(), 0U);
  Draws(seed).shuffle(items);
  return items;
}

std::vector<uint32_t> first_12(std::vector<uint32_t> items) {
  items.resize(12);
  return items;
}

std::vector<int64_t> arrivals(uint64_t seed) {
  Draws draws(seed);
  Nanoseconds time{0};
  std::vector<int64_t> times;
  for (int i = 0; i < 8; ++i) {
    times.push_back(time.count());
    time += draws.arrival_gap(1000);
  }
  return times;
}

TEST(Draws, ShufflesAsPublished) {
  EXPECT_THAT(first_12(shuffled(64, 0)),
              ElementsAre(27, 51, 57, 53, 56, 60, 4, 37, 26, 34, 24, 18));
  EXPECT_THAT(first_12(shuffled(64, 2085463073848966840ULL)),
              ElementsAre(1, 5, 13, 44, 11, 37, 58, 36, 60, 33, 17, 42));
}

TEST(Draws, ArrivesAsPublished) {
  EXPECT_THAT(arrivals(0),
              ElementsAre(0, 898560, 2758164, 4709709, 6588673, 7565679, 8050807, 8403966));
  EXPECT_THAT(arrivals(16159082839903944936ULL),
              ElementsAre(0, 1843654, 2301577, 3587439, 4300433, 4686839, 6935180, 8026759));
}

TEST(Draws, UseTheLowHalfOfASeed) {
  EXPECT_EQ(shuffled(64, (uint64_t{7} << 32) + 5), shuffled(64, 5));
}

TEST(Draws, ShufflesOfNothingAndOfOneItemDrawNothing) {
  Draws draws(3);
  std::vector<uint32_t> one{9};
  draws.shuffle({});
  draws.shuffle(one);
  EXPECT_EQ(draws.below(1000), Draws(3).below(1000));
}

TEST(Draws, AreSpreadEvenly) {
  Draws draws(1);
  std::vector<int> seen(6, 0);
  for (int i = 0; i < 60'000; ++i) ++seen[draws.below(6)];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 4 * 92);  // 4 sigma
}

}  // namespace
}  // namespace assay
