// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(HumanBytes, CountsInPowersOf1024) {
  EXPECT_EQ(human_bytes({0}), "0 B");
  EXPECT_EQ(human_bytes({1023}), "1023 B");
  EXPECT_EQ(human_bytes({1024}), "1.00 KiB");
  EXPECT_EQ(human_bytes({102236160}), "97.5 MiB");
  EXPECT_EQ(human_bytes({-2048}), "-2.00 KiB");
  EXPECT_EQ(human_bytes({int64_t{1024} * 1024 - 1}), "1.00 MiB");  // not "1024 KiB"
}

TEST(HumanCount, KeepsThreeDigits) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(12), "12");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(4.09e9), "4.09 G");
  EXPECT_EQ(human_count(9996), "10.0 K");
  EXPECT_EQ(human_count(999999), "1.00 M");
  EXPECT_EQ(human_count(0.5), "0.50");
  EXPECT_EQ(human_count(0.00123), "0.00123");
}

TEST(HumanSeconds, ChoosesTheUnitOneWouldSay) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(human_seconds(2.5e-8), "25 ns");
  EXPECT_EQ(human_seconds(59.9), "59.9 s");
  EXPECT_EQ(human_seconds(59.97), "1 min 00 s");
  EXPECT_EQ(human_seconds(125), "2 min 05 s");
  EXPECT_EQ(human_seconds(3599.7), "1 h 00 min");
  EXPECT_EQ(human_seconds(3720), "1 h 02 min");
  EXPECT_EQ(human_seconds(-125), "-2 min 05 s");
}

}  // namespace
}  // namespace assay
