// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

// kat_vectors of the authors' Random123 library, philox4x32 with 10 rounds.
TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  EXPECT_THAT(philox4x32(0, {0, 0, 0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32(~uint64_t{0}, {~0U, ~0U, ~0U, ~0U}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomStream, WalksTheBlocksOfItsKeyInOrder) {
  RandomStream stream(RandomKey(7));
  for (uint32_t block = 0; block < 3; ++block) {
    for (const uint32_t word : philox4x32(7, {block, 0, 0, 0})) {
      EXPECT_EQ(stream.next_u32(), word);
    }
  }
  RandomStream later(RandomKey(7), 2);
  EXPECT_EQ(later.next_u32(), philox4x32(7, {2, 0, 0, 0})[0]);
}

TEST(RandomStream, ContinuesFromTheSamePointWhenCopied) {
  RandomStream stream(RandomKey(1));
  stream.normal();  // leaves a spare
  RandomStream copy = stream;
  EXPECT_EQ(stream.normal(), copy.normal());
  EXPECT_EQ(stream.next_u64(), copy.next_u64());
}

TEST(RandomKey, DerivesDifferentKeysFromDifferentNamesAndNumbers) {
  const RandomKey key(3);
  EXPECT_EQ(key.derive("data"), key.derive("data"));
  EXPECT_NE(key.derive("data"), key.derive("dropout"));
  EXPECT_NE(key.derive("data"), RandomKey(4).derive("data"));
  EXPECT_NE(key.derive(uint64_t{0}), key.derive(uint64_t{1}));
  EXPECT_NE(key.derive(uint64_t{0}), key);
  EXPECT_NE(key.derive(""), key.derive(uint64_t{0}));
}

TEST(RandomStream, IsUniformWithTheRightMoments) {
  RandomStream stream(RandomKey(11));
  constexpr int kDraws = 200000;
  double sum = 0;
  double square = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    square += x * x;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(square / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(RandomStream, IsNormalWithTheRightMoments) {
  RandomStream stream(RandomKey(12));
  constexpr int kDraws = 200000;
  double sum = 0;
  double square = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.normal();
    sum += x;
    square += x * x;
    beyond_two += std::fabs(x) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(square / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455,
              5 * std::sqrt(0.0455 * 0.9545 / kDraws));
}

TEST(RandomStream, DrawsBelowABoundWithoutBias) {
  RandomStream stream(RandomKey(13));
  // Two thirds of the range of a word: the plain remainder would favour the lower half 2 to 1.
  const uint64_t bound = (uint64_t{1} << 63) + (uint64_t{1} << 62);
  int low = 0;
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t x = stream.below(bound);
    ASSERT_LT(x, bound);
    low += x < bound / 2 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(low) / kDraws, 0.5, 5 * std::sqrt(0.25 / kDraws));
  EXPECT_EQ(stream.below(1), 0U);
  EXPECT_DEATH(stream.below(0), "positive bound");
}

TEST(RandomStream, ShufflesEveryItemToEveryPlace) {
  std::array<std::array<int, 4>, 4> seen{};
  RandomStream stream(RandomKey(14));
  constexpr int kRounds = 8000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<size_t> items(4);
    std::iota(items.begin(), items.end(), size_t{0});
    stream.shuffle(std::span<size_t>(items));
    for (size_t place = 0; place < 4; ++place) ++seen[items[place]][place];
  }
  for (const auto& item : seen) {
    for (const int count : item) {
      EXPECT_NEAR(count, kRounds / 4.0, 5 * std::sqrt(kRounds * 0.25 * 0.75));
    }
  }
}

TEST(RandomStream, IsTrueWithTheGivenProbability) {
  RandomStream stream(RandomKey(15));
  EXPECT_FALSE(stream.bernoulli(0));
  EXPECT_TRUE(stream.bernoulli(1));
  int hits = 0;
  for (int i = 0; i < 20000; ++i) hits += stream.bernoulli(0.1) ? 1 : 0;
  EXPECT_NEAR(hits, 2000, 5 * std::sqrt(20000 * 0.09));
}

}  // namespace
}  // namespace assay
